"""P12: seeds that disagree."""

import pytest

from assay.checks import NotApplicable
from assay.physics.checks import SeedSpread
from assay.physics.gallery import convection, heat, oscillator

CHECK = SeedSpread()


def off_by(*parts):
    return lambda seed, points, truth: truth * (1.0 + parts[seed])


@pytest.mark.parametrize("make", [convection, heat, oscillator])
def test_warns_where_one_seed_fails(physics_view, make):
    found = CHECK(physics_view(make(), fields=off_by(1e-3, 0.9, 2e-3)))
    assert found.outcome == "warn"
    assert found.measured == pytest.approx(900.0)
    assert "33 % of the runs" in found.sentence


@pytest.mark.parametrize("parts", [(0.1, 0.3, 0.5), (1e-6, 1e-3, 9e-3), (1e-9, 1e-8, 1e-7)])
def test_silent_where_they_agree_or_all_are_good(physics_view, parts):
    assert CHECK(physics_view(oscillator(), fields=off_by(*parts))).outcome == "pass"


@pytest.mark.parametrize("recipe", ["good", "raw"])
def test_silent_on_real_runs_that_agree(physics_view, swings, recipe):
    assert CHECK(physics_view(oscillator(), swings(recipe))).outcome == "pass"


def test_not_applicable_to_one_seed(physics_view, swings):
    with pytest.raises(NotApplicable, match="one seed"):
        CHECK(physics_view(oscillator(), swings("good")[:1]))
