"""Ordinary equations against closed forms and SciPy."""

import time

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.special import erf

from assay.errors import StudyError
from assay.physics import Boundary, Initial, Problem
from assay.physics.classical import solve_classical
from assay.physics.clock import used
from assay.physics.forcing import stretches_of
from assay.physics.gallery import oscillator
from assay.physics.gallery_inverse import LORENZ_TRUTH, lorenz_inverse
from assay.physics.solution import Table, even_points, relative_l2
from assay.physics.tracks import fractions


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


def loaded(load, exact, *, end=1.0, condition=None):
    return Problem(
        lambda d: d.u_t - load(d),
        {"t": (0.0, end)},
        conditions=condition or Initial("u", 1.0),
        exact=exact,
    )


def ramp(t):
    return 1.0 + np.maximum(t - 0.5, 0.0)


def stairs(t):
    n = np.floor(10.0 * t)
    return 1.0 + n * (n - 1.0) / 20.0 + n * (t - n / 10.0)


JUMPS = {
    "step": loaded(lambda d: jnp.where(d.t < 0.5, 0.0, 1.0), ramp),
    "from the other end": loaded(
        lambda d: jnp.where(d.t < 0.5, 0.0, 1.0),
        ramp,
        condition=Boundary("u", "t", 1.5, side="high"),
    ),
    "stairs": loaded(lambda d: jnp.floor(10.0 * d.t), stairs),
    "by the field": loaded(
        lambda d: jnp.where(d.u < 1.5, 1.0, 2.0),
        lambda t: np.where(t < 0.5, 1.0 + t, 1.5 + 2.0 * (t - 0.5)),
    ),
    "stiff": Problem(
        lambda d: d.u_t + 1e5 * (d.u - jnp.where(d.t < 0.5, 0.0, 1.0)),
        {"t": (0.0, 1.0)},
        conditions=Initial("u", 1.0),
        exact=lambda t: np.where(
            t < 0.5, np.exp(-1e5 * t), 1.0 - np.exp(-1e5 * np.maximum(t - 0.5, 0.0))
        ),
    ),
}


@pytest.mark.parametrize("which", JUMPS)
def test_a_jump_neither_stops_the_march_nor_makes_its_table_swing(which):
    problem = JUMPS[which]
    solution = solve_classical(problem, tolerance=1e-6)
    assert solution.status == "converged"
    assert true_error(solution) <= 2 * max(solution.error, 1e-12)
    assert all(true_error(solve_classical(problem, level=level)) < 1e-4 for level in (0, 4, 9))


@pytest.mark.parametrize("width", [1e-4, 1e-3, 1e-1])
@pytest.mark.parametrize("middle", [6.3217, 0.9, 3.141])
def test_a_flare_is_not_stepped_over(width, middle):
    def exact(t):
        return 1.0 + np.sqrt(np.pi) / 2.0 * (erf((t - middle) / width) + erf(middle / width))

    problem = loaded(lambda d: jnp.exp(-(((d.t - middle) / width) ** 2)) / width, exact, end=10.0)
    solution = solve_classical(problem, tolerance=1e-6)
    assert solution.status == "converged"
    assert true_error(solution) <= 1e-6


def test_only_events_cut_the_time():
    smooth = loaded(lambda d: jnp.cos(300.0 * d.t), None)
    with jax.enable_x64(True):
        for problem in (smooth, oscillator()):
            assert len(stretches_of(problem, "t", problem.known)) == 1
        step = stretches_of(JUMPS["step"], "t", {})
        assert len(stretches_of(JUMPS["stairs"], "t", {})) == 10
    assert [part.begin for part in step] == [0.0, pytest.approx(0.5, abs=1e-12)]
    assert step[0].last < 0.5 <= step[1].first


def test_polynomials_of_single_steps_are_kept_exactly():
    ends = np.array([0.0, 1e-9, 0.1, 0.7, 0.7 + 1e-12, 3.0])
    inside = fractions(3)[:-1]
    times = np.append((ends[:-1, None] + np.diff(ends)[:, None] * inside).ravel(), 3.0)

    def kinked(t):
        return np.abs(t - 0.7) ** 3 + np.maximum(t - 0.1, 0.0)

    values = np.stack([np.full_like(times, 2.0), kinked(times)])[..., None]
    table = Table((np.array([0.0, 1.0]), times), values, (1, 3), by_steps=1)
    probe = np.linspace(0.0, 3.0, 77)
    found = table.at(np.stack([np.ones(77), probe], axis=1))[:, 0]
    assert np.abs(found - kinked(probe)).max() < 1e-12


def test_what_turns_stiff_on_the_way_is_marched_implicitly():
    robertson = Problem(
        lambda d: (
            d.x_t + 0.04 * d.x - 1e4 * d.y * d.z,
            d.y_t - 0.04 * d.x + 1e4 * d.y * d.z + 3e7 * d.y**2,
            d.z_t - 3e7 * d.y**2,
        ),
        {"t": (0.0, 1000.0)},
        fields=("x", "y", "z"),
        conditions=(Initial("x", 1.0), Initial("y", 0.0), Initial("z", 0.0)),
    )
    solution = solve_classical(robertson, tolerance=1e-5)
    assert "Radau" in solution.method
    assert solution.trusted
    # Hairer and Wanner, Solving Ordinary Differential Equations II, at t = 40
    assert solution.at([[40.0]])[0, 0] == pytest.approx(0.7158270688, abs=1e-5)


def test_what_stays_mild_is_marched_explicitly():
    assert "DOP853" in solve_classical(oscillator(), tolerance=1e-8).method


def test_the_clock_of_a_budget_stands_still_while_others_work():
    begun = used()
    time.sleep(0.3)
    waited = used() - begun
    end = time.process_time() + 0.2
    while time.process_time() < end:
        pass
    assert waited < 0.1
    assert 0.1 < used() - begun - waited < 0.6


@pytest.mark.parametrize("size", [1e-30, 1e-13, 1e-9, 1.0, 1e9])
def test_units_do_not_matter(size):
    problem = Problem(
        lambda d: d.u_t + 3.0 * d.u,
        {"t": (0.0, 1.0)},
        conditions=Initial("u", size),
        exact=lambda t: size * np.exp(-3.0 * t),
    )
    solution = solve_classical(problem, tolerance=1e-6)
    assert solution.trusted
    assert true_error(solution) <= 1e-6


HOPELESS = {
    "divided by zero": (lambda d: d.u_t + d.u / d.t, 1.0, (0.0, 1.0), "no finite rate"),
    "infinite": (lambda d: d.u_t + jnp.inf * d.u, 1.0, (0.0, 1.0), "no finite rate"),
    "no number": (lambda d: d.u_t + jnp.nan * d.u, 1.0, (0.0, 1.0), "no finite rate"),
    "square": (lambda d: d.u_t**2 - d.u**2, 1.0, (0.0, 1.0), "no finite rate"),
    "no root": (lambda d: d.u_t**2 + 1.0, 1.0, (0.0, 1.0), "no finite rate"),
    "huge": (lambda d: d.u_t + d.u, 1e200, (0.0, 1.0), "above 1e"),
    "endless": (lambda d: d.u_t + d.u, 1.0, (0.0, 1e300), "too large or too small"),
}


@pytest.mark.filterwarnings("ignore:overflow encountered in cast")  # 1e200, when it is declared
@pytest.mark.parametrize("which", HOPELESS)
def test_what_is_no_number_is_named_at_once(which):
    equation, start, span, said = HOPELESS[which]
    problem = Problem(equation, {"t": span}, conditions=Initial("u", start))
    with pytest.raises(StudyError, match=said):
        solve_classical(problem, seconds=10.0)


def test_a_logarithm_of_what_stays_positive_is_solved():
    problem = Problem(
        lambda d: d.u_t + d.u * jnp.log(d.u) + d.u,
        {"t": (0.0, 1.0)},
        conditions=Initial("u", 1.0),
        exact=lambda t: np.exp(np.exp(-t) - 1.0),
    )
    assert true_error(solve_classical(problem, tolerance=1e-6)) <= 1e-6


def test_a_solution_prints_as_one_line_and_predicts():
    solution = solve_classical(oscillator(), tolerance=1e-6)
    assert "\n" not in repr(solution)
    assert len(repr(solution)) < 150
    assert "converged" in repr(solution)
    assert (solution.predict([[0.5]]) == solution.at([[0.5]])).all()
