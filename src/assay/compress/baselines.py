"""The classical method that a compressing network must beat: principal components."""

import dataclasses
import math
from typing import ClassVar

import numpy as np
from sklearn.base import BaseEstimator

from assay.data import Scaler, as_matrix, map_rows
from assay.errors import StudyError

# Rows are worked through in blocks of so many values: 32 MB in float64, however wide the table.
BLOCK_VALUES = 4_000_000


@dataclasses.dataclass(frozen=True)
class PrincipalAxes:
    """Mean, axes and variances of scaled rows, strongest axis first.

    Attributes
    ----------
    mean : (d,) float64 [scaled]
    axes : (r, d) float64 [-], orthonormal rows; r = min(d, n_rows - 1), and at least 1
    variances : (r,) float64 [scaled squared], >= 0, with n_rows - 1 in the denominator
    n_rows : int
    """

    mean: np.ndarray
    axes: np.ndarray
    variances: np.ndarray
    n_rows: int

    @property
    def rank(self) -> int:
        """Return the number of axes whose variance is more than rounding."""
        return int(np.sum(self.variances > self.variances[0] * self.mean.size * 1e-15))

    def count(self, components: float) -> int:
        """Return the number of axes that `components` asks for.

        Parameters
        ----------
        components : int >= 1, or float in (0, 1)
            A number of axes, or the share of the total variance that they must exceed (the
            smallest number that does). More axes than there are gives all of them.
        """
        if isinstance(components, int | np.integer) and components >= 1:
            return min(int(components), self.variances.size)
        if not 0.0 < components < 1.0:
            raise StudyError(
                f"`components` must be a whole number from 1 or a share of the variance between 0 "
                f"and 1, got {components!r}.",
                hint="Use 0.9 for 90 % of the variance, or 8 for eight components.",
            )
        share = np.cumsum(self.variances)
        if share[-1] <= 0.0:
            return 1
        beyond = int(np.searchsorted(share / share[-1], components, side="right")) + 1
        return min(beyond, self.variances.size)


def principal_axes(X, scaler: Scaler) -> PrincipalAxes:
    r"""Return the eigenvectors of the covariance of scaled rows.

    The covariance is accumulated in float64 over blocks of rows, so that memory does not grow
    with their number; with fewer rows than columns the rows themselves are decomposed, so that it
    does not grow with the square of the columns either.

    Parameters
    ----------
    X : (n, d) array [columns' units], n >= 2
    scaler : Scaler
        Applied to each block.

    Returns
    -------
    PrincipalAxes

    References
    ----------
    .. [1] I. T. Jolliffe, Principal Component Analysis, 2nd ed., Springer 2002, section 3.5.

    Examples
    --------
    >>> from assay.data import Scaler
    >>> X = np.array([[0.0, 0.0], [2.0, 2.0], [4.0, 4.0]])
    >>> axes = principal_axes(X, Scaler.fit(X, "none"))
    >>> axes.variances.round(6).tolist()
    [8.0, 0.0]
    """
    n, d = X.shape
    if n <= d:
        rows = scaler.forward(X, dtype=np.float64)
        mean = rows.mean(axis=0)
        _, singular, axes = np.linalg.svd(rows - mean, full_matrices=False)
        variances = singular**2 / (n - 1)
    else:
        mean, covariance = _covariance(X, scaler)
        variances, vectors = np.linalg.eigh(covariance)
        variances, axes = variances[::-1], vectors.T[::-1]
    keep = max(1, min(d, n - 1))
    axes = axes[:keep]
    # The sign of an eigenvector is free; fixed here so that codes do not flip between machines.
    largest = np.abs(axes).argmax(axis=1)
    axes = axes * np.where(axes[np.arange(len(axes)), largest] < 0.0, -1.0, 1.0)[:, None]
    return PrincipalAxes(mean, axes, np.maximum(variances[:keep], 0.0), n)


def rows_per_block(n_columns: int) -> int:
    """Return how many rows of a table are worked on at once."""
    return max(1, BLOCK_VALUES // max(n_columns, 1))


def _covariance(X, scaler):
    """Return mean and covariance of scaled rows, in one pass over blocks."""
    n, d = X.shape
    # Sums are taken about a point close to the mean (of rows from all over the table, since logs
    # drift), so that correcting for the rest costs no digits.
    pivot = scaler.forward(X[:: max(1, n // 1000)], dtype=np.float64).mean(axis=0)
    total, scatter = np.zeros(d), np.zeros((d, d))
    step = rows_per_block(d)
    for start in range(0, n, step):
        rows = scaler.forward(X[start : start + step], dtype=np.float64)
        rows -= pivot
        total += rows.sum(axis=0)
        scatter += rows.T @ rows
    shift = total / n
    return pivot + shift, (scatter - n * np.outer(shift, shift)) / (n - 1)


class PCA(BaseEstimator):
    """Principal components with a given code size: the linear answer to an autoencoder.

    Parameters
    ----------
    code_size : int or float, default 2
        Number of components, or the share of the variance in (0, 1) that they must exceed.
    scaling : {"standard", "none", "unit"}, default "standard"
        How columns are scaled before; errors of `score` are in scaled units.

    Attributes
    ----------
    code_size_ : int
        The number of components kept.
    axes_ : PrincipalAxes
    scaler_ : Scaler
    n_features_in_ : int
    n_parameters_ : int
        Numbers that are needed to decode: the axes and the mean.

    Examples
    --------
    >>> X = np.array([[0.0, 1.0], [1.0, 3.0], [2.0, 5.0]])
    >>> pca = PCA(code_size=1).fit(X)
    >>> pca.transform(X).shape
    (3, 1)
    >>> pca.reconstruct(X).round(6).tolist()
    [[0.0, 1.0], [1.0, 3.0], [2.0, 5.0]]
    """

    name: ClassVar[str] = "PCA"
    about: ClassVar[str] = "The best linear code of the same size, in closed form."

    def __init__(self, *, code_size=2, scaling="standard"):
        self.code_size = code_size
        self.scaling = scaling

    def fit(self, X, y=None):
        """Find the axes of `X` (n, d); `y` is ignored, for scikit-learn's pipelines."""
        del y
        X = as_matrix(X, name="X")
        if len(X) < 2:
            raise StudyError(
                f"PCA needs at least 2 rows to have a variance, got {len(X)}.",
                hint="Give more rows.",
            )
        self.n_features_in_ = X.shape[1]
        self.scaler_ = Scaler.fit(X, self.scaling)
        self.axes_ = principal_axes(X, self.scaler_)
        self.code_size_ = self.axes_.count(self.code_size)
        self.n_parameters_ = (self.code_size_ + 1) * self.n_features_in_
        self.status_ = "Closed form."
        return self

    def transform(self, X):
        """Return the codes (n, code_size_) of rows `X` (n, d)."""
        X = as_matrix(X, name="X", n_columns=self.n_features_in_)
        axes = self.axes_.axes[: self.code_size_]

        def encode(rows):
            return (self.scaler_.forward(rows, dtype=np.float64) - self.axes_.mean) @ axes.T

        return map_rows(encode, X, chunk=rows_per_block(X.shape[1]))

    def inverse_transform(self, codes):
        """Return rows (n, d) in the columns' units from codes (n, code_size_)."""
        codes = as_matrix(codes, name="codes", n_columns=self.code_size_)
        axes = self.axes_.axes[: self.code_size_]

        def decode(rows):
            return self.scaler_.inverse(rows @ axes + self.axes_.mean)

        return map_rows(decode, codes, chunk=rows_per_block(self.n_features_in_))

    def reconstruct(self, X):
        """Return rows (n, d) in the columns' units, coded and decoded again."""
        return self.inverse_transform(self.transform(X))

    def errors(self, X):
        """Return the mean squared error over the columns of each row, in scaled units: (n,)."""
        X = as_matrix(X, name="X", n_columns=self.n_features_in_)
        axes = self.axes_.axes[: self.code_size_]

        def error(rows):
            return np.mean(residuals(self.scaler_, self.axes_, axes, rows) ** 2, axis=1)

        return map_rows(error, X, chunk=rows_per_block(X.shape[1]))

    def score(self, X, y=None):
        """Return minus the mean of `errors(X)`: higher is better."""
        del y
        return -float(np.mean(self.errors(X)))

    def settings(self):
        """Return what was used, as plain values."""
        total = self.axes_.variances.sum()
        kept = self.axes_.variances[: self.code_size_].sum()
        return {
            "code_size": self.code_size_,
            "scaling": self.scaling,
            "variance_share": float(kept / total) if total > 0.0 else math.nan,
        }


class MeanRow(BaseEstimator):
    """The mean of the rows for every row: what a code without any information gives.

    Examples
    --------
    >>> MeanRow().fit([[0.0, 2.0], [2.0, 4.0]]).reconstruct([[9.0, 9.0]]).tolist()
    [[1.0, 3.0]]
    """

    name: ClassVar[str] = "Mean row"
    about: ClassVar[str] = "The mean of the rows, without any code: the floor."

    def fit(self, X, y=None):
        """Find the mean of `X` (n, d)."""
        del y
        X = as_matrix(X, name="X")
        self.n_features_in_ = X.shape[1]
        self.mean_ = X.mean(axis=0, dtype=np.float64)
        self.n_parameters_ = self.n_features_in_
        self.status_ = "Closed form."
        return self

    def reconstruct(self, X):
        """Return the mean for every row of `X` (n, d)."""
        X = as_matrix(X, name="X", n_columns=self.n_features_in_)
        return np.broadcast_to(self.mean_, X.shape)

    def settings(self):
        """Return nothing: there is nothing to set."""
        return {}


def residuals(scaler, found: PrincipalAxes, axes, rows):
    """Return what `axes` leave of scaled, centred `rows`: (n, d), the same scale as the axes.

    Computed as a difference of vectors: the difference of their squared lengths would lose all
    digits where rows lie on the plane.
    """
    centred = scaler.forward(rows, dtype=np.float64) - found.mean
    return centred - (centred @ axes.T) @ axes


# A new baseline joins here, behind PCA, which sets the code size, and before the floor. Studies fit
# clones with their own `code_size` and `scaling`.
BASELINES = (PCA(), MeanRow())
