"""S01: test runs that were learned from."""

import numpy as np
import pytest

from assay.problems import BOREHOLE, ISHIGAMI
from assay.surrogate.checks import RunsSeenBefore

CHECK = RunsSeenBefore()
SEEDS = [*range(3), *(pytest.param(s, marks=pytest.mark.slow) for s in range(3, 20))]
SIZES = (90, 30, 50)


def run(surrogate_view, Given, parts, check=CHECK):
    return check(surrogate_view(*parts, [Given()]))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("problem", [BOREHOLE, ISHIGAMI], ids=lambda p: p.name)
def test_fails_on_copies(surrogate_view, Given, problem_parts, problem, seed):
    fit, held, (X, Y) = problem_parts(problem, seed, SIZES)
    X, Y = np.vstack([X, fit[0][[4]], held[0][[2]]]), np.vstack([Y, fit[1][[4]], held[1][[2]]])
    found = run(surrogate_view, Given, (fit, held, (X, Y)))
    assert found.outcome == "fail"
    assert found.measured == pytest.approx(2 / 52)
    assert "with the same outputs. For example run 5 and test run 2051" in found.sentence
    assert "run 1003 and test run 2052" in found.sentence


@pytest.mark.parametrize("seed", SEEDS)
def test_fails_on_copies_that_were_rounded(surrogate_view, Given, problem_parts, seed):
    fit, held, (X, Y) = problem_parts(BOREHOLE, seed, SIZES)
    X = np.vstack([X[:30], fit[0][:20] * (1 + 1e-6)])
    assert run(surrogate_view, Given, (fit, held, (X, Y))).outcome == "fail"


def test_fails_on_copies_whose_outputs_were_written_with_fewer_digits(
    surrogate_view, Given, problem_parts
):
    fit, held, (X, Y) = problem_parts(BOREHOLE, 0, SIZES)
    X, Y = np.vstack([X[:30], fit[0][:20]]), np.vstack([Y[:30], np.round(fit[1][:20], 2)])
    found = run(surrogate_view, Given, (fit, held, (X, Y)))
    assert found.outcome == "fail"
    assert "with the same outputs" in found.sentence


@pytest.mark.parametrize("seed", SEEDS)
def test_warns_on_designs_that_were_run_again(surrogate_view, Given, problem_parts, seed):
    fit, held, (X, Y) = problem_parts(ISHIGAMI, seed, SIZES, noise=0.1)
    X[:10] = fit[0][:10]
    found = run(surrogate_view, Given, (fit, held, (X, Y)))
    assert found.outcome == "warn"
    assert "0 of them with the same outputs" in found.sentence
    assert "noise of the simulator" in found.cause


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("problem", [BOREHOLE, ISHIGAMI], ids=lambda p: p.name)
def test_silent_on_independent_runs(surrogate_view, Given, problem_parts, problem, seed):
    assert run(surrogate_view, Given, problem_parts(problem, seed, SIZES)).outcome == "pass"


@pytest.mark.parametrize("seed", SEEDS)
def test_silent_on_one_input_and_on_grids(surrogate_view, Given, seed):
    x = np.linspace(0.0, 1.0, 120)[:, None]
    at = np.random.default_rng(seed).permutation(120)
    parts = [(x[rows], np.sin(x[rows])) for rows in (at[:60], at[60:80], at[80:])]
    assert run(surrogate_view, Given, parts).outcome == "pass"


def test_a_few_copies_among_many_runs_are_a_warning(surrogate_view, Given, problem_parts):
    fit, held, (X, Y) = problem_parts(ISHIGAMI, 0, (90, 30, 200))
    X[0], Y[0] = fit[0][0], fit[1][0]
    assert run(surrogate_view, Given, (fit, held, (X, Y))).outcome == "warn"
    strict = RunsSeenBefore(max_share=1 / 200)
    assert run(surrogate_view, Given, (fit, held, (X, Y)), strict).outcome == "fail"
