"""Whatever the user brings to a surrogate study: an estimator, a function, or predictions."""

import copy
import inspect
import os
from pathlib import Path
from typing import Any

import numpy as np

from assay.data import as_matrix
from assay.data.chars import printable
from assay.errors import DataError, StudyError, did_you_mean
from assay.estimators import configured
from assay.study import Method
from assay.surrogate.runs import LARGEST, Runs
from assay.surrogate.sources import open_runs

NAMES = ("mlp", "resnet", "neural_ode")

_UNSEEN = (
    "The candidate's predictions were made elsewhere: how it was trained, on which runs, and "
    "whether it saw the test runs could not be checked."
)
_FUNCTION = (
    "The candidate is a function that was handed over: how it was fitted, and on which runs, could "
    "not be checked."
)
_CALLED = "It is called with an array of shape (n_runs, n_inputs), float64"


def is_predictions(candidate: Any) -> bool:
    """Whether a candidate is finished predictions, which need test runs that are given.

    Examples
    --------
    >>> is_predictions(np.zeros((3, 1))), is_predictions("predicted.csv"), is_predictions("mlp")
    (True, True, False)
    """
    if isinstance(candidate, str):
        return candidate not in NAMES
    if isinstance(candidate, os.PathLike | list):
        return True
    holds = hasattr(candidate, "__array__") or hasattr(candidate, "columns")
    return holds and not isinstance(candidate, type) and not hasattr(candidate, "fit")


def bring(candidate: Any) -> Method:
    """Wrap what the user brought into a method of the study.

    Parameters
    ----------
    candidate : estimator, function, array, table or path
        An object with ``fit(X, Y)`` and ``predict(X)``; a function from inputs (n, d) to outputs
        (n, m); or predictions of the test runs. ``Y`` is of shape (n,) for objects where there is
        one output, as scikit-learn has it.

    Raises
    ------
    StudyError
        If it is none of these.
    """
    if is_predictions(candidate):
        require_known(candidate)
        return Method("Brought predictions", lambda seed: BroughtPredictions(candidate), _UNSEEN)
    if isinstance(candidate, type):
        raise StudyError(
            f"`candidate` is the class {candidate.__name__}, not an estimator.",
            hint=f"Make one: {candidate.__name__}().",
        )
    name = type(candidate).__name__
    if hasattr(candidate, "fit"):
        if not hasattr(candidate, "predict"):
            raise StudyError(
                f"{name} has `fit` but no `predict`.",
                hint="Give it `predict(X)` that returns one row of outputs a run.",
            )
        if type(candidate).__module__.startswith("assay."):
            about = getattr(candidate, "about", "")
            return Method(
                getattr(candidate, "name", name),
                lambda seed: configured(candidate, {}, seed),
                f"{about} Set by the user.".strip(),
            )
        made = BroughtWithSpread if _tells_spread(candidate) else BroughtObject
        return Method(name, lambda seed: made(candidate), f"{name}, brought by the user.")
    if callable(candidate):
        return Method(_name_of(candidate), lambda seed: BroughtFunction(candidate), _FUNCTION)
    raise StudyError(
        f"`candidate` must be one of {', '.join(NAMES)}, an object with `fit` and `predict`, a "
        f"function or predictions of the test runs, got {name}.",
        hint="Wrap your model: `lambda X: my_model(X)`.",
    )


def require_known(candidate: Any) -> None:
    """Refuse a misspelt kind of network with the nearest, and not as a file that is absent."""
    if isinstance(candidate, str) and not Path(candidate).suffix and not Path(candidate).exists():
        raise StudyError(
            f"There is no candidate '{printable(candidate)}', and no file of that name.",
            hint=did_you_mean(candidate, NAMES),
        )


def require_fitting(candidate: Any, test: Runs) -> None:
    """Refuse predictions that cannot be those of the test runs, before anything is fitted.

    Parameters
    ----------
    candidate : str, estimator, function, array, table or path
        As `bring` takes it; what is no finished predictions passes.
    test : Runs
        The test runs that were given.

    Raises
    ------
    StudyError, DataError
        If the predictions cannot be read, lack values, or have another shape than the outputs.

    Examples
    --------
    >>> test = Runs(np.zeros((3, 1)), np.ones((3, 1)), ("a",), ("y",))
    >>> require_fitting(np.ones(3), test)
    """
    if candidate is not None and is_predictions(candidate):
        require_known(candidate)
        BroughtPredictions(candidate).fit(test.X, test.Y).predict(test.X)


def _name_of(function: Any) -> str:
    return getattr(function, "__name__", type(function).__name__).strip("<>")


def _tells_spread(model: Any) -> bool:
    try:
        return "return_std" in inspect.signature(model.predict).parameters
    except (TypeError, ValueError):  # a method that is not written in Python
        return False


def _own(array: np.ndarray) -> np.ndarray:
    """Return an array that foreign code may write into: the study's own goes to others after it."""
    return np.array(array)


def _reason(error: Exception) -> str:
    said = printable(error).rstrip(". ")  # foreign words: several lines, or codes of a terminal
    return f"{type(error).__name__}: {said}" if said else type(error).__name__


def _outputs(values: Any, n: int, m: int | None, who: str) -> np.ndarray:
    """Return what foreign code predicted as (n, m), or say what is wrong with it."""
    values = np.asarray(values)
    given = values.shape
    if values.ndim == 1 and m in (None, 1):
        values = values[:, None]
    if values.ndim != 2 or len(values) != n or (m is not None and values.shape[1] != m):
        wanted = f"({n}, {'m' if m is None else m})" + (f" or ({n},)" if m == 1 else "")
        raise StudyError(
            f"{who} must give outputs of shape {wanted}, got {given}.",
            hint="Give one row a run, in the order of the runs, with one column an output.",
        )
    values = as_matrix(values, name=f"outputs of {who}")
    if values.size and np.abs(values).max() > LARGEST:
        row = int(np.argmax(np.abs(values).max(axis=1)))
        raise StudyError(
            f"{who} gave {values[row, np.argmax(np.abs(values[row]))]:.3g} in row {row}, a number "
            f"beyond {LARGEST:g}, whose square cannot be computed with.",
            hint="Look for a division by almost zero, or for a fit that ran away.",
        )
    return values


class BroughtObject:
    """An object with ``fit`` and ``predict``; a copy of it is fitted."""

    is_foreign = True

    def __init__(self, model: Any):
        self.name = type(model).__name__
        try:
            self.brought = copy.deepcopy(model)
        except Exception as error:
            raise StudyError(
                f"{self.name} cannot be copied: {_reason(error)}.",
                hint="Every seed fits a copy of its own. Bring a function instead: `lambda X: "
                "my_model(X)`.",
            ) from error

    def fit(self, X, Y):
        """Fit the copy on inputs `X` (n, d) and outputs `Y` (n, m)."""
        self.n_outputs_ = Y.shape[1] if np.ndim(Y) == 2 else 1
        Y = np.asarray(Y)
        try:
            self.brought.fit(_own(X), _own(Y[:, 0] if Y.ndim == 2 and Y.shape[1] == 1 else Y))
        except Exception as error:
            several = self.n_outputs_ > 1
            raise StudyError(
                f"`fit` of {self.name} failed: {_reason(error)}.",
                hint=f"{_CALLED}, and outputs of shape "
                + (
                    f"(n_runs, {self.n_outputs_}); wrap what takes one output only in "
                    "sklearn.multioutput.MultiOutputRegressor."
                    if several
                    else "(n_runs,)."
                ),
            ) from error
        return self

    def _called(self, X, **asked):
        try:
            return self.brought.predict(_own(X), **asked)
        except Exception as error:
            raise StudyError(
                f"`predict` of {self.name} failed: {_reason(error)}.",
                hint=f"{_CALLED}.",
            ) from error

    def predict(self, X):
        """Return outputs (n, m)."""
        return _outputs(self._called(X), len(X), self.n_outputs_, f"`predict` of {self.name}")

    def settings(self):
        """Return what the object says about itself."""
        try:
            said = getattr(self.brought, "get_params", dict)()
        except Exception:  # foreign code, and only for the record
            return {}
        return {k: v for k, v in said.items() if isinstance(v, bool | int | float | str)}


class BroughtWithSpread(BroughtObject):
    """An object whose ``predict`` takes ``return_std=True``."""

    def predict(self, X, *, return_std: bool = False):
        """Return outputs (n, m), and with `return_std` their standard deviation (n, m)."""
        who = f"`predict` of {self.name}"
        if not return_std:
            return _outputs(self._called(X), len(X), self.n_outputs_, who)
        both = self._called(X, return_std=True)
        if not isinstance(both, tuple | list) or len(both) != 2:
            raise StudyError(
                f"{who} with return_std=True must return two arrays, got {type(both).__name__}.",
                hint="Return (outputs, standard deviations), each with one row a run.",
            )
        mean, std = (_outputs(part, len(X), self.n_outputs_, who) for part in both)
        if (std < 0.0).any():
            row = int(np.argmax((std < 0.0).any(axis=1)))
            raise StudyError(
                f"{who} gave a negative standard deviation in row {row}: {std[row].min():.4g}.",
                hint="Return standard deviations, zero or more.",
            )
        return mean, std


class BroughtFunction:
    """A function from inputs to outputs; nothing is fitted."""

    unchecked = (_FUNCTION,)
    is_foreign = True
    refits = False

    def __init__(self, function: Any):
        self.function = function
        self.name = _name_of(function)
        self.n_outputs_ = None

    def fit(self, X, Y):
        """Fit nothing."""
        del X
        self.n_outputs_ = Y.shape[1] if np.ndim(Y) == 2 else 1
        return self

    def predict(self, X):
        """Return what the function makes of inputs `X` (n, d)."""
        try:
            values = self.function(_own(X))
        except Exception as error:
            raise StudyError(
                f"The function {self.name} failed: {_reason(error)}.",
                hint=f"{_CALLED}, and returns an array of shape (n_runs, n_outputs).",
            ) from error
        return _outputs(values, len(X), self.n_outputs_, f"the function {self.name}")

    def settings(self):
        """Return nothing: a function tells nothing."""
        return {}


class BroughtPredictions:
    """Outputs of the test runs that were predicted elsewhere."""

    unchecked = (_UNSEEN,)
    only_test = True
    refits = False
    name = "Brought predictions"

    def __init__(self, predictions: Any):
        self.values = _values(predictions)
        self.n_outputs_ = None

    def fit(self, X, Y):
        """Fit nothing."""
        del X
        self.n_outputs_ = Y.shape[1] if np.ndim(Y) == 2 else 1
        return self

    def predict(self, X):
        """Return the predictions, if they can be those of the runs `X` (n, d)."""
        return _outputs(self.values, len(X), self.n_outputs_, "the predictions that were brought")

    def settings(self):
        """Return nothing."""
        return {}


def _values(predictions: Any) -> np.ndarray:
    """Read predictions from an array, a table or a file; every run must have them."""
    from assay.data.assemble import assemble

    raw = open_runs(predictions, letter="y").raw
    try:
        table = assemble(
            raw, columns=list(range(len(raw.names))), drop=(), label=None, time=None, group=None,
            kind=None, rows=None,
        )  # fmt: skip
    finally:
        if raw.close is not None:
            raw.close()
    if table.n_rows != raw.n_rows or table.n_columns != len(raw.names):
        raise DataError(
            f"{raw.where()} lacks values: every test run needs a prediction of every output.",
            hint="Predict every test run, in the order of the test file; a surrogate may not pass.",
        )
    return table.X.astype(float)
