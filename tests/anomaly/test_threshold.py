"""The threshold keeps what it promises: simulated against the Beta law and known processes."""

import dataclasses

import numpy as np
import pytest
from scipy import signal, stats

from assay.anomaly.threshold import (
    conformal_threshold,
    minimum_rows,
    percentile_threshold,
    smallest_rate,
)
from assay.errors import DataError, StudyError


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.mark.parametrize(("n", "alpha"), [(99, 0.05), (400, 0.05), (1000, 0.01)])
def test_realised_rates_follow_the_beta_law(n, alpha, rng):
    thresholds = [conformal_threshold(rng.normal(size=n), alpha) for _ in range(2000)]
    rates = stats.norm.sf([t.value for t in thresholds])
    t = thresholds[0]
    assert stats.kstest(rates, stats.beta(t.k, n + 1 - t.k).cdf).pvalue > 0.01
    assert rates.mean() == pytest.approx(t.expected, abs=4 * rates.std() / 2000**0.5)
    assert t.expected <= alpha
    covered = np.mean((rates >= t.low) & (rates <= t.high))
    assert covered == pytest.approx(0.95, abs=0.02)


def test_percentile_of_the_same_rows_promises_less(rng):
    """The plain percentile exceeds the asked rate on average: the reason for the ranks."""
    draws = rng.normal(size=(4000, 20))
    plain = np.mean([stats.norm.sf(percentile_threshold(x, 95)) for x in draws])
    ours = np.mean([stats.norm.sf(conformal_threshold(x, 0.05).value) for x in draws])
    assert plain > 0.06
    assert ours <= 0.0505


@pytest.mark.parametrize(
    ("alpha", "rows"), [(0.05, 19), (0.01, 99), (0.1, 9), (0.07, 14), (0.5, 1), (0.001, 999)]
)
def test_smallest_sample(alpha, rows):
    assert minimum_rows(alpha) == rows
    t = conformal_threshold(np.arange(float(rows)), alpha)
    assert t.k >= 1
    assert t.expected <= alpha + 1e-12
    if rows > 1:
        with pytest.raises(StudyError, match=f"at least {rows:,}"):
            conformal_threshold(np.arange(float(rows - 1)), alpha)


def test_the_cure_in_the_message_works():
    with pytest.raises(StudyError) as raised:
        conformal_threshold(np.arange(36.0), 0.01)
    assert "ask for a rate of 0.028 or more" in raised.value.hint
    assert smallest_rate(36) <= 0.028
    assert conformal_threshold(np.arange(36.0), 0.028).k == 1


def test_ties_stay_on_the_safe_side(rng):
    """Scores with few values alarm less than asked, never more, and the interval knows it."""
    probabilities = np.array([0.5, 0.3, 0.12, 0.05, 0.03])
    rates, inside = [], []
    for _ in range(1000):
        t = conformal_threshold(rng.choice(5, size=200, p=probabilities).astype(float), 0.05)
        realised = probabilities[np.arange(5) > t.value].sum()
        rates.append(realised)
        inside.append(t.low <= realised <= t.high)
    assert np.mean(rates) <= 0.05
    assert np.mean(inside) >= 0.95


def test_constant_scores_never_alarm():
    t = conformal_threshold(np.ones(100), 0.05)
    assert not t.alarms(np.ones(5)).any()
    assert t.low == 0.0


@pytest.mark.parametrize("rho", [0.5, 0.9, 0.98])
def test_time_series_intervals_are_wider_and_cover(rho, rng):
    n, series, covered, naive = 1000, np.zeros(1000), [], []
    for _ in range(200):
        noise = rng.normal(size=n + 500) * np.sqrt(1 - rho**2)
        x = signal.lfilter([1.0], [1.0, -rho], noise)[500:]
        t, independent = conformal_threshold(x, 0.05, series=series), conformal_threshold(x, 0.05)
        realised = stats.norm.sf(t.value)
        covered.append(t.low <= realised <= t.high)
        naive.append(independent.low <= realised <= independent.high)
        assert t.value == independent.value
    assert np.mean(covered) >= 0.87
    assert np.mean(naive) < np.mean(covered)
    assert (np.mean(naive) < 0.6) == (rho >= 0.9)


def test_independent_rows_in_series_lose_little(rng):
    worth = [
        conformal_threshold(rng.normal(size=1000), 0.05, series=np.zeros(1000)).n_effective
        for _ in range(100)
    ]
    assert 850 <= np.mean(worth) <= 1000


def test_correlation_does_not_cross_series(rng):
    """Series that each lie at another level are worth about one row each."""
    levels = np.repeat(rng.normal(size=40), 25)
    t = conformal_threshold(levels + 0.01 * rng.normal(size=1000), 0.1, series=levels)
    assert t.n_effective < 120
    assert "worth about" in t.sentence


def test_a_series_too_alike_for_the_rate_says_so():
    x = np.sin(np.arange(200) / 60.0)
    t = conformal_threshold(x, 0.05, series=np.zeros(200))
    assert not t.supported
    assert "fewer than the 19" in t.sentence


def test_alarms_per_day():
    t = conformal_threshold(np.arange(999.0), 0.01, interval_s=60.0)
    assert t.per_day == pytest.approx(0.01 * 1440)
    assert t.per_day_low < t.per_day < t.per_day_high
    assert "false alarms a day" in t.sentence
    with pytest.raises(StudyError, match="above 0 s"):
        conformal_threshold(np.arange(99.0), 0.05, interval_s=0.0)


def test_bad_input():
    with pytest.raises(DataError, match="missing or infinite"):
        conformal_threshold([1.0, np.nan] * 50, 0.05)
    for alpha in (0.0, 1.0, -0.1, np.nan):
        with pytest.raises(StudyError, match="false-alarm rate must lie"):
            conformal_threshold(np.arange(100.0), alpha)


def test_frozen():
    with pytest.raises(dataclasses.FrozenInstanceError):
        conformal_threshold(np.arange(100.0), 0.05).value = 0.0
