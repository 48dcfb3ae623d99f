r"""A small group of rows apart from all others: what hidden anomalies look like from outside.

Rows of one operating condition, however heavy their tails, grow ever rarer with distance: the
density of their distances falls. Rows of another class form a second, small hill. So the tail is
searched for a *rise*: an interval that holds more rows than an equally wide one closer to the bulk.
Under a falling density each row of the two lies in the farther one with a chance of at most 1/2, so
the binomial law gives a p-value without any assumption about the shape (the idea of [1]_, with
Bonferroni's factor for the number of pairs looked at).

Two views are searched: the distance to the k-th nearest row, k being larger than any group that
would still count as small (a group then has to reach for the bulk), and the projections on the
first principal components (a group in a corner of many columns is invisible to distances).

References
----------
.. [1] L. Dumbgen, G. Walther, Multiscale inference about a density, Annals of Statistics 36 (2008)
   1758-1785, section 2.
"""

import dataclasses

import numpy as np
from scipy import stats

from assay.symptoms import some_of, spread_of

# Distances between 2,000 rows are four million numbers: 0.1 s.
MOST_ROWS = 2_000
# Neighbours to reach for, as a share of the rows.
REACH = 0.15
COMPONENTS = 10
# Interval widths, in interquartile ranges; positions on half widths, at most so many.
WIDTHS = (0.25, 0.5, 1.0, 2.0)
MOST_PLACES = 200
FEWEST_ROWS = 100


@dataclasses.dataclass(frozen=True)
class Apart:
    """The most striking small group.

    Attributes
    ----------
    p : float [-]
        Chance of such a rise without any group; 1 where there is none.
    share : float [-]
        Share of rows beyond the gap.
    rows : (m,) int array
        Which rows of `X` they are, of those looked at.
    n : int
        Rows looked at.
    how_far : float [-]
        Median distance of the group from the median row, in units of that of all rows.
    """

    p: float
    share: float
    rows: np.ndarray
    n: int
    how_far: float


def small_group(X: np.ndarray, *, max_share: float, seed: int = 0) -> Apart | None:
    """Search for a small group apart from the other rows.

    Parameters
    ----------
    X : (n, d) array [columns' units]
    max_share : float [-], below 0.15
        Groups larger than this are operating conditions of their own.
    seed : int

    Returns
    -------
    Apart or None
        None where there are fewer than 100 rows.
    """
    rng = np.random.default_rng(seed)
    rows = some_of(len(X), MOST_ROWS, rng)
    n = len(rows)
    if n < FEWEST_ROWS:
        return None
    Z = _dithered(X[rows].astype(np.float64), rng)
    centre, spread = spread_of(Z)
    Z = (Z - centre) / spread
    tails = [_reach(Z)]
    axes = np.linalg.svd(Z, full_matrices=False)[2][:COMPONENTS]
    for projected in (Z @ axes.T).T:
        tails += [projected, -projected]
    found = [_rise(t, max_share) for t in tails]
    best = int(np.argmin([p for p, _ in found]))
    p, cut = found[best]
    beyond = np.flatnonzero(tails[best] > cut)
    away = np.linalg.norm(Z - np.median(Z, axis=0), axis=1)
    far = float(np.median(away[beyond]) / max(np.median(away), 1e-300)) if beyond.size else 0.0
    return Apart(min(1.0, p * len(tails)), beyond.size / n, rows[beyond], n, far)


def _dithered(X, rng):
    """Spread each value over its grid cell.

    Readings on a coarse grid, and switches, rise and fall between grid points without meaning
    anything; on a fine grid this changes nothing.
    """
    out = X.copy()
    for column in out.T:
        values = np.unique(column)
        if values.size > 1:
            column += rng.uniform(-0.5, 0.5, size=column.size) * np.median(np.diff(values))
    return out


def _reach(Z):
    """Return the log distance of each row to its k-th nearest, k = 15 % of the rows."""
    square = np.einsum("ij,ij->i", Z, Z)
    apart = square[:, None] + square - 2.0 * (Z @ Z.T)
    k = int(np.ceil(REACH * len(Z)))
    apart.partition(k, axis=1)
    return 0.5 * np.log(np.maximum(apart[:, k], 1e-12))


def _widest_gap(x, low, high):
    """Return the middle of the widest gap between sorted values from `low` to `high`."""
    first, last = np.searchsorted(x, [low, high])
    inside = x[max(first - 1, 0) : last + 1]
    at = int(np.argmax(np.diff(inside)))
    return float(0.5 * (inside[at] + inside[at + 1]))


def _rise(x, max_share):
    """Return the smallest p-value of a rise in the upper tail of `x`, and where its gap lies."""
    x = np.sort(x)
    lower, upper = np.percentile(x, [25, 75])
    best, tried = (1.0, np.inf), 0
    if not upper > lower:
        return best
    for width in (upper - lower) * np.array(WIDTHS):
        places = upper + 0.5 * width * np.arange(MOST_PLACES)
        places = places[places < x[-1]]
        if places.size < 3:
            continue
        count = np.searchsorted(x, places + width) - np.searchsorted(x, places)
        near, far = np.triu_indices(places.size, 2)
        tried += near.size
        cuts = places + 0.5 * width
        beyond = 1.0 - np.searchsorted(x, cuts, side="right") / x.size
        rises = (count[far] > count[near]) & (beyond[near] <= max_share)
        near, far = near[rises], far[rises]
        if near.size:
            p = stats.binom.sf(count[far] - 1, count[far] + count[near], 0.5)
            at = int(np.argmin(p))
            best = min(best, (float(p[at]), _widest_gap(x, places[near[at]], places[far[at]])))
    return min(1.0, best[0] * max(tried, 1)), best[1]
