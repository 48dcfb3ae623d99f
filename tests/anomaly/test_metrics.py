"""Rates and AUC against SciPy and scikit-learn; intervals against simulated coverage."""

import time

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import average_precision_score, roc_auc_score

from assay.anomaly.metrics import auc, average_precision, distinct_share, operating_point, rate
from assay.errors import DataError, StudyError


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.mark.parametrize(("count", "n"), [(0, 10), (3, 10), (10, 10), (7, 300)])
def test_rate_of_independent_rows_is_scipys_exact_interval(count, n):
    r = rate(np.arange(n) < count)
    exact = stats.binomtest(count, n).proportion_ci(0.95, method="exact")
    assert (r.estimate, r.count, r.n) == (count / n, count, n)
    assert (r.low, r.high) == pytest.approx((exact.low, exact.high))


def test_rate_respects_groups(rng):
    """Rows of a group alarm together: intervals that ignore it cover far too little."""
    covered, naive = [], []
    for _ in range(300):
        p = rng.beta(0.6, 2.4, size=25)  # mean 0.2
        hits, units = rng.random((25, 40)) < p[:, None], np.repeat(np.arange(25), 40)
        r, ignoring = rate(hits.ravel(), units=units), rate(hits.ravel())
        covered.append(r.low <= 0.2 <= r.high)
        naive.append(ignoring.low <= 0.2 <= ignoring.high)
    assert np.mean(covered) >= 0.92
    assert np.mean(naive) < 0.6


def test_rate_of_one_row_units_is_close_to_that_of_rows(rng):
    hits = rng.random(400) < 0.2
    grouped, plain = rate(hits, units=np.arange(400)), rate(hits)
    assert (grouped.low, grouped.high) == pytest.approx((plain.low, plain.high), abs=2e-3)


def test_rate_at_the_edges():
    one = rate(np.ones(50, dtype=bool), units=np.zeros(50))
    assert (one.low, one.high) == (0.0, 1.0)
    none = rate(np.zeros(100, dtype=bool), units=np.repeat(np.arange(10), 10))
    assert (none.estimate, none.low) == (0.0, 0.0)
    assert none.high == pytest.approx(1 - 0.025 ** (1 / 10))  # ten units, not a hundred rows
    with pytest.raises(StudyError, match="at least one row"):
        rate([])


def test_operating_point_counts_where_alarms_are(rng):
    scores = np.array([1.0, 5.0, 2.0, 6.0, 7.0, 1.0])
    labels = np.array([0, 0, 0, 1, 1, 1])
    kinds = np.array(["", "", "", "leak", "leak", "drift"])
    point = operating_point(scores, labels, 5.0, kinds=kinds)
    assert point.false_alarm.estimate == 0.0  # at the threshold is not above it
    assert point.detection.estimate == pytest.approx(2 / 3)
    assert {k: r.estimate for k, r in point.by_kind.items()} == {"leak": 1.0, "drift": 0.0}


def test_no_point_adjustment():
    """One alarm inside a long event is one row found, not the event."""
    labels = np.r_[np.zeros(100), np.ones(100)]
    scores = np.zeros(200)
    scores[150] = 1.0
    assert operating_point(scores, labels, 0.5).detection.estimate == 0.01


def test_operating_point_without_a_label():
    point = operating_point([0.0, 1.0], [0, 0], 0.5)
    assert point.detection is None
    assert point.by_kind == {}


def delong_by_definition(scores, labels):
    """Return AUC and its variance from all pairs."""
    a, b = scores[labels], scores[~labels]
    wins = (a[:, None] > b) + 0.5 * (a[:, None] == b)
    variance = wins.mean(1).var(ddof=1) / len(a) + wins.mean(0).var(ddof=1) / len(b)
    return wins.mean(), variance


@pytest.mark.parametrize("tied", [False, True])
def test_auc_is_delongs(tied, rng):
    labels = np.arange(300) < 60
    scores = rng.normal(size=300) + labels
    scores = np.round(scores, 0) if tied else scores
    area, variance = delong_by_definition(scores, labels)
    r = auc(scores, labels)
    assert r.estimate == pytest.approx(area)
    assert r.estimate == pytest.approx(roc_auc_score(labels, scores))
    logit = np.log(area / (1 - area))
    half = 1.959964 * np.sqrt(variance) / (area * (1 - area))
    expected = 1 / (1 + np.exp(-np.array([logit - half, logit + half])))
    assert (r.low, r.high) == pytest.approx(tuple(expected), rel=1e-6)


def test_auc_interval_covers(rng):
    truth = stats.norm.cdf(1.5 / 2**0.5)
    labels = np.arange(150) < 30
    inside = []
    for _ in range(500):
        r = auc(rng.normal(size=150) + 1.5 * labels, labels)
        inside.append(r.low <= truth <= r.high)
    assert np.mean(inside) == pytest.approx(0.95, abs=0.03)


def test_auc_respects_groups(rng):
    covered, naive = [], []
    truth = stats.norm.cdf(1.0 / 2**0.5)
    units, labels = np.repeat(np.arange(40), 20), np.repeat(np.arange(40) < 20, 20)
    for _ in range(200):
        shared = rng.normal(size=40)[units]
        scores = 0.9 * shared + np.sqrt(1 - 0.81) * rng.normal(size=800) + labels
        r, ignoring = auc(scores, labels, units=units), auc(scores, labels)
        covered.append(r.low <= truth <= r.high)
        naive.append(ignoring.low <= truth <= ignoring.high)
    assert np.mean(covered) >= 0.9
    assert np.mean(naive) < 0.6


def test_perfect_auc_is_not_certain():
    r = auc(np.r_[np.zeros(50), np.ones(5)], np.r_[np.zeros(50), np.ones(5)])
    assert (r.estimate, r.high) == (1.0, 1.0)
    assert r.low == pytest.approx(0.025 ** (1 / 5))
    worst = auc(np.r_[np.ones(50), np.zeros(5)], np.r_[np.zeros(50), np.ones(5)])
    assert (worst.estimate, worst.low) == (0.0, 0.0)


def test_auc_with_one_anomaly():
    r = auc(np.arange(20.0), np.arange(20) == 14)
    assert 0.0 < r.low < r.estimate < r.high < 1.0


def test_auc_is_fast(rng):
    scores, labels = rng.normal(size=1_000_000), rng.random(1_000_000) < 0.01
    start = time.perf_counter()
    auc(scores, labels)
    assert time.perf_counter() - start < 10.0  # all pairs would take hours


def test_average_precision_is_scikit_learns(rng):
    labels = rng.random(500) < 0.1
    scores = np.round(rng.normal(size=500) + labels, 1)
    expected = average_precision_score(labels, scores)
    assert average_precision(scores, labels) == pytest.approx(expected)


def test_distinct_share():
    assert distinct_share(np.arange(100.0)) == 1.0
    assert distinct_share(np.full(100, 3.0)) == 0.01
    rounding = 3.0 + 1e-14 * np.random.default_rng(0).normal(size=100)
    assert distinct_share(rounding) == 0.01
    assert distinct_share([1e300, 1.0, 2.0]) == 1.0


def test_bad_input():
    with pytest.raises(StudyError, match="normal and anomalous rows, got 3 and 0"):
        auc([1.0, 2.0, 3.0], [0, 0, 0])
    with pytest.raises(DataError, match="labels"):
        auc([1.0, 2.0, 3.0], [0, 1])
    with pytest.raises(StudyError, match="anomalous"):
        average_precision([1.0], [0])
