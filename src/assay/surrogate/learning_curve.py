"""How the error falls with the number of runs, and how many it would take."""

import dataclasses
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from assay.errors import DataError, StudyError
from assay.surrogate.network import check_runs

FARTHEST = 10.0  # times the runs at hand; what lies beyond is not known
FEWEST_RUNS = 4  # of a point of the curve

# The prior. Exponents from no gain to the fourth power; a floor that is as likely absent as not,
# and small rather than large; points of a curve scatter by 6 %, known as if from four of them.
EXPONENTS = np.linspace(0.0, 4.0, 81)
FLOOR_SHARES = np.linspace(0.0, 1.0, 41)
NO_FLOOR = 0.5
SCATTER, SCATTER_POINTS = 0.06, 4.0


@dataclasses.dataclass(frozen=True, eq=False)
class LearningCurve:
    """Errors of fits on parts of the runs.

    Attributes
    ----------
    sizes : (k,) int array
        Runs that were learned from, ascending.
    rms : (k, repeats) array [-]
        Root mean square, over validation runs and outputs, of the error over its scale; nan
        where a fit was not made.
    """

    sizes: np.ndarray
    rms: np.ndarray

    @property
    def mean(self) -> np.ndarray:
        """The geometric mean over the repeats, (k,)."""
        return np.exp(np.nanmean(np.log(self.rms), axis=1))


@dataclasses.dataclass(frozen=True)
class RunsNeeded:
    """How many runs bring the error to a target.

    Attributes
    ----------
    estimate : float
        Runs; infinite if, as the curve runs, no number of them is likely to do. nan where nothing
        has been learned yet.
    low, high : float
        Between them with a probability of 95 %.
    sentence : str
        The same for a person, with what is not known.
    """

    estimate: float
    low: float
    high: float
    sentence: str


def learning_curve(
    make: Callable[[], Any], X, Y, X_val, Y_val, *, scale, sizes=None, repeats: int = 1,
    seed: int = 0, known: float | None = None,
) -> LearningCurve:  # fmt: skip
    """Fit on parts of the runs, and measure each fit on validation runs.

    Parameters
    ----------
    make : callable
        Returns an unfitted estimator. Its `random_state`, if it has one, is moved on by the number
        of the repeat.
    X : array of shape (n, d) [units of the inputs]
    Y : array of shape (n, m) or (n,) [units of the outputs]
    X_val, Y_val : arrays of shape (k, d) and (k, m) or (k,)
        Runs that no fit sees.
    scale : float or array of shape (m,), > 0 [units of the outputs]
        What errors are divided by: the noise of the data, or the spread of the outputs.
    sizes : sequence of int, optional
        By default a quarter, a half and all of the runs.
    repeats : int >= 1
        Random parts of each size; of all runs there is only one.
    seed : int
        Of the parts.
    known : float > 0, optional [-]
        The error at full size, if it has been measured: that fit is left out.

    Raises
    ------
    DataError, StudyError
        If the arrays or sizes do not fit; whatever the model's `fit` raises.

    Examples
    --------
    >>> from assay.surrogate import GaussianProcess
    >>> X = np.random.default_rng(0).uniform(0.0, 6.0, (60, 1))
    >>> curve = learning_curve(
    ...     lambda: GaussianProcess(starts=1), X[:40], np.sin(X[:40, 0]), X[40:],
    ...     np.sin(X[40:, 0]), scale=1.0)
    >>> curve.sizes.tolist(), bool(curve.mean[0] > curve.mean[-1])
    ([10, 20, 40], True)
    """
    X, Y, _ = check_runs(X, Y)
    X_val, Y_val, _ = check_runs(X_val, Y_val, fewest=1)
    scale = np.broadcast_to(np.asarray(scale, float), Y.shape[1:])
    if not (np.isfinite(scale) & (scale > 0.0)).all():
        raise DataError(
            f"`scale` must be positive and finite, got {scale.tolist()}.",
            hint="Use the noise of the data, or the standard deviation of the outputs.",
        )
    sizes = _checked_sizes(sizes, len(X))
    rng = np.random.default_rng(seed)
    rms = np.full((len(sizes), repeats), np.nan)
    for repeat in range(repeats):
        order = rng.permutation(len(X))
        for i, size in enumerate(sizes):
            whole = size == len(X)
            if whole and (repeat or known is not None):
                rms[i, 0] = rms[i, 0] if known is None else known
                continue
            chosen = np.sort(order[:size])
            model = _moved(make(), repeat).fit(X[chosen], Y[chosen])
            error = np.asarray(model.predict(X_val), float).reshape(Y_val.shape) - Y_val
            rms[i, repeat] = math.sqrt(np.mean((error / scale) ** 2))
    return LearningCurve(sizes, rms)


def runs_needed(curve: LearningCurve, target: float) -> RunsNeeded:
    r"""Estimate how many runs bring the error to `target`, with an interval.

    The curve is a power law with a floor [1]_,

    .. math:: \log r(n) = \log A + \log\bigl((1 - w)(n / N)^{-b} + w\bigr) + \epsilon,

    with N the largest size, :math:`0 \le b \le 4` and a share :math:`0 \le w \le 1` of a floor,
    and with normal scatter. All of them are averaged over (Bayes' rule on a grid): three points
    rarely tell a floor from a small exponent, and the interval must say so.

    Parameters
    ----------
    curve : LearningCurve
        With at least two sizes.
    target : float > 0 [-]
        Error in the unit of the curve.

    Raises
    ------
    StudyError
        If there are fewer than two sizes, or `target` is not positive.

    References
    ----------
    .. [1] J. S. Rosenfeld et al., A constructive prediction of the generalization error across
       scales, ICLR 2020, eq. 1; M. Figueroa et al., BMC Med. Inform. Decis. Mak. 12 (2012) 8.

    Examples
    --------
    >>> curve = LearningCurve(np.array([100, 200, 400]), np.array([[4.0], [2.0], [1.0]]))
    >>> needed = runs_needed(curve, 0.8)
    >>> 450 < needed.estimate < 600
    True
    """
    if len(curve.sizes) < 2:
        raise StudyError(
            f"A learning curve needs two sizes, got {len(curve.sizes)}.",
            hint="Use a quarter, a half and all of the runs.",
        )
    if not 0.0 < target < math.inf:
        raise StudyError(
            f"`target` must be positive and finite, got {target!r}.",
            hint="Give it in the unit of the curve: 1 is an error as large as the scale.",
        )
    most = float(curve.sizes[-1])
    # A perfect fit has no logarithm; a billionth of the largest error is as good as none.
    least = 1e-9 * np.nanmax(curve.rms)
    if least == 0.0:
        return RunsNeeded(curve.sizes[0], 0.0, curve.sizes[0], "There is no error at any size.")
    level, exponent, floor, weight = _posterior(curve.sizes / most, np.maximum(curve.rms, least))
    runs = most * _runs_to(target / level, exponent, floor)
    low, estimate, high = (_quantile(runs, weight, q) for q in (0.025, 0.5, 0.975))
    far = level * ((1.0 - floor) * FARTHEST**-exponent + floor)
    at_far = _quantile(far, weight, 0.5)
    now = float(curve.mean[-1])
    return RunsNeeded(
        estimate, low, high, _sentence(int(most), now, target, (estimate, low, high), at_far)
    )


def nothing_learned(curve: LearningCurve, mean_rms: float) -> RunsNeeded:
    """Return what a curve says whose end is no better than predicting the mean: nothing.

    Before a method has learned anything its curve is flat, and may fall steeply later.

    Parameters
    ----------
    curve : LearningCurve
    mean_rms : float [unit of the curve]
        Error of the mean.

    Examples
    --------
    >>> curve = LearningCurve(np.array([10, 20, 40]), np.array([[1.3], [1.2], [1.2]]))
    >>> nothing_learned(curve, 1.1).high
    inf
    """
    most = float(curve.sizes[-1])
    return RunsNeeded(
        math.nan, most, math.inf,
        f"How many are needed cannot be said: with {int(most)} runs this method errs by "
        f"{curve.mean[-1]:.3g}, and the mean of the outputs by {mean_rms:.3g}. A curve that has "
        "not begun to fall says nothing about more runs.",
    )  # fmt: skip


def _checked_sizes(sizes, n):
    if sizes is None:
        sizes = sorted({max(size, FEWEST_RUNS) for size in (n // 4, n // 2)} | {n})
        sizes = [size for size in sizes if size <= n]
    sizes = np.array(sizes)
    whole = sizes.dtype.kind in "iu" and sizes.ndim == 1 and len(sizes) > 0
    if not whole or (np.diff(sizes) <= 0).any() or sizes[0] < 2 or sizes[-1] > n:
        raise StudyError(
            f"`sizes` must be ascending whole numbers from 2 to the {n} runs, got "
            f"{sizes.tolist()}.",
            hint="Leave them out for a quarter, a half and all of the runs.",
        )
    return sizes


def _moved(model, repeat):
    """Return the estimator with its `random_state` moved on."""
    params = model.get_params(deep=False) if hasattr(model, "get_params") else {}
    if repeat and isinstance(params.get("random_state"), int):
        model.set_params(random_state=params["random_state"] + repeat)
    return model


def _posterior(places, rms):
    """Return level, exponent, floor share and weight of each node of the grid, flat arrays.

    With a flat prior on the log level and an inverse-gamma prior on the variance of the scatter,
    the level given the rest follows Student's distribution: its nodes are quantiles.
    """
    from scipy.special import stdtrit

    row, column = np.nonzero(np.isfinite(rms))
    x, y = places[row], np.log(rms[row, column])
    b, w = (grid.ravel() for grid in np.meshgrid(EXPONENTS, FLOOR_SHARES, indexing="ij"))
    shape = np.log((1.0 - w)[:, None] * x ** -b[:, None] + w[:, None])
    left = y - shape
    centre = left.mean(axis=1)
    freedom = SCATTER_POINTS + len(y) - 1.0
    total = SCATTER_POINTS * SCATTER**2 + ((left - centre[:, None]) ** 2).sum(axis=1)
    prior = np.where(w == 0.0, NO_FLOOR, (1.0 - NO_FLOOR) * (1.0 - w) / _SUM)
    with np.errstate(divide="ignore"):
        log_weight = np.log(prior) - 0.5 * freedom * np.log(total)
    weight = np.exp(log_weight - log_weight.max())
    width = np.sqrt(total / (freedom * len(y)))
    nodes = stdtrit(freedom, (np.arange(25) + 0.5) / 25.0)
    level = np.exp(centre[:, None] + width[:, None] * nodes)
    again = np.ones(len(nodes))
    flat = (np.outer(part, again).ravel() for part in (b, w, weight))
    return level.ravel(), *flat


_SUM = float((1.0 - FLOOR_SHARES[1:]).sum())


def _runs_to(ratio, exponent, floor):
    """Return the runs, over the largest size, at which the curve is at `ratio` times its level."""
    above = ratio - floor
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        power = np.log(above / (1.0 - floor)) / -exponent
        runs = np.exp(power)
    flat = (exponent == 0.0) | (floor == 1.0)
    runs = np.where(above > 0.0, runs, np.inf)
    return np.where(flat, np.where(ratio >= 1.0, 0.0, np.inf), runs)


def _quantile(values, weight, share):
    order = np.argsort(values)
    below = np.cumsum(weight[order])
    return float(values[order][min(np.searchsorted(below, share * below[-1]), len(values) - 1)])


def _sentence(n, now, target, runs, at_far):
    estimate, low, high = runs
    far = FARTHEST * n
    start = f"An RMS of {target:.3g}"
    if estimate <= n:
        tail = "" if high <= n else ", though not for certain"
        return f"{start} is reached with the {n} runs there are ({now:.3g}){tail}."
    ten = f"ten times the runs would bring {at_far:.3g}"
    if math.isinf(estimate) or at_far > 0.8 * now:
        return f"{start} is not in reach as the curve runs, for it flattens (now {now:.3g}, {ten})."
    if estimate > far:
        return (
            f"{start} takes more than ten times the {n} runs there are; how many is not known "
            f"(now {now:.3g}, {ten})."
        )
    upper = f"{_rounded(high)}" if high <= far else "more than ten times those there are"
    return (
        f"{start} takes about {_rounded(estimate)} runs (from {_rounded(max(low, 0.0))} to "
        f"{upper}); now it is {now:.3g} with {n}."
    )


def _rounded(runs):
    """Return a number of runs to two digits."""
    return f"{float(f'{runs:.2g}'):,.0f}"
