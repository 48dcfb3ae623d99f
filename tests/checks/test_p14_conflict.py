"""P14: readings that the equation cannot explain."""

import numpy as np
import pytest

from assay.checks import NotApplicable
from assay.physics.checks_inverse import DataInConflict
from assay.physics.conditions import Initial, Measured, Unknown
from assay.physics.gallery_inverse import oscillator_inverse
from assay.physics.inverse_baseline import LeastSquaresFit
from assay.physics.problem import Problem
from assay.physics.reference import Reference
from assay.physics.view import PhysicsView

CHECK = DataInConflict()
SEEDS = [*range(3), *(pytest.param(s, marks=pytest.mark.slow) for s in range(3, 10))]
W0 = 2.0 * np.pi


def view_of(problem):
    points = np.linspace(0.0, 2.0, 11)[:, None]
    reference = Reference(points, np.zeros((11, 1)), 0.0, "none")
    fit = LeastSquaresFit().fit(problem)
    return PhysicsView(problem, (), reference, np.empty(0), np.empty(0), fit, 0.0)


@pytest.mark.parametrize("seed", SEEDS)
def test_fails_on_a_wrong_sign(seed):
    wrong = lambda d: d.u_tt - 2.0 * d.zeta * d.w0 * d.u_t + d.w0**2 * d.u
    found = CHECK(view_of(oscillator_inverse(seed).replace(equation=wrong)))
    assert found.outcome == "fail"
    assert found.measured > 10 * found.threshold


@pytest.mark.parametrize("seed", SEEDS)
def test_fails_on_a_missing_term(seed):
    # The oscillator without its spring cannot swing.
    wrong = lambda d: d.u_tt + 2.0 * d.zeta * d.w0 * d.u_t
    found = CHECK(view_of(oscillator_inverse(seed).replace(equation=wrong)))
    assert found.outcome == "fail"
    assert found.measured > 10 * found.threshold


@pytest.mark.parametrize("seed", SEEDS)
def test_silent_on_the_right_equation(seed):
    found = CHECK(view_of(oscillator_inverse(seed)))
    assert found.outcome == "pass"
    assert found.measured < found.threshold


@pytest.mark.parametrize("seed", SEEDS)
def test_noise_five_times_larger_than_stated_fails(seed):
    problem = oscillator_inverse(seed, noise=0.1)
    (reading,) = problem.readings
    told = Measured("u", reading.at, reading.values, 0.02)
    assert CHECK(view_of(problem.replace(readings=(told,)))).outcome == "fail"
    assert CHECK(view_of(problem)).outcome == "pass"


def test_threshold_is_the_quantile_of_chi_square():
    # 21 readings and one unknown: 20 degrees of freedom; the table gives 52.386 at 0.0001.
    t = np.linspace(0.1, 2.0, 21)
    problem = Problem(
        lambda d: d.u_t + d.k * d.u,
        {"t": (0.0, 2.0)},
        conditions=(Initial("u", 1.0),),
        parameters={"k": Unknown(0.1, 10.0)},
        readings=(Measured("u", {"t": t}, np.exp(-t), 0.05),),
    )
    assert CHECK(view_of(problem)).threshold == pytest.approx(52.386 / 20, rel=1e-4)


def test_not_applicable_without_the_noise_of_equal_readings():
    problem = oscillator_inverse(0)
    (reading,) = problem.readings
    told = Measured("u", reading.at, np.full(len(reading.values), 0.3))
    with pytest.raises(NotApplicable, match="noise"):
        CHECK(view_of(problem.replace(readings=(told,))))


def without_sigma(problem):
    told = tuple(Measured(r.name, r.at, r.values) for r in problem.readings)
    return problem.replace(readings=told)


@pytest.mark.parametrize("seed", SEEDS)
def test_without_the_noise_a_misfit_above_the_spread_fails(seed):
    """A growing solution for readings that decay: their mean would be nearer."""
    problem = cooling(seed, sign=-1.0)
    found = CHECK(view_of(problem))
    assert found.outcome == "fail"
    assert found.measured > 2.0
    assert "mean alone would be nearer" in found.sentence


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("noise", [0.5, 40.0])
def test_without_the_noise_the_right_equation_is_silent(seed, noise):
    """However large the noise is: 40 K is twice what the temperature moves by."""
    found = CHECK(view_of(cooling(seed, noise=noise)))
    assert found.outcome == "pass"
    assert found.measured < 1.2


def test_without_the_noise_readings_in_another_unit_fail():
    (reading,) = cooling(0).readings
    metres = Measured("T", reading.at, reading.values / 1e3)
    assert CHECK(view_of(cooling(0).replace(readings=(metres,)))).outcome == "fail"


def test_spread_is_that_of_each_field():
    problem = without_sigma(oscillator_inverse(0))
    (reading,) = problem.readings
    fit = LeastSquaresFit().fit(problem)
    points = np.asarray(reading.at["t"])[:, None]
    miss = fit.solution_.at(points)[:, 0] - reading.values
    expected = np.sqrt(np.mean(miss**2)) / np.std(reading.values)
    assert CHECK(view_of(problem)).measured == pytest.approx(expected, rel=1e-6)


def cooling(seed, *, sign=1.0, noise=0.5):
    t = np.linspace(0.1, 3.0, 40)
    clean = 20.0 + 70.0 * np.exp(-0.8 * t)
    values = clean + noise * np.random.default_rng(seed).normal(size=40)
    return Problem(
        lambda d: d.T_t + sign * d.k * (d.T - 20.0),
        {"t": (0.0, 3.0)},
        fields="T",
        conditions=(Initial("T", 90.0),),
        parameters={"k": Unknown(0.05, 5.0)},
        readings=(Measured("T", {"t": t}, values),),
    )
