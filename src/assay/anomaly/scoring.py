"""What every detector does the same way: check rows at the edge, scale them, score in blocks.

A detector is an estimator with `fit(X)` on normal rows and `anomaly_score(X) -> (n,)`, higher for
more anomalous rows. It owns its scaling. These functions are for those written here; a detector
from outside needs none of them.
"""

from collections.abc import Callable

import numpy as np

from assay.compress.baselines import rows_per_block
from assay.data import Scaler, as_matrix, map_rows
from assay.errors import StudyError

LARGEST = 1e15


def begin_fit(detector, X) -> np.ndarray:
    """Check normal rows, fit the scaling, and note both on the detector.

    Parameters
    ----------
    detector : estimator with `scaling`
    X : (n, d) array [columns' units], n >= 2, finite

    Returns
    -------
    (n, d) array
        The checked rows, not yet scaled.

    Raises
    ------
    DataError
        If `X` is not a finite matrix.
    StudyError
        If there are fewer than 2 rows.
    """
    X = as_matrix(X, name="X")
    if len(X) < 2:
        raise StudyError(
            f"{type(detector).__name__} needs at least 2 normal rows, got {len(X)}.",
            hint="Give more normal rows.",
        )
    detector.n_features_in_ = X.shape[1]
    detector.scaler_ = Scaler.fit(X, detector.scaling)
    return X


def score_rows(
    detector, X, score: Callable[[np.ndarray], np.ndarray], *, dtype=np.float64
) -> np.ndarray:
    """Score rows block by block, each scaled as in the fit.

    Parameters
    ----------
    detector : estimator after `begin_fit`
    X : (n, d) array [columns' units]
    score : callable
        Scaled block (m, d) of type `dtype` to scores (m,).
    dtype : NumPy type
        Of the scaled blocks; scores are float64 in any case.

    Returns
    -------
    (n,) float64
    """
    X = as_matrix(X, name="X", n_columns=detector.n_features_in_)

    def block(rows):
        scaled = detector.scaler_.forward(rows, dtype=dtype)
        # An absurd reading must stay the most anomalous row, not overflow in the first square.
        scaled = np.clip(scaled, -LARGEST, LARGEST, out=scaled)
        return np.asarray(score(scaled), dtype=np.float64)

    return map_rows(block, X, chunk=rows_per_block(X.shape[1]))


def sample_rows(X: np.ndarray, most: int, seed: int) -> np.ndarray:
    """Return at most `most` rows of `X`, drawn without replacement with `seed`, in their order."""
    if len(X) <= most:
        return X
    chosen = np.random.default_rng(seed).choice(len(X), size=most, replace=False)
    return X[np.sort(chosen)]
