"""The plainest detector of all: how far a row is from the mean."""

from typing import ClassVar

import numpy as np
from sklearn.base import BaseEstimator

from assay.anomaly.scoring import begin_fit, score_rows


class RowNorm(BaseEstimator):
    """Norm of the standardised row: its distance to the mean of the normal rows.

    Any detector that does not beat this has learned nothing about how columns belong together.

    Parameters
    ----------
    scaling : {"standard", "none", "unit"}, default "standard"

    Examples
    --------
    >>> X = np.array([[-1.0, 0.0], [1.0, 0.0], [0.0, -1.0], [0.0, 1.0]])
    >>> RowNorm(scaling="none").fit(X).anomaly_score([[3.0, 4.0]]).tolist()
    [5.0]
    """

    name: ClassVar[str] = "Row norm"
    about: ClassVar[str] = "Distance of the scaled row to the mean of the normal rows."

    def __init__(self, *, scaling="standard"):
        self.scaling = scaling

    def fit(self, X, y=None):
        """Find the mean of normal rows `X` (n, d)."""
        del y
        X = begin_fit(self, X)
        self.mean_ = self.scaler_.forward(
            X.mean(axis=0, dtype=np.float64)[None, :], dtype=np.float64
        )[0]
        self.n_parameters_ = 2 * self.n_features_in_
        return self

    def anomaly_score(self, X):
        """Return the distances (n,) [scaled units] of rows `X` (n, d)."""
        return score_rows(self, X, lambda rows: np.linalg.norm(rows - self.mean_, axis=1))

    def settings(self):
        """Return what was used, as plain values."""
        return {"scaling": self.scaling}
