"""How many runs fell inside their intervals, and how many should have."""

import dataclasses
import math

import numpy as np

from assay.errors import DataError, StudyError


@dataclasses.dataclass(frozen=True)
class Coverage:
    """The share of runs inside their intervals, beside what is to be expected.

    Attributes
    ----------
    estimate : float [-]
        Share inside; with several outputs, of the outputs of a run, averaged over the runs.
    low, high : float [-]
        Where it lies with the confidence asked for if the intervals are right: calibration runs
        and test runs are both few.
    binomial : (float, float) [-]
        The same as if the calibration had been on infinitely many runs.
    inside : bool
        Whether the estimate lies from `low` to `high`.
    """

    estimate: float
    low: float
    high: float
    binomial: tuple[float, float]
    inside: bool


def coverage(
    inside, *, level: float = 0.95, n_calibration: int | None = None, confidence: float = 0.95
) -> Coverage:
    """Compare the share of runs inside their intervals with what is to be expected.

    Parameters
    ----------
    inside : bool array of shape (n,) or (n, m)
        Which outputs of which test runs fell inside. The outputs of a run go together, so the runs
        are the unit: the band is that of one output, which is too wide rather than too narrow.
    level : float in (0, 1)
        Of the intervals.
    n_calibration : int, optional
        Runs that the intervals were learned from; None for infinitely many.
    confidence : float in (0, 1)
        Of the bands.

    Raises
    ------
    DataError
        If `inside` has no row or is not boolean.

    Examples
    --------
    >>> coverage(np.arange(100) < 96, n_calibration=40).inside
    True
    >>> coverage(np.arange(100) < 70, n_calibration=40).inside
    False
    """
    inside = np.asarray(inside)
    if inside.dtype != bool or inside.ndim not in (1, 2) or not inside.size:
        raise DataError(
            f"`inside` must be an array of yes and no of shape (n,) or (n, m), got "
            f"{inside.dtype}{inside.shape}.",
            hint="Compare the errors with the half widths.",
        )
    n, estimate = len(inside), float(inside.mean())
    low, high = coverage_band(n, n_calibration, level=level, confidence=confidence)
    binomial = coverage_band(n, None, level=level, confidence=confidence)
    slack = 1e-12
    within = low - slack <= estimate <= high + slack
    return Coverage(estimate, low, high, binomial, bool(within))


def coverage_band(
    n: int,
    n_calibration: int | None,
    *,
    level: float = 0.95,
    confidence: float = 0.95,
    repeats: int = 1,
) -> tuple[float, float]:
    r"""Return from where to where the share of n test runs inside their intervals may lie.

    Given the c calibration runs, the coverage of split conformal intervals is distributed as
    :math:`\mathrm{Beta}(c + 1 - l, l)` with :math:`l = \lfloor (c + 1)(1 - \text{level}) \rfloor`
    [1]_, so the number inside is beta-binomial [2]_. For out-of-fold errors this is an
    approximation: the models of the folds are not the model that predicts.

    Parameters
    ----------
    n : int >= 1
        Test runs.
    n_calibration : int or None
        :math:`c`; None for infinitely many, which gives the binomial band.
    level, confidence : float in (0, 1)
    repeats : int >= 1
        The band is for the mean over so many studies, each with a calibration of its own.

    References
    ----------
    .. [1] V. Vovk, Conditional validity of inductive conformal predictors, ACML 2012, prop. 2b.
    .. [2] A. N. Angelopoulos, S. Bates, Conformal prediction: a gentle introduction, Foundations
       and Trends in Machine Learning 16 (2023) 494-591, app. C.

    Examples
    --------
    >>> [round(end, 3) for end in coverage_band(1000, None)]
    [0.936, 0.963]
    >>> [round(end, 3) for end in coverage_band(1000, 100)]
    [0.898, 0.985]
    """
    from scipy import stats

    for name, share in (("level", level), ("confidence", confidence)):
        if not 0.0 < share < 1.0:
            raise StudyError(
                f"`{name}` must be a share between 0 and 1, got {share!r}.", hint="0.95 is usual."
            )
    if n < 1 or repeats < 1 or (n_calibration is not None and n_calibration < 1):
        raise StudyError(
            f"A band needs at least one run and one study, got {n}, {n_calibration}, {repeats}.",
            hint="Give the numbers of test and calibration runs.",
        )
    if n_calibration is None:
        law = stats.binom(n, level)
    else:
        outside = math.floor((n_calibration + 1) * (1.0 - level) + 1e-9)
        if outside == 0:
            return 1.0, 1.0  # the intervals have no ends
        law = stats.betabinom(n, n_calibration + 1 - outside, outside)
    one = law.pmf(np.arange(n + 1))
    total = one
    for _ in range(repeats - 1):
        total = np.convolve(total, one)
    below = np.cumsum(total)
    tail = 0.5 * (1.0 - confidence)
    low = np.searchsorted(below, tail)
    high = min(np.searchsorted(below, 1.0 - tail), n * repeats)
    return float(low) / (n * repeats), float(high) / (n * repeats)
