"""P02: a reference that is no better than what it judges."""

import dataclasses
import functools
import types

import numpy as np
import pytest

from assay.checks import NotApplicable
from assay.physics import LeastSquaresFit
from assay.physics.baselines import ClassicalSolver
from assay.physics.checks import ReferenceNotConverged
from assay.physics.classical import solve_classical
from assay.physics.gallery import heat, heat_fast, oscillator
from assay.physics.gallery_inverse import oscillator_inverse
from assay.physics.known import oscillator_exact
from assay.physics.reference import FLOOR, Reference
from assay.physics.solution import even_points, relative_l2

CHECK = ReferenceNotConverged()


def judged(physics_view, off, own, status=None):
    """Return the finding for networks off by `off`, with a reference known to `own`."""
    problem = oscillator()
    view = physics_view(problem, fields=lambda s, p, truth: (1.0 + off) * truth, error=own)
    if status:
        solution = dataclasses.replace(solve_classical(problem, level=1), status=status)
        reference = dataclasses.replace(view.reference, solution=solution)
        view = dataclasses.replace(view, reference=reference)
    return CHECK(view)


@pytest.mark.parametrize("own", [1e-2, 1e-4, 1e-7])
@pytest.mark.parametrize("off", [1.5, 0.9, 0.1])
def test_fails_where_the_solver_ran_out(physics_view, own, off):
    found = judged(physics_view, off * own, own, "out of time")
    assert found.outcome == "fail"
    assert 0.5 < found.measured <= 1.0
    assert "seconds=" in found.fix[0]


@pytest.mark.parametrize("own", [1e-2, 1e-4, 1e-7])
def test_warns_where_it_is_as_good_as_was_asked(physics_view, own):
    assert judged(physics_view, own, own, "converged").outcome == "warn"


@pytest.mark.parametrize("own", [1e-2, 1e-4, 1e-7])
@pytest.mark.parametrize("status", ["out of time", "converged"])
def test_silent_where_it_is_far_better(physics_view, own, status):
    found = judged(physics_view, 3.0 * own, own, status)
    assert found.outcome == "pass"
    assert found.measured == pytest.approx(1 / 3)


@pytest.mark.parametrize("off", [1e-15, 1e-12, 0.5])
def test_silent_on_an_exact_solution(physics_view, off):
    assert judged(physics_view, off, 1e-15).outcome == "pass"


@pytest.mark.parametrize("off", [0.02, 0.9])
@pytest.mark.parametrize("settled", [1e-12, 1e-6])
def test_fails_where_a_settled_solver_contradicts_the_exact_solution(physics_view, off, settled):
    view = physics_view(oscillator(), fields=lambda s, p, truth: truth, error=1e-15)
    solver = types.SimpleNamespace(estimate_=settled)
    found = CHECK(dataclasses.replace(view, solver=solver, solver_error=off))
    assert found.outcome == "fail"
    assert found.measured == off
    assert "sign" in found.cause
    for estimate, error in ((settled, 20 * settled), (1e-3, off)):
        solver = types.SimpleNamespace(estimate_=estimate)
        assert CHECK(dataclasses.replace(view, solver=solver, solver_error=error)).outcome == "pass"


@pytest.mark.parametrize("off", [1e-3, 0.009])
@pytest.mark.parametrize("settled", [1e-12, 1e-6])
def test_doubts_an_exact_solution_that_is_off_by_far_more_than_the_solver_says(
    physics_view, off, settled
):
    view = physics_view(oscillator(), fields=lambda s, p, truth: truth, error=1e-15)
    solver = types.SimpleNamespace(estimate_=settled)
    found = CHECK(dataclasses.replace(view, solver=solver, solver_error=off))
    assert found.outcome == "warn"
    assert "parameters" in found.cause
    rough = types.SimpleNamespace(estimate_=off / 20)
    assert CHECK(dataclasses.replace(view, solver=rough, solver_error=off)).outcome == "pass"


@pytest.mark.parametrize("make", [oscillator, heat, heat_fast], ids=lambda make: make.__name__)
@pytest.mark.parametrize("tolerance", [1e-3, 1e-7])
def test_silent_where_a_gallery_problem_is_solved(physics_view, make, tolerance):
    problem = make()
    solver = ClassicalSolver(tolerance=tolerance).fit(problem)
    points = even_points(problem)
    off = relative_l2(solver.predict(points), problem.exact_at(points))
    view = physics_view(problem, fields=lambda s, p, truth: truth, error=1e-15)
    found = CHECK(dataclasses.replace(view, solver=solver, solver_error=off))
    assert found.outcome == "pass"


@functools.cache
def inverse(seed, sigma):
    """Return an inverse problem with another statement of its noise, and the fit to it."""
    problem = oscillator_inverse(seed=seed)
    (reading,) = problem.readings
    problem = problem.replace(readings=(dataclasses.replace(reading, sigma=sigma),))
    return problem, LeastSquaresFit(tolerance=1e-6).fit(problem)


def inverse_view(problem, fit):
    """Return what a study of an inverse problem shows the check: its fit and the exact solution."""
    points = even_points(problem)
    reference = Reference(points, problem.exact_at(points), FLOOR, "the exact solution")
    return types.SimpleNamespace(
        problem=problem,
        reference=reference,
        errors=np.array([1e-3]),
        solver=fit,
        solver_error=0.01,
    )


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("noise", [0.02, None])
def test_fails_where_readings_exclude_the_exact_solution(seed, noise):
    problem, fit = inverse(seed, noise)
    wrong = problem.replace(exact=lambda t: 1.3 * oscillator_exact(t))
    found = CHECK(inverse_view(wrong, fit))
    assert found.outcome == "fail"
    assert "not what was measured" in found.sentence


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("noise", [0.02, None, 0.005])  # the last one: stated four times too small
def test_silent_where_readings_allow_it(seed, noise):
    assert CHECK(inverse_view(*inverse(seed, noise))).outcome == "pass"


def test_silent_on_readings_without_noise():
    problem = oscillator_inverse(noise=0.0)
    assert CHECK(inverse_view(problem, LeastSquaresFit().fit(problem))).outcome == "pass"


def test_says_nothing_where_the_reference_is_the_fit_itself(physics_view):
    view = physics_view(oscillator(), fields=lambda s, p, truth: truth, error=1e-15)
    reference = dataclasses.replace(view.reference, fitted=True)
    with pytest.raises(NotApplicable):
        CHECK(dataclasses.replace(view, reference=reference))


@pytest.mark.parametrize("ends", [0.02, 5.0, 550.0])
@pytest.mark.parametrize("best", [1e-9, 1e-3])
def test_fails_where_refining_made_the_solver_worse(physics_view, ends, best):
    view = physics_view(oscillator(), fields=lambda s, p, truth: truth, error=1e-15)
    truth = view.reference.fields

    def solver(*offs):
        levels = [types.SimpleNamespace(at=lambda p, off=off: (1 + off) * truth) for off in offs]
        return types.SimpleNamespace(estimate_=1e-3, levels_=levels)

    bad = dataclasses.replace(view, solver=solver(0.1, best, ends), solver_error=ends)
    found = CHECK(bad)
    assert found.outcome == "fail"
    assert "made it worse" in found.sentence
    for levels in ((ends, 0.1, best), (0.1, best, 0.009), (0.015, 0.015)):
        good = dataclasses.replace(view, solver=solver(*levels), solver_error=levels[-1])
        assert CHECK(good).outcome == "pass"
