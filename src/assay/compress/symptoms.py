"""What several checks measure in the same way: copies of noise, rows in two parts, a fit's end."""

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy import stats
from sklearn.neighbors import NearestNeighbors

from assay.checks import Check, NotApplicable, finding
from assay.fingerprint import row_hashes
from assay.leaks import leaks
from assay.result import Finding
from assay.train import FitStatus

# A check looks at no more rows than this, so that it takes as long on two million as on these.
MOST_ROWS = 20_000
# Corrupted rows to reconstruct: a mean over these is known to a few per cent.
MOST_CORRUPTED = 2_000
# Test rows to look for near duplicates of: 1 % of leaked ones shows with certainty.
MOST_SEARCHED = 1_000
# Rows that occur more often than this in all are a state of the machine and no record of a leak.
MOST_REPEATS = 5
# Chance that a sound split meets as many equal rows: certain enough to call a study invalid, and
# to say a word.
SURE, LIKELY = 1e-4, 1e-2


def percent(share: float) -> str:
    """Return a share for a sentence.

    Examples
    --------
    >>> percent(0.0495), percent(0.483), percent(1.0)
    ('5.0 %', '48 %', '100 %')
    """
    return f"{100 * share:.1f} %" if share < 0.0995 else f"{100 * share:.0f} %"


def some(X: np.ndarray, most: int, rng: np.random.Generator) -> np.ndarray:
    """Return at most `most` rows of `X`, in their order."""
    return X if len(X) <= most else X[some_of(len(X), most, rng)]


def some_of(n: int, most: int, rng: np.random.Generator) -> np.ndarray:
    """Return at most `most` of the row indices 0 to n - 1, ascending."""
    return np.arange(n) if n <= most else np.sort(rng.choice(n, size=most, replace=False))


def spread_of(X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return mean and standard deviation of each column; 1 where it does not move."""
    centre, spread = X.mean(axis=0, dtype=np.float64), X.std(axis=0, dtype=np.float64)
    still = spread <= 1e-12 * np.maximum(np.abs(X).max(axis=0), np.finfo(float).tiny)
    return centre, np.where(still, 1.0, spread)


@dataclasses.dataclass(frozen=True)
class CopyErrors:
    """How well rows are reconstructed that hold nothing to learn.

    Attributes
    ----------
    noise : float [-]
        Error on uniform noise in the training box, as a share of the mean row's error on it:
        0 is a copy, and a code of k of d numbers leaves about 1 - k / d.
    normal : float [-]
        The same on held-out rows as they are.
    ratio : float [-]
        Error on rows whose columns were drawn from different rows, in units of the error on rows
        as they are.
    """

    noise: float
    normal: float
    ratio: float


def copy_errors(
    reconstruct: Callable, fit: np.ndarray, held: np.ndarray, seed: int = 0
) -> CopyErrors:
    """Reconstruct rows that hold no relation between columns, and compare with real ones.

    Parameters
    ----------
    reconstruct : callable
        Rows (m, d) to rows (m, d), in the columns' units.
    fit, held : (n, d), (m, d) arrays [columns' units]
        Rows of the fit, which give box and scale, and rows that were held out.
    seed : int

    Returns
    -------
    CopyErrors
        Means over columns in units of the columns' variance.
    """
    rng = np.random.default_rng(seed)
    fit, held = some(fit, MOST_ROWS, rng), some(held, MOST_CORRUPTED, rng)
    centre, spread = spread_of(fit)
    low, high = fit.min(axis=0), fit.max(axis=0)
    noise = rng.uniform(low, high, size=held.shape)
    mixed = np.column_stack([rng.permutation(column) for column in held.T])

    def errors(rows):
        back = np.asarray(reconstruct(rows), dtype=np.float64)
        return np.mean(((rows - back) / spread) ** 2, axis=1)

    def of_the_mean(rows):
        return float(np.mean(((rows - centre) / spread) ** 2))

    own, other = errors(held), errors(mixed)
    tiny = np.finfo(float).tiny
    return CopyErrors(
        noise=float(errors(noise).mean()) / max(of_the_mean(noise), tiny),
        normal=float(own.mean()) / max(of_the_mean(held), tiny),
        ratio=float((other.mean() + tiny) / (own.mean() + tiny)),
    )


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


def shared_exactly(earlier: np.ndarray, test: np.ndarray) -> Shared:
    """Count test rows that occur among `earlier`, against what readings that repeat would show.

    Of rows that occur a few times in both parts together, a sound split leaves some within one
    part: all m copies with a chance of f^m + (1 - f)^m, f being the test's share of the rows. A
    leak puts them on both sides. Rows that occur more often (a machine at rest) say nothing.
    """
    a, b = row_hashes(earlier), row_hashes(test)
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


def shared_nearly(earlier: np.ndarray, test: np.ndarray, tolerance: float, seed: int) -> Shared:
    """Count sampled test rows much closer to an earlier row than that row's own neighbours are.

    The local comparison makes rows of a quiet and of a busy machine alike; the same count over
    earlier rows, each taken for a new one, says what is usual.
    """
    rng = np.random.default_rng(seed)
    a = some_of(len(earlier), MOST_ROWS, rng)
    b = some_of(len(test), MOST_SEARCHED, rng)
    found = leaks(earlier[a], test[b], tolerance=tolerance)
    n = max(found.searched_b, 1)
    nothing = Shared(found.near / n, found.near, n, found.expected_near, 1.0)
    seen = min(found.searched_a, MOST_SEARCHED)
    chance = stats.beta.ppf(0.975, found.expected_near * seen + 1, seen + 1)
    if not found.near or stats.binom.sf(found.near - 1, n, min(chance, 1.0)) >= LIKELY:
        return nothing
    A, unique = np.unique(row_hashes(earlier[a]), return_index=True)
    a = a[unique]
    b = b[~np.isin(row_hashes(test[b]), A)]
    centre, spread = spread_of(earlier[a])
    Z, new = (earlier[a] - centre) / spread, (test[b] - centre) / spread
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


def leak_finding(
    check: Check,
    earlier: np.ndarray,
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
    earlier, test : (n, d), (m, d) arrays
        Whatever the methods or the threshold have seen, and the test rows.
    max_share : float [-]
        Share of leaked rows beyond chance from which the study is invalid.
    tolerance : float [-]
        How close near duplicates are, as a share of the distance between neighbours.
    seed : int
        Draws the rows that tell what distance is usual.
    rows : two arrays of int, optional
        Row numbers in the sources, for the examples.
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


_BROKEN = (FitStatus.NONFINITE,)
_UNFINISHED = (FitStatus.BUDGET, FitStatus.INTERRUPTED)
_FINISHED = (FitStatus.CONVERGED, FitStatus.STOPPED_EARLY)


def end_of_training(estimator: Any) -> str | None:
    """Return how a network's fit ended: finished, unfinished, broken; None where nothing says."""
    text = str(getattr(estimator, "status_", "") or "")
    for word, those in (
        ("broken", _BROKEN),
        ("unfinished", _UNFINISHED),
        ("finished", _FINISHED),
    ):
        if any(text.startswith(status.sentence) for status in those):
            return word
    return None


def last_drop(estimator: Any) -> float | None:
    """Return by what share the training loss fell over the last tenth of the steps, if known."""
    history = getattr(estimator, "history_", None) or {}
    loss = np.asarray(history.get("train", ()), dtype=np.float64)
    tail = max(1, loss.size // 10)
    if loss.size < 2 * tail or not np.isfinite(loss[-2 * tail :]).all():
        return None
    before, after = loss[-2 * tail : -tail].mean(), loss[-tail:].mean()
    return float(1.0 - after / before) if before > 0 else None


def training_finding(check: Check, estimators: Sequence[Any]) -> Finding:
    """Return the finding of a check for training that broke down or did not finish."""
    ends = [end_of_training(estimator) for estimator in estimators]
    if all(end is None for end in ends):
        raise NotApplicable("The candidate says nothing about how its training ended.")
    total = len(ends)
    broken, unfinished = ends.count("broken"), ends.count("unfinished")
    if broken:
        return finding(
            check,
            "fail",
            f"Training broke down in {broken} of {total} runs: the loss became infinite or not a "
            "number.",
            measured=broken,
            threshold=0,
            unit="runs",
            cause="Steps that are too large, or values far outside the range of the others.",
            fix=(
                "Look for single absurd values in the normal rows and take them out.",
                "Lower the learning rate by a factor of 10.",
            ),
        )
    if unfinished:
        drops = [d for d in map(last_drop, estimators) if d is not None]
        still = f" by {percent(max(drops))} in the last tenth of the steps" if drops else ""
        return finding(
            check,
            "warn",
            f"Training had not finished in {unfinished} of {total} runs: the loss was still "
            f"falling{still} when the steps were used up.",
            measured=unfinished,
            threshold=0,
            unit="runs",
            cause="Too few steps for this network and this many rows, or an interrupted fit.",
            fix=(
                "Give training more epochs and run the study again.",
                "If the loss falls slowly, raise the learning rate by a factor of 2 or 3.",
            ),
        )
    return finding(
        check,
        "pass",
        f"Training finished in all {total} runs: the loss had ceased to fall.",
        measured=0,
        threshold=0,
        unit="runs",
    )
