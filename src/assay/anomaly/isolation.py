"""Isolation forest."""

from typing import ClassVar

import numpy as np
from sklearn import ensemble
from sklearn.base import BaseEstimator

from assay.anomaly.scoring import begin_fit, sample_rows, score_rows


class IsolationForest(BaseEstimator):
    """How few random cuts isolate a row, averaged over trees.

    Parameters
    ----------
    trees : int, default 100
    rows_per_tree : int, default 256
        Both as in the paper; the score hardly changes beyond.
    scaling : {"standard", "none", "unit"}, default "standard"
        Trees cut one column at a time, so that scaling changes nothing but rounding.
    seed : int, default 0

    References
    ----------
    .. [1] F. T. Liu, K. M. Ting, Z.-H. Zhou, Isolation forest, ICDM 2008, 413-422, eq. 2.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(300, 2))
    >>> near, far = IsolationForest().fit(X).anomaly_score([[0.0, 0.0], [6.0, 6.0]])
    >>> bool(far > near)
    True
    """

    name: ClassVar[str] = "Isolation forest"
    about: ClassVar[str] = "How few random cuts isolate a row, averaged over trees."

    def __init__(self, *, trees=100, rows_per_tree=256, scaling="standard", seed=0):
        self.trees = trees
        self.rows_per_tree = rows_per_tree
        self.scaling = scaling
        self.seed = seed

    def fit(self, X, y=None):
        """Grow the trees on normal rows `X` (n, d)."""
        del y
        X = begin_fit(self, X)
        # No tree sees more than `rows_per_tree` rows: beyond this many, further rows cannot
        # change the law of the forest, only take memory.
        kept = sample_rows(X, 4 * self.trees * self.rows_per_tree, self.seed)
        self.forest_ = ensemble.IsolationForest(
            n_estimators=self.trees,
            max_samples=min(self.rows_per_tree, len(kept)),
            random_state=self.seed,
        )
        self.forest_.fit(self.scaler_.forward(kept, dtype=np.float32))
        self.n_parameters_ = sum(tree.tree_.node_count for tree in self.forest_.estimators_)
        return self

    def anomaly_score(self, X):
        """Return the scores (n,) in (0, 1) [-] of rows `X` (n, d)."""

        def score(rows):
            return -self.forest_.score_samples(rows)

        return score_rows(self, X, score, dtype=np.float32)

    def settings(self):
        """Return what was used, as plain values."""
        return {
            "trees": self.trees,
            "rows_per_tree": self.forest_.max_samples_,
            "seed": self.seed,
            "scaling": self.scaling,
        }
