"""What every fitted network keeps of its training, and how that is saved."""

import numpy as np

from assay.errors import ModelError
from assay.nn import n_parameters

CURVES = ("step", "train", "validation")


def fit_state(estimator, done) -> None:
    """Set the attributes that tell of the training.

    Parameters
    ----------
    estimator : object
        Gets ``model_``, ``initial_``, ``status_``, ``history_``, ``steps_``, ``n_parameters_``,
        ``fit_seconds_`` and ``compile_seconds_``.
    done : assay.train.Fit
    """
    estimator.model_ = done.model
    estimator.initial_ = done.initial_model
    estimator.status_ = done.status.sentence
    curves = (done.history.steps, done.history.train, done.history.validation)
    estimator.history_ = dict(zip(CURVES, curves, strict=True))
    estimator.steps_ = done.steps
    estimator.n_parameters_ = n_parameters(done.model)
    estimator.fit_seconds_ = done.seconds
    estimator.compile_seconds_ = done.compile_seconds


def history_to(history) -> dict[str, np.ndarray]:
    """Return the loss curves as arrays to save; where there was no validation, none is saved."""
    return {
        f"history.{key}": np.asarray(values, np.float64)
        for key, values in history.items()
        if np.isfinite(values).all()
    }


def history_from(arrays) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """Return (all other arrays, the loss curves)."""
    rest = {name: array for name, array in arrays.items() if not name.startswith("history.")}
    found = {key: arrays[f"history.{key}"] for key in CURVES if f"history.{key}" in arrays}
    length = len(next(iter(found.values()), ()))
    if any(array.shape != (length,) for array in found.values()):
        raise ModelError(
            "The saved loss curves have different lengths.",
            hint="The folder is damaged or was edited; save the model again.",
        )
    return rest, {key: found.get(key, np.full(length, np.nan)) for key in CURVES}


def numbers(config, key) -> int:
    """Return a whole number of at least 1 from a saved configuration."""
    value = config[key]
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ModelError(
            f"The saved {key!r} must be a whole number of at least 1, got {str(value)[:60]}.",
            hint="The folder is damaged or was edited; save the model again.",
        )
    return value


def text(config, key) -> str:
    """Return a text from a saved configuration."""
    value = config[key]
    if not isinstance(value, str):
        raise ModelError(
            f"The saved {key!r} must be text, got {type(value).__name__}.",
            hint="The folder is damaged or was edited; save the model again.",
        )
    return value
