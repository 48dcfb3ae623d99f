"""P10: a network that could not hold the solution if it were told it."""

import pytest

from assay.physics.checks import NetworkTooSmall
from assay.physics.gallery import oscillator

CHECK = NetworkTooSmall()


@pytest.mark.parametrize("seed", range(3))
def test_warns_on_two_units(physics_view, swings, seed):
    """Two periods have four slopes, and two units of tanh have two."""
    found = CHECK(physics_view(oscillator(), swings("two units")[seed : seed + 1]))
    assert found.outcome == "warn"
    assert found.measured > 0.2


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_silent_where_training_is_what_failed(physics_view, swings, seed):
    networks = swings("few points")[seed : seed + 1]
    view = physics_view(oscillator(), networks)
    assert view.errors[0] > 0.02
    found = CHECK(view)
    assert found.outcome == "pass"
    assert "training is what failed" in found.sentence
    assert found.measured < 1e-3


def test_silent_where_it_solved_the_equation(physics_view, swings):
    assert CHECK(physics_view(oscillator(), swings("good"))).outcome == "pass"
