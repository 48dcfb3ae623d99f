"""Is one ranking of the same test rows better than another: AUC against AUC, paired."""

import math

import numpy as np
from scipy import stats

from assay.units import codes


def auc_difference(ours, theirs, labels, *, units=None, level: float = 0.95):
    r"""Return AUC of `ours`, AUC of `theirs` and the paired interval on their difference.

    Both rankings see the same rows, so that the variance is that of the difference of their
    placement values [1]_.

    Parameters
    ----------
    ours, theirs : (n,) or (n_seeds, n) arrays [score]
        Several seeds count by their mean.
    labels : (n,) bool
        Both kinds must occur.
    units : (n,) int array, optional
        What is independent (groups, blocks); rows where all differ or None.
    level : float in (0, 1)

    Returns
    -------
    auc_ours, auc_theirs, low, high : float [-]

    References
    ----------
    .. [1] E. R. DeLong, D. M. DeLong, D. L. Clarke-Pearson, Biometrics 44 (1988) 837-845, eq. 6.

    Examples
    --------
    >>> auc_difference([1, 2, 3, 4], [1, 3, 2, 4], np.array([False, False, True, True]))[:2]
    (1.0, 0.75)
    """
    labels = np.asarray(labels, dtype=bool)
    n_pos, n_neg = int(labels.sum()), int((~labels).sum())
    first, area = _placements(ours, labels)
    second, other = _placements(theirs, labels)
    off = first - second
    off[labels] -= off[labels].mean()
    off[~labels] -= off[~labels].mean()
    off /= np.where(labels, n_pos, n_neg)
    ids, n_units = (None, labels.size) if units is None else codes(units, labels.size)
    if n_units == labels.size:
        scale = [m / max(m - 1, 1) for m in (n_pos, n_neg)]
        variance = scale[0] * np.sum(off[labels] ** 2) + scale[1] * np.sum(off[~labels] ** 2)
        critical = stats.norm.ppf(0.5 + level / 2.0)
    elif n_units == 1:
        return area, other, -1.0, 1.0
    else:
        variance = np.sum(np.bincount(ids, weights=off) ** 2) * n_units / (n_units - 1)
        critical = stats.t.ppf(0.5 + level / 2.0, n_units - 1)
    reach = float(critical * math.sqrt(variance))
    return area, other, area - other - reach, area - other + reach


def _placements(scores, labels):
    """Return each row's chance to be ranked rightly against the other label, and the AUC."""
    scores = np.atleast_2d(np.asarray(scores, dtype=np.float64))
    total = np.zeros(labels.size)
    for row in scores:
        ranks = stats.rankdata(row)
        own = np.empty(labels.size)
        own[labels], own[~labels] = stats.rankdata(row[labels]), stats.rankdata(row[~labels])
        above = ranks - own
        total[labels] += above[labels] / (~labels).sum()
        total[~labels] += 1.0 - above[~labels] / labels.sum()
    total /= len(scores)
    return total, float(total[labels].mean())
