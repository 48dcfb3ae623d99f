"""Losses of detectors in resampled studies: thresholds are derived again from resampled rows.

Rows are counted once per independent unit and possible threshold, so that the time and memory of
a replicate do not depend on the number of rows.
"""

import dataclasses
import math

import numpy as np

from assay.anomaly.threshold import rank_of
from assay.units import codes

# More units than these are put together at random into groups of equal size. The variance of a
# mean does not change, and 400 groups know it to within 4 % of a standard error.
MOST_CALIBRATION_UNITS = 400
MOST_TEST_UNITS = 1000

# The threshold of a replicate is looked up among ranks up to so many standard deviations from k.
SPREADS, STEPS = 6.0, 80


@dataclasses.dataclass(frozen=True)
class Replicates:
    """What resampling gave.

    Attributes
    ----------
    losses : (1 + repeats, n_methods) float64 [-]
        Of the study itself first; NaN where a label was not drawn.
    contributions : (n_units, n_methods) float64 [-]
        What each test unit adds to the loss at the study's own thresholds, centred; the sum of
        squares is the variance that the test rows alone would give.
    n_units : tuple of int
        Independent normal units, anomalous units and calibration units (0: thresholds given).
    k : float
        Independent calibration units at or above the thresholds; 0 where they were given.
    """

    losses: np.ndarray
    contributions: np.ndarray
    n_units: tuple[int, int, int]
    k: float


def replicate(methods, labels, alpha, *, units, calibration_units, repeats, rng) -> Replicates:
    """Resample test units and calibration units and score each method in each resample.

    Parameters
    ----------
    methods : tuple of `assay.anomaly.gain.MethodScores`
    labels : (n,) bool
    alpha : float [-]
    units, calibration_units : array of ids or None
        None: rows are independent; normal and anomalous test rows are then resampled apart.
    repeats : int
    rng : numpy.random.Generator

    Returns
    -------
    Replicates
    """
    test_ids, n_test, n_each = _test_units(labels, units, rng)
    cal_ids, n_cal, n_cal_units = _calibration_units(methods, calibration_units, rng)
    size_cal = np.bincount(cal_ids, minlength=n_cal).astype(np.float64)
    sizes = np.stack([_count(test_ids, rows, n_test) for rows in (~labels, labels)])
    strata = _strata(labels, test_ids, n_test, independent=units is None)
    cal_weights = _draw([np.arange(n_cal)], n_cal, repeats, rng)
    test_weights = _draw(strata, n_test, repeats, rng)
    totals = test_weights @ sizes.T
    k = np.floor(alpha * (cal_weights @ size_cal + 1.0) + 1e-9).clip(1.0)

    losses, contributions = [], []
    for method in methods:
        each, parts = [], []
        for calibration, test, threshold in _fits(method):
            values = _possible(calibration, threshold, alpha, cal_ids)
            reached = _reached(calibration, values, cal_ids, size_cal)
            alarms = _alarms(test, values, labels, test_ids, n_test)
            column = _chosen(reached, cal_weights, k)
            each.append(_losses(alarms, column, test_weights, totals))
            parts.append(_contributions(alarms[column[0]], sizes))
        losses.append(np.mean(each, axis=0))
        contributions.append(np.mean(parts, axis=0))
    return Replicates(
        np.stack(losses, axis=1),
        np.stack(contributions, axis=1),
        (*n_each, n_cal_units),
        float(k[0] * n_cal_units / len(cal_ids)),
    )


def _strata(labels, test_ids, n_test, *, independent):
    """Return the units that are resampled among themselves: labels where rows are independent."""
    if not independent:
        return [np.arange(n_test)]
    return [np.unique(test_ids[rows]) for rows in (~labels, labels)]


def _draw(strata, n_units, repeats, rng):
    """Return weights (1 + repeats, n_units): all ones first, then bootstrap samples."""
    weights = np.zeros((repeats + 1, n_units), dtype=np.float32)
    weights[0] = 1.0
    for stratum in strata:
        size = len(stratum)
        drawn = rng.integers(size, size=(repeats, size)) + size * np.arange(repeats)[:, None]
        counts = np.bincount(drawn.ravel(), minlength=repeats * size).reshape(repeats, size)
        weights[1:, stratum] = counts
    return weights


def _chosen(reached, weights, k):
    """Return the threshold's column in each replicate: the highest that k rows reach."""
    if reached.shape[1] == 1:
        return np.zeros(len(weights), dtype=np.int64)
    return (weights @ reached.astype(np.float32) >= k[:, None]).argmax(axis=1)


def _losses(alarms, column, weights, totals):
    """Return the loss of one fit in each replicate, NaN where a label was not drawn."""
    counts = np.empty((len(weights), 2))
    for part in range(2):
        for rows in _blocks(len(weights)):
            table = alarms[:, part][column[rows]]
            counts[rows, part] = np.einsum("ru,ru->r", table, weights[rows])
    with np.errstate(invalid="ignore", divide="ignore"):
        share = counts / totals
    # Rounding of float32 counts must not give a perfect method a loss below zero.
    return np.maximum(share[:, 0] + 1.0 - share[:, 1], 0.0)


def _contributions(alarms, sizes):
    """Return what each unit adds to the loss, centred: its share of false alarms and misses."""
    total = sizes.sum(axis=1)
    share = alarms.sum(axis=1) / total
    off = (alarms - share[:, None] * sizes) / total[:, None]
    return off[0] - off[1]


def _blocks(n, size=256):
    return [slice(i, min(i + size, n)) for i in range(0, n, size)]


def _possible(calibration, threshold, alpha, cal_ids):
    """Return the thresholds that a replicate may choose, highest first."""
    if calibration is None:
        return np.array([float(threshold)])
    n = calibration.size
    k = rank_of(alpha, n)
    top = np.argpartition(calibration, n - k)[n - k :]
    # The count of rows above a level varies by this much between resamples of the units.
    spread = max(1.0, math.sqrt(float(np.sum(np.bincount(cal_ids[top]).astype(np.float64) ** 2))))
    near = np.round(spread * np.linspace(0.0, SPREADS, STEPS + 1))
    far = np.geomspace(max(1.0, near[-1]), n, 8)
    offsets = np.concatenate([near, far]).astype(np.int64)
    ranks = np.unique(np.clip(np.concatenate([k - offsets, k + offsets, [1, n]]), 1, n))
    values = np.partition(calibration, n - ranks)[n - ranks]
    return np.unique(values)[::-1]


def _reached(calibration, values, cal_ids, size_cal):
    """Count calibration rows at or above each value, per group: (groups, T)."""
    if calibration is None:
        return size_cal[:, None]
    # Column of the highest value that a row reaches; rows below all of them fall out.
    column = np.searchsorted(-values, -calibration, side="left")
    return _cumulated(column, values.size, cal_ids, size_cal.size).T


def _alarms(test, values, labels, test_ids, n_test):
    """Count test rows above each value, per unit and label: (T, 2, units)."""
    column = np.searchsorted(-values, -test, side="right")
    parts = [
        _cumulated(column[rows], values.size, test_ids[rows], n_test) for rows in (~labels, labels)
    ]
    return np.stack(parts, axis=1)


def _cumulated(column, width, ids, n_ids):
    """Count rows by column and id, summed up over columns: (width, n_ids)."""
    inside = column < width
    flat = column[inside] * n_ids + ids[inside]
    counts = np.bincount(flat, minlength=width * n_ids).reshape(width, n_ids)
    return counts.cumsum(axis=0, dtype=np.float32)


def _test_units(labels, units, rng):
    """Return a unit number per test row; rows without units are grouped label by label."""
    if units is not None:
        ids, count = codes(units, labels.size)
        n_each = tuple(int(np.unique(ids[rows]).size) for rows in (~labels, labels))
        return (*_grouped(ids, count, MOST_TEST_UNITS, rng), n_each)
    ids, start = np.empty(labels.size, dtype=np.int64), 0
    for rows in (~labels, labels):
        n = int(rows.sum())
        part, count = _grouped(np.arange(n), n, MOST_TEST_UNITS, rng)
        ids[rows] = part + start
        start += count
    return ids, start, (int((~labels).sum()), int(labels.sum()))


def _calibration_units(methods, units, rng):
    with_rows = [m.calibration for m in methods if m.calibration is not None]
    if not with_rows:
        return np.zeros(1, dtype=np.int64), 1, 0
    n = _rows(with_rows[0])
    ids, count = (np.arange(n), n) if units is None else codes(units, n, name="calibration_units")
    return (*_grouped(ids, count, MOST_CALIBRATION_UNITS, rng), count)


def _grouped(ids, count, most, rng):
    if count <= most:
        return ids, count
    return (rng.permutation(count) % most)[ids], most


def _count(ids, rows, n_ids):
    return np.bincount(ids[rows], minlength=n_ids).astype(np.float32)


def _fits(method):
    """Yield calibration scores, test scores and threshold of each seed."""
    test = np.atleast_2d(np.asarray(method.test))
    if method.calibration is None:
        for row, threshold in zip(test, np.broadcast_to(method.threshold, len(test)), strict=True):
            yield None, row, threshold
        return
    for calibration, row in zip(np.atleast_2d(np.asarray(method.calibration)), test, strict=True):
        yield calibration, row, None


def _rows(scores):
    return np.shape(scores)[-1]
