"""What several checks share: bounded samples, shares in words, and whether noise is copied."""

import dataclasses
from collections.abc import Callable

import numpy as np

# A check looks at no more rows than this, so that it takes as long on two million as on these.
MOST_ROWS = 20_000
# Corrupted rows to reconstruct: a mean over these is known to a few per cent.
MOST_CORRUPTED = 2_000


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
