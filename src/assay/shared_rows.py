"""Rows of the test part that were seen before, against what a sound split would show."""

import dataclasses
from collections.abc import Sequence

import numpy as np
from scipy import stats
from sklearn.neighbors import NearestNeighbors

from assay.checks import Check, finding
from assay.fingerprint import row_hashes
from assay.leaks import leaks
from assay.result import Finding
from assay.symptoms import MOST_ROWS, percent, some, some_of, spread_of

# Test rows to look for near duplicates of: 1 % of leaked ones shows with certainty.
MOST_SEARCHED = 1_000
# Rows that occur more often than this in all are a state of the machine and no record of a leak.
MOST_REPEATS = 5
# Chance that a sound split meets as many equal rows: certain enough to call a study invalid, and
# to say a word.
SURE, LIKELY = 1e-4, 1e-2

Parts = Sequence[np.ndarray]


@dataclasses.dataclass(frozen=True)
class Shared:
    """Rows of the test part that earlier parts hold too.

    `share` [-] of `n` distinct test rows, `chance` the share that a sound split would show on
    average, `p` the chance of as many in a sound split; `pairs` are examples (earlier row, test
    row).
    """

    share: float
    count: int
    n: int
    chance: float
    p: float
    pairs: tuple[tuple[int, int], ...] = ()


def shared_exactly(earlier: Parts, test: np.ndarray) -> Shared:
    """Count test rows that occur among `earlier`, against what readings that repeat would show.

    Of rows that occur a few times in both parts together, a sound split leaves some within one
    part: all m copies with a chance of f^m + (1 - f)^m, f being the test's share of the rows. A
    leak puts them on both sides. Rows that occur more often (a machine at rest) say nothing.
    """
    a, b = np.concatenate([row_hashes(part) for part in earlier]), row_hashes(test)
    values, at, times = np.unique(np.concatenate([a, b]), return_inverse=True, return_counts=True)
    in_test = np.bincount(at[len(a) :], minlength=values.size)
    both = (in_test > 0) & (in_test < times)
    few = (times > 1) & (times <= MOST_REPEATS)
    n = int(np.sum(in_test > 0))
    count = int(np.sum(both & few))
    f = len(b) / (len(a) + len(b))
    split = 1.0 - f ** times[few] - (1.0 - f) ** times[few]
    # The binomial law with the mean chance spreads wider than the exact one: the safe side.
    p = float(stats.binom.sf(count - 1, split.size, split.mean())) if count else 1.0
    leaked = np.flatnonzero((both & few)[at[len(a) :]])[:3]
    pairs = tuple((int(np.argmax(a == b[row])), int(row)) for row in leaked)
    return Shared(count / n, count, n, float(split.sum()) / n, p, pairs)


def shared_nearly(earlier: Parts, test: np.ndarray, tolerance: float, seed: int) -> Shared:
    """Count sampled test rows much closer to an earlier row than that row's own neighbours are.

    The local comparison makes rows of a quiet and of a busy machine alike; the same count over
    earlier rows, each taken for a new one, says what is usual.
    """
    rng = np.random.default_rng(seed)
    a = some_of(sum(map(len, earlier)), MOST_ROWS, rng)
    seen_before = _take(earlier, a)
    b = some_of(len(test), MOST_SEARCHED, rng)
    found = leaks(seen_before, test[b], tolerance=tolerance)
    n = max(found.searched_b, 1)
    nothing = Shared(found.near / n, found.near, n, found.expected_near, 1.0)
    seen = min(found.searched_a, MOST_SEARCHED)
    chance = stats.beta.ppf(0.975, found.expected_near * seen + 1, seen + 1)
    if not found.near or stats.binom.sf(found.near - 1, n, min(chance, 1.0)) >= LIKELY:
        return nothing
    hashes, unique = np.unique(row_hashes(seen_before), return_index=True)
    a, A = a[unique], seen_before[unique]
    b = b[~np.isin(row_hashes(test[b]), hashes)]
    centre, spread = spread_of(A)
    Z, new = (A - centre) / spread, (test[b] - centre) / spread
    finder = NearestNeighbors(algorithm="brute" if Z.shape[1] > 15 else "kd_tree").fit(Z)

    def ratios(rows, skip):
        """Distance to the nearest earlier row, in units of that row's distance to its own."""
        near = finder.kneighbors(rows, n_neighbors=1 + skip, return_distance=False)[:, skip]
        own = finder.kneighbors(Z[near], n_neighbors=2 + skip, return_distance=False)[:, -1]
        apart = np.linalg.norm(rows - Z[near], axis=1)
        return apart / np.maximum(np.linalg.norm(Z[near] - Z[own], axis=1), 1e-300), near

    ratio, near = ratios(new, 0)
    close = ratio <= tolerance
    usual, _ = ratios(some(Z, MOST_SEARCHED, rng), 1)
    again, seen, count = int(np.sum(usual <= tolerance)), usual.size, int(close.sum())
    chance = float(stats.beta.ppf(0.975, again + 1, max(seen - again, 1)))
    p = float(stats.binom.sf(count - 1, n, chance)) if count else 1.0
    pairs = tuple((int(a[near[i]]), int(b[i])) for i in np.flatnonzero(close)[:3])
    return Shared(count / n, count, n, again / seen, p, pairs)


def _take(parts: Parts, index: np.ndarray) -> np.ndarray:
    """Return rows of the parts laid end to end, without laying them end to end."""
    taken, start = [], 0
    for part in parts:
        inside = index[(index >= start) & (index < start + len(part))]
        taken.append(part[inside - start])
        start += len(part)
    return np.concatenate(taken)


def leak_finding(
    check: Check,
    earlier: Parts,
    test: np.ndarray,
    *,
    max_share: float,
    tolerance: float,
    seed: int,
    rows: tuple[np.ndarray, np.ndarray] | None = None,
) -> Finding:
    """Return the finding of a check for rows that are in two parts.

    Parameters
    ----------
    check : Check
        The one that speaks.
    earlier : sequence of (n, d) arrays
        Whatever the methods or the threshold have seen.
    test : (m, d) array
    max_share : float [-]
        Share of leaked rows beyond chance from which the study is invalid.
    tolerance : float [-]
        How close near duplicates are, as a share of the distance between neighbours.
    seed : int
        Draws the rows that tell what distance is usual.
    rows : two arrays of int, optional
        Row numbers in the sources, for the examples: of the earlier rows laid end to end, and of
        the test rows.
    """
    exact = shared_exactly(earlier, test)
    near = shared_nearly(earlier, test, tolerance, seed)
    kind, worst = min((("equal", exact), ("nearly equal", near)), key=lambda found: found[1].p)
    excess = worst.share - worst.chance
    outcome = "pass"
    if worst.p < LIKELY:
        outcome = "fail" if worst.p < SURE and excess >= max_share else "warn"
    shown = [(i, j) if rows is None else (rows[0][i], rows[1][j]) for i, j in worst.pairs[:3]]
    what = "distinct test rows" if kind == "equal" else "test rows searched"
    sentence = (
        f"{worst.count:,} of {worst.n:,} {what} ({percent(worst.share)}) are {kind} to rows seen "
        f"before the test; a sound split would show about {percent(worst.chance)}."
    )
    if outcome != "pass" and shown:
        told = ", ".join(
            f"row {i} of the rows seen before and row {j} of the test" for i, j in shown
        )
        sentence += f" For example {told}."
    interval = None
    if worst.count:
        bounds = (worst.count, worst.n - worst.count + 1), (worst.count + 1, worst.n - worst.count)
        interval = (
            float(stats.beta.ppf(0.025, *bounds[0])),
            float(stats.beta.ppf(0.975, *bounds[1])) if worst.count < worst.n else 1.0,
        )
    return finding(
        check,
        outcome,
        sentence,
        measured=worst.share,
        threshold=worst.chance + max_share,
        interval=interval,
        cause=""
        if outcome == "pass"
        else "The same records are in both parts: a file that was "
        "given twice, overlapping exports, or rows that were copied before the split.",
        fix=()
        if outcome == "pass"
        else (
            "Give test rows from another time or another unit than the rows that are learnt from.",
            "Take duplicate rows out before the study.",
            "Name the unit that rows belong to with --group, so that it stays on one side.",
        ),
    )
