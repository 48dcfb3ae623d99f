"""P13: unknowns that the readings do not determine."""

import numpy as np
import pytest

from assay.checks import NotApplicable
from assay.physics.baselines import ClassicalSolver
from assay.physics.checks_inverse import Unidentifiable
from assay.physics.conditions import Initial, Measured, Unknown
from assay.physics.inverse_baseline import LeastSquaresFit
from assay.physics.problem import Problem
from assay.physics.reference import Reference
from assay.physics.view import PhysicsView

CHECK = Unidentifiable()
SEEDS = [*range(3), *(pytest.param(s, marks=pytest.mark.slow) for s in range(3, 10))]
T = np.linspace(0.1, 1.0, 15)


def decay(equation, unknown, seed, *, sigma=0.02, low=0.1):
    values = np.exp(-1.5 * T) + 0.02 * np.random.default_rng(seed).normal(size=len(T))
    return Problem(
        equation,
        {"t": (0.0, 3.0)},
        conditions=(Initial("u", 1.0),),
        parameters={name: Unknown(low, 10.0) for name in unknown},
        readings=(Measured("u", {"t": T}, values, sigma),),
    )


def view_of(problem, solver):
    points = np.linspace(0.0, 3.0, 31)[:, None]
    exact = np.exp(-1.5 * points)
    return PhysicsView(problem, (), Reference(points, exact, 0.0, "exact"), np.empty(0),
                       np.empty(0), solver.fit(problem), 0.0)  # fmt: skip


def late(d):
    """Return an equation in which `b` acts after two seconds, when all readings are over."""
    import jax.numpy as jnp

    return d.u_t + d.a * d.u + d.b * jnp.maximum(d.t - 2.0, 0.0) ** 3 * d.u


@pytest.mark.parametrize("seed", SEEDS)
def test_fails_on_a_product_of_two_unknowns(seed):
    problem = decay(lambda d: d.u_t + d.a * d.b * d.u, "ab", seed)
    found = CHECK(view_of(problem, LeastSquaresFit()))
    assert found.outcome == "fail"
    assert found.measured > 0.9
    assert "a, b" in found.sentence


@pytest.mark.parametrize("seed", SEEDS)
def test_fails_on_what_acts_after_the_last_reading(seed):
    problem = decay(late, "ab", seed)
    found = CHECK(view_of(problem, LeastSquaresFit()))
    assert found.outcome == "fail"
    assert found.measured > 0.9
    assert "do not determine b:" in found.sentence


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("sigma", [0.02, None])
def test_silent_where_one_rate_is_read(seed, sigma):
    problem = decay(lambda d: d.u_t + d.a * d.u, "a", seed, sigma=sigma)
    found = CHECK(view_of(problem, LeastSquaresFit()))
    assert found.outcome == "pass"
    assert found.measured < 0.1


def test_two_minima_far_apart_count_as_one_wide_interval():
    problem = Problem(
        lambda d: d.u_t + d.a**2 * d.u,
        {"t": (0.0, 1.0)},
        conditions=(Initial("u", 1.0),),
        parameters={"a": Unknown(-2.0, 2.0, start=0.5, scale="linear")},
        readings=(Measured("u", {"t": T}, np.exp(-1.5 * T), 0.01),),
    )
    fit = LeastSquaresFit(random_state=1)
    found = CHECK(view_of(problem, fit))
    assert found.outcome == "fail"
    # From -sqrt(1.5) to sqrt(1.5) of a range of 4, and a little more for the interval.
    assert found.measured == pytest.approx(np.sqrt(1.5) / 2, abs=0.02)


def test_not_applicable_where_nothing_is_to_be_found():
    problem = Problem(
        lambda d: d.u_t + d.u, {"t": (0.0, 3.0)}, conditions=(Initial("u", 1.0),)
    )  # fmt: skip
    with pytest.raises(NotApplicable, match="Nothing"):
        CHECK(view_of(problem, ClassicalSolver(tolerance=1e-4)))


@pytest.mark.parametrize("seed", SEEDS)
def test_warns_where_the_best_value_is_the_end_of_the_range(seed):
    """A decay at 1.5 and a range from 2 on: the least of it fits best."""
    problem = decay(lambda d: d.u_t + d.a * d.u, "a", seed, low=2.0)
    found = CHECK(view_of(problem, LeastSquaresFit()))
    assert found.outcome == "warn"
    assert "end of the declared range: a (2" in found.sentence
    healthy = decay(lambda d: d.u_t + d.a * d.u, "a", seed)
    assert CHECK(view_of(healthy, LeastSquaresFit())).outcome == "pass"
