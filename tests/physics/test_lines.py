"""Evolution equations against closed forms, each with an honest estimate of its error."""

from types import SimpleNamespace

import jax.numpy as jnp
import numpy as np
import pytest

from assay.errors import StudyError
from assay.physics import Boundary, Face, Initial, Periodic, Problem, refining
from assay.physics.classical import solve_classical
from assay.physics.gallery import (
    allen_cahn_deepxde,
    allen_cahn_wang,
    burgers,
    convection,
    heat,
    heat_fast,
    reaction,
    wave,
)
from assay.physics.solution import even_points, relative_l2

BOX = {"t": (0.0, 0.5), "x": (0.0, 1.0)}
SINE = Initial("u", lambda x: jnp.sin(jnp.pi * x))


def true_error(solution):
    points = even_points(solution.problem)
    return relative_l2(solution.at(points), solution.problem.exact_at(points))


def honest(solution, tolerance):
    assert solution.status == "converged"
    assert solution.error <= tolerance
    assert true_error(solution) <= 2 * solution.error
    return True


@pytest.mark.parametrize("make", [heat, convection, wave, reaction])
def test_smooth_problems_reach_1e8(make):
    solution = solve_classical(make(), tolerance=1e-8)
    assert honest(solution, 1e-8)
    assert "Chebyshev" in solution.method or "Fourier" in solution.method


def test_burgers_front_reaches_1e6():
    solution = solve_classical(burgers(), tolerance=1e-6)
    assert honest(solution, 1e-6)
    assert "graded" in solution.method
    assert len(solution.levels) >= 2


def test_burgers_at_another_viscosity_without_compiling():
    from assay.physics.known import burgers_exact

    problem = burgers()
    solution = solve_classical(problem, {"nu": 0.05}, tolerance=1e-6)
    points = even_points(problem)
    truth = burgers_exact(points[:, 0], points[:, 1], 0.05)[:, None]
    assert relative_l2(solution.at(points), truth) <= 2e-6


def periodic_reference(diffusivity, n=4096):
    """AC-Wang at t = 1 by another method: Fourier in space, fourth-order exponential steps."""
    x = -1.0 + 2.0 * np.arange(n) / n
    k = np.pi * np.fft.rfftfreq(n, 1.0 / n)
    linear, h = -diffusivity * k**2, 1e-3
    e, e2 = np.exp(h * linear), np.exp(h * linear / 2)
    around = np.exp(1j * np.pi * (np.arange(32) + 0.5) / 32)
    z = h * linear[:, None] + around
    q = h * np.mean((np.exp(z / 2) - 1) / z, axis=1).real
    f1 = h * np.mean((-4 - z + np.exp(z) * (4 - 3 * z + z**2)) / z**3, axis=1).real
    f2 = h * np.mean((2 + z + np.exp(z) * (-2 + z)) / z**3, axis=1).real
    f3 = h * np.mean((-4 - 3 * z - z**2 + np.exp(z) * (4 - z)) / z**3, axis=1).real

    def rest(v):
        u = np.fft.irfft(v, n)
        return np.fft.rfft(5.0 * (u - u**3))

    v = np.fft.rfft(x**2 * np.cos(np.pi * x))
    for _ in range(1000):
        nv = rest(v)
        a = e2 * v + q * nv
        na = rest(a)
        b = e2 * v + q * na
        nb = rest(b)
        c = e2 * a + q * (2 * nb - nv)
        v = e * v + nv * f1 + 2 * (na + nb) * f2 + rest(c) * f3
    return x, np.fft.irfft(v, n)


@pytest.mark.slow
def test_allen_cahn_of_wang_against_exponential_steps():
    problem = allen_cahn_wang()
    solution = solve_classical(problem, tolerance=1e-6)
    assert solution.status == "converged"
    x, u = periodic_reference(1e-4)
    found = solution.at(np.stack([np.ones_like(x), x], axis=1))[:, 0]
    assert np.linalg.norm(found - u) / np.linalg.norm(u) < 2e-6


@pytest.mark.slow
def test_allen_cahn_of_deepxde_has_fixed_ends():
    solution = solve_classical(allen_cahn_deepxde(), tolerance=1e-5)
    assert solution.status == "converged"
    ends = np.array([[t, x] for t in (0.0, 0.3, 1.0) for x in (-1.0, 1.0)])
    assert np.allclose(solution.at(ends), -1.0, atol=1e-9)
    finer = solve_classical(allen_cahn_deepxde(), level=3)
    points = even_points(finer.problem)
    assert relative_l2(solution.at(points), finer.at(points)) <= 2 * solution.error


def test_the_other_heat_equation():
    assert honest(solve_classical(heat_fast(), tolerance=1e-5), 1e-5)


def test_neumann_and_robin_ends():
    # u = exp(-k^2 t) cos(k x): flat at 0, and u_x + k tan(k) u = 0 at 1.
    k = 1.3
    slope = k * float(np.tan(k))
    problem = Problem(
        lambda d: d.u_t - d.u_xx,
        BOX,
        conditions=(
            Initial("u", lambda x: jnp.cos(k * x)),
            Boundary("u_x", "x", 0.0, side="low"),
            Face(lambda d: d.u_x + slope * d.u, "x", side="high"),
        ),
        exact=lambda t, x: np.exp(-(k**2) * t) * np.cos(k * x),
    )
    assert honest(solve_classical(problem, tolerance=1e-7), 1e-7)


def test_radiation_at_an_end_is_not_linear():
    # u = 1 / (1 + x + t) with u_x = -u^2 at both ends; the load makes up the rest.
    problem = Problem(
        lambda d: d.u_t - d.u_xx + (1 + d.x + d.t) ** -2 + 2 * (1 + d.x + d.t) ** -3,
        BOX,
        conditions=(
            Initial("u", lambda x: 1.0 / (1.0 + x)),
            Boundary("u", "x", lambda t: 1.0 / (1.0 + t), side="low"),
            Face(lambda d: d.u_x + d.u**2, "x", side="high"),
        ),
        exact=lambda t, x: 1.0 / (1.0 + x + t),
    )
    assert honest(solve_classical(problem, tolerance=1e-7), 1e-7)


def test_ends_that_move_in_time():
    problem = Problem(
        lambda d: d.u_tt - d.u_xx,
        BOX,
        conditions=(
            Initial("u", lambda x: jnp.sin(x)),
            Initial("u_t", lambda x: jnp.cos(x)),
            Boundary("u", "x", lambda t: jnp.sin(t), side="low"),
            Boundary("u", "x", lambda t: jnp.sin(1.0 + t), side="high"),
        ),
        exact=lambda t, x: np.sin(x + t),
    )
    assert honest(solve_classical(problem, tolerance=1e-8), 1e-8)


def test_mixed_derivatives_in_time_and_space():
    # Damping by strain rate: u = exp(-a t) cos(b t) sin(x) with a = 1/2 * 0.2, b^2 = 1 - a^2.
    a, b = 0.1, float(np.sqrt(1 - 0.01))
    problem = Problem(
        lambda d: d.u_tt - d.u_xx - 0.2 * d.u_xxt,
        {"t": (0.0, 2.0), "x": (0.0, np.pi)},
        conditions=(
            Initial("u", lambda x: jnp.sin(x)),
            Initial("u_t", lambda x: -a * jnp.sin(x)),
            Boundary("u", "x", 0.0),
        ),
        exact=lambda t, x: np.exp(-a * t) * np.cos(b * t) * np.sin(x),
    )
    assert honest(solve_classical(problem, tolerance=1e-6), 1e-6)


def test_a_system_of_two_fields():
    # Schroedinger without potential on a ring: exp(i (x - t)) is a wave.
    problem = Problem(
        lambda d: (d.a_t + d.b_xx, d.b_t - d.a_xx),
        {"t": (0.0, 1.0), "x": (0.0, 2 * np.pi)},
        fields=("a", "b"),
        conditions=(
            Initial("a", lambda x: jnp.cos(x)),
            Initial("b", lambda x: jnp.sin(x)),
            Periodic("x"),
        ),
        exact=lambda t, x: (np.cos(x - t), np.sin(x - t)),
    )
    assert honest(solve_classical(problem, tolerance=1e-7), 1e-7)


def test_fourth_order_beam():
    # A simply supported beam swings: u = cos(pi^2 t) sin(pi x).
    problem = Problem(
        lambda d: d.u_tt + d.u_xxxx,
        {"t": (0.0, 0.2), "x": (0.0, 1.0)},
        conditions=(SINE, Initial("u_t", 0.0), Boundary("u", "x", 0.0), Boundary("u_xx", "x", 0.0)),
        exact=lambda t, x: np.cos(np.pi**2 * t) * np.sin(np.pi * x),
    )
    assert honest(solve_classical(problem, tolerance=1e-6), 1e-6)


@pytest.mark.slow
def test_two_variables_of_space():
    problem = Problem(
        lambda d: d.u_t - 0.1 * (d.u_xx + d.u_yy),
        {"t": (0.0, 1.0), "x": (0.0, 1.0), "y": (0.0, 1.0)},
        conditions=(
            Initial("u", lambda x, y: jnp.sin(jnp.pi * x) * jnp.cos(jnp.pi * y)),
            Boundary("u", "x", 0.0),
            Boundary("u_y", "y", 0.0),
        ),
        exact=lambda t, x, y: np.exp(-0.2 * np.pi**2 * t) * np.sin(np.pi * x) * np.cos(np.pi * y),
    )
    assert honest(solve_classical(problem, tolerance=1e-5), 1e-5)


def test_variables_in_another_order():
    problem = Problem(
        lambda d: d.u_t - d.u_xx,
        {"x": (0.0, 1.0), "t": (0.0, 0.2)},
        conditions=(SINE, Boundary("u", "x", 0.0)),
        exact=lambda x, t: np.exp(-(np.pi**2) * t) * np.sin(np.pi * x),
    )
    assert honest(solve_classical(problem, tolerance=1e-7), 1e-7)


def test_a_condition_with_a_derivative_in_time_goes_to_all_of_time_at_once():
    # A wave leaves through the high end: u_t + u_x = 0 there.
    problem = Problem(
        lambda d: d.u_tt - d.u_xx,
        {"t": (0.0, 1.0), "x": (0.0, 1.0)},
        conditions=(
            Initial("u", lambda x: jnp.sin(x)),
            Initial("u_t", lambda x: -jnp.cos(x)),
            Boundary("u", "x", lambda t: -jnp.sin(t), side="low"),
            Face(lambda d: d.u_t + d.u_x, "x", side="high"),
        ),
        exact=lambda t, x: np.sin(x - t),
    )
    solution = solve_classical(problem, tolerance=1e-8)
    assert "collocation" in solution.method
    assert honest(solution, 1e-8)


def test_a_single_level():
    coarse, fine = (solve_classical(heat(), level=level) for level in (0, 2))
    assert np.isnan(coarse.error)
    assert true_error(fine) < 0.1 * true_error(coarse)


def test_out_of_time_says_so(monkeypatch):
    """On a clock of its own: three seconds a level, of eight."""
    now = [0.0]
    monkeypatch.setattr(refining, "time", SimpleNamespace(perf_counter=lambda: now[0]))
    monkeypatch.setattr(refining, "used", lambda: now[0])
    nodes = tuple(np.linspace(*ends, 33) for ends in heat().box.values())
    points = np.stack(np.meshgrid(*nodes, indexing="ij"), axis=-1).reshape(-1, 2)
    exact = heat().exact_at(points).reshape(33, 33, 1)

    def slow(size, deadline):
        now[0] += 3.0
        assert deadline == 8.0
        return refining.table_of(nodes, exact * (1.0 + 2.0**-size), (5, 5)), "slow", size

    solution = refining.refined(heat(), slow, range(1, 9), tolerance=1e-12, seconds=8.0)
    assert solution.status == "out of time"
    assert not solution.trusted
    assert [level.n for level in solution.levels] == [1, 2]  # a third would end after 9 s
    assert solution.seconds == 6.0


def test_no_time_at_all_says_so():
    with pytest.raises(StudyError, match="found nothing within"):
        solve_classical(burgers(), tolerance=1e-12, seconds=1e-3)


def test_a_missing_start_is_named():
    problem = Problem(lambda d: d.u_tt - d.u_xx, BOX, conditions=(SINE, Boundary("u", "x", 0.0)))
    with pytest.raises(StudyError, match="does not say u_t"):
        solve_classical(problem)


@pytest.mark.slow
def test_a_solution_that_runs_away_is_reported():
    problem = Problem(
        lambda d: d.u_t - d.u_xx - 50.0 * d.u**2, BOX, conditions=(SINE, Boundary("u", "x", 0.0))
    )
    with pytest.raises(StudyError, match="cannot go beyond t = 0"):
        solve_classical(problem, seconds=30.0)


def test_a_start_of_another_form_is_refused():
    problem = Problem(
        lambda d: d.u_t - d.u_xx,
        BOX,
        conditions=(Initial("u_x", 0.0), Boundary("u", "x", 0.0)),
    )
    with pytest.raises(StudyError, match="u_x at t = 0"):
        solve_classical(problem)


def test_a_source_that_is_switched_on_reaches_1e6():
    def switched(t, x):
        late = 1.0 - np.exp(-(np.pi**2) * np.maximum(t - 0.3, 0.0))
        return np.sin(np.pi * x) * (np.exp(-(np.pi**2) * t) + late)

    problem = Problem(
        lambda d: (
            d.u_t - d.u_xx - jnp.pi**2 * jnp.sin(jnp.pi * d.x) * jnp.where(d.t < 0.3, 0.0, 1.0)
        ),
        BOX,
        conditions=(SINE, Boundary("u", "x", 0.0)),
        exact=switched,
    )
    assert honest(solve_classical(problem, tolerance=1e-6), 1e-6)


def test_a_heated_rod_in_si_units_within_seconds():
    """A steel rod, heated at one end and cooled by air at the other: stiff on fine points."""
    heat_in, k, h, air = 5000.0, 50.0, 50.0, 293.0
    rod = Problem(
        lambda d: 7800.0 * 490.0 * d.T_t - k * d.T_xx,
        {"t": (0.0, 600.0), "x": (0.0, 0.1)},
        fields="T",
        conditions=(
            Initial("T", air),
            Boundary("T_x", "x", -heat_in / k, side="low"),
            Face(lambda d: k * d.T_x + h * (d.T - air), "x", side="high"),
        ),
    )
    solution = solve_classical(rod, tolerance=1e-6, seconds=20.0)
    assert solution.trusted
    assert "DOP853" not in solution.method
    stored = (
        7800.0
        * 490.0
        * np.trapezoid(
            solution.at(np.c_[np.full(2001, 600.0), np.linspace(0.0, 0.1, 2001)])[:, 0] - air,
            dx=5e-5,
        )
    )
    times = np.linspace(0.0, 600.0, 4001)
    lost = h * np.trapezoid(solution.at(np.c_[times, np.full(4001, 0.1)])[:, 0] - air, dx=0.15)
    assert stored + lost == pytest.approx(heat_in * 600.0, rel=1e-4)
