"""What the checks of `compress` look at."""

import dataclasses
from typing import Any

import numpy as np

from assay.data import Scaler


@dataclasses.dataclass(frozen=True, eq=False)
class CompressView:
    """Everything that was split, fitted and scored in one compress study.

    Attributes
    ----------
    fit, validation, test : numpy.ndarray of shape (n, d) [units of the columns]
    scaler : Scaler
        Fitted on `fit`; errors are in its units.
    code_size : int
    candidate : tuple of estimators
        One a seed. Networks have ``transform``, ``reconstruct``, ``status_``, ``history_`` and
        ``untrained_``; what a user brought may have ``reconstruct`` alone, or (`only_test`) no
        more than reconstructed test rows.
    candidate_errors : numpy.ndarray of shape (n_seeds, n_test) [scaled units squared]
    pca : PCA
        At the same code size.
    pca_errors, floor_errors : numpy.ndarray of shape (n_test,)
        Of PCA and of the mean row.
    seed : int
        For whatever a check draws.
    """

    fit: np.ndarray
    validation: np.ndarray
    test: np.ndarray
    scaler: Scaler
    code_size: int
    candidate: tuple[Any, ...]
    candidate_errors: np.ndarray
    pca: Any
    pca_errors: np.ndarray
    floor_errors: np.ndarray
    seed: int = 0
