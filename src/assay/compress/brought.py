"""Whatever the user brings to a compress study: an object, a function, or finished rows."""

import copy
from pathlib import Path
from typing import Any

import numpy as np

from assay.data import as_matrix, read_table
from assay.errors import StudyError
from assay.study import Method

_UNSEEN = (
    "The candidate's rows were made elsewhere: how it was trained, on which rows, and whether it "
    "saw the test rows could not be checked."
)
_FUNCTION = (
    "The candidate is a function that was handed over: how it was trained, on which rows, and how "
    "large its code is could not be checked."
)

# A column with more different values holds readings, of which a code keeps fewer digits.
_MANY = 20


def bring(candidate: Any, *, size: int, scaling: str) -> Method:
    """Wrap what the user brought into a method of the study.

    Parameters
    ----------
    candidate : object, function, array or path
        An object with ``fit`` and either ``reconstruct`` or ``transform`` with
        ``inverse_transform``; a function from rows (n, d) to reconstructed rows (n, d); or
        reconstructed test rows, as an array or a file.
    size : int
        The code size of the study: larger codes, where they show, are refused.
    scaling : str
        Of the study, for the record.

    Raises
    ------
    StudyError
        If it is none of these.
    """
    del scaling
    if isinstance(candidate, str | Path | np.ndarray | list):
        return Method("Brought rows", lambda seed: BroughtRows(candidate, size=size), _UNSEEN)
    if hasattr(candidate, "fit"):
        able = hasattr(candidate, "reconstruct") or (
            hasattr(candidate, "transform") and hasattr(candidate, "inverse_transform")
        )
        if not able:
            raise StudyError(
                f"{type(candidate).__name__} has `fit` but neither `reconstruct` nor `transform` "
                "with `inverse_transform`.",
                hint="Give it `reconstruct(X)` that returns rows like X, coded and decoded.",
            )
        name = type(candidate).__name__
        about = f"{name}, brought by the user."
        return Method(name, lambda seed: BroughtObject(candidate, size=size), about)
    if callable(candidate):
        name = getattr(candidate, "__name__", "function").strip("<>")
        return Method(name, lambda seed: BroughtFunction(candidate), _FUNCTION)
    raise StudyError(
        f"`candidate` must be an object with `fit`, a function or reconstructed rows, got "
        f"{type(candidate).__name__}.",
        hint="Wrap your model: `lambda X: my_model.decode(my_model.encode(X))`.",
    )


def _own(X: np.ndarray) -> np.ndarray:
    """Return rows that foreign code may write into: the study's own go to others after it."""
    return np.array(X)


def _readings(X: np.ndarray) -> int:
    """Return the number of columns that hold many different values: no states, no switches."""
    return sum(len(np.unique(column)) > _MANY for column in X.T)


def _like(rows: Any, X: np.ndarray, who: str) -> np.ndarray:
    rows = np.asarray(rows)
    if rows.shape != X.shape:
        raise StudyError(
            f"{who} must return rows of shape {X.shape}, got {rows.shape}.",
            hint="Return one reconstructed row per row, with the same columns.",
        )
    return as_matrix(rows, name=f"rows returned by {who}")


class BroughtObject:
    """An object with ``fit``; a copy of it is fitted."""

    def __init__(self, model: Any, *, size: int | None = None):
        self.model = copy.deepcopy(model)
        self.name = type(model).__name__
        self.size = size

    def fit(self, X):
        """Fit the copy on rows `X` (n, d)."""
        try:
            self.model.fit(_own(X))
        except Exception as error:
            raise StudyError(
                f"`fit` of {self.name} failed: {type(error).__name__}: {error}.",
                hint="It is called with an array of shape (n_rows, n_columns), float64.",
            ) from error
        if self.size is not None and not hasattr(self.model, "reconstruct"):
            self._require_size(X)
        return self

    def _require_size(self, X):
        """Refuse a larger code than PCA gets: what comes out of `transform` can be counted."""
        try:
            shape = np.shape(self.model.transform(_own(X[:2])))
        except Exception:
            return  # what is wrong with it shows, with its reason, when rows are reconstructed
        found = int(np.prod(shape[1:]))
        if found > self.size:
            raise StudyError(
                f"The codes of {self.name} have {found} numbers, PCA's have {self.size}.",
                hint=f"Give both the same size: --code-size {found} (`code_size={found}` in "
                f"Python), or a {self.name} with {self.size}.",
            )

    def reconstruct(self, X):
        """Return rows like `X`, coded and decoded."""
        model = self.model
        try:
            if hasattr(model, "reconstruct"):
                rows = model.reconstruct(_own(X))
            else:
                rows = model.inverse_transform(model.transform(_own(X)))
        except Exception as error:
            raise StudyError(
                f"{self.name} failed to reconstruct rows: {type(error).__name__}: {error}.",
                hint="It is called with an array of shape (n_rows, n_columns), float64.",
            ) from error
        return _like(rows, X, self.name)

    def transform(self, X):
        """Return the codes, where the object has them."""
        return np.asarray(self.model.transform(_own(X)))

    def settings(self):
        """Return what the object says about itself."""
        said = getattr(self.model, "get_params", dict)()
        return {k: v for k, v in said.items() if isinstance(v, bool | int | float | str)}


class BroughtFunction:
    """A function from rows to reconstructed rows; nothing is fitted."""

    unchecked = (_FUNCTION,)

    def __init__(self, function: Any):
        self.function = function
        self.name = getattr(function, "__name__", "function").strip("<>")

    def fit(self, X):
        """Fit nothing."""
        del X
        return self

    def reconstruct(self, X):
        """Return what the function makes of rows `X` (n, d)."""
        try:
            rows = self.function(_own(X))
        except Exception as error:
            raise StudyError(
                f"The function {self.name} failed: {type(error).__name__}: {error}.",
                hint="It is called with an array of shape (n_rows, n_columns), float64.",
            ) from error
        return _like(rows, X, self.name)

    def settings(self):
        """Return nothing: a function tells nothing."""
        return {}


class BroughtRows:
    """Reconstructed test rows that were made elsewhere."""

    unchecked = (_UNSEEN,)
    only_test = True
    name = "Brought rows"

    def __init__(self, rows: Any, *, size: int | None = None):
        self.rows = read_table(rows).X if isinstance(rows, str | Path) else np.asarray(rows)
        self.size = size

    def fit(self, X):
        """Fit nothing."""
        del X
        return self

    def reconstruct(self, X):
        """Return the rows, if they can be those of `X`."""
        rows = _like(self.rows, X, "the file of reconstructed rows")
        if self.size is not None and np.array_equal(rows, X) and _readings(X) > self.size:
            raise StudyError(
                "The rows that were brought are the test rows themselves, to the last digit: no "
                f"code of {self.size} numbers was in between.",
                hint="Bring the rows as they come out of the decoder.",
            )
        return rows

    def settings(self):
        """Return nothing."""
        return {}
