"""Scaling columns, with the ranges seen in training."""

import dataclasses
from typing import Literal

import numpy as np

from assay.data.boundary import as_matrix
from assay.errors import DataError, ModelError

_CHUNK_VALUES = 2_000_000
# A reading of 1e300 stays finite, and its square too, in float32 networks: the most anomalous
# row must get the highest score, not NaN.
_FLOAT32_LIMIT = 1e18


@dataclasses.dataclass(frozen=True)
class Scaler:
    """A linear map of each column, fitted on training rows.

    .. math:: z_j = (x_j - c_j) / s_j

    Attributes
    ----------
    kind : {"standard", "unit", "none"}
        Centre and scale by mean and standard deviation (over n, not n - 1), by minimum and
        range, or not at all.
    centre, scale : numpy.ndarray of shape (d,), float64 [unit of the column]
        `scale` is 1 for a constant column, so that it maps to 0 (its spread would be rounding).
    low, high : numpy.ndarray of shape (d,), float64 [unit of the column]
        The range in the training rows.
    constant : tuple of int
        Columns that do not vary beyond rounding in the training rows.

    Examples
    --------
    >>> import numpy as np
    >>> scaler = Scaler.fit(np.array([[1.0, 5.0], [3.0, 5.0]]))
    >>> scaler.forward(np.array([[2.0, 5.0], [3.0, 6.0]])).tolist()
    [[0.0, 0.0], [1.0, 1.0]]
    >>> scaler.constant
    (1,)
    """

    kind: Literal["standard", "unit", "none"]
    centre: np.ndarray
    scale: np.ndarray
    low: np.ndarray
    high: np.ndarray
    constant: tuple[int, ...] = ()

    @classmethod
    def fit(cls, X, kind: Literal["standard", "unit", "none"] = "standard") -> "Scaler":
        """Fit on training rows.

        Parameters
        ----------
        X : array of shape (n, d), finite
        kind : {"standard", "unit", "none"}

        Returns
        -------
        Scaler

        Raises
        ------
        DataError
            If `kind` is unknown, `X` is not a finite matrix, or a column spans more than
            float64 can hold.

        Notes
        -----
        All sums are float64 over row blocks, in two passes (mean, then squares about it), so
        that an offset much larger than the spread costs no digits and float32 input needs no
        float64 copy.
        """
        if kind not in ("standard", "unit", "none"):
            raise DataError(
                f"`kind` must be 'standard', 'unit' or 'none', got {kind!r}.",
                hint="Use 'standard' unless the columns share one unit.",
            )
        X = as_matrix(X, name="X")
        with np.errstate(over="ignore", invalid="ignore"):
            mean, std, low, high = column_statistics(X)
        # Rounding of the stored values: below this a spread says nothing about the column.
        floor = 8 * np.finfo(X.dtype).eps * np.maximum(np.abs(low), np.abs(high))
        constant = (high - low <= floor) if X.dtype == np.float32 else (std <= floor)
        constant |= high == low
        if kind == "none":
            centre, scale = np.zeros_like(mean), np.ones_like(mean)
        elif kind == "unit":
            centre, scale = low.copy(), np.where(constant, 1.0, high - low)
        else:
            centre, scale = mean, np.where(constant, 1.0, std)
        if not (np.isfinite(centre).all() and np.isfinite(scale).all()):
            column = int(np.argmin(np.isfinite(centre) & np.isfinite(scale)))
            raise DataError(
                f"Column {column} of `X` spans from {low[column]:g} to {high[column]:g}, "
                "more than can be scaled.",
                hint="Look for wrong values in the column, or pass its logarithm.",
            )
        return cls(kind, centre, scale, low, high, tuple(np.flatnonzero(constant).tolist()))

    def forward(self, X, dtype=np.float32) -> np.ndarray:
        """Return scaled rows, shape (n, d) [-].

        Computed in float64 block by block, then stored as `dtype`. In float32 values are
        limited to ±1e18, so that an absurd reading stays the most extreme one instead of
        overflowing to infinity in the first square.
        """
        X = self._check(X)
        out = np.empty(X.shape, dtype=dtype)
        limit = _FLOAT32_LIMIT if np.dtype(dtype).itemsize < 8 else np.inf
        for rows in _blocks(X):
            with np.errstate(over="ignore"):
                block = (X[rows].astype(np.float64, copy=False) - self.centre) / self.scale
            out[rows] = np.clip(block, -limit, limit) if np.isfinite(limit) else block
        return out

    def inverse(self, Z, dtype=np.float64) -> np.ndarray:
        """Return rows in the units of the columns, shape (n, d); `Z` is scaled rows [-]."""
        Z = self._check(Z, finite=False)
        out = np.empty(Z.shape, dtype=dtype)
        for rows in _blocks(Z):
            out[rows] = Z[rows].astype(np.float64, copy=False) * self.scale + self.centre
        return out

    def to_dict(self) -> dict:
        """Return plain values for JSON."""
        arrays = {key: getattr(self, key).tolist() for key in ("centre", "scale", "low", "high")}
        return {"kind": self.kind, **arrays, "constant": list(self.constant)}

    @classmethod
    def from_dict(cls, values: dict) -> "Scaler":
        """Build it again from `to_dict`; what does not fit raises ModelError."""
        try:
            arrays = [
                np.asarray(values[key], dtype=np.float64)
                for key in ("centre", "scale", "low", "high")
            ]
            kind, constant = values["kind"], tuple(int(c) for c in values.get("constant", ()))
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise ModelError(
                f"The scaling of the model could not be read: {error}.",
                hint="Save the model again from the study that made it.",
            ) from error
        fits = (
            kind in ("standard", "unit", "none")
            and arrays[0].ndim == 1
            and all(a.shape == arrays[0].shape and np.isfinite(a).all() for a in arrays)
            and (arrays[1] > 0).all()
            and all(0 <= c < arrays[0].size for c in constant)
        )
        if not fits:
            raise ModelError(
                "The scaling of the model is inconsistent: kind, sizes or values do not fit.",
                hint="Save the model again from the study that made it.",
            )
        return cls(kind, *arrays, constant)

    def _check(self, X, *, finite=True):
        if finite:
            return as_matrix(X, name="X", n_columns=len(self.centre))
        X = np.asarray(X)
        if X.ndim != 2 or X.shape[1] != len(self.centre):
            raise DataError(
                f"`Z` must have shape (n, {len(self.centre)}), got {X.shape}.",
                hint="Pass what `forward` returned, or rows of the same width.",
            )
        return X


def column_statistics(X) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return mean, standard deviation (over n), minimum and maximum of each column, float64.

    Examples
    --------
    >>> import numpy as np
    >>> [float(a[0]) for a in column_statistics(np.array([[1.0], [3.0]]))]
    [2.0, 1.0, 1.0, 3.0]
    """
    n, d = X.shape
    total, low, high = np.zeros(d), np.full(d, np.inf), np.full(d, -np.inf)
    for rows in _blocks(X):
        block = X[rows]
        total += block.sum(axis=0, dtype=np.float64)
        np.minimum(low, block.min(axis=0), out=low)
        np.maximum(high, block.max(axis=0), out=high)
    mean = np.clip(total / n, low, high)  # rounding must not put a mean outside the range
    squares = np.zeros(d)
    for rows in _blocks(X):
        centred = X[rows].astype(np.float64, copy=False) - mean
        squares += np.einsum("ij,ij->j", centred, centred)
    return mean, np.sqrt(squares / n), low, high


def _blocks(X):
    step = max(1, _CHUNK_VALUES // max(X.shape[1], 1))
    for start in range(0, len(X), step):
        yield slice(start, start + step)
