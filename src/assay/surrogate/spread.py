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
    """Return the outputs of a fitted model and their standard deviation, or None.

    Both are of shape (n, m), or (n,) if the model was fitted on a single column of that shape.
    """
    if not has_spread(model):
        return np.asarray(model.predict(X), float), None
    mean, std = model.predict(X, return_std=True)
    return np.asarray(mean, float), np.asarray(std, float)
