"""Splitting rows into two parts: at random, by class, by group, by blocks of time.

Each function returns two sorted index arrays ``(first, second)``; `fraction` is the share of the
second. The same seed gives the same split. What else keeps parts apart is re-exported here: the
sealed test part, its ledger, and the search for rows that leak from one part into the other.
"""

import math

import numpy as np

from assay.errors import StudyError
from assay.fingerprint import hash_rows as hash_rows
from assay.fingerprint import row_hashes as row_hashes
from assay.leaks import Leaks as Leaks
from assay.leaks import leaks as leaks
from assay.ledger import Ledger as Ledger
from assay.ledger import default_path as default_path
from assay.ledger import study_identity as study_identity
from assay.sealed import SealedTest as SealedTest
from assay.units import codes

Split = tuple[np.ndarray, np.ndarray]

# From which share of copied rows on a split looks after them, and which share of distinct values
# in a column says that its readings are continuous.
LEAST_COPIED, CONTINUOUS, MOST_LOOKED_AT = 0.005, 0.5, 20_000


def holdout(n: int, fraction: float, seed: int) -> Split:
    """Split independent rows at random.

    Parameters
    ----------
    n : int, >= 2
        Number of rows.
    fraction : float [-], between 0 and 1
        Share of the second part; rounded to whole rows, at least one in each part.
    seed : int

    Returns
    -------
    first, second : int64 arrays, ascending

    Raises
    ------
    StudyError
        If there are fewer than two rows or `fraction` is not inside (0, 1).

    Examples
    --------
    >>> first, second = holdout(10, 0.3, seed=0)
    >>> len(first), len(second)
    (7, 3)
    """
    _fraction(fraction, "holdout")
    _at_least(n, 2, "holdout", "rows")
    return _parts(n, np.random.default_rng(seed).permutation(n)[: _share(n, fraction)])


def copies(X) -> np.ndarray | None:
    """Return an id per row, equal for copies, where rows were copied; None where that is no worry.

    Readings on a coarse grid repeat honestly, and a machine at rest repeats for hours. But rows of
    continuous readings that occur twice are copies (a file that was given twice, overlapping
    exports), and a split must keep them on one side.

    Parameters
    ----------
    X : array of shape (n, d)

    Returns
    -------
    int64 array of shape (n,), or None
        For `group_holdout`.

    Examples
    --------
    >>> rows = np.random.default_rng(0).normal(size=(50, 2))
    >>> copies(rows) is None, copies(np.vstack([rows, rows])).tolist() == 2 * list(range(50))
    (True, True)
    """
    hashes = row_hashes(X)
    _, first, inverse, times = np.unique(
        hashes, return_index=True, return_inverse=True, return_counts=True
    )
    if np.sum(times == 1) > (1.0 - LEAST_COPIED) * times.size:
        return None
    sample = np.asarray(X)[first[:MOST_LOOKED_AT]]
    distinct = max(np.unique(column).size for column in sample.T)
    if distinct < CONTINUOUS * len(sample):
        return None
    order = np.argsort(np.argsort(first))
    return order[inverse].astype(np.int64)


def holdout_of(same: np.ndarray | None, n: int, fraction: float, seed: int) -> Split:
    """Split rows at random, with those that share an id of `same` (see `copies`) on one side."""
    if same is None:
        return holdout(n, fraction, seed)
    if same.max() == same.min():
        raise StudyError(
            f"All {n} rows are copies of one row: no two parts of them would differ.",
            hint="Look at what wrote the file, and give rows that were measured one by one.",
        )
    return group_holdout(same, fraction, seed)


def stratified(labels, fraction: float, seed: int) -> Split:
    """Split independent rows at random with the same share of every class.

    Parameters
    ----------
    labels : array of shape (n,)
        Class of each row.
    fraction : float [-], between 0 and 1
        Share of the second part in each class, at least one row of each class in each part.
    seed : int

    Returns
    -------
    first, second : int64 arrays, ascending

    Raises
    ------
    StudyError
        If a class has a single row.

    Examples
    --------
    >>> first, second = stratified([0, 0, 0, 0, 1, 1], 0.5, seed=0)
    >>> len(first), len(second)
    (3, 3)
    """
    _fraction(fraction, "stratified")
    labels = np.asarray(labels)
    _at_least(len(labels), 2, "stratified", "rows")
    number, n_classes = codes(labels, len(labels), name="labels")
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(labels))
    # One stable sort instead of a pass per class: classes may be many.
    order = order[np.argsort(number[order], kind="stable")]
    counts = np.bincount(number, minlength=n_classes)
    if counts.min() < 2:
        lonely = labels[np.flatnonzero(number == int(counts.argmin()))[0]]
        raise StudyError(
            f"`stratified` needs at least 2 rows of every class: class {lonely!s} has one.",
            hint="Leave that class out, merge it with another, or use `holdout`.",
        )
    starts = np.concatenate([[0], np.cumsum(counts)[:-1]])
    taken = [order[s : s + _share(c, fraction)] for s, c in zip(starts, counts, strict=True)]
    return _parts(len(labels), np.concatenate(taken))


def group_holdout(groups, fraction: float, seed: int) -> Split:
    """Split whole groups, so that no group has rows in both parts.

    Parameters
    ----------
    groups : array of shape (n,)
        Group of each row: a machine, a patient, a file.
    fraction : float [-], between 0 and 1
        Wanted share of rows in the second part. Groups are shuffled, and as many go to the second
        part as bring it closest.
    seed : int

    Returns
    -------
    first, second : int64 arrays, ascending

    Raises
    ------
    StudyError
        If there are fewer than two groups.

    Examples
    --------
    >>> first, second = group_holdout(["a", "a", "b", "b", "c", "c"], 1 / 3, seed=0)
    >>> len(first), len(second)
    (4, 2)
    """
    _fraction(fraction, "group_holdout")
    groups = np.asarray(groups)
    number, n_groups = codes(groups, len(groups), name="groups")
    _at_least(n_groups, 2, "group_holdout", "groups")
    order = np.random.default_rng(seed).permutation(n_groups)
    rows = np.cumsum(np.bincount(number, minlength=n_groups)[order])[:-1]
    taken = order[: int(np.argmin(np.abs(rows - fraction * len(groups)))) + 1]
    held = np.zeros(n_groups, dtype=bool)
    held[taken] = True
    return _parts(len(groups), np.flatnonzero(held[number]))


def block_holdout(n: int, fraction: float, n_blocks: int, gap: int, seed: int) -> Split:
    """Split a time series into contiguous stretches, never into shuffled rows.

    The record is cut into `n_blocks` equal segments, and each gives one stretch at a random place
    to the second part, so that slow drift over the record reaches both parts.

    Parameters
    ----------
    n : int
        Rows, in time order.
    fraction : float [-], between 0 and 1
        Share of the second part.
    n_blocks : int, >= 1
        Number of held-out stretches.
    gap : int, >= 0
        Rows on either side of a held-out stretch that belong to neither part, because they are
        correlated with it (or share readings, with windows).
    seed : int

    Returns
    -------
    first, second : int64 arrays, ascending
        Together fewer than `n` rows where `gap` > 0.

    Raises
    ------
    StudyError
        If the segments are too short for a stretch, its gaps and a row of the first part.

    Examples
    --------
    >>> first, second = block_holdout(20, 0.25, n_blocks=1, gap=2, seed=0)
    >>> second.tolist(), len(first)
    ([13, 14, 15, 16, 17], 11)
    """
    _fraction(fraction, "block_holdout")
    if n_blocks < 1 or gap < 0:
        raise StudyError(
            f"`block_holdout` needs n_blocks >= 1 and gap >= 0, got {n_blocks} and {gap}.",
            hint="Use a few blocks and a gap of about the correlation time in rows.",
        )
    edges = np.linspace(0, n, n_blocks + 1).round().astype(np.int64)
    shortest = int(np.diff(edges).min())
    length = max(1, round(shortest * fraction))
    if shortest < length + 2 * gap + 1:
        raise StudyError(
            f"`block_holdout` has {n} rows for {n_blocks} blocks: each segment has {shortest} rows "
            f"and needs {length} held out, 2 x {gap} for the gaps and 1 to learn from.",
            hint="Use fewer blocks, a shorter gap or a smaller fraction.",
        )
    rng = np.random.default_rng(seed)
    # 0 learn from, 1 gap, 2 held out. Gaps first: a stretch next door must not be shortened.
    state = np.zeros(n, dtype=np.int8)
    stretches = []
    for start, stop in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True):
        size = max(1, round((stop - start) * fraction))
        at = start + int(rng.integers(stop - start - size + 1))
        stretches.append((at, at + size))
        state[max(0, at - gap) : at + size + gap] = 1
    for at, end in stretches:
        state[at:end] = 2
    return np.flatnonzero(state == 0), np.flatnonzero(state == 2)


def _fraction(fraction: float, where: str) -> None:
    """Refuse a share that leaves a part empty."""
    if not (math.isfinite(fraction) and 0.0 < fraction < 1.0):
        raise StudyError(
            f"`fraction` in `{where}` must lie between 0 and 1, got {fraction}.",
            hint="0.25 puts a quarter of the rows into the second part.",
        )


def _at_least(n: int, needed: int, where: str, what: str) -> None:
    """Refuse data that cannot be split in two."""
    if n < needed:
        raise StudyError(
            f"`{where}` needs at least {needed} {what} to split, got {n}.",
            hint="Bring more data, or hand over both parts yourself.",
        )


def _share(n: int, fraction: float) -> int:
    """Rows of the second part: rounded, at least one, and at least one left."""
    return min(max(1, round(n * fraction)), n - 1)


def _parts(n: int, second: np.ndarray) -> Split:
    """Both parts in ascending order, from the rows of the second."""
    held = np.zeros(n, dtype=bool)
    held[second] = True
    return np.flatnonzero(~held), np.flatnonzero(held)
