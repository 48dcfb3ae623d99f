"""Ordinary equations against closed forms and SciPy."""

import jax.numpy as jnp
import numpy as np
import pytest
from scipy.integrate import solve_ivp

from assay.errors import StudyError
from assay.physics import Initial, Problem
from assay.physics.classical import solve_classical
from assay.physics.gallery import oscillator
from assay.physics.gallery_inverse import LORENZ_TRUTH, lorenz_inverse
from assay.physics.solution import even_points, relative_l2


def true_error(solution):
    points = even_points(solution.problem)
    return relative_l2(solution.at(points), solution.problem.exact_at(points))


@pytest.mark.parametrize("tolerance", [1e-4, 1e-6, 1e-8, 1e-10])
def test_oscillator_reaches_what_it_says(tolerance):
    solution = solve_classical(oscillator(), tolerance=tolerance)
    assert solution.status == "converged"
    assert solution.error <= tolerance
    assert true_error(solution) <= 2 * solution.error


def test_derivatives_come_from_the_same_table():
    solution = solve_classical(oscillator(), tolerance=1e-8)
    t = np.linspace(0.0, 2.0, 50)[:, None]
    w0, zeta = 2 * np.pi, 0.1
    wd = w0 * np.sqrt(1 - zeta**2)
    slope = -np.exp(-zeta * w0 * t) * w0**2 / wd * np.sin(wd * t)
    assert np.abs(solution.derivative("u_t", t) - slope[:, 0]).max() < 1e-5


def test_parameters_override_without_compiling_again():
    problem = oscillator()
    solve_classical(problem, tolerance=1e-6)
    undamped = solve_classical(problem, {"zeta": 0.0}, tolerance=1e-8)
    t = np.linspace(0.0, 2.0, 101)[:, None]
    assert np.abs(undamped.at(t)[:, 0] - np.cos(2 * np.pi * t[:, 0])).max() < 1e-7
    assert undamped.seconds < 2.0


def test_system_against_scipy():
    problem = lorenz_inverse()
    solution = solve_classical(problem, LORENZ_TRUTH, tolerance=1e-8)
    assert true_error(solution) <= 2 * max(solution.error, 1e-10)


def test_fourth_order():
    problem = Problem(
        lambda d: d.u_tttt - d.u,
        {"t": (0.0, 3.0)},
        conditions=(
            Initial("u", 1.0),
            Initial("u_t", 0.0),
            Initial("u_tt", -1.0),
            Initial("u_ttt", 0.0),
        ),
        exact=lambda t: np.cos(t),
    )
    solution = solve_classical(problem, tolerance=1e-9)
    assert true_error(solution) <= 2e-9


def test_stiff_equations_are_marched_implicitly():
    problem = Problem(
        lambda d: d.u_t + 1e5 * (d.u - jnp.cos(d.t)),
        {"t": (0.0, 10.0)},
        conditions=(Initial("u", 0.0),),
        exact=lambda t: (1e10 * np.cos(t) + 1e5 * np.sin(t) - 1e10 * np.exp(-1e5 * t)) / (1e10 + 1),
    )
    solution = solve_classical(problem, tolerance=1e-6)
    assert "Radau" in solution.method
    assert solution.seconds < 10
    assert true_error(solution) <= 2e-6


def test_not_affine_in_the_highest_derivative():
    problem = Problem(
        lambda d: d.u_t + 0.1 * d.u_t**3 + d.u,
        {"t": (0.0, 2.0)},
        conditions=(Initial("u", 1.0),),
    )
    solution = solve_classical(problem, tolerance=1e-8)

    def slope(_, u):
        real = [r.real for r in np.roots([0.1, 0.0, 1.0, u[0]]) if abs(r.imag) < 1e-12]
        return real[:1]

    run = solve_ivp(slope, (0.0, 2.0), [1.0], "DOP853", rtol=1e-11, atol=1e-12)
    assert abs(solution.at([[2.0]])[0, 0] - run.y[0, -1]) < 1e-8


def test_a_single_level_is_faster_and_coarser():
    coarse = solve_classical(oscillator(), level=0)
    fine = solve_classical(oscillator(), level=6)
    assert coarse.status == fine.status == "single level"
    assert true_error(fine) < 1e-3 * true_error(coarse)
    assert len(coarse.levels) == 1


def decay(*conditions, equation=lambda d: d.u_tt + d.u):
    return Problem(equation, {"t": (0.0, 1.0)}, conditions=conditions)


def test_a_missing_start_value_is_named():
    with pytest.raises(StudyError, match=r"does not say u_t at t = 0"):
        solve_classical(decay(Initial("u", 1.0)))


def test_a_start_value_too_many_is_named():
    with pytest.raises(StudyError, match="start says u_t"):
        solve_classical(
            decay(Initial("u", 1.0), Initial("u_t", 0.0), equation=lambda d: d.u_t + d.u)
        )


def test_a_solution_that_runs_away_is_reported():
    problem = decay(Initial("u", 1.0), equation=lambda d: d.u_t - 2.0 * d.u**2)
    with pytest.raises(StudyError, match=r"cannot go beyond t = 0\.5"):
        solve_classical(problem)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"parameters": {"zetta": 1.0}}, "no parameter 'zetta'"),
        ({"parameters": {"zeta": float("nan")}}, "must be finite"),
        ({"tolerance": 0.5}, "`tolerance`"),
        ({"seconds": 0.0}, "`seconds`"),
        ({"level": 99}, "`level`"),
    ],
)
def test_wrong_options_are_named(options, said):
    with pytest.raises(StudyError, match=said):
        solve_classical(oscillator(), **options)


def test_points_outside_the_box_are_refused():
    solution = solve_classical(oscillator(), level=1)
    with pytest.raises(ValueError, match="outside the box"):
        solution.at([[3.0]])
    with pytest.raises(ValueError, match="shape"):
        solution.at([1.0])
