"""S01: test runs that were learned from."""

import numpy as np
import pytest

from assay.problems import BOREHOLE, ISHIGAMI
from assay.surrogate.checks import RunsSeenBefore
from assay.surrogate.gp import GaussianProcess
from assay.surrogate.outputs import PCAOutputs

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


CHANGES = {
    "shifted by a percent": lambda Y, rng: 1.01 * Y,
    "with an offset": lambda Y, rng: Y + 3.0,
    "in another unit": lambda Y, rng: 0.3048 * Y,
    "of another version": lambda Y, rng: Y * (1 + 0.01 * rng.normal(size=Y.shape)),
}


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("change", CHANGES)
def test_fails_on_known_designs_whatever_their_outputs(
    surrogate_view, Given, problem_parts, change, seed
):
    fit, held, (X, Y) = problem_parts(BOREHOLE, seed, (60, 20, 50))
    changed = CHANGES[change](fit[1][:20], np.random.default_rng(seed))
    test = np.vstack([X[:30], fit[0][:20]]), np.vstack([Y[:30], changed])
    process = GaussianProcess(starts=1).fit(*fit)
    found = CHECK(surrogate_view(fit, held, test, [Given()], [process]))
    assert found.outcome == "fail"
    assert "20 of 50 test runs" in found.sentence
    assert "nothing is told about new ones" in found.cause
    # Also where no baseline knows the noise of the runs.
    assert run(surrogate_view, Given, (fit, held, test)).outcome == "fail"


@pytest.mark.parametrize("seed", SEEDS)
def test_warns_on_designs_that_were_run_again(surrogate_view, Given, problem_parts, seed):
    fit, held, (X, Y) = problem_parts(ISHIGAMI, seed, SIZES, noise=0.1)
    X[:10] = fit[0][:10]
    Y[:10] = fit[1][:10] + 0.1 * np.sqrt(2) * Y.std() * np.random.default_rng(seed + 500).normal(
        size=(10, 1)
    )
    # Five designs were run twice among the runs that were learned from: they tell the noise.
    fit[0][80:85] = fit[0][70:75]
    fit[1][80:85] = fit[1][70:75] + (Y[:5] - fit[1][:5])
    found = run(surrogate_view, Given, (fit, held, (X, Y)))
    assert found.outcome == "warn"
    assert "as much as the noise of the runs makes (from repeated designs)" in found.sentence
    assert "noise of the simulator" in found.cause


@pytest.mark.parametrize("seed", SEEDS)
def test_warns_on_designs_that_were_run_again_where_the_process_sees_the_noise(
    surrogate_view, Given, problem_parts, seed
):
    fit, held, (X, Y) = problem_parts(BOREHOLE, seed, (60, 20, 50), noise=0.2)
    clean = BOREHOLE(fit[0][:10])
    X[:10] = fit[0][:10]
    noise = 0.2 * BOREHOLE(X).std() * np.random.default_rng(seed + 500).normal(size=(10, 1))
    Y[:10] = clean + noise
    process = GaussianProcess(starts=1).fit(*fit)
    found = CHECK(surrogate_view(fit, held, (X, Y), [Given()], [process]))
    assert found.outcome == "warn"
    assert "as the Gaussian process sees it" in found.sentence


def test_noise_of_a_series_is_seen_behind_its_components(surrogate_view, Given):
    rng, times = np.random.default_rng(0), np.linspace(0.0, 2.0, 20)

    def noisy(X):
        clean = (1.0 + X[:, :1]) * np.exp(-(0.5 + X[:, 1:2]) * times)
        return clean + 0.05 * rng.normal(size=clean.shape)

    parts = [(X, noisy(X)) for X in (rng.uniform(size=(n, 2)) for n in (80, 20, 40))]
    fit, held, (X, Y) = parts
    process = PCAOutputs(GaussianProcess(starts=1)).fit(*fit)
    X[:10] = fit[0][:10]
    Y[:10] = noisy(X[:10])
    found = CHECK(surrogate_view(fit, held, (X, Y), [Given()], [process]))
    assert found.outcome == "warn"
    Y[:10] = 1.01 * fit[1][:10]
    assert CHECK(surrogate_view(fit, held, (X, Y), [Given()], [process])).outcome == "fail"


def test_copies_with_rounded_inputs_are_found_beside_designs_that_were_run_again(
    surrogate_view, Given, problem_parts
):
    fit, held, (X, Y) = problem_parts(BOREHOLE, 0, SIZES, noise=0.2)
    fit[0][80:85] = fit[0][70:75]
    X[:2], X[10:40] = fit[0][70:72], fit[0][:30] * (1 + 1e-6)
    Y[:2] = fit[1][80:82]
    assert run(surrogate_view, Given, (fit, held, (X, Y))).outcome == "fail"


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
