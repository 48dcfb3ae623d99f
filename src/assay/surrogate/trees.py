"""Grown trees as plain arrays: what a saved ensemble of trees holds, and how it predicts."""

import dataclasses
from typing import Any

import numpy as np

FIELDS = ("feature", "threshold", "left", "right", "value", "leaf")


@dataclasses.dataclass(frozen=True, eq=False)
class Trees:
    """The sum of many trees and a constant.

    Attributes
    ----------
    start : float [unit of the output]
        The constant.
    roots : (t,) int64 array
        Node at which each tree begins.
    feature : (k,) int64 array
        Input that a node splits.
    threshold : (k,) float64 array [unit of the input]
        Rows at or below it go left.
    left, right : (k,) int64 arrays
        Nodes that follow; larger than the node itself.
    value : (k,) float64 array [unit of the output]
        What a leaf adds.
    leaf : (k,) bool array
    """

    start: float
    roots: np.ndarray
    feature: np.ndarray
    threshold: np.ndarray
    left: np.ndarray
    right: np.ndarray
    value: np.ndarray
    leaf: np.ndarray

    def predict(self, X) -> np.ndarray:
        """Return the sums (n,) [unit of the output] for rows `X` (n, d)."""
        total = np.full(len(X), self.start)
        for root in self.roots:
            node = np.full(len(X), root)
            rows = np.flatnonzero(~self.leaf[node])
            while len(rows):
                at = node[rows]
                below = X[rows, self.feature[at]] <= self.threshold[at]
                node[rows] = np.where(below, self.left[at], self.right[at])
                rows = rows[~self.leaf[node[rows]]]
            total += self.value[node]
        return total

    @classmethod
    def of(cls, model: Any) -> "Trees":
        """Return the trees of a fitted histogram gradient boosting, or `model` if it is one.

        Parameters
        ----------
        model : HistGradientBoostingRegressor
            Of one output and without categories. Its trees have no public name; what comes out is
            compared with its own predictions in the tests.
        """
        if isinstance(model, cls):
            return model
        nodes = [stage[0].nodes for stage in model._predictors]
        roots = np.cumsum([0, *(len(tree) for tree in nodes)])[:-1]
        together, shift = np.concatenate(nodes), np.repeat(roots, [len(tree) for tree in nodes])
        limit = np.finfo(float).max  # an infinite threshold sends all rows left
        return cls(
            float(np.ravel(model._baseline_prediction)[0]), roots.astype(np.int64),
            together["feature_idx"].astype(np.int64),
            np.clip(together["num_threshold"], -limit, limit),
            together["left"] + shift, together["right"] + shift, together["value"].copy(),
            together["is_leaf"].astype(bool),
        )  # fmt: skip

    def to_arrays(self, prefix: str) -> dict[str, np.ndarray]:
        """Return named arrays for `assay.models.save_model`."""
        own = {"start": np.array([self.start]), "roots": self.roots}
        own |= {key: getattr(self, key) for key in FIELDS}
        return {f"{prefix}{key}": array for key, array in own.items()}

    @classmethod
    def from_arrays(cls, arrays, prefix: str, n_inputs: int) -> "Trees":
        """Return the trees from what `to_arrays` returned; ValueError if they lead nowhere."""
        start, roots = arrays[f"{prefix}start"], arrays[f"{prefix}roots"]
        parts = {key: arrays[f"{prefix}{key}"] for key in FIELDS}
        k = len(parts["leaf"])
        own, inner = np.arange(k), ~parts["leaf"].astype(bool)
        ahead = all(
            ((own < parts[side]) & (parts[side] < k))[inner].all() for side in ("left", "right")
        )
        known = ((parts["feature"] >= 0) & (parts["feature"] < n_inputs))[inner].all()
        fits = all(part.shape == (k,) for part in parts.values()) and start.shape == (1,)
        if not (fits and ahead and known and ((roots >= 0) & (roots < k)).all()):
            raise ValueError("the saved trees lead nowhere")
        return cls(float(start[0]), roots, **parts)
