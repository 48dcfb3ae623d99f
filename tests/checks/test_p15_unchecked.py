"""P15: what was brought from outside and cannot be verified."""

import numpy as np
import pytest

from assay.checks import NotApplicable, run_checks
from assay.physics.brought import BroughtFunction, BroughtObject
from assay.physics.checks import CHECKS, Unchecked
from assay.physics.gallery import heat, oscillator, wave

CHECK = Unchecked()


class Solver:
    """An object that is trained in the study, and has nothing but what is asked of it."""

    def fit(self, problem):
        self.problem = problem

    def predict(self, points):
        return self.problem.exact_at(points)


@pytest.mark.parametrize("make", [oscillator, heat, wave])
def test_warns_on_a_function(physics_view, make):
    problem = make()
    brought = BroughtFunction(problem.exact_at).fit(problem)
    found = CHECK(physics_view(problem, [brought]))
    assert found.outcome == "warn"
    assert "fit(problem)" in found.fix[0]


@pytest.mark.parametrize("make", [oscillator, heat, wave])
def test_not_applicable_to_what_the_study_trained(physics_view, swings, make):
    brought = BroughtObject(Solver()).fit(make())
    for problem, candidate in ((make(), [brought]), (oscillator(), swings("good"))):
        with pytest.raises(NotApplicable, match="trained in this study"):
            CHECK(physics_view(problem, candidate))


@pytest.mark.parametrize("make", [oscillator, heat, wave])
@pytest.mark.parametrize("part", [0.0, 1.0])
def test_no_check_crashes_on_a_brought_function(physics_view, make, part):
    problem = make()
    brought = BroughtFunction(lambda p: part * problem.exact_at(p)).fit(problem)
    found = run_checks(CHECKS, physics_view(problem, [brought] * 2))
    assert [f.sentence for f in found if f.outcome == "error"] == []
    failed = {f.code for f in found if f.outcome == "fail"}
    assert failed == (set() if part else {"P04", "P16"})
    assert np.all([f.code.startswith("P") for f in found])
