"""What the checks of `surrogate` share: the networks inside a candidate, and ratios of errors."""

import dataclasses
import math
from typing import Any

import numpy as np

from assay.checks import NotApplicable
from assay.surrogate.view import SurrogateView


@dataclasses.dataclass(frozen=True, eq=False)
class Learner:
    """One network, with what it learned from in its own units.

    Attributes
    ----------
    network : fitted estimator
        With ``status_`` and ``history_``.
    X : array of shape (n, d) [units of the inputs]
    targets : array of shape (n, k)
        Outputs, or their coefficients where the network sits behind `PCAOutputs`.
    coefficients : bool
        Whether they are coefficients.
    """

    network: Any
    X: np.ndarray
    targets: np.ndarray
    coefficients: bool = False


def insides(estimator: Any) -> list[Any]:
    """Return an estimator and all fitted estimators inside it, from the outside in.

    Examples
    --------
    >>> [type(e).__name__ for e in insides(3)]
    ['int']
    """
    found = [estimator]
    for member in getattr(estimator, "members_", ()):
        found += insides(member)
    inner = getattr(estimator, "model_", None)
    if hasattr(inner, "predict"):  # not the bare network of an estimator
        found += insides(inner)
    return found


def learners(view: SurrogateView) -> list[Learner]:
    """Return every network of every seed of the candidate.

    Raises
    ------
    NotApplicable
        If there is none that tells of its training.
    """
    found = []
    for estimator in view.candidate:
        found += _learners(estimator, view.fit.X, view.fit.Y, coefficients=False)
    if not found:
        raise NotApplicable("The candidate is no network that tells of its training.")
    return found


def _learners(estimator, X, targets, *, coefficients):
    members = getattr(estimator, "members_", None)
    if members:
        return [one for m in members for one in _learners(m, X, targets, coefficients=coefficients)]
    inner = getattr(estimator, "model_", None)
    if hasattr(inner, "predict"):
        if callable(getattr(estimator, "coefficients", None)):
            return _learners(inner, X, estimator.coefficients(targets), coefficients=True)
        return _learners(inner, X, targets, coefficients=coefficients)
    # What was brought may have a history in a form of its own.
    if not isinstance(getattr(estimator, "history_", None), dict) or not hasattr(
        estimator, "status_"
    ):
        return []
    return [Learner(estimator, X, targets, coefficients)]


def losses(view: SurrogateView, predictions: np.ndarray, Y: np.ndarray) -> np.ndarray:
    """Return the loss of each run [-]: squared errors over `view.scale`, mean over the outputs."""
    return np.mean(((predictions - Y) / view.scale) ** 2, axis=-1)


def by_unit(values: np.ndarray, groups: np.ndarray | None) -> np.ndarray:
    """Return the mean of the values (n,) of each group, or the values where there are none.

    Examples
    --------
    >>> by_unit(np.array([1.0, 3.0, 5.0]), np.array(["a", "a", "b"])).tolist()
    [2.0, 5.0]
    """
    if groups is None:
        return values
    at = np.unique(groups, return_inverse=True)[1].ravel()
    return np.bincount(at, weights=values) / np.bincount(at)


def rms_ratio(above: np.ndarray, below: np.ndarray) -> tuple[float, float, float]:
    """Return the ratio of two root mean squares with its 95 % interval: (ratio, low, high).

    By the delta method on the logs of the means, with Welch's degrees of freedom; from 0 to
    infinity where a side has fewer than two units.

    Parameters
    ----------
    above, below : arrays of shape (n,) and (k,)
        Squared errors of independent units.

    Examples
    --------
    >>> rms_ratio(np.array([4.0, 4.0, 4.0]), np.ones(5))
    (2.0, 2.0, 2.0)
    """
    from scipy import stats

    tiny = np.finfo(float).tiny
    means = [max(float(np.mean(side)), tiny) for side in (above, below)]
    ratio = math.sqrt(means[0] / means[1])
    if min(len(above), len(below)) < 2:
        return ratio, 0.0, math.inf
    parts = [
        float(np.var(side, ddof=1)) / len(side) / mean / mean  # its square may be zero
        for side, mean in zip((above, below), means, strict=True)
    ]
    total = sum(parts)
    if not total**2 > 0.0:  # its square is divided by, and may be zero before it is
        return ratio, ratio, ratio
    each = [part**2 / (len(side) - 1) for part, side in zip(parts, (above, below), strict=True)]
    half = 0.5 * stats.t.ppf(0.975, total**2 / sum(each)) * math.sqrt(total)
    return ratio, ratio * math.exp(-min(half, 700.0)), ratio * math.exp(min(half, 700.0))
