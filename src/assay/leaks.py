"""Rows of one part that turn up in another: exact and near duplicates."""

import dataclasses

import numpy as np

from assay.errors import DataError
from assay.fingerprint import row_hashes

# Near duplicates are looked for on at most this many rows of each part (exact ones on all): one
# matrix product of 40,000 x 2,000 distances takes about a second.
MOST_A = 40_000
MOST_B = 2_000
# Rows of A whose nearest neighbour sets the typical distance.
MOST_TYPICAL = 1_000


@dataclasses.dataclass(frozen=True)
class Leaks:
    """What two parts have in common; the question is always whether it is more than chance.

    Readings on a coarse grid repeat honestly. `expected_exact` is the rate to compare with: the
    share of rows of the first part that have an equal row within it, which is how often an
    honestly drawn new row would meet an equal one. `expected_near` likewise.

    Attributes
    ----------
    exact : int
        Rows of the second part with an equal row in the first.
    near : int
        Rows among the `searched` ones with a close, but not equal, row in the first.
    examples : tuple of (int, int)
        Up to five pairs (row in the first part, row in the second), exact ones first.
    n_a, n_b : int
        Rows of both parts.
    searched_a, searched_b : int
        Rows looked through for near duplicates. Where `searched_a` is less than `n_a`, only that
        share of the near duplicates can be found.
    exact_share, near_share : float [-]
        Share of the second part's rows (of the searched ones for `near_share`).
    expected_exact, expected_near : float [-]
        The same within the first part.
    typical_distance : float [-]
        Median distance between nearest distinct rows of the first part, in standard deviations.
    """

    exact: int
    near: int
    examples: tuple[tuple[int, int], ...]
    n_a: int
    n_b: int
    searched_a: int
    searched_b: int
    exact_share: float
    near_share: float
    expected_exact: float
    expected_near: float
    typical_distance: float

    @property
    def excess(self) -> float:
        """Share of leaking rows beyond the expected, exact or near, whichever is larger [-]."""
        return max(
            self.exact_share - self.expected_exact, self.near_share - self.expected_near, 0.0
        )


def leaks(X_a, X_b, *, tolerance: float = 0.05) -> Leaks:
    """Search the second part for rows of the first.

    Exact duplicates are found by hash, in linear time. For near ones, columns are put in units of
    the first part's standard deviation; two rows are near if they are closer than `tolerance`
    times the typical distance between neighbours in the first part.

    Parameters
    ----------
    X_a, X_b : array of shape (n_a, d) and (n_b, d)
        Finite numbers.
    tolerance : float [-], >= 0
        0 looks for exact duplicates only.

    Returns
    -------
    Leaks

    Raises
    ------
    DataError
        If the parts differ in columns, or `tolerance` is negative.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> train = rng.normal(size=(500, 3))
    >>> test = np.vstack([rng.normal(size=(98, 3)), train[7], train[9] + 1e-6])
    >>> found = leaks(train, test)
    >>> found.exact, found.near, found.examples
    (1, 1, ((7, 98), (9, 99)))
    """
    A, B = np.asarray(X_a), np.asarray(X_b)
    if A.ndim != 2 or B.ndim != 2 or A.shape[1] != B.shape[1]:
        raise DataError(
            f"`X_a` and `X_b` in `leaks` must be matrices with the same columns, got shapes "
            f"{A.shape} and {B.shape}.",
            hint="Compare the features of two parts of one table.",
        )
    if not tolerance >= 0:
        raise DataError(
            f"`tolerance` in `leaks` must be at least 0, got {tolerance}.",
            hint="0.05 asks for rows 20 times closer than neighbours usually are.",
        )
    n_a, n_b = len(A), len(B)
    if not n_a or not n_b:
        return Leaks(0, 0, (), n_a, n_b, 0, 0, 0.0, 0.0, 0.0, 0.0, 0.0)
    exact_rows, pairs, expected_exact = _exact(row_hashes(A), row_hashes(B))
    near = _Near(0, 0.0, 0.0, 0.0, 0, 0, ())
    if tolerance > 0 and A.shape[1]:
        near = _near(A, B, np.flatnonzero(~exact_rows), tolerance)
    return Leaks(
        exact=int(exact_rows.sum()),
        near=near.count,
        examples=(pairs + near.pairs)[:5],
        n_a=n_a,
        n_b=n_b,
        searched_a=near.searched_a,
        searched_b=near.searched_b,
        exact_share=float(exact_rows.mean()),
        near_share=near.share,
        expected_exact=expected_exact,
        expected_near=near.expected,
        typical_distance=near.typical,
    )


def _exact(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, tuple, float]:
    """Rows of b with an equal row in a, up to four pairs, and the repeats within a."""
    order = np.argsort(a, kind="stable")
    sorted_a = a[order]
    at = np.searchsorted(sorted_a, b)
    inside = at < len(a)
    hit = np.zeros(len(b), dtype=bool)
    hit[inside] = sorted_a[at[inside]] == b[inside]
    # Four, so that a near pair still finds a place among five examples.
    pairs = tuple((int(order[at[j]]), int(j)) for j in np.flatnonzero(hit)[:4])
    same = sorted_a[1:] == sorted_a[:-1]
    repeated = np.zeros(len(a), dtype=bool)
    repeated[1:] |= same
    repeated[:-1] |= same
    return hit, pairs, float(repeated.mean())


@dataclasses.dataclass(frozen=True)
class _Near:
    """What the search for near duplicates found."""

    count: int
    share: float
    expected: float
    typical: float
    searched_a: int
    searched_b: int
    pairs: tuple[tuple[int, int], ...]


def _near(A, B, candidates: np.ndarray, tolerance: float) -> _Near:
    """Search a bounded sample for rows that are close but not equal."""
    rng = np.random.default_rng(0)
    rows_a = np.sort(rng.permutation(len(A))[:MOST_A])
    rows_b = np.sort(rng.permutation(len(B))[:MOST_B])
    searched_b = len(rows_b)
    rows_b = np.intersect1d(rows_b, candidates, assume_unique=True)
    a = A[rows_a].astype(np.float64)
    b = B[rows_b].astype(np.float64)
    if not (np.isfinite(a).all() and np.isfinite(b).all()):
        raise DataError(
            "`X_a` and `X_b` in `leaks` must hold finite numbers.",
            hint="Set rows with missing values aside first.",
        )
    centre, scale = a.mean(axis=0), a.std(axis=0)
    # A column that hardly moves keeps its own unit: divided by rounding noise it would rule all.
    scale[scale <= 1e-12 * np.abs(centre)] = 1.0
    scale[scale == 0] = 1.0
    a = (a - centre) / scale
    some = np.sort(rng.permutation(len(a))[:MOST_TYPICAL])
    own, _ = _nearest(a, a[some], skip_equal=True)
    own = own[np.isfinite(own)]
    if not own.size or not rows_b.size:
        return _Near(0, 0.0, 0.0, 0.0, len(a), searched_b, ())
    typical = float(np.median(own))
    found, where = _nearest(a, (b - centre) / scale, skip_equal=False)
    close = found <= tolerance * typical
    pairs = tuple((int(rows_a[where[j]]), int(rows_b[j])) for j in np.flatnonzero(close)[:5])
    return _Near(
        count=int(close.sum()),
        share=float(close.sum() / searched_b),
        expected=float((own <= tolerance * typical).mean()),
        typical=typical,
        searched_a=len(a),
        searched_b=searched_b,
        pairs=pairs,
    )


def _nearest(a: np.ndarray, points: np.ndarray, *, skip_equal: bool):
    """Distance of each point to its nearest row of a, and that row; optionally not an equal one."""
    squares = np.einsum("ij,ij->i", a, a)
    distance = np.full(len(points), np.inf)
    where = np.zeros(len(points), dtype=np.int64)
    step = max(1, 8_000_000 // len(a))  # 64 MB of distances at a time
    for at in range(0, len(points), step):
        p = points[at : at + step]
        d2 = squares - 2.0 * (p @ a.T)
        own = np.einsum("ij,ij->i", p, p)
        if skip_equal:
            # The product leaves rounding errors of 1e-15 of the squares instead of zeros.
            d2[d2 + own[:, None] <= 1e-13 * (squares + own[:, None])] = np.inf
        best = d2.argmin(axis=1)
        # Once more by difference: the product cannot resolve distances below 1e-7.
        exact = np.linalg.norm(p - a[best], axis=1)
        finite = np.isfinite(d2[np.arange(len(p)), best])
        distance[at : at + step] = np.where(finite, exact, np.inf)
        where[at : at + step] = best
    return distance, where
