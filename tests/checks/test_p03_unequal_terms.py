"""P03: terms that start with very different sizes."""

import numpy as np
import pytest

from assay.checks import NotApplicable
from assay.physics.checks import UnequalTerms
from assay.physics.gallery import oscillator

CHECK = UnequalTerms()


def test_warns_in_raw_units(physics_view, swings):
    found = CHECK(physics_view(oscillator(), swings("raw")))
    assert found.outcome == "warn"
    assert "raw units" in found.cause
    # The seed's own run started at 39 (52.5 over 1.36); ours scatter about 10.
    assert 5.0 < found.measured < 100.0


@pytest.mark.parametrize("recipe", ["weighted", "scaled"])
def test_silent_weighted_or_scaled(physics_view, swings, recipe):
    found = CHECK(physics_view(oscillator(), swings(recipe)))
    assert found.outcome == "pass"
    assert found.measured < 0.5


@pytest.mark.parametrize("ratio", [6.0, 40.0, 1e4])
def test_the_ratio_is_that_of_the_first_values(physics_view, Given, ratio):
    def run(first):
        history = {"residual": np.array([first, 1.0]), "condition": np.array([2.0, 1.0])}
        return Given(scales_=Given(scaled=True), history_=history)

    fields = lambda seed, points, truth: truth
    for factor, outcome in ((1.0, "warn"), (4.9 / ratio, "pass")):
        first = 2.0 * ratio * factor
        nets = [run(first * spread) for spread in (0.5, 1.0, 2.0)]
        found = CHECK(physics_view(oscillator(), nets, fields=fields))
        assert found.outcome == outcome
        assert found.measured == pytest.approx(ratio * factor)


def test_not_applicable(physics_view, swings):
    with pytest.raises(NotApplicable, match="built in"):
        CHECK(physics_view(oscillator(), swings("good")))
    with pytest.raises(NotApplicable, match="not a network"):
        CHECK(physics_view(oscillator(), fields=lambda s, p, truth: truth))
