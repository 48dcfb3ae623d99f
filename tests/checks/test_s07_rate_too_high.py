"""S07: a learning rate that throws the weights about."""

import dataclasses

import numpy as np
import pytest

from assay.checks import NotApplicable
from assay.problems import AFTERSLIP, BOREHOLE, ISHIGAMI
from assay.surrogate import GaussianProcess, MLPSurrogate, PCAOutputs
from assay.surrogate.checks import RateTooHigh

CHECK = RateTooHigh()
SEEDS = [*range(3), *(pytest.param(s, marks=pytest.mark.slow) for s in range(3, 10))]
SIZES = (100, 30, 20)


def run(surrogate_view, parts, model):
    return CHECK(surrogate_view(*parts, [model.fit(*parts[0])]))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("problem", [BOREHOLE, ISHIGAMI], ids=lambda p: p.name)
def test_warns_on_weights_that_were_thrown_away(surrogate_view, problem_parts, problem, seed):
    parts = problem_parts(problem, seed, SIZES)
    model = MLPSurrogate(learning_rate=1.0, steps=1000, random_state=seed)
    found = run(surrogate_view, parts, model)
    assert found.outcome == "warn"
    assert found.threshold == 10.0
    X, Y = parts[0]
    assert np.mean((model.predict(X) - Y) ** 2) > 0.5 * Y.var()  # and it has not recovered


@pytest.mark.parametrize("seed", SEEDS)
def test_warns_on_a_constant_rate_a_hundred_times_too_high(surrogate_view, problem_parts, seed):
    parts = problem_parts(BOREHOLE, seed, SIZES)
    model = MLPSurrogate(
        learning_rate=0.3, schedule="constant", steps=1000, random_state=seed
    )  # fmt: skip
    assert run(surrogate_view, parts, model).outcome == "warn"


@pytest.mark.parametrize("seed", SEEDS)
def test_fails_on_a_breakdown(surrogate_view, problem_parts, seed):
    parts = problem_parts(ISHIGAMI, seed, SIZES)
    model = MLPSurrogate(learning_rate=1e18, steps=300, random_state=seed)
    found = run(surrogate_view, parts, model)
    assert found.outcome == "fail"
    assert "not a number in 1 of 1" in found.sentence


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("schedule", ["cosine", pytest.param("constant", marks=pytest.mark.slow)])
@pytest.mark.parametrize("problem", [AFTERSLIP, BOREHOLE, ISHIGAMI], ids=lambda p: p.name)
def test_silent_on_the_usual_rate(surrogate_view, problem_parts, problem, schedule, seed):
    model = MLPSurrogate(schedule=schedule, steps=3000, random_state=seed)
    model = PCAOutputs(model) if problem is AFTERSLIP else model
    assert run(surrogate_view, problem_parts(problem, seed, SIZES), model).outcome == "pass"


def curve_of(surrogate_view, Given, loss, check=CHECK):
    X = np.random.default_rng(0).normal(size=(20, 2))
    Y = np.where(np.arange(20) % 2 == 0, 1.0, -1.0)[:, None]  # of mean square 1
    model = Given(history_={"train": np.asarray(loss, float)}, status_="Done.")
    return check(surrogate_view(*[(X, Y)] * 3, [model]))


def test_thresholds_are_exact(surrogate_view, Given):
    fall = np.geomspace(1.0, 1e-3, 18)
    assert curve_of(surrogate_view, Given, [*fall, 9.9e-3, 9.9e-3]).outcome == "pass"
    found = curve_of(surrogate_view, Given, [*fall, 1.01e-2, 1.01e-2])
    assert found.outcome == "warn"
    assert found.measured == pytest.approx(10.1)
    assert curve_of(surrogate_view, Given, [9.9, *fall]).outcome == "pass"
    found = curve_of(surrogate_view, Given, [10.1, *fall])
    assert (found.outcome, found.measured) == ("warn", pytest.approx(10.1))


def test_kicks_of_a_small_loss_do_no_harm(surrogate_view, Given):
    loss = [*np.geomspace(1.0, 1e-6, 18), 9e-3, 9e-3]
    assert curve_of(surrogate_view, Given, loss).outcome == "pass"
    bare = dataclasses.replace(CHECK, least_loss=1e-6)
    assert curve_of(surrogate_view, Given, loss, bare).outcome == "warn"


def test_not_applicable(surrogate_view, Given, problem_parts):
    parts = problem_parts(ISHIGAMI, 0, SIZES)
    with pytest.raises(NotApplicable, match="no network"):
        run(surrogate_view, parts, GaussianProcess(starts=1))
    with pytest.raises(NotApplicable, match="no loss curve"):
        CHECK(surrogate_view(*parts, [Given(status_="Done.", history_={})]))
