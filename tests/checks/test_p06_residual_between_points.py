"""P06: the equation is solved at the points of training alone."""

import pytest

from assay.physics.checks import ResidualBetweenPoints
from assay.physics.gallery import oscillator

CHECK = ResidualBetweenPoints()


@pytest.mark.parametrize("seed", range(3))
def test_warns_on_twelve_points(physics_view, swings, seed):
    """321 numbers satisfy twelve points to rounding, and the solution is wrong by a half."""
    found = CHECK(physics_view(oscillator(), swings("few points")[seed : seed + 1]))
    assert found.outcome == "warn"
    assert found.measured > 100.0
    assert "12 points" in found.sentence
    assert "points=48" in found.fix[0]


@pytest.mark.parametrize("recipe", ["good", "good and soft", "raw", "weighted"])
@pytest.mark.parametrize("seed", range(3))
def test_silent_on_enough_points(physics_view, swings, recipe, seed):
    found = CHECK(physics_view(oscillator(), swings(recipe)[seed : seed + 1]))
    assert found.outcome == "pass"
    assert found.measured < 3.0
