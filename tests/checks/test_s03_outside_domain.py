"""S03: test runs outside of what was learned from."""

import numpy as np
import pytest

from assay.problems import AFTERSLIP, BOREHOLE, ISHIGAMI
from assay.surrogate import GaussianProcess
from assay.surrogate.checks import OutsideDomain
from assay.surrogate.response_surface import ResponseSurface

CHECK = OutsideDomain()
SEEDS = [*range(4), *(pytest.param(s, marks=pytest.mark.slow) for s in range(4, 30))]


def stretched(problem, seed, n, factor):
    """Return runs from a box that reaches further up by a factor in its first input."""
    X = problem.sample(n, 1000 + seed, kind="random")
    low = problem.low[0]
    X[:, 0] = low + factor * (X[:, 0] - low)
    return X, problem(X)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("problem", [BOREHOLE, ISHIGAMI], ids=lambda p: p.name)
def test_warns_on_a_wider_box(surrogate_view, problem_parts, problem, seed):
    fit, held, _ = problem_parts(problem, seed, (100, 35, 2))
    model = ResponseSurface(degree=2).fit(*fit)
    found = CHECK(surrogate_view(fit, held, stretched(problem, seed, 60, 2.0), [model]))
    assert found.outcome == "warn"
    assert found.measured == pytest.approx(0.5, abs=0.25)
    assert found.interval[0] < found.measured < found.interval[1]
    assert "Beyond the range: x0" in found.sentence
    assert "times that inside" in found.sentence


@pytest.mark.parametrize("seed", SEEDS)
def test_warns_on_a_hole_between_the_runs(surrogate_view, Given, seed):
    """Inside the box, but far from any run: only the density tells."""
    rng = np.random.default_rng(seed)
    angle = rng.uniform(0.0, 2.0 * np.pi, 140)
    X = np.column_stack([np.cos(angle), np.sin(angle)])
    middle = 0.1 * rng.normal(size=(40, 2))
    parts = [(A, A[:, :1]) for A in (X[:100], X[100:], middle)]
    found = CHECK(surrogate_view(*parts, [Given()]))
    assert found.outcome == "warn"
    assert "between the runs" in found.sentence


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("problem", [AFTERSLIP, BOREHOLE, ISHIGAMI], ids=lambda p: p.name)
def test_silent_on_runs_of_the_same_design(surrogate_view, problem_parts, problem, seed):
    parts = problem_parts(problem, seed, (100, 35, 60))
    assert (
        CHECK(surrogate_view(*parts, [ResponseSurface(degree=1).fit(*parts[0])])).outcome == "pass"
    )


def test_the_growth_of_the_error_is_measured(surrogate_view, problem_parts):
    fit, held, _ = problem_parts(BOREHOLE, 0, (80, 30, 2))
    test = stretched(BOREHOLE, 0, 80, 3.0)
    model = GaussianProcess(starts=1).fit(*fit)
    outside = ~model.domain_.inside(test[0])
    errors = (model.predict(test[0]) - test[1])[:, 0] ** 2
    told = np.sqrt(errors[outside].mean() / errors[~outside].mean())
    assert told > 2.0
    assert (
        f"the error there is {told:.2g} ("
        in CHECK(surrogate_view(fit, held, test, [model])).sentence
    )
