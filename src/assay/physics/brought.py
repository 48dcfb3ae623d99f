"""Whatever the user brings to a physics study: an object, or a function of points."""

import copy
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, clone

from assay.errors import AssayError, StudyError
from assay.study import Method

_UNSEEN = (
    "The candidate is a function that was handed over: how it was made, and whether it saw the "
    "reference, could not be checked."
)


def bring(candidate: Any, options: dict[str, Any]) -> Method:
    """Wrap what is on trial into a method of the study.

    Parameters
    ----------
    candidate : None, PINN, object or function
        None stands for the default network, made with `options`.
    options : dict
        Parameters of `PINN`.

    Raises
    ------
    StudyError
        If it is none of these.
    """
    from assay.physics.pinn import PINN

    if candidate is None or isinstance(candidate, PINN):
        like = PINN(**options) if candidate is None else candidate
        about = "A network trained on the equation, the conditions and the readings."
        return Method(
            "Physics-informed network",
            lambda seed: clone(like).set_params(random_state=like.random_state + seed),
            about,
        )
    if hasattr(candidate, "fit") and hasattr(candidate, "predict"):
        name = type(candidate).__name__
        return Method(name, lambda seed: BroughtObject(candidate), f"{name}, brought by the user.")
    if callable(candidate):
        name = getattr(candidate, "__name__", "function").strip("<>")
        return Method(name, lambda seed: BroughtFunction(candidate), _UNSEEN)
    raise StudyError(
        "`candidate` must be a PINN, an object with `fit(problem)` and `predict(points)`, or a "
        f"function of points, got {type(candidate).__name__}.",
        hint="Wrap your model: `lambda points: my_model(points)`.",
    )


def candidate_settings(candidate: Any) -> dict[str, Any]:
    """Return what sets the candidate apart from the default network, as plain values.

    Of a `PINN` the parameters that are not the default ones, by the names that ``study.toml`` has
    for them; of anything else its name, so that another candidate is another study.
    """
    from assay.physics.pinn import PINN

    if candidate is None:
        return {}
    if not isinstance(candidate, PINN):
        return {"candidate": f"brought: {getattr(candidate, '__name__', type(candidate).__name__)}"}
    usual, told = PINN().get_params(deep=False), {}
    for name, value in candidate.get_params(deep=False).items():
        if isinstance(value, tuple | list):
            value = list(value)
        if value != usual[name]:
            told[f"network_{name}" if name in ("seconds", "random_state") else name] = (
                value if isinstance(value, bool | int | float | str | list | dict) else repr(value)
            )
    return told


def _fields(found: Any, points: np.ndarray, n_fields: int | None, who: str) -> np.ndarray:
    """Return fields (n, n_fields) from what foreign code gave."""
    try:
        fields = np.asarray(found, np.float64)
    except (TypeError, ValueError) as error:
        raise StudyError(
            f"{who} returns something that is no array of numbers: {error}.",
            hint="Return one row a point and one column a field.",
        ) from error
    fields = fields[:, None] if fields.ndim == 1 else fields
    if fields.shape != (len(points), n_fields or fields.shape[-1]):
        raise StudyError(
            f"{who} must return fields of shape ({len(points)}, {n_fields}), got {fields.shape}.",
            hint="Return one row a point and one column a field.",
        )
    if not np.isfinite(fields).all():
        row = int(np.argmax(~np.isfinite(fields).all(axis=1)))
        raise StudyError(
            f"{who} returns a value that is not finite, at point {points[row].tolist()}.",
            hint="Look at it there.",
        )
    return fields


class BroughtObject(BaseEstimator):
    """An object with ``fit(problem)`` and ``predict(points)``; a copy of it is used."""

    unchecked: ClassVar[tuple[str, ...]] = ()

    def __init__(self, model: Any):
        self.model = model

    def fit(self, problem: Any) -> "BroughtObject":
        """Fit the copy."""
        self.n_fields_ = len(problem.fields)
        name = type(self.model).__name__
        try:
            self.fitted_ = copy.deepcopy(self.model)
        except Exception as error:
            raise StudyError(
                f"{name} cannot be copied, which each seed needs: {type(error).__name__}: {error}.",
                hint="Make in `fit` what cannot be copied (files, locks, generators), or define "
                "`__deepcopy__`.",
            ) from error
        try:
            self.fitted_.fit(problem)
        except AssayError:
            raise
        except Exception as error:
            raise StudyError(
                f"`fit` of {name} failed: {type(error).__name__}: {error}.",
                hint="It is called with the Problem.",
            ) from error
        return self

    def predict(self, points: np.ndarray) -> np.ndarray:
        """Return the fields (n, n_fields) at points (n, n_variables)."""
        name = type(self.model).__name__
        try:
            found = self.fitted_.predict(np.array(points))
        except Exception as error:
            raise StudyError(
                f"`predict` of {name} failed: {type(error).__name__}: {error}.",
                hint="It is called with an array of shape (n, n_variables), float64.",
            ) from error
        return _fields(found, points, self.n_fields_, name)

    def settings(self) -> dict[str, Any]:
        """Return what the object says about itself."""
        said = getattr(self.model, "get_params", dict)()
        return {k: v for k, v in said.items() if isinstance(v, bool | int | float | str)}


class BroughtFunction(BaseEstimator):
    """A function from points to fields; nothing is fitted."""

    unchecked: ClassVar[tuple[str, ...]] = (_UNSEEN,)

    def __init__(self, function: Any):
        self.function = function

    def fit(self, problem: Any) -> "BroughtFunction":
        """Fit nothing."""
        self.n_fields_ = len(problem.fields)
        return self

    def predict(self, points: np.ndarray) -> np.ndarray:
        """Return what the function makes of points (n, n_variables)."""
        name = getattr(self.function, "__name__", "function").strip("<>")
        try:
            found = self.function(np.array(points))
        except Exception as error:
            raise StudyError(
                f"The function {name} failed: {type(error).__name__}: {error}.",
                hint="It is called with an array of shape (n, n_variables), float64.",
            ) from error
        return _fields(found, points, self.n_fields_, name)

    def settings(self) -> dict[str, Any]:
        """Return nothing: a function tells nothing."""
        return {}
