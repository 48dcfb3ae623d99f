"""Inner cross-validation: what baselines are tuned with, on training runs only."""

import numpy as np


def folds(n: int, seed: int, *, most: int = 5) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return (fit, held) index arrays of a shuffled cross-validation of `n` rows.

    Parameters
    ----------
    n : int >= 2
    seed : int
    most : int, default 5
        Number of folds, or `n` if there are fewer rows.

    Examples
    --------
    >>> [len(held) for _, held in folds(11, 0)]
    [3, 2, 2, 2, 2]
    """
    parts = np.array_split(np.random.default_rng(seed).permutation(n), min(most, n))
    return [(np.sort(np.concatenate(parts[:i] + parts[i + 1 :])), np.sort(held))
            for i, held in enumerate(parts)]  # fmt: skip


def relative_errors(found, true, Y) -> float:
    """Return the squared errors of rows over the variance of each output, summed over the rows.

    Averaged over the outputs that vary.

    Parameters
    ----------
    found, true : (k, m) arrays
    Y : (n, m) array
        The outputs whose variances are taken.
    """
    variance = Y.var(axis=0)
    varies = variance > 0.0
    if not varies.any():
        return 0.0
    return float(np.mean(((found - true)[:, varies] ** 2).sum(axis=0) / variance[varies]))
