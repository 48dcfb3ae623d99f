"""The error of a surrogate as a covariance to add to that of the data."""

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np

from assay.data import as_matrix
from assay.errors import DataError, StudyError
from assay.surrogate.local_errors import LocalErrors, local_errors

FEW = 10  # runs per output, below which a sample covariance is shrunk
FEWEST = 8


@dataclasses.dataclass(frozen=True, eq=False)
class ErrorCovariance:
    r"""What a surrogate is off by, on average over the inputs of the runs it was tried on.

    Attributes
    ----------
    bias : (m,) float64 [units of the outputs]
        Mean of the true output minus the prediction.
    covariance : (m, m) float64 [units of the outputs squared]
        :math:`C_p`, about the bias.
    n_runs : int
        Runs that it was learned from.
    shrinkage : float in [0, 1]
        How far the correlations were shrunk towards none; 0 is the sample covariance.
    local : LocalErrors or None
        How the covariance depends on the input, where the runs show that it does; `covariance`
        is then its average.

    Examples
    --------
    >>> errors = np.random.default_rng(0).normal(1.0, 2.0, (500, 1))
    >>> found = error_covariance(errors)
    >>> found.bias.round(0).tolist(), found.covariance.round(0).tolist()
    ([1.0], [[4.0]])
    """

    bias: np.ndarray
    covariance: np.ndarray
    n_runs: int
    shrinkage: float
    local: LocalErrors | None = None

    @property
    def sd(self) -> np.ndarray:
        """Return the standard deviations (m,) [units of the outputs]."""
        return np.sqrt(self.covariance.diagonal())


@dataclasses.dataclass(frozen=True)
class SpreadCovariance:
    """The surrogate's own covariance at each input, times `factor` squared.

    For a Gaussian process or a deep ensemble: wide where runs are far apart. Its scale should come
    from held-out runs, see `spread_covariance`; an ensemble's is mostly too small.
    """

    factor: float = 1.0

    def __post_init__(self):
        if isinstance(self.factor, bool) or not 0.0 < self.factor < np.inf:
            raise StudyError(
                f"`factor` must be positive and finite, got {self.factor!r}.",
                hint="Let spread_covariance(surrogate, X, Y) find it on held-out runs.",
            )


def error_covariance(errors, X=None) -> ErrorCovariance:
    r"""Return bias and covariance of errors on runs that the surrogate did not learn from.

    With fewer than ten runs per output, the correlations are shrunk as Ledoit and Wolf [1]_ do;
    the variances stay. The error of the bias itself, covariance over n, is added. What PCA of the
    outputs leaves away is in the errors, and so in the covariance.

    Parameters
    ----------
    errors : array of shape (n, m) or (n,), n >= 8 [units of the outputs]
        True output minus prediction.
    X : array of shape (n, d), optional [units of the inputs]
        Where the runs were: the covariance is then local, if the errors show that it is.

    Raises
    ------
    DataError
        If the errors are not finite, or fewer than 8.

    References
    ----------
    .. [1] O. Ledoit, M. Wolf, A well-conditioned estimator for large-dimensional covariance
       matrices, J. Multivariate Analysis 88 (2004) 365-411.
    """
    errors = np.asarray(errors)
    errors = as_matrix(errors[:, None] if errors.ndim == 1 else errors, name="errors")
    n, m = errors.shape
    if n < FEWEST:
        raise DataError(
            f"A covariance of errors needs at least {FEWEST} runs, got {n}.",
            hint="Hold more runs out, or use cross_error_covariance.",
        )
    bias = errors.mean(axis=0)
    apart = errors - bias
    sd = np.sqrt((apart**2).sum(axis=0) / (n - 1))
    scale = np.where(sd > 0.0, sd, 1.0)
    scaled = apart / scale
    correlation, shrinkage = scaled.T @ scaled / (n - 1), 0.0
    if m > 1 and n < FEW * m:
        from sklearn.covariance import ledoit_wolf_shrinkage

        shrinkage = float(ledoit_wolf_shrinkage(scaled, assume_centered=True))
        # The variances are equal here, so that only the correlations shrink.
        off = ~np.eye(m, dtype=bool)
        correlation[off] *= 1.0 - shrinkage
    covariance = correlation * np.outer(sd, sd) * (1.0 + 1.0 / n)
    local = None if X is None else local_errors(as_matrix(X, name="X"), apart, covariance)
    return ErrorCovariance(bias, covariance, n, shrinkage, local)


def held_out_covariance(surrogate: Any, X, Y) -> ErrorCovariance:
    """Return bias and covariance of a fitted surrogate's errors on runs it did not learn from.

    From 40 runs on, the covariance at an input is mostly that of the errors of runs near it, where
    that explains the errors better than one covariance for all inputs; see `LocalErrors`.

    Parameters
    ----------
    surrogate : estimator
        Fitted.
    X : array of shape (n, d), n >= 8 [units of the inputs]
    Y : array of shape (n, m) or (n,) [units of the outputs]
        Held-out runs of the true model.

    Examples
    --------
    >>> from assay.surrogate.response_surface import ResponseSurface
    >>> X = np.random.default_rng(0).random((100, 1))
    >>> surface = ResponseSurface(degree=1).fit(X[:50], X[:50, 0] ** 2)
    >>> bool(0.05 < held_out_covariance(surface, X[50:], X[50:, 0] ** 2).sd[0] < 0.1)
    True
    """
    return error_covariance(held_out_errors(surrogate, X, Y), X)


def cross_error_covariance(
    make: Callable[[], Any], X, Y, *, folds: int = 5, seed: int = 0
) -> ErrorCovariance:
    """Return bias and covariance of errors between folds, where no run can be held out.

    The folds' surrogates learn from fewer runs, so that this is rather too large than too small.

    Parameters
    ----------
    make : callable
        Returns an unfitted estimator.
    X : array of shape (n, d) [units of the inputs]
    Y : array of shape (n, m) or (n,) [units of the outputs]
    folds : int >= 2
        Number of fits.
    seed : int
        Of the folds.
    """
    from assay.surrogate.conformal import cross_errors

    return error_covariance(cross_errors(make, X, Y, folds=folds, seed=seed)[0], X)


def spread_covariance(surrogate: Any, X, Y) -> SpreadCovariance:
    """Return the factor that makes a surrogate's own spread right on held-out runs, on average.

    Parameters
    ----------
    surrogate : estimator
        Fitted, with ``predict(X, return_std=True)``.
    X : array of shape (n, d) [units of the inputs]
    Y : array of shape (n, m) or (n,) [units of the outputs]
        Held-out runs of the true model.
    """
    X = as_matrix(X, name="X")
    std = np.asarray(surrogate.predict(X, return_std=True)[1]).reshape(len(X), -1)
    errors = held_out_errors(surrogate, X, Y)
    if not (std > 0.0).all():
        raise StudyError(
            "The surrogate's own spread is zero at a held-out run: no factor can make it right.",
            hint="Use held_out_covariance instead.",
        )
    return SpreadCovariance(float(np.sqrt(np.mean((errors / std) ** 2))))


def held_out_errors(surrogate: Any, X, Y) -> np.ndarray:
    """Return true output minus prediction (n, m) [units of the outputs]."""
    X, Y = as_matrix(X, name="X"), np.asarray(Y)
    Y = as_matrix(Y[:, None] if Y.ndim == 1 else Y, name="Y")
    if len(X) != len(Y):
        raise DataError(
            f"`Y` must have one row per row of `X`: expected {len(X)}, got {len(Y)}.",
            hint="Pass the inputs and outputs of the same runs.",
        )
    predicted = np.asarray(surrogate.predict(X), dtype=np.float64).reshape(len(X), -1)
    if predicted.shape != Y.shape:
        raise DataError(
            f"`Y` must have the surrogate's {predicted.shape[1]} outputs, got {Y.shape[1]}.",
            hint="Pass the same outputs as in the training runs.",
        )
    return Y - predicted
