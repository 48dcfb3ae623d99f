"""How well alarms and scores tell anomalies from normal rows, each figure with an interval.

Nothing here adjusts alarms by the labels ("point adjustment"): an alarm counts where it is.
"""

import dataclasses
import math

import numpy as np
from scipy import stats

from assay.data import as_labels, as_vector
from assay.errors import StudyError
from assay.units import codes


@dataclasses.dataclass(frozen=True)
class Rate:
    """A share of rows [-] with its interval: `count` of `n` rows."""

    estimate: float
    low: float
    high: float
    count: int
    n: int


@dataclasses.dataclass(frozen=True)
class OperatingPoint:
    """What happens at one threshold.

    `false_alarm` is over normal rows, `detection` over anomalous ones (None where there are
    none of them), `by_kind` the detection rate per kind of anomaly.
    """

    false_alarm: Rate | None
    detection: Rate | None
    by_kind: dict[str, Rate]


def rate(hits, *, units=None, level: float = 0.95) -> Rate:
    r"""Return the share of True in `hits` with an interval.

    Parameters
    ----------
    hits : (n,) bool, n >= 1
    units : (n,) array of ids, optional
        What is independent: groups, or blocks of a time series. None: each row is.
    level : float in (0, 1)
        Coverage, at least.

    Returns
    -------
    Rate

    Notes
    -----
    Clopper and Pearson's exact interval [1]_. With units, that of the number of rows that would
    be as good if they were independent, from the variance between units and with its degrees of
    freedom [2]_. Where all rows agree there is no such variance, and each unit counts as one row.
    A single unit says nothing: the interval is then 0 to 1.

    References
    ----------
    .. [1] C. J. Clopper, E. S. Pearson, Biometrika 26 (1934) 404-413.
    .. [2] E. L. Korn, B. I. Graubard, Confidence intervals for proportions with small expected
       number of positive counts, Survey Methodology 24 (1998) 193-201.

    Examples
    --------
    >>> r = rate(np.array([True] + [False] * 19))
    >>> r.estimate, round(r.low, 4), round(r.high, 3)
    (0.05, 0.0013, 0.249)
    """
    hits = np.asarray(hits, dtype=bool)
    n, count = hits.size, int(hits.sum())
    if n == 0:
        raise StudyError("A rate needs at least one row, got 0.", hint="Give rows of that label.")
    share = count / n
    effective = float(n)
    if units is not None:
        ids, n_units = codes(units, n)
        if n_units == 1:
            return Rate(share, 0.0, 1.0, count, n)
        effective = _effective(hits, share, ids, n_units, level)
    low, high = _clopper_pearson(share * effective, effective, level)
    return Rate(share, low, high, count, n)


def operating_point(
    scores, labels, threshold: float, *, kinds=None, units=None, level: float = 0.95
) -> OperatingPoint:
    """Return false-alarm and detection rate of a threshold that was chosen elsewhere.

    Parameters
    ----------
    scores : (n,) array [score]
    labels : (n,) bool
        True is an anomaly.
    threshold : float [score]
        Scores above it alarm.
    kinds : (n,) array of str, optional
        The kind of each anomaly, as the file names it; ignored for normal rows.
    units : (n,) array of ids, optional
        Groups or blocks, as in `rate`.
    level : float in (0, 1)

    Returns
    -------
    OperatingPoint

    Examples
    --------
    >>> point = operating_point([0.1, 0.9, 0.8, 0.2], [0, 0, 1, 1], 0.5)
    >>> point.false_alarm.estimate, point.detection.estimate
    (0.5, 0.5)
    """
    scores = as_vector(scores, name="scores")
    labels = as_labels(labels, name="labels", n_rows=scores.size)
    alarms = scores > threshold

    def over(rows):
        chosen = None if units is None else np.asarray(units)[rows]
        return rate(alarms[rows], units=chosen, level=level) if rows.any() else None

    by_kind = {}
    if kinds is not None:
        kinds = np.asarray(kinds).astype(str)
        by_kind = {str(kind): over(labels & (kinds == kind)) for kind in np.unique(kinds[labels])}
    return OperatingPoint(over(~labels), over(labels), by_kind)


def auc(scores, labels, *, units=None, level: float = 0.95) -> Rate:
    r"""Return the area under the ROC curve with DeLong's interval.

    The chance that an anomaly scores higher than a normal row, ties counting half.

    Parameters
    ----------
    scores : (n,) array [score]
    labels : (n,) bool
        Both kinds must occur.
    units : (n,) array of ids, optional
        Groups or blocks that are independent.
    level : float in (0, 1)

    Returns
    -------
    Rate
        `count` is the number of anomalies, `n` that of rows.

    Raises
    ------
    StudyError
        If all labels are the same.

    Notes
    -----
    Variance from placement values [1]_ by midranks [2]_, in n log n; with units, from their sums
    over units [3]_. The interval is symmetric in the logit, so that it stays inside 0 and 1. At
    exactly 0 or 1 the variance is 0 and says nothing: the bound is then that of as many perfect
    trials as there are rows of the rarer label (or units).

    References
    ----------
    .. [1] E. R. DeLong, D. M. DeLong, D. L. Clarke-Pearson, Biometrics 44 (1988) 837-845, eq. 2-5.
    .. [2] X. Sun, W. Xu, IEEE Signal Processing Letters 21 (2014) 1389-1393, algorithm 2.
    .. [3] N. A. Obuchowski, Biometrics 53 (1997) 567-578.

    Examples
    --------
    >>> auc([0.1, 0.4, 0.35, 0.8], [0, 0, 1, 1]).estimate
    0.75
    """
    scores = as_vector(scores, name="scores")
    labels = as_labels(labels, name="labels", n_rows=scores.size)
    n_pos, n_neg = int(labels.sum()), int(scores.size - labels.sum())
    if n_pos == 0 or n_neg == 0:
        raise StudyError(
            f"AUC needs normal and anomalous rows, got {n_neg} and {n_pos}.",
            hint="Give a test part with both labels, or leave the labels out.",
        )
    ranks = stats.rankdata(scores)
    higher = (ranks[labels] - stats.rankdata(scores[labels])) / n_neg
    lower = 1.0 - (ranks[~labels] - stats.rankdata(scores[~labels])) / n_pos
    area = float(np.mean(higher))
    parts = np.zeros(scores.size)
    parts[labels], parts[~labels] = (higher - area) / n_pos, (lower - area) / n_neg
    independent = float(min(n_pos, n_neg))
    if units is None:
        # A single row of a label has no variance of its own; area (1 - area) is the largest.
        variance = sum(
            v.var(ddof=1) / v.size if v.size > 1 else area * (1.0 - area) for v in (higher, lower)
        )
        critical = stats.norm.ppf(0.5 + level / 2.0)
    else:
        ids, n_units = codes(units, scores.size)
        if n_units == 1:
            return Rate(area, 0.0, 1.0, n_pos, scores.size)
        variance = np.sum(np.bincount(ids, weights=parts) ** 2) * n_units / (n_units - 1)
        critical = stats.t.ppf(0.5 + level / 2.0, n_units - 1)
        rarer = labels if n_pos <= n_neg else ~labels
        independent = min(independent, float(np.unique(ids[rarer]).size))
    low, high = _logit_interval(area, math.sqrt(variance), critical, independent, level)
    return Rate(area, low, high, n_pos, scores.size)


def average_precision(scores, labels) -> float:
    """Return the average precision [-]: the mean share of anomalies among the rows above each.

    Its value for random scores is the share of anomalies, so it depends on how many there are.

    Examples
    --------
    >>> round(average_precision([0.1, 0.4, 0.35, 0.8], [0, 0, 1, 1]), 3)
    0.833
    """
    from sklearn.metrics import average_precision_score

    scores = as_vector(scores, name="scores")
    labels = as_labels(labels, name="labels", n_rows=scores.size)
    if not labels.any():
        raise StudyError("Average precision needs anomalous rows, got none.")
    return float(average_precision_score(labels, scores))


def distinct_share(scores) -> float:
    """Return the share of rows [-] whose score is not a copy of another, 1 where all differ.

    Scores are compared at the precision of float32: differences in the last digits of float64
    are rounding, and a detector that is constant but for rounding orders rows by accident.

    Examples
    --------
    >>> distinct_share([1.0, 1.0 + 1e-12, 2.0, 3.0])
    0.75
    """
    scores = as_vector(scores, name="scores")
    limit = float(np.finfo(np.float32).max)
    return np.unique(np.clip(scores, -limit, limit).astype(np.float32)).size / scores.size


def _effective(hits, share, ids, n_units, level):
    """Return the number of independent rows that would be as good as these units."""
    size = np.bincount(ids, minlength=n_units)
    off = np.bincount(ids, weights=hits, minlength=n_units) - share * size
    variance = float(off @ off) / hits.size**2 * n_units / (n_units - 1)
    if variance <= 0.0:
        return float(n_units)
    tail = 0.5 + level / 2.0
    freedom = stats.t.ppf(tail, hits.size - 1) / stats.t.ppf(tail, n_units - 1)
    return float(min(hits.size, share * (1.0 - share) / variance) * freedom**2)


def _clopper_pearson(count, n, level):
    tail = (1.0 - level) / 2.0
    low = 0.0 if count <= 0.0 else float(stats.beta.ppf(tail, count, n - count + 1.0))
    high = 1.0 if count >= n else float(stats.beta.ppf(1.0 - tail, count + 1.0, n - count))
    return low, high


def _logit_interval(area, se, critical, independent, level):
    worst = ((1.0 - level) / 2.0) ** (1.0 / independent)
    if area >= 1.0:
        return worst, 1.0
    if area <= 0.0:
        return 0.0, 1.0 - worst
    centre, width = math.log(area / (1.0 - area)), critical * se / (area * (1.0 - area))
    return tuple(
        float(1.0 / (1.0 + math.exp(-min(max(x, -700), 700))))
        for x in (centre - width, centre + width)
    )
