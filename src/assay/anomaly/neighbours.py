"""Distance to the nearest normal rows."""

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.neighbors import NearestNeighbors

from assay.anomaly.scoring import begin_fit, sample_rows, score_rows

# Trees beat plain matrix products up to this many columns (10,000 reference rows: 83,000 against
# 30,000 rows a second at 5 columns, 9,500 against 34,000 at 10).
TREE_COLUMNS = 6


class KNNDistance(BaseEstimator):
    """Distance to the k-th nearest normal row.

    Parameters
    ----------
    k : int >= 1, default 5
        With 1 it is the distance to the nearest normal row. Normal rows alone cannot rank values
        of `k`, so both usual ones are baselines of their own.
    max_reference : int, default 10_000
        At most so many normal rows are kept to compare with, drawn with `seed`.
    scaling : {"standard", "none", "unit"}, default "standard"
    seed : int, default 0

    Attributes
    ----------
    k_ : int
        `k`, or the number of reference rows where there are fewer.
    n_reference_, n_offered_ : int
        Rows kept to compare with, and normal rows given.

    References
    ----------
    .. [1] S. Ramaswamy, R. Rastogi, K. Shim, Efficient algorithms for mining outliers from large
       data sets, SIGMOD 2000, 427-438, definition 2.1.

    Examples
    --------
    >>> X = np.array([[0.0], [1.0], [3.0]])
    >>> KNNDistance(k=2, scaling="none").fit(X).anomaly_score([[0.0], [4.0]]).tolist()
    [1.0, 3.0]
    """

    def __init__(self, *, k=5, max_reference=10_000, scaling="standard", seed=0):
        self.k = k
        self.max_reference = max_reference
        self.scaling = scaling
        self.seed = seed

    @property
    def name(self) -> str:
        """Return the name in tables."""
        return "Nearest normal row" if self.k == 1 else f"kNN distance (k={self.k})"

    @property
    def about(self) -> str:
        """Return a sentence about it."""
        which = "" if self.k == 1 else f"number {self.k} of "
        return f"Distance to {which}the nearest normal row{'s' if which else ''}."

    def fit(self, X, y=None):
        """Keep normal rows `X` (n, d), or a sample of them, to compare with."""
        del y
        X = begin_fit(self, X)
        self.n_offered_ = len(X)
        kept = sample_rows(X, self.max_reference, self.seed)
        self.reference_ = self.scaler_.forward(kept, dtype=np.float64)
        self.n_reference_ = len(kept)
        self.k_ = min(self.k, self.n_reference_)
        algorithm = "kd_tree" if X.shape[1] <= TREE_COLUMNS else "brute"
        self.finder_ = NearestNeighbors(n_neighbors=self.k_, algorithm=algorithm)
        self.finder_.fit(self.reference_)
        self.n_parameters_ = self.reference_.size
        return self

    def anomaly_score(self, X):
        """Return the distances (n,) [scaled units] of rows `X` (n, d)."""

        def distance(rows):
            found = self.finder_.kneighbors(rows, return_distance=False)
            # Measured again on the few rows found: matrix products find the neighbours fast, but
            # give 1e-7 instead of 0 for a copy of a normal row.
            apart = [np.linalg.norm(rows - self.reference_[j], axis=1) for j in found.T]
            return np.max(apart, axis=0)

        return score_rows(self, X, distance)

    def settings(self):
        """Return what was used, as plain values."""
        return {
            "k": self.k_,
            "reference_rows": self.n_reference_,
            "offered_rows": self.n_offered_,
            "seed": self.seed,
            "scaling": self.scaling,
        }
