"""A08: the score is the size of the row, or ranks no better."""

import dataclasses

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import roc_auc_score

from assay.anomaly.checks import NothingOverNorm
from assay.anomaly.pca_monitor import PCAQ
from assay.anomaly.ranking import auc_difference
from assay.anomaly.row_norm import RowNorm
from assay.checks import NotApplicable

CHECK = NothingOverNorm()


def parts(correlated, seed, large=False, n_test=300, n_faults=80):
    rng = np.random.default_rng(seed)
    test = correlated(rng, n_test + n_faults)
    if large:
        test[n_test:] *= 3.0
    else:
        test[n_test:] = 0.8 * rng.normal(size=(n_faults, 6)) * test[:n_test].std(axis=0)
    labels = np.arange(n_test + n_faults) >= n_test
    return correlated(rng, 500), correlated(rng, 200), test, labels


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("labelled", [True, False])
def test_fires_on_the_norm_in_disguise(anomaly_view, correlated, seed, labelled):
    fit, held, test, labels = parts(correlated, seed)
    norm = RowNorm().fit(fit)
    view = anomaly_view(
        fit, held, test, labels if labelled else None,
        candidate=[lambda X: np.log(norm.anomaly_score(X)) + 0.01 * X[:, 0]],
    )  # fmt: skip
    found = CHECK(view)
    assert found.outcome == "warn"
    assert found.measured > 0.98
    assert "the same ranking" in found.sentence


@pytest.mark.parametrize("seed", range(5))
def test_fires_where_the_norm_ranks_as_well(anomaly_view, correlated, seed):
    """Faults that are simply large: the distance to the plane finds no more than the norm."""
    fit, held, test, labels = parts(correlated, seed, large=True)
    found = CHECK(anomaly_view(fit, held, test, labels, candidate=[lambda X: np.abs(X[:, 0])]))
    assert found.outcome == "warn"
    assert found.interval[0] <= 0.0


@pytest.mark.parametrize("seed", range(5))
def test_silent_on_a_detector_that_knows_the_plane(anomaly_view, correlated, seed):
    fit, held, test, labels = parts(correlated, seed)
    found = CHECK(anomaly_view(fit, held, test, labels, candidate=[PCAQ(components=2)]))
    assert found.outcome == "pass"
    assert found.interval[0] > 0.0
    assert CHECK(anomaly_view(fit, held, test, candidate=[PCAQ(components=2)])).outcome == "pass"


def test_threshold_is_exact(anomaly_view, correlated):
    fit, held, test, _ = parts(correlated, 0)
    view = anomaly_view(fit, held, test, candidate=[lambda X: np.abs(X).sum(axis=1)])
    same = CHECK(view).measured
    norm = RowNorm().fit(fit).anomaly_score(test)
    assert same == pytest.approx(stats.spearmanr(np.abs(test).sum(axis=1), norm).statistic)
    assert dataclasses.replace(CHECK, max_correlation=same)(view).outcome == "warn"
    assert dataclasses.replace(CHECK, max_correlation=same + 1e-9)(view).outcome == "pass"


def test_not_applicable(anomaly_view, correlated):
    fit, held, test, _ = parts(correlated, 0)
    with pytest.raises(NotApplicable, match="All scores are equal"):
        CHECK(anomaly_view(fit, held, test, candidate=[lambda X: np.zeros(len(X))]))
    with pytest.raises(NotApplicable, match="different test rows"):
        CHECK(anomaly_view(fit, held, np.zeros((20, 6)), candidate=[RowNorm()]))


def test_paired_auc_against_scikit_learn_and_its_interval():
    rng = np.random.default_rng(0)
    labels = np.arange(400) < 80
    truth = labels + rng.normal(size=400)
    a, b = truth + 0.3 * rng.normal(size=400), np.round(truth + 0.8 * rng.normal(size=400), 1)
    ours, theirs, low, high = auc_difference(a, b, labels)
    assert ours == pytest.approx(roc_auc_score(labels, a), abs=1e-12)
    assert theirs == pytest.approx(roc_auc_score(labels, b), abs=1e-12)
    wins = [
        (s[labels][:, None] > s[~labels]) + 0.5 * (s[labels][:, None] == s[~labels]) for s in (a, b)
    ]
    difference = wins[0] - wins[1]
    again = [
        difference[np.ix_(rng.integers(80, size=80), rng.integers(320, size=320))].mean()
        for _ in range(1000)
    ]
    assert high - low == pytest.approx(2 * 1.96 * np.std(again), rel=0.12)
    assert (low + high) / 2 == pytest.approx(ours - theirs, abs=1e-12)
    swapped = auc_difference(b, a, labels)
    assert swapped[2] == pytest.approx(-high)


def test_paired_auc_covers_a_true_difference_of_nothing():
    rng = np.random.default_rng(1)
    labels = np.arange(200) < 60
    missed = 0
    for _ in range(400):
        truth = labels + rng.normal(size=200)
        pair = truth + rng.normal(size=(2, 200))
        low, high = auc_difference(pair[0], pair[1], labels)[2:]
        missed += not low <= 0.0 <= high
    assert stats.binom.cdf(missed, 400, 0.05) > 1e-3
    assert stats.binom.sf(missed - 1, 400, 0.05) > 1e-3


def test_blocks_widen_the_interval_and_one_block_says_nothing():
    rng = np.random.default_rng(2)
    labels = np.tile(np.arange(20) < 5, 20)
    common = np.repeat(rng.normal(size=20), 20)
    a = labels + rng.normal(size=400) + np.where(labels, common, 0)
    b = labels + rng.normal(size=400)
    units = np.repeat(np.arange(20), 20)
    plain, blocked = (auc_difference(a, b, labels, units=u) for u in (None, units))
    assert blocked[3] - blocked[2] > plain[3] - plain[2]
    assert auc_difference(a, b, labels, units=np.zeros(400, int))[2:] == (-1.0, 1.0)
