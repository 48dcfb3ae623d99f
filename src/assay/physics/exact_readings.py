"""Whether readings of an inverse problem allow the solution that was declared as exact."""

from typing import Any, NamedTuple

import numpy as np

MATTERS = 1e-4  # of the size of the readings: a smaller distance may be rounding of either side


class Excluded(NamedTuple):
    """How badly an exact solution misses the readings.

    `exact` and `fitted` are root mean squares of (field - reading), in standard deviations of a
    reading, of the exact solution and of the classical fit; `chance` is that of so large a
    difference where the exact solution is the true one.
    """

    exact: float
    fitted: float
    chance: float


def excluded(problem: Any, fit: Any) -> Excluded | None:
    """Hold the exact solution against the readings, beside what the classical fit leaves of them.

    Where the exact solution is the truth and the equation is right, the sum of squares of the
    former exceeds that of the latter by chi-square with as many degrees of freedom as numbers were
    fitted (by F where the noise is estimated, or larger than declared).

    Parameters
    ----------
    problem : Problem
        With `exact`, and readings of fields.
    fit : LeastSquaresFit
        Fitted to them.

    Returns
    -------
    Excluded or None
        None where there is nothing to compare.
    """
    from scipy.stats import chi2, f

    kept = [reading for reading in problem.readings if reading.name in problem.fields]
    if problem.exact is None or not kept or not hasattr(fit, "misfit_"):
        return None
    rows = [_rows(problem, fit, reading) for reading in kept]
    exact, fitted = (np.concatenate(part) for part in zip(*rows, strict=True))
    values = np.concatenate([reading.values for reading in kept])
    n = len(values)
    free = max(getattr(fit, "freedom_", n - len(problem.unknown)), 1.0)
    known = all(reading.sigma is not None for reading in kept)
    if known:
        sigma = np.concatenate([np.full(len(r.values), r.sigma) for r in kept])
    else:
        sigma = max(float(np.sqrt(fitted @ fitted / free)), 1e-300)
    if np.sqrt(np.mean(exact**2)) <= MATTERS * np.sqrt(np.mean(values**2)):
        return None
    sums = [float(np.sum((row / sigma) ** 2)) for row in (exact, fitted)]
    used = max(n - free, 1.0)
    more = max(sums[0] - sums[1], 0.0)
    noise = sums[1] / free  # above 1 the declared noise is too small, or the equation is wrong
    chance = chi2.sf(more, used) if known and noise <= 1 else f.sf(more / used / noise, used, free)
    return Excluded(*(float(np.sqrt(total / n)) for total in sums), float(chance))


def _rows(problem, fit, reading):
    """Return what the exact solution and the fit leave of one series of readings."""
    points = np.stack([reading.at[name] for name in problem.box], axis=1)
    column = problem.fields.index(reading.name)
    exact = problem.exact_at(points)[:, column] - reading.values
    return exact, np.asarray(fit.predict(points))[:, column] - reading.values
