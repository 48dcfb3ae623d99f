"""Averages of the nearest training runs."""

from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from assay.data import Scaler, as_matrix, map_rows
from assay.models import save_model
from assay.surrogate.base import Surrogate
from assay.surrogate.folds import folds, relative_errors
from assay.surrogate.network import check_runs, input_scaler, plain_params
from assay.train.fitted import numbers

NUMBERS = (1, 2, 3, 4, 6, 8, 12, 16, 24)
POWERS = (0.0, 1.0, 2.0)  # weights are distances to minus this


class NearestRuns(Surrogate):
    """The average of the k nearest runs, weighted by distance.

    Number and weights are those with the smallest error in five-fold cross-validation.

    Parameters
    ----------
    bounds : array of shape (d, 2), optional [units of the inputs]
        Lower and upper end of every input, if they are known.
    random_state : int, default 0
        Of the folds.

    Attributes
    ----------
    k_ : int
    power_ : float
        Weights are the distance to minus this: 0 is the plain average.
    inner_error_ : float [-]
        Mean squared error in cross-validation over the variance, averaged over outputs.

    Examples
    --------
    >>> X = np.linspace(0.0, 1.0, 50)[:, None]
    >>> model = NearestRuns().fit(X, X[:, 0] ** 2)
    >>> bool(abs(model.predict([[0.5]])[0] - 0.25) < 0.01)
    True
    """

    name: ClassVar[str] = "Nearest runs"
    about: ClassVar[str] = "The average of the nearest runs, number and weights tuned."
    family: ClassVar[str] = "surrogate.nearest"

    def __init__(self, *, bounds=None, random_state=0):
        self.bounds = bounds
        self.random_state = random_state

    def fit(self, X, Y):
        """Keep the runs, and choose number and weights.

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
        self.scaler_ = input_scaler(X, "standard", self.bounds)
        self.inputs_, self.outputs_ = self.scaler_.forward(X, dtype=np.float64), Y
        parts = folds(len(X), self.random_state)
        most = min(len(fit) for fit, _ in parts)
        grid = [(k, p) for k in NUMBERS if k <= most for p in POWERS if k > 1 or p == 0.0]
        total = np.zeros(len(grid))
        for fit, held in parts:
            most_k = min(max(NUMBERS), len(fit))
            near, apart = _neighbours(self.inputs_[fit], self.inputs_[held], most_k)
            for i, (k, power) in enumerate(grid):
                found = _average(Y[fit], near[:, :k], apart[:, :k], power)
                total[i] += relative_errors(found, Y[held], Y)
        best = int(total.argmin())
        self.k_, self.power_ = grid[best]
        self.inner_error_ = float(total[best] / len(X))
        self._take_over()
        return self

    def predict(self, X):
        """Return the outputs (n, m), or (n,) if `Y` was (n,) [units of the outputs]."""
        self._require_fit()
        X = as_matrix(X, name="X", n_columns=self.n_features_in_)

        def block(rows):
            near, apart = _neighbours(
                self.inputs_, self.scaler_.forward(rows, dtype=np.float64), self.k_
            )
            return _average(self.outputs_, near, apart, self.power_)

        out = map_rows(block, X, chunk=max(1, 4_000_000 // (self.k_ * self.n_outputs_)))
        return out[:, 0] if self.one_output_ else out

    def settings(self) -> dict[str, Any]:
        """Return what was used, as plain values."""
        self._require_fit()
        return {"k": self.k_, "power": self.power_, "inner_error": self.inner_error_}

    def save(self, folder) -> Path:
        """Write ``model.json`` and ``weights.safetensors`` into `folder`."""
        config, arrays = self.to_saved()
        return save_model(folder, family=self.family, config=config, arrays=arrays)

    def to_saved(self):
        """Return (config, arrays) for `assay.models.save_model`."""
        self._require_fit()
        config = {
            "params": plain_params(self),
            "scaler": self.scaler_.to_dict(),
            "one_output": self.one_output_,
        }
        config |= self.settings()
        return config, {"inputs": self.inputs_, "outputs": self.outputs_}

    @classmethod
    def from_saved(cls, config, arrays):
        """Return the fitted estimator from what `to_saved` returned."""
        model = cls(**config["params"])
        model.scaler_ = Scaler.from_dict(config["scaler"])
        model.inputs_, model.outputs_ = arrays["inputs"], arrays["outputs"]
        model.k_, model.power_ = numbers(config, "k"), float(config["power"])
        model.inner_error_ = float(config["inner_error"])
        n, model.n_features_in_ = model.inputs_.shape
        rows, model.n_outputs_ = model.outputs_.shape
        if rows != n or model.k_ > n or len(model.scaler_.centre) != model.n_features_in_:
            raise ValueError("the sizes of the arrays do not fit")
        model.one_output_ = bool(config["one_output"]) and model.n_outputs_ == 1
        model._take_over()
        return model

    def _take_over(self):
        self.n_parameters_ = self.inputs_.size + self.outputs_.size
        self.status_ = f"{self.k_} neighbours, chosen by cross-validation."


def _neighbours(rows, asked, k):
    """Return indices and distances (n, k) of the nearest `rows` of each asked one."""
    from sklearn.neighbors import NearestNeighbors

    finder = NearestNeighbors(n_neighbors=k).fit(rows)
    apart, near = finder.kneighbors(asked)
    return near, apart


def _average(Y, near, apart, power):
    if power == 0.0:
        return Y[near].mean(axis=1)
    # A run at no distance is the answer.
    weights = 1.0 / np.maximum(apart, 1e-12) ** power
    weights /= weights.sum(axis=1, keepdims=True)
    return np.einsum("nk,nkm->nm", weights, Y[near])
