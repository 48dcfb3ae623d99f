"""The gain where there is a reference solution: over the seeds of the candidate."""

import math

import numpy as np

from assay.errors import StudyError
from assay.intervals import quantile
from assay.result import Gain


def seed_gain(
    candidate: np.ndarray,
    baseline: float,
    *,
    against: str = "",
    loss: str = "",
    level: float = 0.95,
) -> Gain:
    r"""Return the gain of a candidate over a deterministic baseline, with an interval over seeds.

    Errors of networks spread over orders of magnitude, so the interval is Student's on
    :math:`\log(e_s / b)`: the gain is :math:`1 - \exp(\overline{\log(e_s / b)})`.

    Parameters
    ----------
    candidate : array of shape (n_seeds,)
        Errors, above 0, one a seed.
    baseline : float > 0
        The error of the baseline.
    against, loss : str
        Names for the report.
    level : float [-]

    Returns
    -------
    Gain
        From one seed alone nothing is known of the spread, and the interval has no bounds; equal
        errors of several seeds (a method without chance) give an interval without width.

    Raises
    ------
    StudyError
        For errors that are not above 0 and finite.

    Examples
    --------
    >>> gain = seed_gain(np.array([0.1, 0.1, 0.1]), 1.0)
    >>> round(gain.estimate, 2), round(gain.low, 2), round(gain.high, 2)
    (0.9, 0.9, 0.9)
    """
    errors = np.asarray(candidate, np.float64)
    if (
        errors.ndim != 1
        or not errors.size
        or not (np.isfinite(errors).all() and (errors > 0).all())
    ):
        raise StudyError(
            f"Errors of the candidate must be above 0 and finite, one a seed, got {errors}.",
            hint="An error below that of the reference is the reference's.",
        )
    if not 0 < baseline < math.inf:
        raise StudyError(f"The error of the baseline must be above 0, got {baseline!r}.")
    ratios = np.log(errors / baseline)
    middle, n = float(ratios.mean()), len(ratios)
    if n == 1:
        return Gain(-math.expm1(middle), -math.inf, 1.0, against, loss, level)
    half = quantile(n - 1, (1 - level) / 2) * float(ratios.std(ddof=1)) / math.sqrt(n)
    low, high = (-math.expm1(min(middle + side * half, 700.0)) for side in (1, -1))
    return Gain(-math.expm1(min(middle, 700.0)), low, high, against, loss, level)
