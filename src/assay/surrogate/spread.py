"""The spread of a prediction, from whatever has one."""

import inspect
from typing import Any

import numpy as np


def has_spread(model: Any) -> bool:
    """Whether ``predict(X, return_std=True)`` of an estimator gives a standard deviation.

    Examples
    --------
    >>> from assay.surrogate import DeepEnsemble, MLPSurrogate, PCAOutputs
    >>> [has_spread(m) for m in (MLPSurrogate(), DeepEnsemble(), PCAOutputs(MLPSurrogate()))]
    [False, True, False]
    """
    if "return_std" not in inspect.signature(model.predict).parameters:
        return False
    inner = getattr(model, "model", None)  # of PCA of the outputs, say
    return inner is None or not hasattr(inner, "predict") or has_spread(inner)


def predict_with_spread(model: Any, X) -> tuple[np.ndarray, np.ndarray | None]:
    """Return the outputs (n, m) of a fitted model and their standard deviation (n, m), or None."""
    rows = len(X)
    if not has_spread(model):
        return np.asarray(model.predict(X), float).reshape(rows, -1), None
    mean, std = model.predict(X, return_std=True)
    return np.asarray(mean, float).reshape(rows, -1), np.asarray(std, float).reshape(rows, -1)
