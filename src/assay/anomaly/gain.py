"""The loss of the verdict, and the candidate's gain over the best baseline.

The loss is what a plant gets at the threshold that was chosen beforehand: the share of anomalies
missed plus the share of normal rows that alarm, twice the balanced error. Two things are luck in
it: which rows are in the test part, and which normal rows the threshold came from. Both are
resampled here, the threshold is derived again in every replicate, and all methods see the same
resample; with the test rows alone, the luckier threshold would often look like the better method.
"""

import dataclasses
import math

import numpy as np

from assay.anomaly.threshold import rank_of
from assay.bootstrap import bootstrap_gain
from assay.data import as_labels
from assay.errors import DataError, StudyError
from assay.result import Gain
from assay.units import codes

LOSS = "missed anomalies plus false alarms"

# More units than these are put together at random into groups of equal size. The variance of a
# mean does not change, and 400 groups know it to within 4 % of a standard error; the cost of a
# replicate no longer grows with the rows.
MOST_CALIBRATION_UNITS = 400
MOST_TEST_UNITS = 1000

# With fewer independent units of one label the data bound nothing.
FEWEST_UNITS = 4

# The threshold of a replicate is looked up among ranks up to so many standard deviations from k.
SPREADS, STEPS = 6.0, 80


@dataclasses.dataclass(frozen=True)
class MethodScores:
    """What one method scored, for each of its seeds.

    Attributes
    ----------
    name : str
    calibration : (n_cal,) or (n_seeds, n_cal) array [score], or None
        On held-out normal rows, the same for all methods. None: the threshold is given.
    test : (n,) or (n_seeds, n) array [score]
    threshold : float or (n_seeds,) array [score], optional
        A threshold that comes from outside, taken as fixed.
    """

    name: str
    calibration: np.ndarray | None
    test: np.ndarray
    threshold: float | np.ndarray | None = None


def operating_loss(false_alarm: float, detection: float) -> float:
    """Return the loss [-]: missed anomalies plus false alarms, 0 perfect, 1 for guessing.

    Examples
    --------
    >>> round(operating_loss(0.05, 0.75), 2)
    0.3
    """
    return (1.0 - detection) + false_alarm


def detection_gain(
    candidate: MethodScores,
    baselines: tuple[MethodScores, ...],
    labels,
    alpha: float,
    *,
    units=None,
    calibration_units=None,
    level: float = 0.95,
    repeats: int = 2000,
    seed: int = 0,
) -> tuple[Gain, tuple[Gain, ...]]:
    r"""Return the candidate's gain over the best baseline, and over each.

    .. math:: g = 1 - L_c / \min_j L_j, \qquad L = (1 - \text{detection}) + \text{false alarms}

    Parameters
    ----------
    candidate : MethodScores
        Losses are averaged over its seeds.
    baselines : tuple of MethodScores, at least one
    labels : (n,) bool
        True is an anomaly.
    alpha : float in (0, 0.5]
        The false-alarm rate asked for; each replicate takes its conformal threshold again.
    units : (n,) array of ids, optional
        What is independent among the test rows: groups, or blocks of a time series. None: rows.
    calibration_units : (n_cal,) array of ids, optional
        The same for the held-out normal rows.
    level : float [-]
    repeats : int, >= 200
    seed : int

    Returns
    -------
    gain, gains
        `low` is -inf where there are fewer than 4 independent normal or anomalous units.

    Raises
    ------
    DataError
        If numbers of rows differ.
    StudyError
        If a label is absent, or the calibration rows cannot support `alpha`.

    Notes
    -----
    Time and memory of a replicate do not depend on the number of rows: rows are counted once per
    unit and possible threshold (only ranks near k matter), and units beyond a thousand are put
    together at random.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> labels = np.arange(600) >= 400
    >>> def scores(shift):
    ...     return rng.normal(size=300), rng.normal(size=600) + shift * labels
    >>> good, poor = (MethodScores("", *scores(s)) for s in (3.0, 1.0))
    >>> gain, _ = detection_gain(good, (poor,), labels, 0.05)
    >>> gain.low > 0.0
    True
    """
    if not baselines:
        raise StudyError("A gain needs at least one baseline.", hint="Use `BASELINES`.")
    methods = (candidate, *baselines)
    labels = as_labels(labels, name="labels", n_rows=_rows(candidate.test))
    _check(methods, labels)
    rng = np.random.default_rng(seed)
    test_ids, n_test = _test_units(labels, units, rng)
    cal_ids, n_cal = _calibration_units(methods, calibration_units, rng)
    size_cal = np.bincount(cal_ids, minlength=n_cal).astype(np.float64)
    sizes = np.stack([_count(test_ids, rows, n_test) for rows in (~labels, labels)])

    strata = _strata(labels, test_ids, n_test, independent=units is None)
    cal_weights = _draw([np.arange(n_cal)], n_cal, repeats, rng)
    test_weights = _draw(strata, n_test, repeats, rng)
    totals = test_weights @ sizes.T
    k = np.floor(alpha * (cal_weights @ size_cal + 1.0) + 1e-9).clip(1.0)

    losses = []
    for method in methods:
        each = []
        for calibration, test, threshold in _fits(method):
            values = _possible(calibration, threshold, alpha, cal_ids)
            reached = _reached(calibration, values, cal_ids, size_cal)
            alarms = _alarms(test, values, labels, test_ids, n_test)
            column = _chosen(reached, cal_weights, k)
            each.append(_losses(alarms, column, test_weights, totals))
        losses.append(np.mean(each, axis=0))
    names = tuple(b.name for b in baselines)
    return _gains(np.stack(losses, axis=1), min(map(len, (*strata, size_cal))), names, level, seed)


def _gains(losses, n_units, names, level, seed):
    """Hand losses (1 + repeats, methods) to the rule of the house."""
    if n_units < FEWEST_UNITS:
        return _unbounded(losses[0], names, level)
    # The replicates are drawn before, all at once: `bootstrap_gain` asks for the whole sample
    # first and for each replicate in turn, and its own weights are of no use here. The rarest
    # kind of unit sets the degrees of freedom, which is the cautious choice.
    answers = iter(losses)

    def next_losses(weights):
        del weights
        answer = next(answers)
        return answer[0], answer[1:]

    return bootstrap_gain(
        next_losses,
        n_units,
        names=names,
        loss=LOSS,
        level=level,
        repeats=len(losses) - 1,
        seed=seed,
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
        return _grouped(*codes(units, labels.size), MOST_TEST_UNITS, rng)
    ids, start = np.empty(labels.size, dtype=np.int64), 0
    for rows in (~labels, labels):
        n = int(rows.sum())
        part, count = _grouped(np.arange(n), n, MOST_TEST_UNITS, rng)
        ids[rows] = part + start
        start += count
    return ids, start


def _calibration_units(methods, units, rng):
    with_rows = [m.calibration for m in methods if m.calibration is not None]
    if not with_rows:
        return np.zeros(1, dtype=np.int64), 1
    n = _rows(with_rows[0])
    ids, count = (np.arange(n), n) if units is None else codes(units, n, name="calibration_units")
    return _grouped(ids, count, MOST_CALIBRATION_UNITS, rng)


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


def _check(methods, labels):
    if not labels.any() or labels.all():
        raise StudyError(
            f"A gain needs normal and anomalous test rows, got {int((~labels).sum())} and "
            f"{int(labels.sum())}.",
            hint="Give a test part with both labels, or leave the labels out.",
        )
    rows = {_rows(m.calibration) for m in methods if m.calibration is not None}
    if len(rows) > 1:
        raise DataError(
            f"All methods must score the same held-out rows, got {sorted(rows)} of them.",
            hint="Score each method on the same rows, in the same order.",
        )
    for method in methods:
        if _rows(method.test) != labels.size:
            raise DataError(
                f"`{method.name}` must have {labels.size} test scores, got {_rows(method.test)}.",
                hint="Score each method on the same test rows, in the same order.",
            )
        if (method.calibration is None) == (method.threshold is None):
            raise StudyError(
                f"`{method.name}` needs either scores on held-out normal rows or a threshold.",
                hint="Leave one of the two out.",
            )
        fits = [
            np.atleast_2d(s).shape[0] for s in (method.calibration, method.test) if s is not None
        ]
        if len(set(fits)) > 1:
            raise DataError(
                f"`{method.name}` must have one row of scores per seed in both parts, got {fits}.",
                hint="Score each seed's fit on both parts.",
            )


def _unbounded(losses, names, level):
    """Return gains without bounds, for too few units to resample."""
    ours, theirs = losses[0], losses[1:]
    estimates = [1.0 - ours / b if b > 0.0 else (0.0 if ours == 0.0 else -math.inf) for b in theirs]
    gains = tuple(
        Gain(float(e), -math.inf, 1.0, name, loss=LOSS, level=level)
        for e, name in zip(estimates, names, strict=True)
    )
    return gains[int(np.argmin(theirs))], gains
