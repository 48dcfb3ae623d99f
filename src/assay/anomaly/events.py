"""Labelled stretches of a time series as events: found or missed, and how late.

An event is a contiguous run of anomalous rows. It is detected when a row *inside* it alarms. An
alarm is what an operator hears: a contiguous run of alarming rows; it is false when it starts on
a normal row. Rows are not counted as found because another row of their event alarmed.
"""

import dataclasses

import numpy as np

from assay.anomaly.metrics import Rate, rate
from assay.data import as_labels
from assay.errors import DataError
from assay.units import codes

DAY_S = 86_400.0


@dataclasses.dataclass(frozen=True)
class EventReport:
    """Events and what the alarms did about them.

    Attributes
    ----------
    first, last : (n_events,) int
        First and last row of each event, in the order of the rows.
    detected : (n_events,) bool
    delay_rows : (n_events,) float [rows]
        From the first row of the event to the first alarm inside it; NaN where missed.
    delay_s : (n_events,) float [s] or None
        The same in time; None without times.
    found : Rate or None
        Share of events detected, with its interval over events; None without events.
    false_episodes : int
        Separate alarms that start on a normal row.
    false_rows : int
        Normal rows that alarm.
    normal_days : float or None [day]
        Time covered by normal rows.
    false_rows_per_day, false_episodes_per_day : float or None [1/day]
    """

    first: np.ndarray
    last: np.ndarray
    detected: np.ndarray
    delay_rows: np.ndarray
    delay_s: np.ndarray | None
    found: Rate | None
    false_episodes: int
    false_rows: int
    normal_days: float | None
    false_rows_per_day: float | None
    false_episodes_per_day: float | None

    @property
    def median_delay_rows(self) -> float | None:
        """Return the median delay over detected events [rows], None where none was detected."""
        return float(np.median(self.delay_rows[self.detected])) if self.detected.any() else None

    @property
    def median_delay_s(self) -> float | None:
        """Return the median delay over detected events [s], None where there is none."""
        if self.delay_s is None or not self.detected.any():
            return None
        return float(np.median(self.delay_s[self.detected]))


def runs(flags, *, groups=None) -> tuple[np.ndarray, np.ndarray]:
    """Return first and last row of each contiguous run of True, never across a group.

    Parameters
    ----------
    flags : (n,) bool
    groups : (n,) array of ids, optional
        Which series a row belongs to; the rows of one lie together.

    Returns
    -------
    first, last : (n_runs,) int, both inside the run

    Examples
    --------
    >>> first, last = runs([False, True, True, False, True])
    >>> first.tolist(), last.tolist()
    ([1, 4], [2, 4])
    """
    flags = np.asarray(flags, dtype=bool)
    new = np.ones(flags.size, dtype=bool)
    if groups is not None:
        ids = codes(groups, flags.size, name="groups")[0]
        new[1:] = ids[1:] != ids[:-1]
    else:
        new[1:] = False
    before = np.zeros(flags.size, dtype=bool)
    before[1:] = flags[:-1]
    first = np.flatnonzero(flags & (new | ~before))
    ends = np.ones(flags.size, dtype=bool)
    ends[:-1] = ~flags[1:] | new[1:]
    return first, np.flatnonzero(flags & ends)


def score_events(alarms, labels, *, groups=None, times=None, level: float = 0.95) -> EventReport:
    """Compare alarms with labelled events.

    Parameters
    ----------
    alarms : (n,) bool
        In time order within each group.
    labels : (n,) bool
        True is an anomaly.
    groups : (n,) array of ids, optional
        Which series a row belongs to; no event crosses a border.
    times : (n,) array of datetime64 or float [s], optional
        For delays in seconds and alarms per day.
    level : float in (0, 1)
        Coverage of the interval on the share of events found, which takes events as independent.

    Returns
    -------
    EventReport

    Raises
    ------
    DataError
        If lengths differ or times run backwards inside a group.

    Examples
    --------
    >>> report = score_events([0, 1, 0, 0, 1, 1], [0, 0, 0, 1, 1, 1], times=[0, 1, 2, 3, 4, 5])
    >>> report.detected.tolist(), report.delay_s.tolist(), report.false_episodes
    ([True], [1.0], 1)
    """
    alarms = np.asarray(alarms, dtype=bool)
    labels = as_labels(labels, name="labels", n_rows=alarms.size)
    first, last = runs(labels, groups=groups)
    hits = np.flatnonzero(alarms)
    # The first alarm at or after the start of each event, by one search for all.
    after = np.searchsorted(hits, first)
    position = np.append(hits, alarms.size)[after]
    detected = position <= last
    delay_rows = np.where(detected, position - first, np.nan)
    started, _ = runs(alarms, groups=groups)
    episodes = int(np.sum(~labels[started]))
    false_rows = int(np.sum(alarms & ~labels))
    delay_s = days = None
    if times is not None:
        seconds, step = _seconds(times, alarms.size, groups)
        reached = seconds[np.minimum(position, alarms.size - 1)]
        delay_s = np.where(detected, reached - seconds[first], np.nan)
        days = float(np.sum(~labels)) * step / DAY_S
    known = bool(days)
    return EventReport(
        first=first,
        last=last,
        detected=detected,
        delay_rows=delay_rows,
        delay_s=delay_s,
        found=rate(detected, level=level) if first.size else None,
        false_episodes=episodes,
        false_rows=false_rows,
        normal_days=days,
        false_rows_per_day=false_rows / days if known else None,
        false_episodes_per_day=episodes / days if known else None,
    )


def sampling_interval(times, *, groups=None) -> float:
    """Return the median time between neighbouring rows [s], 0 where there are no two rows.

    Examples
    --------
    >>> sampling_interval(np.array(["2024-01-01T00:00", "2024-01-01T00:05"], dtype="datetime64[s]"))
    300.0
    """
    return _seconds(times, len(times), groups)[1]


def _seconds(times, n, groups):
    times = np.asarray(times)
    if times.shape != (n,):
        raise DataError(
            f"`times` must hold one value per row: expected shape ({n},), got {times.shape}.",
            hint="Pass the times of the same rows.",
        )
    if times.dtype.kind == "M":
        times = (times - times.min()) / np.timedelta64(1, "us") / 1e6 if n else times
    seconds = np.asarray(times, dtype=np.float64)
    steps = np.diff(seconds)
    if groups is not None:
        ids = codes(groups, n, name="groups")[0]
        steps = steps[ids[1:] == ids[:-1]]
    if np.any(steps < 0.0):
        raise DataError(
            f"`times` run backwards at {int(np.sum(steps < 0.0))} rows.",
            hint="Sort the rows by time, and name the series in `groups`.",
        )
    return seconds, float(np.median(steps)) if steps.size else 0.0
