"""Where a model may be used: the box, the density of the training inputs, the disagreement."""

import dataclasses

import numpy as np

from assay.data import as_matrix
from assay.data.scaling import column_statistics
from assay.errors import DataError, ModelError

MOST_ROWS = 20_000  # kept for distances; the density of more rows is known well enough from these
PARTS = ("box", "density", "disagreement")


@dataclasses.dataclass(frozen=True)
class Domain:
    r"""The inputs at which a fitted model has something to go by.

    A row is inside if it passes all of

    - **box**: every input lies within the bounds. Where none are given, they are the training
      range, widened at both ends by range / (n - 1), which estimates the ends of a uniform
      distribution without bias;
    - **density**: the distance to the nearest training row, in standard deviations of the inputs,
      is at most `limit`: the :math:`\lceil (n + 1) q \rceil`-th smallest of the distances of the
      training rows to their own nearest neighbours. So a further row from the same distribution is
      refused with a probability of about :math:`1 - q` only;
    - **disagreement**: where the model is an ensemble, the spread of its members is at most
      `spread`, see `with_spread`.

    Passing is no promise of a small error: no test of inputs is. Failing says that the model
    extrapolates.

    Attributes
    ----------
    low, high : numpy.ndarray of shape (d,) [unit of the input]
        The box.
    scale : numpy.ndarray of shape (d,) [unit of the input]
        What distances are divided by; 1 for a constant input.
    rows : numpy.ndarray of shape (k, d) [-]
        The distinct training rows over `scale`, at most 20,000 of them drawn at random.
    limit : float [-]
    spread : float or None [the model's own unit]

    Examples
    --------
    >>> X = np.random.default_rng(0).uniform(size=(200, 2))
    >>> domain = Domain.fit(X)
    >>> domain.inside([[0.5, 0.5], [0.5, 1.5]]).tolist()
    [True, False]
    """

    low: np.ndarray
    high: np.ndarray
    scale: np.ndarray
    rows: np.ndarray
    limit: float
    spread: float | None = None

    @classmethod
    def fit(cls, X, *, bounds=None, share: float = 0.99) -> "Domain":
        """Learn from training rows.

        Parameters
        ----------
        X : array of shape (n, d) [units of the inputs]
        bounds : array of shape (d, 2), optional [units of the inputs]
            Lower and upper end of every input, if they are known.
        share : float in (0, 1), default 0.99
            Share :math:`q` of further rows of the same distribution that shall pass the density.

        Raises
        ------
        DataError
            If the arrays are not finite matrices that belong together, or `share` is not a share.
        """
        X = as_matrix(X, name="X")
        if not 0.0 < share < 1.0:
            raise DataError(
                f"`share` must be between 0 and 1, got {share!r}.", hint="0.99 is usual."
            )
        _, spread, low, high = column_statistics(X)
        if bounds is None:
            margin = (high - low) / max(len(X) - 1, 1)
            low, high = low - margin, high + margin
        else:
            low, high = check_bounds(bounds, X.shape[1])
        varies = spread > 1e-12 * np.maximum(np.abs(low), np.abs(high))
        scale = np.where(varies, spread, 1.0)
        rows = np.unique(X / scale, axis=0)
        if len(rows) > MOST_ROWS:
            chosen = np.random.default_rng(0).choice(len(rows), MOST_ROWS, replace=False)
            rows = rows[np.sort(chosen)]
        return cls(low, high, scale, rows, _limit(rows, share))

    def inside(self, X, spread=None) -> np.ndarray:
        """Return which rows `X` (n, d) are inside: (n,) bool; `spread` (n,) is the ensemble's."""
        return np.logical_and.reduce(list(self.parts(X, spread).values()))

    def parts(self, X, spread=None) -> dict[str, np.ndarray]:
        """Return which rows `X` (n, d) pass each of `PARTS`, (n,) bool each.

        Without "disagreement", if `spread` (n,) of the rows or the limit on it is not known.
        """
        X = as_matrix(X, name="X", n_columns=len(self.low))
        slack = 1e-9 * np.maximum(np.abs(self.low), np.abs(self.high))
        passed = {
            "box": ((self.low - slack <= X) & (self.high + slack >= X)).all(axis=1),
            "density": self.distance(X) <= 1.0 + 1e-9,
        }
        if spread is not None and self.spread is not None:
            passed["disagreement"] = np.asarray(spread) <= self.spread
        return passed

    def distance(self, X) -> np.ndarray:
        """Return the distance of rows `X` (n, d) to the nearest training row over `limit`: (n,).

        Above 1 the row is too far away.
        """
        from scipy.spatial import KDTree

        X = as_matrix(X, name="X", n_columns=len(self.low))
        # An absurd reading is far away; its square need not overflow for that.
        scaled = np.clip(X / self.scale, -1e100, 1e100)
        return KDTree(self.rows).query(scaled)[0] / max(self.limit, 1e-12)

    def between(self, most: int = 500) -> np.ndarray:
        """Return points (k, d) [units of the inputs] between neighbouring training rows.

        The model has not seen them, and they are inside if anything is: what it does there is the
        measure of what it does elsewhere.
        """
        from scipy.spatial import KDTree

        n, d = self.rows.shape
        if n < 2:
            return self.rows * self.scale
        rng = np.random.default_rng(0)
        chosen = rng.permutation(n)[:most]
        k = min(d + 1, n - 1)
        near = KDTree(self.rows).query(self.rows[chosen], k=k + 1)[1]
        other = near[np.arange(len(chosen)), rng.integers(1, k + 1, len(chosen))]
        return 0.5 * (self.rows[chosen] + self.rows[other]) * self.scale

    def with_spread(self, spread, share: float = 0.99) -> "Domain":
        """Return the domain with a limit on the disagreement.

        Parameters
        ----------
        spread : array of shape (k,)
            Of the ensemble at the points `between`. The limit is twice its `share`-quantile:
            rows that pass the density can be twice as far from the runs as those points are.
        share : float [-], 0 to 1
            The quantile.
        """
        return dataclasses.replace(self, spread=2.0 * float(np.quantile(spread, share)))

    def to_saved(self) -> tuple[dict, dict[str, np.ndarray]]:
        """Return (plain values, arrays) for `assay.models.save_model`."""
        arrays = {f"domain.{key}": getattr(self, key) for key in ("low", "high", "scale", "rows")}
        return {"limit": self.limit, "spread": self.spread}, arrays

    @classmethod
    def from_saved(cls, config, arrays) -> "Domain":
        """Return the domain from what `to_saved` returned; what does not fit raises ModelError."""
        low, high, scale, rows = (
            np.asarray(arrays[f"domain.{key}"], np.float64)
            for key in ("low", "high", "scale", "rows")
        )
        spread = config["spread"]
        fits = (
            low.ndim == 1
            and low.shape == high.shape == scale.shape
            and rows.ndim == 2
            and rows.shape[1] == len(low)
            and len(rows) > 0
            and (scale > 0).all()
            and isinstance(config["limit"], float)
            and (spread is None or isinstance(spread, float))
        )
        if not fits:
            raise ModelError(
                "The saved validity domain is inconsistent: sizes or values do not fit.",
                hint="The folder is damaged or was edited; save the model again.",
            )
        return cls(low, high, scale, rows, config["limit"], spread)


def check_bounds(bounds, n_columns: int) -> tuple[np.ndarray, np.ndarray]:
    """Return (low, high), each (d,), from bounds of shape (d, 2), or say what is wrong."""
    bounds = as_matrix(bounds, name="bounds", n_columns=2)
    if len(bounds) != n_columns:
        raise DataError(
            f"`bounds` must have one row for each of the {n_columns} inputs, got {len(bounds)}.",
            hint="Pass [[low, high], ...] in the order of the columns.",
        )
    if (bounds[:, 0] >= bounds[:, 1]).any():
        row = int(np.argmax(bounds[:, 0] >= bounds[:, 1]))
        raise DataError(
            f"`bounds` of input {row} must have a lower end below its upper end, got "
            f"{bounds[row].tolist()}.",
            hint="Pass [[low, high], ...] in the order of the columns.",
        )
    return bounds[:, 0].copy(), bounds[:, 1].copy()


def _limit(rows, share):
    from scipy.spatial import KDTree

    n = len(rows)
    if n < 2:
        return 0.0
    apart = np.sort(KDTree(rows).query(rows, k=2)[0][:, 1])
    return float(apart[min(int(np.ceil((n + 1) * share)), n) - 1])
