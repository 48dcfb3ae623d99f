"""Which inputs matter: Sobol indices of a surrogate, with an interval that counts its error."""

import dataclasses
from typing import Any

import numpy as np

from assay.errors import StudyError
from assay.surrogate.domain import check_bounds
from assay.surrogate.input_priors import input_names, training_box
from assay.surrogate.paths import possible_outputs

PATHS = 16  # functions drawn from a Gaussian process
PATH_POINTS = 2**11  # points of the sequence at which they are compared; they share them
RESAMPLES = 200
MOST = 2**20
_Z95 = 1.959964


@dataclasses.dataclass(frozen=True, eq=False)
class SobolIndices:
    """Shares of an output's variance, for independent inputs, uniform in a box.

    Attributes
    ----------
    names : tuple of str
    first, total : (d,) float64 [-]
        Of each input alone; and with all its interactions.
    first_interval, total_interval : (d, 2) float64 [-]
        95 %, from sampling and the surrogate's error together; not clipped to 0 and 1.
    sampling_sd, surrogate_sd : (2, d) float64 [-]
        Standard deviations of (first, total) from either; NaN where the surrogate does not know
        its error, and the intervals then leave it out.
    spread : float [unit of the output]
        Standard deviation of the output over the box.
    evaluations : int
        Of the surrogate.
    functions : int
        Members, or functions drawn from the process, that `surrogate_sd` is from.
    """

    names: tuple[str, ...]
    first: np.ndarray
    total: np.ndarray
    first_interval: np.ndarray
    total_interval: np.ndarray
    sampling_sd: np.ndarray
    surrogate_sd: np.ndarray
    spread: float
    evaluations: int
    functions: int

    def __str__(self):
        width = max(len("input"), *map(len, self.names))
        lines = [f"{'input':<{width}}  {'first order':>24}  {'total':>24}"]
        for j, name in enumerate(self.names):
            cells = (
                f"{value[j]:.3f} ({ends[j, 0]:.3f} to {ends[j, 1]:.3f})".rjust(24)
                for value, ends in (
                    (self.first, self.first_interval),
                    (self.total, self.total_interval),
                )
            )
            lines.append(f"{name:<{width}}  " + "  ".join(cells))
        if self.functions == 0:
            lines.append("The surrogate does not know its error: the intervals leave it out.")
        return "\n".join(lines)


def sobol_indices(
    surrogate: Any,
    bounds=None,
    *,
    n: int = 2**13,
    seed: int = 0,
    output: int | None = None,
    names=None,
) -> SobolIndices:
    r"""Return first-order and total Sobol indices of one output of a surrogate.

    .. math:: S_j = \frac{\operatorname{Var} E[y \mid x_j]}{\operatorname{Var} y}, \qquad
       T_j = 1 - \frac{\operatorname{Var} E[y \mid x_{-j}]}{\operatorname{Var} y}

    by Saltelli's estimators on a scrambled Sobol sequence [1]_. The interval has two parts in
    quadrature: the bootstrap over the points, and the spread between the members of an ensemble
    or between functions drawn from a Gaussian process. What all of these have wrong it cannot
    know.

    Parameters
    ----------
    surrogate : estimator
        Fitted.
    bounds : array of shape (d, 2), optional [units of the inputs]
        Inputs are independent and uniform in it; the training box, if not given.
    n : int, default 2**13
        A power of 2, at least 64; n (d + 2) evaluations of the surrogate.
    seed : int
        Of the sequence and the bootstrap.
    output : int, optional
        Index of the output; must be given where the surrogate has several.
    names : sequence of str, optional
        Of the inputs.

    Raises
    ------
    StudyError
        If a parameter is out of range, or the output does not vary in the box.

    References
    ----------
    .. [1] A. Saltelli et al., Variance based sensitivity analysis of model output, Computer
       Physics Communications 181 (2010) 259-270, table 2 (b) and (f).

    Examples
    --------
    >>> from assay.surrogate.response_surface import ResponseSurface
    >>> X = np.random.default_rng(0).random((50, 2))
    >>> surface = ResponseSurface(degree=1).fit(X, 2.0 * X[:, 0] + X[:, 1])
    >>> sobol_indices(surface, [[0.0, 1.0], [0.0, 1.0]]).first.round(2).tolist()
    [0.8, 0.2]
    """
    from scipy.stats import qmc

    output = _checked(surrogate, n, output)
    d = surrogate.n_features_in_
    box = training_box(surrogate) if bounds is None else np.array(check_bounds(bounds, d)).T
    if box is None:
        raise StudyError(
            f"The training box of this {type(surrogate).__name__} is not known.",
            hint="Give `bounds`: [[low, high], ...], one row per input.",
        )
    unit = qmc.Sobol(2 * d, rng=np.random.default_rng(seed)).random(n)
    A, B = box[:, 0] + (box[:, 1] - box[:, 0]) * np.stack([unit[:, :d], unit[:, d:]])
    rows = _rows(A, B)
    mean = np.asarray(surrogate.predict(rows)).reshape(len(rows), -1)[:, output]
    spread = float(mean[: 2 * n].std())
    if not spread > 1e-12 * np.abs(mean).max():
        raise StudyError(
            f"Output {output} of the surrogate does not vary in the box: there are no shares of "
            "its variance.",
            hint="Look at `bounds` and `output`.",
        )
    first, total, sampling = _indices(mean[None], n, d, seed, resample=True)
    few = min(n, PATH_POINTS)
    some = rows.reshape(d + 2, n, d)[:, :few].reshape(-1, d)
    each = possible_outputs(surrogate, some, n=PATHS, seed=seed)
    own, quantile, count = np.full((2, d), np.nan), 0.0, 0
    if each is not None:
        from scipy.stats import t

        count = len(each)
        members = _indices(each[:, :, output], few, d, seed, resample=False)
        own = np.array([part.std(axis=0, ddof=1) for part in members[:2]])
        quantile = float(t.ppf(0.975, count - 1))
    half = np.hypot(_Z95 * sampling, quantile * np.nan_to_num(own))
    intervals = [
        np.stack([value - part, value + part], axis=1)
        for value, part in zip((first[0], total[0]), half, strict=True)
    ]
    return SobolIndices(
        input_names(names, d), first[0], total[0], *intervals, sampling, own, spread, len(rows),
        count,
    )  # fmt: skip


def _rows(A, B):
    """Return A, B, and A with each column from B in turn: (n (d + 2), d)."""
    mixed = []
    for j in range(A.shape[1]):
        one = A.copy()
        one[:, j] = B[:, j]
        mixed.append(one)
    return np.concatenate([A, B, *mixed])


def _indices(values, n, d, seed, *, resample):
    """Return first and total (s, d) of functions `values` (s, n (d + 2)); sd (2, d) of the first.

    With a spread of nought, nothing is a share of it: such functions count as nought.
    """
    from scipy.stats import sobol_indices as saltelli

    parts = values.reshape(len(values), d + 2, n)
    scale = values.std(axis=1)
    scale = np.where(scale > 0.0, scale, 1.0)
    parts = parts / scale[:, None, None]
    held = {"f_A": parts[:, 0], "f_B": parts[:, 1], "f_AB": parts[:, 2:].transpose(1, 0, 2)}
    found = saltelli(func=held, n=n)
    first = np.asarray(found.first_order).reshape(len(values), d)
    total = np.asarray(found.total_order).reshape(len(values), d)
    if not resample:
        return first, total, None
    return first, total, _bootstrap(parts[0], seed)


def _bootstrap(parts, seed):
    """Return the standard deviations (2, d) of the indices over resampled points (d + 2, n)."""
    rng, n = np.random.default_rng(seed), parts.shape[1]
    first, second, mixed = parts[0], parts[1], parts[2:]
    products = second * (mixed - first)
    squares = (first - mixed) ** 2
    kept = []
    for _ in range(RESAMPLES):
        weights = rng.multinomial(n, np.full(n, 1.0 / n)) / n
        both = np.concatenate([first, second])
        double = np.tile(weights, 2) / 2.0
        variance = double @ both**2 - (double @ both) ** 2
        kept.append([products @ weights / variance, 0.5 * squares @ weights / variance])
    return np.std(kept, axis=0)


def _checked(surrogate, n, output):
    """Return the index of the output, or say what is wrong."""
    from sklearn.utils.validation import check_is_fitted

    check_is_fitted(surrogate)
    whole = isinstance(n, int | np.integer) and not isinstance(n, bool)
    if not whole or not 64 <= n <= MOST or n & (n - 1):
        raise StudyError(
            f"`n` must be a power of 2 from 64 to 2**20, got {n!r}.", hint="2**13 is usual."
        )
    m = surrogate.n_outputs_
    if output is None and m > 1:
        raise StudyError(
            f"The surrogate has {m} outputs, and `output` does not say which.",
            hint=f"Give its index, such as output=0, in a loop for all: 0 to {m - 1}.",
        )
    output = 0 if output is None else output
    if isinstance(output, bool) or not isinstance(output, int | np.integer) or not 0 <= output < m:
        raise StudyError(
            f"`output` must be a whole number from 0 to {m - 1}, got {output!r}.",
            hint="Give the index of one of the surrogate's outputs.",
        )
    return int(output)
