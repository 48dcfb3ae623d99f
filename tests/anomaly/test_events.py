"""Events: counted by hand, and by a slow loop on random series."""

import numpy as np
import pytest

from assay.anomaly.events import runs, sampling_interval, score_events
from assay.errors import DataError


def by_hand(alarms, labels, groups):
    """Return (detected, delays, false episodes) by walking through the rows."""
    detected, delays, episodes = [], [], 0
    for i in range(len(labels)):
        new = i == 0 or groups[i] != groups[i - 1]
        if labels[i] and (new or not labels[i - 1]):
            j, found = i, None
            while j < len(labels) and labels[j] and groups[j] == groups[i]:
                if alarms[j] and found is None:
                    found = j - i
                j += 1
            detected.append(found is not None)
            delays.append(np.nan if found is None else found)
        if alarms[i] and not labels[i] and (new or not alarms[i - 1]):
            episodes += 1
    return detected, delays, episodes


@pytest.mark.parametrize("seed", range(20))
def test_agrees_with_walking_through_the_rows(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 200))
    alarms, labels = rng.random(n) < 0.2, np.repeat(rng.random(n) < 0.3, 3)[:n]
    groups = np.sort(rng.integers(0, 4, size=n))
    report = score_events(alarms, labels, groups=groups, times=np.arange(n) * 2.0)
    detected, delays, episodes = by_hand(alarms, labels, groups)
    assert report.detected.tolist() == detected
    np.testing.assert_array_equal(report.delay_rows, delays)
    np.testing.assert_array_equal(report.delay_s, 2.0 * np.array(delays))
    assert report.false_episodes == episodes
    assert report.false_rows == np.sum(alarms & ~labels)


def test_runs_stop_at_group_borders():
    first, last = runs([1, 1, 1, 1], groups=["a", "a", "b", "b"])
    assert (first.tolist(), last.tolist()) == ([0, 2], [1, 3])
    first, last = runs(np.zeros(0, dtype=bool))
    assert first.size == last.size == 0


def test_an_alarm_that_outlasts_its_event_is_no_new_false_alarm():
    report = score_events([0, 1, 1, 1, 0, 1], [0, 1, 1, 0, 0, 0])
    assert report.false_rows == 2
    assert report.false_episodes == 1  # only the last one starts on a normal row


def test_an_early_alarm_counts_as_false_and_the_event_as_found():
    report = score_events([0, 1, 1], [0, 0, 1])
    assert report.false_episodes == 1
    assert report.detected.tolist() == [True]
    assert report.delay_rows.tolist() == [0.0]


def test_rates_per_day_and_delay_in_seconds():
    times = np.datetime64("2024-03-01T00:00:00") + np.arange(2880) * np.timedelta64(60, "s")
    labels = np.zeros(2880, dtype=bool)
    labels[1440:] = True  # one normal day, then the fault
    alarms = np.zeros(2880, dtype=bool)
    alarms[[10, 11, 500, 1445]] = True
    report = score_events(alarms, labels, times=times)
    assert report.normal_days == pytest.approx(1.0)
    assert report.false_rows_per_day == pytest.approx(3.0)
    assert report.false_episodes_per_day == pytest.approx(2.0)
    assert report.median_delay_s == 300.0
    assert report.median_delay_rows == 5.0
    assert report.found.n == 1
    assert sampling_interval(times) == 60.0


def test_nothing_to_find():
    report = score_events([0, 1, 0], [0, 0, 0])
    assert report.found is None
    assert report.median_delay_rows is None
    assert report.median_delay_s is None
    assert report.normal_days is None
    all_fault = score_events([0, 1, 0], [1, 1, 1], times=[0.0, 1.0, 2.0])
    assert all_fault.false_rows_per_day is None


def test_bad_times():
    with pytest.raises(DataError, match="run backwards at 1 rows"):
        score_events([0, 0, 0], [0, 1, 0], times=[0.0, 2.0, 1.0])
    with pytest.raises(DataError, match="one value per row"):
        score_events([0, 0, 0], [0, 1, 0], times=[0.0, 2.0])
    # A new series may start earlier.
    score_events([0, 0, 0], [0, 1, 0], times=[5.0, 6.0, 1.0], groups=[0, 0, 1])


def test_real_series_of_a_pump(shared):
    import csv

    with open(shared / "skab" / "valve1-0.csv", encoding="utf-8") as file:
        rows = list(csv.DictReader(file, delimiter=";"))
    labels = np.array([float(r["anomaly"]) for r in rows]) == 1.0
    times = np.array([r["datetime"] for r in rows], dtype="datetime64[s]")
    report = score_events(labels, labels, times=times)
    assert report.detected.all()
    assert report.median_delay_s == 0.0
    assert report.false_episodes == 0
