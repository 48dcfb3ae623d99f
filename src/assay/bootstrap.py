"""Gains of losses that only a whole sample has: detection rates, distances between samples.

The caller gives a function of resampled units; one bootstrap serves all baselines. The replicates
supply the standard error, skewness and kurtosis for the interval of `assay.intervals`; their
percentiles are not used, because these are too narrow for few units.
"""

import dataclasses
import math
from collections.abc import Callable, Iterator

import numpy as np

from assay.errors import DataError, StudyError
from assay.intervals import Spread, clear_skewness, ends
from assay.result import Gain
from assay.verdict import more_data

Statistic = Callable[[np.ndarray], tuple[float, np.ndarray]]

# Resamples in which the loss is undefined (no anomaly drawn, say) are left out up to this share.
MOST_UNDEFINED = 0.05


def draw_weights(
    n_units: int, repeats: int, rng: np.random.Generator, *, counts=None
) -> Iterator[np.ndarray]:
    """Yield how often each unit is drawn, for `repeats` bootstrap samples.

    Parameters
    ----------
    n_units : int, > 0
        Units, or patterns of units if `counts` is given.
    repeats : int
    rng : numpy.random.Generator
    counts : int array of shape (n_units,), optional
        How many units stand behind each pattern (`patterns`). A sample then costs a draw per
        pattern instead of one per unit, whatever the number of units.

    Yields
    ------
    int64 array of shape (n_units,)
        Sums to the number of units.

    Examples
    --------
    >>> [int(w.sum()) for w in draw_weights(5, 2, np.random.default_rng(0))]
    [5, 5]
    """
    if counts is None:
        for _ in range(repeats):
            # Four times faster than a multinomial draw over a thousand units.
            yield np.bincount(rng.integers(n_units, size=n_units), minlength=n_units)
        return
    counts = np.asarray(counts, dtype=np.int64)
    total = int(counts.sum())
    share = counts / total
    for _ in range(repeats):
        yield rng.multinomial(total, share)


def patterns(columns) -> tuple[np.ndarray, np.ndarray]:
    """Compress items to their distinct rows of losses.

    Parameters
    ----------
    columns : array of shape (n_items, n_columns)
        One row per item: its label, who alarmed, who erred ... with few distinct rows.

    Returns
    -------
    distinct : array of shape (n_patterns, n_columns)
    counts : int array of shape (n_patterns,)
        Items behind each; pass it on as `counts`.

    Examples
    --------
    >>> distinct, counts = patterns(np.array([[0, 1], [1, 1], [0, 1]]))
    >>> distinct.tolist(), counts.tolist()
    ([[0, 1], [1, 1]], [2, 1])
    """
    columns = np.asarray(columns)
    if columns.ndim != 2 or columns.shape[0] == 0:
        raise DataError(
            f"`columns` in `patterns` must have shape (n_items, n_columns), got {columns.shape}.",
            hint="Stack one column per method with `np.column_stack`.",
        )
    code = np.zeros(columns.shape[0], dtype=np.int64)
    for column in columns.T:
        values, inverse = np.unique(column, return_inverse=True)
        code = code * values.size + inverse
        # Renumbered each time, so that many columns cannot overflow 64 bits.
        _, code = np.unique(code, return_inverse=True)
    _, first, counts = np.unique(code, return_index=True, return_counts=True)
    return columns[first], counts


def bootstrap_gain(
    statistic: Statistic,
    n_units: int,
    *,
    counts=None,
    names: tuple[str, ...] = (),
    loss: str = "",
    level: float = 0.95,
    repeats: int = 2000,
    seed: int = 0,
) -> tuple[Gain, tuple[Gain, ...]]:
    r"""Gain over the best of several baselines, for losses of a whole sample.

    .. math:: g = 1 - L_c / \min_j L_j

    Used where nothing but the test part can rank the baselines: the candidate must beat the best
    of them all, and the best is found anew in each bootstrap sample. `low` is the lower end of
    that gain, and no higher than the lower end against any single baseline, so that EARNED means
    that each of them is beaten. `high` is the smallest upper end against a single baseline, each
    with a tail divided by the number of baselines, because the best of several baselines looks
    better on the test part than it is.

    Parameters
    ----------
    statistic : callable
        From weights of shape (n_units,) (how often each unit counts) to the candidate's loss and
        the baselines' losses of shape (n_baselines,); lower is better, none below zero. Called
        ``repeats + 1`` times.
    n_units : int, > 0
        Independent units: items, groups, blocks of a series; or patterns, with `counts`.
    counts : int array of shape (n_units,), optional
        Units behind each pattern, from `patterns`; use it from some ten thousand items on.
    names : tuple of str
        The baselines' names.
    loss : str
        The loss's name.
    level : float [-]
    repeats : int, >= 200
    seed : int

    Returns
    -------
    gain : Gain
        Over the best; `against` names the best on the whole test part.
    gains : tuple of Gain
        Against each baseline, in order.

    Raises
    ------
    StudyError
        If the loss is undefined on the test part or on more than 5 % of the samples, or negative.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> wrong = rng.random((200, 3)) < [0.1, 0.3, 0.4]
    >>> def error_rate(weights):
    ...     rates = weights @ wrong / weights.sum()
    ...     return rates[0], rates[1:]
    >>> gain, gains = bootstrap_gain(error_rate, 200, names=("PCA", "kNN"))
    >>> gain.against, gain.low > 0, len(gains)
    ('PCA', True, 2)
    """
    total = _check(n_units, counts, level, repeats)
    whole = np.ones(n_units, dtype=np.int64) if counts is None else np.asarray(counts)
    observed = _call(statistic, whole)
    if not np.isfinite(observed).all() or (observed < 0).any():
        raise StudyError(
            "The losses of the whole test part in `bootstrap_gain` must be numbers >= 0, got "
            f"{observed.tolist()}.",
            hint="Check that the test part holds at least one item of each kind the loss needs.",
        )
    drawn = np.array(
        [
            _call(statistic, weights)
            for weights in draw_weights(
                n_units, repeats, np.random.default_rng(seed), counts=counts
            )
        ]
    )
    defined = np.isfinite(drawn).all(axis=1)
    if defined.mean() < 1.0 - MOST_UNDEFINED:
        raise StudyError(
            f"The loss in `bootstrap_gain` is undefined on {1 - defined.mean():.0%} of the "
            f"bootstrap samples (at most {MOST_UNDEFINED:.0%} can be left out).",
            hint="The test part holds too few items of one kind: add more of them.",
        )
    return _gains(observed, drawn[defined], total, names, loss, level)


def _gains(observed, drawn, total, names, loss, level):
    """Put the interval on the gain over the best baseline and over each."""
    m = observed.size - 1
    names = names if len(names) == m else tuple(f"baseline {j + 1}" for j in range(m))
    tail = (1.0 - level) / 2.0
    best = int(np.argmin(observed[1:]))

    def interval(baseline, replicates, tail):
        return _interval(baseline, observed[0], replicates, drawn[:, 0], total, tail)

    gains, highs = [], []
    for j in range(m):
        low, high = interval(observed[1 + j], drawn[:, 1 + j], tail)
        gains.append(_gain(observed, j, low, high, names[j], loss, level))
        highs.append(interval(observed[1 + j], drawn[:, 1 + j], tail / m)[1] if m > 1 else high)
    low, _ = interval(observed[1 + best], drawn[:, 1:].min(axis=1), tail)
    low = min([low, *(g.low for g in gains)])
    high = max(low, min(highs))
    return _gain(observed, best, low, high, names[best], loss, level), tuple(gains)


def _gain(observed, j, low, high, name, loss, level) -> Gain:
    """Fill in a Gain, with what would decide it."""
    c, b = float(observed[0]), float(observed[1 + j])
    estimate = 1.0 - c / b if b > 0 else (0.0 if c == 0 else -math.inf)
    gain = Gain(estimate, float(low), float(high), name, loss=loss, level=level)
    return dataclasses.replace(gain, more_data=more_data(gain))


def _interval(b, c, replicates_b, replicates_c, total, tail) -> tuple[float, float]:
    """Interval on 1 - c/b from bootstrap replicates of both losses."""
    # A bootstrap of n units has (n - 1)/n of the variance that it should have.
    correction = total / max(total - 1, 1)
    eb, ec = replicates_b - replicates_b.mean(), replicates_c - replicates_c.mean()
    repeats = eb.size
    covariance = correction / repeats * np.array([[eb @ eb, eb @ ec], [eb @ ec, ec @ ec]])

    def spread(gain: float) -> Spread:
        e = (1.0 - gain) * eb - ec
        square = e * e
        variance = float(square.mean())
        if not variance > 0:
            return Spread(0.0, 0.0, total - 1.0)
        # The skewness and excess kurtosis of a bootstrapped mean are those of one unit over
        # sqrt(n) and n. Two standard deviations of the replicates' own noise are taken off, or
        # many studies would lose power to it.
        skewness = float((square * e).mean()) / variance**1.5
        clear = max(0.0, abs(skewness) - 2.0 * math.sqrt(6.0 / repeats))
        skewness = clear_skewness(math.copysign(clear, skewness), float(total))
        excess = float((square * square).mean()) / variance**2 - 3.0
        excess = max(0.0, excess - 2.0 * math.sqrt(24.0 / repeats))
        df = min(total - 1.0, 2.0 / (excess + 2.0 / total))
        return Spread(math.sqrt(correction * variance), skewness, df)

    return ends(b, c, covariance, spread, tail, n_effective=float(total), bounded=True)


def _call(statistic: Statistic, weights: np.ndarray) -> np.ndarray:
    """Losses of candidate and baselines as one vector."""
    candidate, baselines = statistic(weights)
    return np.concatenate([[float(candidate)], np.asarray(baselines, dtype=np.float64).reshape(-1)])


def _check(n_units, counts, level, repeats) -> int:
    """Check the settings and return the number of units."""
    if counts is not None and (np.shape(counts) != (n_units,) or np.min(counts, initial=0) < 0):
        raise DataError(
            f"`counts` in `bootstrap_gain` must hold one count >= 0 per pattern ({n_units}), got "
            f"shape {np.shape(counts)}.",
            hint="Use the counts that `patterns` returns.",
        )
    total = int(n_units if counts is None else np.sum(counts))
    if total < 1:
        raise StudyError(
            "`n_units` in `bootstrap_gain` must be at least 1.", hint="The test part is empty."
        )
    if not 0.5 <= level <= 0.999 or repeats < 200:
        raise StudyError(
            f"`bootstrap_gain` needs a level from 0.5 to 0.999 and at least 200 repeats, got "
            f"{level} and {repeats}.",
            hint="Use level=0.95 and repeats=2000 unless you have a reason.",
        )
    return total
