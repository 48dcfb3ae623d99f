"""A09: how training ended."""

import numpy as np
import pytest

from assay.anomaly.checks import TrainingNotFinished
from assay.anomaly.row_norm import RowNorm
from assay.anomaly.view import Judged
from assay.checks import NotApplicable
from assay.compress.autoencoder import Autoencoder
from assay.train import FitStatus

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
    assert (found.outcome, found.measured) == ("warn", worst)
    found = run(anomaly_view, Given, FitStatus.CONVERGED, FitStatus.NONFINITE)
    assert (found.outcome, found.measured) == ("fail", 1)


def test_says_how_fast_the_loss_was_still_falling(anomaly_view, Given):
    loss = np.r_[np.linspace(2.0, 1.0, 16), [1.0, 1.0, 0.9, 0.9]]
    found = run(anomaly_view, Given, FitStatus.BUDGET, history_={"train": loss})
    assert "by 10 % in the last tenth" in found.sentence


@pytest.mark.parametrize("seed", range(5))
def test_real_networks(anomaly_view, correlated, seed):
    """A few steps are too few; a rate of 1e18 breaks training down."""
    X = correlated(np.random.default_rng(seed), 300)

    def outcome(**options):
        network = Autoencoder(code_size=2, hidden=(32,), random_state=seed, **options).fit(X)
        judged = Judged("it", network, network.errors(X), network.errors(X), None)
        return CHECK(anomaly_view(X, X, X, candidate=[judged])).outcome

    assert outcome(epochs=4) == "warn"
    assert outcome(epochs=4, learning_rate=1e18) == "fail"
    assert outcome(epochs=400) == "pass"


def test_not_applicable(anomaly_view):
    X = np.random.default_rng(0).normal(size=(60, 2))
    with pytest.raises(NotApplicable, match="says nothing"):
        CHECK(anomaly_view(X, X, X, candidate=[RowNorm()]))
