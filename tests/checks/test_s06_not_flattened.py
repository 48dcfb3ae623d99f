"""S06: training that broke down, or ended while it still paid."""

import numpy as np
import pytest

from assay.checks import NotApplicable
from assay.problems import AFTERSLIP, BOREHOLE, ISHIGAMI
from assay.surrogate import DeepEnsemble, GaussianProcess, MLPSurrogate, PCAOutputs
from assay.surrogate.checks import TrainingNotFlattened
from assay.train import FitStatus

CHECK = TrainingNotFlattened()
SEEDS = [*range(3), *(pytest.param(s, marks=pytest.mark.slow) for s in range(3, 10))]
SIZES = (200, 60, 20)


def run(surrogate_view, parts, model):
    return CHECK(surrogate_view(*parts, [model.fit(*parts[0])]))


@pytest.mark.parametrize("seed", SEEDS)
def test_warns_where_training_had_hardly_begun(surrogate_view, problem_parts, seed):
    parts = problem_parts(ISHIGAMI, seed, SIZES)
    found = run(surrogate_view, parts, MLPSurrogate(steps=300, random_state=seed))
    assert found.outcome == "warn"
    longer = MLPSurrogate(steps=3000, random_state=seed).fit(*parts[0])
    short = MLPSurrogate(steps=300, random_state=seed).fit(*parts[0])
    X, Y = parts[1]
    error, better = (np.mean((m.predict(X) - Y) ** 2) for m in (short, longer))
    assert better < 0.5 * error


@pytest.mark.parametrize("seed", SEEDS)
def test_warns_where_the_training_error_is_the_limit(surrogate_view, problem_parts, seed):
    parts = problem_parts(AFTERSLIP, seed, (400, 120, 20))
    model = PCAOutputs(MLPSurrogate(steps=500, random_state=seed), modes=5)
    found = run(surrogate_view, parts, model)
    assert found.outcome == "warn"
    assert "times the training error." in found.sentence


@pytest.mark.parametrize("seed", SEEDS)
def test_fails_on_a_breakdown(surrogate_view, problem_parts, seed):
    parts = problem_parts(ISHIGAMI, seed, (40, 20, 20))
    found = run(surrogate_view, parts, MLPSurrogate(steps=300, learning_rate=1e18))
    assert found.outcome == "fail"


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("problem", [AFTERSLIP, BOREHOLE, ISHIGAMI], ids=lambda p: p.name)
def test_silent_on_the_usual_training(surrogate_view, problem_parts, problem, seed):
    model = MLPSurrogate(random_state=seed)
    model = PCAOutputs(model) if problem is AFTERSLIP else model
    found = run(surrogate_view, problem_parts(problem, seed, SIZES), model)
    assert found.outcome == "pass"
    assert "the training error is not what limits" in found.sentence


@pytest.mark.parametrize("seed", SEEDS)
def test_silent_where_the_noise_is_reached(surrogate_view, problem_parts, seed):
    """Two inputs and 2,000 noisy runs: nothing is left to learn, and no gap opens."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1.0, 1.0, (3000, 2))
    Y = np.sin(2.0 * X[:, :1]) + X[:, 1:] + 0.3 * rng.normal(size=(3000, 1))
    parts = [(X[:2000], Y[:2000]), (X[2000:2500], Y[2000:2500]), (X[2500:], Y[2500:])]
    model = MLPSurrogate(hidden=(16,), steps=3000, random_state=seed)
    found = run(surrogate_view, parts, model)
    assert found.outcome == "pass"
    assert "not what limits" not in found.sentence


def test_every_member_counts(surrogate_view, problem_parts):
    parts = problem_parts(ISHIGAMI, 0, SIZES)
    found = run(surrogate_view, parts, DeepEnsemble(MLPSurrogate(steps=300), size=3))
    assert "3 of 3 runs" in found.sentence


def test_interrupted_counts_as_unfinished(surrogate_view, Given):
    X = np.random.default_rng(0).normal(size=(60, 3))
    model = Given(status_=FitStatus.INTERRUPTED.sentence, history_={})
    parts = [(X, X[:, :1])] * 3
    assert CHECK(surrogate_view(*parts, [model], fit_predictions=None)).outcome == "warn"


def test_not_applicable(surrogate_view, problem_parts):
    with pytest.raises(NotApplicable, match="tells of its training"):
        run(surrogate_view, problem_parts(ISHIGAMI, 0, (40, 20, 20)), GaussianProcess(starts=1))
