"""S09: a Gaussian process that was not found."""

import dataclasses

import numpy as np
import pytest

from assay.checks import NotApplicable
from assay.problems import AFTERSLIP, BOREHOLE, ISHIGAMI
from assay.surrogate import GaussianProcess, PCAOutputs
from assay.surrogate.checks import BaselineNotConverged
from assay.surrogate.response_surface import MeanOutput, ResponseSurface

CHECK = BaselineNotConverged()
SEEDS = [*range(3), *(pytest.param(s, marks=pytest.mark.slow) for s in range(3, 10))]
SIZES = (80, 30, 20)


def run(surrogate_view, Given, parts, *baselines):
    return CHECK(surrogate_view(*parts, [Given()], [b.fit(*parts[0]) for b in baselines]))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("problem", [BOREHOLE, ISHIGAMI], ids=lambda p: p.name)
def test_fails_on_a_search_that_was_cut_off(surrogate_view, Given, problem_parts, problem, seed):
    process = GaussianProcess(starts=2, most_steps=1, random_state=seed)
    found = run(surrogate_view, Given, problem_parts(problem, seed, SIZES), process)
    assert found.outcome == found.severity == "fail"
    assert "did not converge (largest slope left" in found.sentence


@pytest.mark.parametrize("seed", SEEDS)
def test_warns_on_length_scales_at_their_limit(surrogate_view, Given, problem_parts, seed):
    """A length scale of a hundredth of the box: in this input runs say nothing of each other."""
    parts = problem_parts(ISHIGAMI, seed, SIZES)
    process = GaussianProcess(starts=np.array([[0.01, 0.01, 0.01, 1e-9]]), most_steps=200)
    fitted = process.fit(*parts[0])
    fitted.scaled_lengths_, fitted.converged_ = np.array([0.01, 0.5, 0.5]), True
    found = CHECK(surrogate_view(*parts, [Given()], [fitted]))
    assert found.outcome == "warn"
    assert "1 of 3 length scales are at their lower limit" in found.sentence


@pytest.mark.parametrize("seed", SEEDS)
def test_warns_where_all_counts_as_noise(surrogate_view, Given, seed):
    rng = np.random.default_rng(seed)
    X, Y = rng.uniform(size=(80, 2)), rng.normal(size=(80, 1))
    parts = [(X[:40], Y[:40]), (X[40:60], Y[40:60]), (X[60:], Y[60:])]
    fitted = GaussianProcess(starts=np.array([[1.0, 1.0, 10.0]])).fit(*parts[0])
    fitted.nugget_ = 10.0
    found = CHECK(surrogate_view(*parts, [Given()], [fitted]))
    assert found.outcome == "warn"
    assert "count as noise" in found.sentence


@pytest.mark.parametrize("seed", SEEDS)
def test_warns_where_it_is_no_better_than_the_mean(surrogate_view, Given, problem_parts, seed):
    """Length scales of a hundredth, taken for converged: between the runs it says the mean."""
    parts = problem_parts(BOREHOLE, seed, SIZES)
    process = GaussianProcess(starts=np.array([[0.011] * 8 + [1e-9]]), most_steps=1, mean="average")
    process.fit(*parts[0])
    process.converged_ = True
    others = [ResponseSurface(degree=1).fit(*parts[0]), MeanOutput().fit(*parts[0])]
    view = surrogate_view(*parts, [Given()], [process, *others])
    ranks = np.array(
        [max(view.baseline_ranks[0], view.baseline_ranks[2]), *view.baseline_ranks[1:]]
    )
    found = CHECK(dataclasses.replace(view, baseline_ranks=ranks))
    assert found.outcome == "warn"
    assert "no better than the worst" in found.sentence


@pytest.mark.parametrize("seed", SEEDS)
def test_warns_on_jitter_and_on_failed_starts(surrogate_view, Given, problem_parts, seed):
    parts = problem_parts(ISHIGAMI, seed, SIZES)
    fitted = GaussianProcess(starts=4).fit(*parts[0])
    fitted.jitter_ = 1e-6
    assert "a jitter of 1e-06" in CHECK(surrogate_view(*parts, [Given()], [fitted])).sentence
    fitted.jitter_ = 0.0
    lost = [dataclasses.replace(r, value=np.inf) for r in fitted.restarts_[:2]]
    kept = tuple(lost) + fitted.restarts_[2:]
    fitted.restarts_ = kept
    found = CHECK(surrogate_view(*parts, [Given()], [fitted]))
    assert found.outcome == "warn"
    assert "2 of 4 starts failed" in found.sentence
    fitted.restarts_ = tuple(lost[:1]) + kept[2:]
    assert CHECK(surrogate_view(*parts, [Given()], [fitted])).outcome == "pass"


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("problem", [AFTERSLIP, BOREHOLE, ISHIGAMI], ids=lambda p: p.name)
def test_silent_on_the_default(surrogate_view, Given, problem_parts, problem, seed):
    process = GaussianProcess(random_state=seed)
    process = PCAOutputs(process, modes=4) if problem is AFTERSLIP else process
    parts = problem_parts(problem, seed, SIZES)
    others = ResponseSurface(degree=1), MeanOutput()
    assert run(surrogate_view, Given, parts, process, *others).outcome == "pass"


def test_a_loaded_process_is_read_as_far_as_it_goes(surrogate_view, Given, problem_parts):
    parts = problem_parts(ISHIGAMI, 0, SIZES)
    fitted = GaussianProcess(starts=1).fit(*parts[0])
    loaded = GaussianProcess.from_saved(*fitted.to_saved())
    assert CHECK(surrogate_view(*parts, [Given()], [loaded])).outcome == "pass"


def test_not_applicable(surrogate_view, Given, problem_parts):
    with pytest.raises(NotApplicable, match="no Gaussian process"):
        run(surrogate_view, Given, problem_parts(ISHIGAMI, 0, SIZES), MeanOutput())
