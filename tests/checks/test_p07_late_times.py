"""P07: a solution that is lost on the way."""

import numpy as np
import pytest

from assay.checks import NotApplicable
from assay.physics.checks import LateTimes
from assay.physics.gallery import convection, heat, oscillator, poisson

CHECK = LateTimes()


@pytest.mark.parametrize("part", [0.1, 0.2, 0.5, 0.75])
def test_fails_on_a_solution_that_dies_out(physics_view, part):
    """Networks lose fast convection this way: right at first, then a constant."""
    rng = np.random.default_rng(int(100 * part))

    def dying(_, points, truth):
        return truth * (points[:, :1] <= part) + 0.02 * rng.normal(size=truth.shape)

    found = CHECK(physics_view(convection(), fields=dying))
    assert found.outcome == "fail"
    assert found.measured == pytest.approx(1.0, abs=0.05)


@pytest.mark.parametrize(("drift", "outcome"), [(0.1, "warn"), (0.3, "warn"), (1.0, "fail")])
def test_tells_a_wave_that_runs_ahead(physics_view, drift, outcome):
    def fast(_, points, truth):
        t, x = points.T
        return np.sin(x - (30.0 + drift) * t)[:, None]

    assert CHECK(physics_view(convection(), fields=fast)).outcome == outcome


@pytest.mark.parametrize("size", [0.0, 0.02, 0.5])
@pytest.mark.parametrize("make", [convection, heat, oscillator])
def test_silent_on_an_error_that_is_everywhere(physics_view, make, size):
    def noisy(seed, points, truth):
        return truth + size * np.random.default_rng(seed).normal(size=truth.shape)

    assert CHECK(physics_view(make(), fields=noisy)).outcome == "pass"


@pytest.mark.parametrize("make", [heat, oscillator])
def test_silent_on_zero_for_a_solution_that_decays(physics_view, make):
    """It is wrong at once, and later hardly."""
    assert CHECK(physics_view(make(), fields=lambda s, p, truth: 0.0 * truth)).outcome == "pass"


def test_silent_on_a_network_that_solved_it(physics_view, swings):
    assert CHECK(physics_view(oscillator(), swings("good"))).outcome == "pass"


def test_not_applicable_without_time(physics_view):
    with pytest.raises(NotApplicable, match="no time"):
        CHECK(physics_view(poisson(), fields=lambda s, p, truth: truth))
