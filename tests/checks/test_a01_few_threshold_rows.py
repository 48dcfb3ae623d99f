"""A01: the interval on the realised false-alarm rate, against its exact law."""

import dataclasses
import re

import numpy as np
import pytest
from scipy import stats

from assay.anomaly.checks import FewThresholdRows
from assay.anomaly.checks_threshold import rows_for

CHECK = FewThresholdRows()


def size(X):
    return np.abs(X).sum(axis=1)


def view_with(anomaly_view, n, seed, rate=0.05, series=None, smooth=0):
    rng = np.random.default_rng(seed)
    fit, test = rng.normal(size=(100, 2)), rng.normal(size=(50, 2))
    held = rng.normal(size=(n + smooth, 2))
    if smooth:
        held = np.column_stack([np.convolve(c, np.ones(smooth + 1), "valid") for c in held.T])
    return anomaly_view(fit, held, test, candidate=[size], rate=rate, series=series)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("n", [19, 40, 100])
def test_fires_on_few_rows(anomaly_view, n, seed):
    found = CHECK(view_with(anomaly_view, n, seed))
    assert found.outcome == "warn"
    assert found.measured > 2.0
    assert f"{n} held-out normal rows" in found.sentence
    assert "219" in found.fix[0]


@pytest.mark.parametrize("seed", range(5))
def test_silent_on_enough_rows(anomaly_view, seed):
    found = CHECK(view_with(anomaly_view, 400, seed))
    assert found.outcome == "pass"
    assert not found.fix


def test_threshold_is_exact(anomaly_view):
    """219 rows are the first that keep the rate between half and double; one rank less does not."""
    assert CHECK(view_with(anomaly_view, 219, 0)).outcome == "pass"
    assert CHECK(view_with(anomaly_view, 199, 0)).outcome == "warn"


@pytest.mark.parametrize(("alpha", "factor"), [(0.05, 2.0), (0.01, 2.0), (0.1, 1.5)])
def test_rows_needed_by_simulation(alpha, factor):
    n = rows_for(alpha, factor)
    k = int(alpha * (n + 1) + 1e-9)
    uniform = np.random.default_rng(0).random((4000, n))
    rates = 1.0 - np.partition(uniform, n - k, axis=1)[:, n - k]
    inside = np.mean((rates >= alpha / factor) & (rates <= alpha * factor))
    assert inside >= 0.945
    fewer = int((k - 1) / alpha) - 1
    law = stats.beta(k - 1, fewer + 2 - k)
    assert law.ppf(0.025) < alpha / factor or law.ppf(0.975) > alpha * factor


def test_a_series_is_worth_fewer_rows(anomaly_view):
    found = CHECK(view_with(anomaly_view, 400, 0, series=np.zeros(400, int), smooth=40))
    assert found.outcome == "warn"
    assert "independent ones" in found.sentence
    needed = int(re.search(r"about ([\d,]+) held-out", found.fix[0]).group(1).replace(",", ""))
    assert needed > 2 * 219


def test_ties_are_not_blamed_on_the_number_of_rows(anomaly_view):
    rng = np.random.default_rng(0)
    fit, held, test = (np.round(rng.normal(size=(n, 2))) for n in (100, 800, 50))
    assert CHECK(anomaly_view(fit, held, test, candidate=[size])).outcome == "pass"


def test_minimum_multiple(anomaly_view):
    strict = dataclasses.replace(CHECK, max_factor=1e9, minimum_multiple=2.0)
    assert strict(view_with(anomaly_view, 37, 0)).outcome == "warn"
    assert strict(view_with(anomaly_view, 38, 0)).outcome == "pass"
