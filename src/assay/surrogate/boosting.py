"""Gradient-boosted trees on histograms."""

from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from assay.data import as_matrix
from assay.models import save_model
from assay.surrogate.base import Surrogate
from assay.surrogate.folds import folds, relative_errors
from assay.surrogate.network import check_runs, plain_params
from assay.surrogate.threads import one_thread
from assay.surrogate.trees import Trees
from assay.train.fitted import numbers

# (leaves of a tree, fewest rows in a leaf): from nearly additive to strongly interacting.
GRID = ((4, 3), (4, 10), (16, 3), (16, 10))
LEARNING_RATE = 0.1
MOST_TREES = 300
TUNED_OUTPUTS = 3  # of many outputs, so many of largest variance are tuned on


class Boosting(Surrogate):
    """Histogram gradient boosting, one model an output.

    Leaves, rows in a leaf and number of trees are those with the smallest error in three-fold
    cross-validation on the training runs, common to all outputs.

    Parameters
    ----------
    random_state : int, default 0
        Of the folds.

    Attributes
    ----------
    trees_, leaves_, leaf_rows_ : int
    inner_error_ : float [-]
        Mean squared error in cross-validation over the variance.

    References
    ----------
    .. [1] J. H. Friedman, Greedy function approximation: a gradient boosting machine, Annals of
       Statistics 29 (2001) 1189-1232, algorithm 2.

    Examples
    --------
    >>> X = np.random.default_rng(0).random((60, 2))
    >>> model = Boosting().fit(X, X[:, 0])
    >>> bool(model.score(X, X[:, 0]) > 0.9)
    True
    """

    name: ClassVar[str] = "Gradient boosting"
    about: ClassVar[str] = "Boosted trees on histograms, tuned by cross-validation."
    family: ClassVar[str] = "surrogate.boosting"

    def __init__(self, *, random_state=0):
        self.random_state = random_state

    def fit(self, X, Y):
        """Choose the trees, and grow them on all runs.

        Parameters
        ----------
        X : array of shape (n, d), n >= 2 [units of the inputs]
        Y : array of shape (n, m) or (n,) [units of the outputs]

        Raises
        ------
        DataError, StudyError
            If they are not finite arrays that belong together.
        """
        X, Y, self.one_output_ = check_runs(X, Y)
        self.n_features_in_, self.n_outputs_ = X.shape[1], Y.shape[1]
        with one_thread():
            self._grow(X, Y)
        self._take_over()
        return self

    def predict(self, X):
        """Return the outputs (n, m), or (n,) if `Y` was (n,) [units of the outputs]."""
        self._require_fit()
        X = as_matrix(X, name="X", n_columns=self.n_features_in_)
        out = np.column_stack([model.predict(X) for model in self.models_])
        return out[:, 0] if self.one_output_ else out

    def settings(self) -> dict[str, Any]:
        """Return what was used, as plain values."""
        self._require_fit()
        return {
            "trees": self.trees_,
            "leaves": self.leaves_,
            "leaf_rows": self.leaf_rows_,
            "learning_rate": LEARNING_RATE,
            "inner_error": self.inner_error_,
        }

    def save(self, folder) -> Path:
        """Write ``model.json`` and ``weights.safetensors`` into `folder`."""
        config, arrays = self.to_saved()
        return save_model(folder, family=self.family, config=config, arrays=arrays)

    def to_saved(self):
        """Return (config, arrays) for `assay.models.save_model`."""
        self._require_fit()
        config = {
            "params": plain_params(self),
            "inputs": self.n_features_in_,
            "outputs": self.n_outputs_,
            "one_output": self.one_output_,
        }
        arrays = {}
        for i, model in enumerate(self.models_):
            arrays |= Trees.of(model).to_arrays(f"{i}.")
        return config | self.settings(), arrays

    @classmethod
    def from_saved(cls, config, arrays):
        """Return the fitted estimator from what `to_saved` returned."""
        model = cls(**config["params"])
        model.n_features_in_, model.n_outputs_ = (
            numbers(config, "inputs"),
            numbers(config, "outputs"),
        )
        model.one_output_ = bool(config["one_output"]) and model.n_outputs_ == 1
        model.trees_, model.leaves_ = numbers(config, "trees"), numbers(config, "leaves")
        model.leaf_rows_ = numbers(config, "leaf_rows")
        model.inner_error_ = float(config["inner_error"])
        model.models_ = [
            Trees.from_arrays(arrays, f"{i}.", model.n_features_in_)
            for i in range(model.n_outputs_)
        ]
        model._take_over()
        return model

    def _take_over(self):
        self.n_parameters_ = 2 * self.leaves_ * self.trees_ * self.n_outputs_
        self.status_ = f"{self.trees_} trees an output, chosen by cross-validation."

    def _grow(self, X, Y):
        tuned = np.argsort(-Y.var(axis=0), kind="stable")[:TUNED_OUTPUTS]
        errors = np.stack([self._inner_errors(X, Y[:, tuned], *point) for point in GRID])
        best, trees = np.unravel_index(errors.argmin(), errors.shape)
        self.leaves_, self.leaf_rows_ = GRID[best]
        self.trees_ = int(trees) + 1
        self.inner_error_ = float(errors[best, trees] / len(X))
        self.models_ = [
            _trees(self.leaves_, self.leaf_rows_, self.trees_).fit(X, column) for column in Y.T
        ]

    def _inner_errors(self, X, Y, leaves, leaf_rows):
        """Return the summed error after each number of trees: (MOST_TREES,)."""
        total = np.zeros(MOST_TREES)
        for fit, held in folds(len(X), self.random_state, most=3):
            stages = [
                list(_trees(leaves, leaf_rows, MOST_TREES).fit(X[fit], y).staged_predict(X[held]))
                for y in Y[fit].T
            ]
            for i, found in enumerate(zip(*stages, strict=True)):
                total[i] += relative_errors(np.column_stack(found), Y[held], Y)
        return total


def _trees(leaves, leaf_rows, trees):
    from sklearn.ensemble import HistGradientBoostingRegressor

    return HistGradientBoostingRegressor(
        learning_rate=LEARNING_RATE, max_leaf_nodes=leaves, min_samples_leaf=leaf_rows,
        max_iter=trees, early_stopping=False,
    )  # fmt: skip
