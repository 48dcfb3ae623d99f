"""P02: a reference that is no better than what it judges."""

import dataclasses
import types

import pytest

from assay.physics.checks import ReferenceNotConverged
from assay.physics.classical import solve_classical
from assay.physics.gallery import oscillator

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
    for estimate, error in ((settled, 1e-3), (1e-3, off)):
        solver = types.SimpleNamespace(estimate_=estimate)
        assert CHECK(dataclasses.replace(view, solver=solver, solver_error=error)).outcome == "pass"
