"""A09: how training ended."""

import dataclasses

import numpy as np
import pytest

from assay.anomaly.checks import TrainingNotFinished
from assay.anomaly.row_norm import RowNorm
from assay.anomaly.view import Judged
from assay.checks import NotApplicable
from assay.compress.autoencoder import Autoencoder
from assay.train import FitStatus
from assay.training_end import late_fall

CHECK = TrainingNotFinished()

EXPECTED = {
    FitStatus.CONVERGED: "pass",
    FitStatus.STOPPED_EARLY: "pass",
    FitStatus.BUDGET: "warn",
    FitStatus.INTERRUPTED: "warn",
    FitStatus.NONFINITE: "fail",
}


def run(anomaly_view, Given, *statuses, seed=0, **more):
    X = np.random.default_rng(seed).normal(size=(60, 2))
    candidates = [Given(status_=s.sentence, **more) for s in statuses]
    return CHECK(anomaly_view(X, X, X, candidate=candidates))


def test_every_status_is_known():
    assert set(EXPECTED) == set(FitStatus)


@pytest.mark.parametrize("status", FitStatus)
def test_each_status(anomaly_view, Given, status):
    found = run(anomaly_view, Given, status)
    assert found.outcome == EXPECTED[status]
    assert bool(found.fix) == (found.outcome != "pass")


@pytest.mark.parametrize("worst", [1, 2, 3])
def test_one_bad_run_of_several_is_counted(anomaly_view, Given, worst):
    runs = [FitStatus.BUDGET] * worst + [FitStatus.CONVERGED] * (4 - worst)
    found = run(anomaly_view, Given, *runs)
    assert found.outcome == "warn"
    assert f"{worst} of 4 runs" in found.sentence
    found = run(anomaly_view, Given, FitStatus.CONVERGED, FitStatus.NONFINITE)
    assert (found.outcome, found.measured) == ("fail", 1)


@pytest.mark.parametrize("status", [FitStatus.CONVERGED, FitStatus.BUDGET])
def test_the_curve_decides_where_there_is_one(anomaly_view, Given, status):
    falling = {"train": np.linspace(2.0, 1.0, 20)}
    found = run(anomaly_view, Given, status, history_=falling)
    assert found.outcome == "warn"
    assert "over the second half of the steps the loss fell by 32 %" in found.sentence
    slowly = {"train": np.linspace(1.0, 0.9, 20)}  # a loss that cannot go far
    found = run(anomaly_view, Given, status, history_=slowly)
    assert found.outcome == "warn"
    assert found.threshold == CHECK.max_late_share
    done = {"train": np.r_[2.0, np.geomspace(1.0, 0.1, 9), np.full(30, 0.1)]}
    assert run(anomaly_view, Given, status, history_=done).outcome == "pass"


def test_scatter_is_no_fall(anomaly_view, Given):
    for seed in range(50):
        noisy = {"train": 1.0 + 0.05 * np.random.default_rng(seed).normal(size=40)}
        found = run(anomaly_view, Given, FitStatus.BUDGET, history_=noisy)
        assert found.outcome == "pass"


def test_stopped_early_is_finished_whatever_the_curve(anomaly_view, Given):
    falling = {"train": np.linspace(2.0, 1.0, 20)}
    assert run(anomaly_view, Given, FitStatus.STOPPED_EARLY, history_=falling).outcome == "pass"


def test_thresholds_are_exact(anomaly_view, Given):
    loss = np.r_[3.0, np.full(14, 1.0), np.full(5, 0.8)]
    X = np.random.default_rng(0).normal(size=(60, 2))
    network = Given(status_=FitStatus.BUDGET.sentence, history_={"train": loss})
    view = anomaly_view(X, X, X, candidate=[network])
    fall = late_fall(network)
    assert (fall.drop, fall.share) == pytest.approx((0.2, 0.2 / 2.2))

    def outcome(drop, share):
        return dataclasses.replace(CHECK, max_late_drop=drop, max_late_share=share)(view).outcome

    assert outcome(fall.drop, fall.share) == "pass"
    assert outcome(fall.drop - 1e-9, fall.share) == "warn"
    assert outcome(fall.drop, fall.share - 1e-9) == "warn"


@pytest.mark.parametrize("seed", range(5))
def test_real_networks(anomaly_view, correlated, seed):
    """Few steps are too few, whatever the schedule; a rate of 1e18 breaks training down."""
    X = correlated(np.random.default_rng(seed), 300)

    def outcome(**options):
        network = Autoencoder(code_size=2, hidden=(32,), random_state=seed, **options).fit(X)
        judged = Judged("it", network, network.errors(X), network.errors(X), None)
        return CHECK(anomaly_view(X, X, X, candidate=[judged])).outcome

    assert outcome(epochs=80, learning_rate=1e-4) == "warn"
    assert outcome(epochs=4, learning_rate=1e18) == "fail"
    assert outcome(epochs=400) == "pass"


def test_not_applicable(anomaly_view):
    X = np.random.default_rng(0).normal(size=(60, 2))
    with pytest.raises(NotApplicable, match="says nothing"):
        CHECK(anomaly_view(X, X, X, candidate=[RowNorm()]))
