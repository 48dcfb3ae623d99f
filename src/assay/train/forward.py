"""Predictions: compiled once a network structure and block size, in bounded memory."""

import functools as ft
from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import numpy as np

from assay.errors import DataError, StudyError
from assay.nn.initialisation import is_parameter


def predict(model: Any, x: Any, *, chunk: int = 65536, apply: Callable | None = None) -> np.ndarray:
    """Return the output of `model` for every row of `x`.

    Parameters
    ----------
    model : equinox.Module
        A function of one row, with arrays as leaves.
    x : array of shape (n_rows, ...)
        Any floating or integer dtype; computed in JAX's default float type.
    chunk : int
        Most rows that are on the device at a time, at least 1.
    apply : callable, optional
        Module-level ``apply(model, row)``, where the model itself is not what is wanted.

    Returns
    -------
    numpy.ndarray of shape (n_rows, ...)

    Raises
    ------
    DataError
        If `x` has no row axis.
    StudyError
        If `chunk` is below 1.

    Notes
    -----
    Rows go through in blocks of 256, 1,024, 4,096 ... rows, the largest size that does not exceed
    their number; the last block is padded. So tables of similar length share a program, and time
    and memory are linear in the rows.

    Examples
    --------
    >>> from assay.nn import MLP
    >>> predict(MLP(3, 2), np.ones((5, 3))).shape
    (5, 2)
    """
    if chunk < 1:
        raise StudyError(f"`chunk` must be at least 1, got {chunk!r}.", hint="Leave it out.")
    if np.ndim(x) < 1:
        raise DataError("`x` in predict(...) must have one row per item, got a single number.")
    dtype = jax.dtypes.canonicalize_dtype(float)
    x = np.asarray(x)
    parameters, static = eqx.partition(model, is_parameter)
    leaves, structure = jax.tree.flatten(parameters)
    static_leaves, static_structure = jax.tree.flatten(static)
    form = _Form(structure, tuple(static_leaves), static_structure, apply)
    size = block_size(len(x), chunk)
    output = None
    for start in range(0, max(len(x), 1), size):
        rows = x[start : start + size]
        block = pad_rows(rows.astype(dtype, copy=False), size)
        part = np.asarray(_forward(form, leaves, block))[: len(rows)]
        if output is None:  # the shape of a row of output is known only now
            output = np.empty((len(x), *part.shape[1:]), part.dtype)
        output[start : start + len(rows)] = part
    return output


def block_size(n_rows: int, chunk: int) -> int:
    """Return 256 times a power of 4, at most `n_rows` (but at least 256) and at most `chunk`."""
    size = 256
    while size * 4 <= n_rows:
        size *= 4
    return min(size, chunk)


def pad_rows(rows: np.ndarray, size: int) -> np.ndarray:
    """Return `rows` repeated up to `size` rows; repeats are as harmless as the rows themselves."""
    if len(rows) == size:
        return rows
    if not len(rows):
        return np.zeros((size, *rows.shape[1:]), rows.dtype)
    padded = np.empty((size, *rows.shape[1:]), rows.dtype)
    padded[: len(rows)] = rows
    padded[len(rows) :] = rows[-1]
    return padded


class _Form:
    """What of a model is not a parameter, compared by value: the key of the compiled program."""

    def __init__(self, structure, static_leaves, static_structure, apply):
        self.structure = structure
        self.static = (static_leaves, static_structure)
        self.apply = apply
        self._key = (
            structure,
            static_structure,
            tuple(_by_value(leaf) for leaf in static_leaves),
            apply,
        )

    def __hash__(self):
        return hash(self._key)

    def __eq__(self, other):
        return isinstance(other, _Form) and self._key == other._key

    def model(self, leaves):
        static_leaves, static_structure = self.static
        return eqx.combine(
            jax.tree.unflatten(self.structure, leaves),
            jax.tree.unflatten(static_structure, static_leaves),
        )


def _by_value(leaf):
    if eqx.is_array_like(leaf) and hasattr(leaf, "dtype"):  # e.g. integer tables inside a model
        array = np.asarray(leaf)
        return (array.shape, str(array.dtype), array.tobytes())
    return leaf


@ft.partial(jax.jit, static_argnames="form")
def _forward(form, leaves, block):
    model = form.model(leaves)
    if form.apply is None:
        return jax.vmap(model)(block)
    return jax.vmap(lambda row: form.apply(model, row))(block)
