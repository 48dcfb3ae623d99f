"""Stationary and boundary-value problems against closed forms and SciPy."""

import jax.numpy as jnp
import numpy as np
import pytest
from scipy.integrate import solve_bvp

from assay.errors import StudyError
from assay.physics import Boundary, Face, Periodic, Problem, UnknownField
from assay.physics.classical import solve_classical
from assay.physics.gallery import helmholtz, poisson
from assay.physics.solution import even_points, relative_l2

LINE = {"x": (0.0, 1.0)}
SQUARE = {"x": (0.0, 1.0), "y": (0.0, 1.0)}


def true_error(solution):
    points = even_points(solution.problem)
    return relative_l2(solution.at(points), solution.problem.exact_at(points))


def honest(solution, tolerance):
    assert solution.status == "converged"
    assert solution.error <= tolerance
    assert true_error(solution) <= 2 * max(solution.error, 1e-13)
    return True


@pytest.mark.parametrize("make", [poisson, helmholtz])
def test_gallery_reaches_1e8(make):
    assert honest(solve_classical(make(), tolerance=1e-8), 1e-8)


def test_boundary_values_of_an_ordinary_equation():
    problem = Problem(
        lambda d: d.u_xx + jnp.pi**2 / 4 * d.u,
        LINE,
        conditions=(Boundary("u", "x", 0.0, "low"), Boundary("u", "x", 1.0, "high")),
        exact=lambda x: np.sin(np.pi * x / 2),
    )
    assert honest(solve_classical(problem, tolerance=1e-9), 1e-9)


def test_nonlinear_boundary_values_against_scipy():
    problem = Problem(lambda d: d.u_xx + jnp.exp(d.u), LINE, conditions=(Boundary("u", "x", 0.0),))
    solution = solve_classical(problem, tolerance=1e-8)
    x = np.linspace(0.0, 1.0, 51)
    run = solve_bvp(
        lambda _, y: np.stack([y[1], -np.exp(y[0])]),
        lambda a, b: np.array([a[0], b[0]]),
        x,
        np.zeros((2, 51)),
        tol=1e-10,
    )
    assert np.abs(solution.at(x[:, None])[:, 0] - run.sol(x)[0]).max() < 1e-8


def test_a_beam_of_fourth_order():
    # Clamped at both ends under an even load.
    problem = Problem(
        lambda d: d.w_xxxx - 24.0,
        LINE,
        fields="w",
        conditions=(Boundary("w", "x", 0.0), Boundary("w_x", "x", 0.0)),
        exact=lambda x: x**2 * (1 - x) ** 2,
    )
    assert honest(solve_classical(problem, tolerance=1e-8), 1e-8)


def test_a_thin_layer():
    e = 1e-3
    problem = Problem(
        lambda d: e * d.u_xx - d.u_x,
        LINE,
        conditions=(Boundary("u", "x", 0.0, "low"), Boundary("u", "x", 1.0, "high")),
        exact=lambda x: np.exp((x - 1) / e) - np.exp(-1 / e),
    )
    assert honest(solve_classical(problem, tolerance=1e-6), 1e-6)


def test_a_singular_point_at_the_centre():
    # Lane and Emden, index 1: u = sin(x) / x.
    problem = Problem(
        lambda d: d.x * d.u_xx + 2.0 * d.u_x + d.x * d.u,
        {"x": (0.0, 2.0)},
        conditions=(Boundary("u_x", "x", 0.0, "low"), Boundary("u", "x", np.sin(2) / 2, "high")),
        exact=lambda x: np.sinc(x / np.pi),
    )
    assert honest(solve_classical(problem, tolerance=1e-9), 1e-9)


def test_a_system_with_a_mixed_end():
    problem = Problem(
        lambda d: (d.u_xx - d.v, d.v_xx - d.u),
        LINE,
        fields=("u", "v"),
        conditions=(
            Boundary("u", "x", 1.0, "low"),
            Boundary("v", "x", 1.0, "low"),
            Face(lambda d: d.u_x + d.u, "x", "high"),
            Face(lambda d: d.v_x + d.v, "x", "high"),
        ),
        exact=lambda x: (np.exp(-x), np.exp(-x)),
    )
    assert honest(solve_classical(problem, tolerance=1e-9), 1e-9)


def test_neumann_faces_and_a_ring():
    problem = Problem(
        lambda d: (
            d.u_xx
            + d.u_yy
            - d.u
            + 2.0 * jnp.cos(d.y) * jnp.cos(jnp.pi * d.x) * (1.0 + jnp.pi**2 / 2)
        ),
        {"x": (0.0, 1.0), "y": (0.0, 2 * np.pi)},
        conditions=(Boundary("u_x", "x", 0.0), Periodic("y")),
        exact=lambda x, y: np.cos(y) * np.cos(np.pi * x),
    )
    assert honest(solve_classical(problem, tolerance=1e-8), 1e-8)


def test_three_variables():
    problem = Problem(
        lambda d: d.u_xx + d.u_yy + d.u_zz - 3.0 * d.u,
        {"x": (0.0, 1.0), "y": (0.0, 1.0), "z": (0.0, 1.0)},
        conditions=(
            Boundary("u", "x", lambda y, z: jnp.exp(y + z), "low"),
            Boundary("u", "x", lambda y, z: jnp.exp(1 + y + z), "high"),
            Boundary("u", "y", lambda x, z: jnp.exp(x + z), "low"),
            Boundary("u", "y", lambda x, z: jnp.exp(1 + x + z), "high"),
            Boundary("u", "z", lambda x, y: jnp.exp(x + y), "low"),
            Boundary("u", "z", lambda x, y: jnp.exp(1 + x + y), "high"),
        ),
        exact=lambda x, y, z: np.exp(x + y + z),
    )
    assert honest(solve_classical(problem, tolerance=1e-5), 1e-5)


def test_conditions_that_leave_the_solution_open_are_refused():
    slopes = Problem(
        lambda d: d.u_xx + d.u_yy - jnp.cos(jnp.pi * d.x),
        SQUARE,
        conditions=(Boundary("u_x", "x", 0.0), Boundary("u_y", "y", 0.0)),
    )
    with pytest.raises(StudyError, match="do not fix a solution"):
        solve_classical(slopes)


def test_an_equation_without_solution_is_refused():
    # Bratu's problem has no solution above 3.5138.
    problem = Problem(
        lambda d: d.u_xx + 6.0 * jnp.exp(d.u), LINE, conditions=(Boundary("u", "x", 0.0),)
    )
    with pytest.raises(StudyError, match="Newton"):
        solve_classical(problem)


def test_unknown_coefficients_are_refused():
    problem = Problem(
        lambda d: d.a * d.u_xx + d.a_x * d.u_x + 1.0,
        LINE,
        conditions=(Boundary("u", "x", 0.0),),
        coefficients={"a": UnknownField("x", 0.5, 2.0)},
    )
    with pytest.raises(StudyError, match="unknown field"):
        solve_classical(problem)


def test_a_single_level_and_its_range():
    coarse, fine = (solve_classical(poisson(), level=level) for level in (0, 2))
    assert true_error(fine) < 1e-3 * true_error(coarse)
    with pytest.raises(StudyError, match="`level`"):
        solve_classical(poisson(), level=50)
