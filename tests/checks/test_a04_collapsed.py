"""A04: one score for all rows, parameters that did not move, no better than untrained."""

import dataclasses

import numpy as np
import pytest

from assay.anomaly.checks import Collapsed
from assay.anomaly.pca_monitor import PCAQ
from assay.anomaly.row_norm import RowNorm
from assay.checks import NotApplicable
from assay.compress.autoencoder import Autoencoder
from assay.errors import StudyError

CHECK = Collapsed()


class Network:
    """A stand-in: scores after and before training."""

    name = "Network"

    def __init__(self, score, untrained):
        self.anomaly_score, self.untrained_score = score, untrained


def norm(X):
    return np.linalg.norm(X, axis=1)


def parts(correlated, seed, n_test=300, n_faults=60):
    """Faults that leave the plane of the normal rows without being large."""
    rng = np.random.default_rng(seed)
    test = correlated(rng, n_test + n_faults)
    test[n_test:] = 0.8 * rng.normal(size=(n_faults, 6)) * test[:n_test].std(axis=0)
    labels = np.arange(n_test + n_faults) >= n_test
    return correlated(rng, 500), correlated(rng, 200), test, labels


def off_the_plane(correlated, seed):
    rows = correlated(np.random.default_rng(seed), 500)
    return PCAQ(components=2).fit(rows).anomaly_score


@pytest.mark.parametrize("seed", range(5))
def test_fires_on_one_score_for_all(anomaly_view, correlated, seed):
    fit, held, test, labels = parts(correlated, seed)
    dead = Network(lambda X: np.full(len(X), 0.3) + 1e-12 * norm(X), norm)
    found = CHECK(anomaly_view(fit, held, test, labels, candidate=[dead]))
    assert found.outcome == "fail"
    assert found.severity == "fail"
    assert found.measured < 0.01
    assert "360 different test rows have 1 different scores" in found.sentence


@pytest.mark.parametrize("seed", range(5))
def test_fires_when_parameters_did_not_move(anomaly_view, correlated, seed):
    fit, held, test, labels = parts(correlated, seed)
    found = CHECK(anomaly_view(fit, held, test, labels, candidate=[Network(norm, norm)]))
    assert found.outcome == "fail"
    assert "did not move" in found.sentence


@pytest.mark.parametrize("seed", range(5))
def test_warns_when_no_better_than_untrained(anomaly_view, correlated, seed):
    fit, held, test, labels = parts(correlated, seed)
    ranked = off_the_plane(correlated, seed)
    worse = Network(norm, lambda X: norm(X) + 0.1 * ranked(X))
    found = CHECK(anomaly_view(fit, held, test, labels, candidate=[worse]))
    assert found.outcome == "warn"
    assert found.interval[0] <= 0.0
    assert "AUC is" in found.sentence


@pytest.mark.parametrize("seed", range(5))
def test_silent_on_a_detector_that_learnt(anomaly_view, correlated, seed):
    fit, held, test, labels = parts(correlated, seed)
    good = Network(off_the_plane(correlated, seed), norm)
    found = CHECK(anomaly_view(fit, held, test, labels, candidate=[good, good]))
    assert found.outcome == "pass"
    assert found.measured == 1.0


class Coding:
    """A real autoencoder, with the error of reconstruction as the score."""

    name = "Autoencoder"

    def __init__(self, **options):
        self.network = Autoencoder(code_size=2, hidden=(32,), **options)

    def fit(self, X):
        self.network.fit(X)
        return self

    def anomaly_score(self, X):
        return self.network.errors(X)

    def untrained_score(self, X):
        return self.network.untrained_.errors(X)


@pytest.mark.parametrize("seed", range(5))
def test_silent_on_a_trained_network(anomaly_view, correlated, seed):
    fit, held, test, labels = parts(correlated, seed)
    network = Coding(epochs=60, random_state=seed)
    found = CHECK(anomaly_view(fit, held, test, labels, candidate=[network]))
    assert found.outcome == "pass"
    assert "before it" in found.sentence


@pytest.mark.parametrize("seed", range(5))
def test_a_network_that_was_not_trained_is_found_out(anomaly_view, correlated, seed):
    fit, held, test, labels = parts(correlated, seed)
    network = Coding(epochs=1, learning_rate=1e-12, random_state=seed)
    found = CHECK(anomaly_view(fit, held, test, labels, candidate=[network]))
    assert found.outcome == "fail"
    assert "did not move" in found.sentence


def test_a_loaded_network_no_longer_knows_its_start(anomaly_view, correlated):
    def gone(X):
        raise StudyError("A loaded model does not have the weights before training.")

    fit, held, test, labels = parts(correlated, 0)
    found = CHECK(anomaly_view(fit, held, test, labels, candidate=[Network(norm, gone)]))
    assert found.outcome == "pass"
    assert "before it" not in found.sentence


def test_a_rule_with_few_levels_is_only_warned_about(anomaly_view, correlated):
    fit, held, test, labels = parts(correlated, 0)
    found = CHECK(anomaly_view(fit, held, test, labels, candidate=[lambda X: norm(X) > 4.0]))
    assert found.outcome == "warn"
    assert "2 different scores" in found.sentence


def test_rows_that_repeat_may_have_repeated_scores(anomaly_view):
    rng = np.random.default_rng(0)
    few = rng.normal(size=(40, 3))
    test = few[rng.integers(40, size=2000)]
    found = CHECK(anomaly_view(few, rng.normal(size=(100, 3)), test, candidate=[RowNorm()]))
    assert found.outcome == "pass"
    assert found.measured == 1.0


def test_threshold_is_exact(anomaly_view):
    rng = np.random.default_rng(0)
    fit, held = rng.normal(size=(50, 1)), rng.normal(size=(50, 1))
    test = np.arange(100.0)[:, None]

    def outcome(distinct):
        network = Network(lambda X: np.floor(X[:, 0]) % distinct, lambda X: X[:, 0])
        return CHECK(anomaly_view(fit, held, test, candidate=[network])).outcome

    assert (outcome(50), outcome(49)) == ("pass", "fail")
    strict = dataclasses.replace(CHECK, least_distinct=1.0)
    assert strict(anomaly_view(fit, held, test, candidate=[RowNorm()])).outcome == "pass"


def test_too_few_rows(anomaly_view):
    X = np.random.default_rng(0).normal(size=(50, 2))
    with pytest.raises(NotApplicable, match="different test rows"):
        CHECK(anomaly_view(X, X, np.zeros((30, 2)), candidate=[RowNorm()]))
