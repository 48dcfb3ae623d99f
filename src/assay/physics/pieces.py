"""Windows of a solved problem: which network answers where."""

import dataclasses
import functools as ft
from collections.abc import Callable
from typing import Any

import jax
import numpy as np

from assay.physics.fitting import Setup, cast
from assay.physics.residuals import functions
from assay.train import program


@dataclasses.dataclass(frozen=True)
class Piece:
    """The network of one window."""

    setup: Setup
    params: Any


def piece_values(piece, points):
    """Return fields and coefficients (n, n) of a piece at points (n, n_variables)."""
    setup = piece.setup
    return _values(setup.system, piece.params, cast(setup.shared), cast(points))


@ft.partial(jax.jit, static_argnames="system")
def _values(system, params, shared, points):
    program._TRACES[0] += 1
    return jax.vmap(functions(system, params, shared, lifted=True))(points)


def by_piece(pieces: tuple[Piece, ...], points: np.ndarray, function: Callable) -> np.ndarray:
    """Apply ``function(piece, points)`` to the points of each window; float64.

    Parameters
    ----------
    pieces : tuple of Piece
        In the order of time. A point where two meet belongs to the earlier one.
    points : array of shape (n, n_variables)
    function : callable
        Returns (n, k).
    """
    if len(pieces) == 1:
        return np.asarray(function(pieces[0], points), np.float64)
    problem = pieces[0].setup.system.problem
    place = list(problem.box).index(problem.time)
    ends = np.array([piece.setup.shared.frame.high[place] for piece in pieces[:-1]])
    which, parts = np.searchsorted(ends, points[:, place]), {}
    for i in np.unique(which):
        parts[i] = np.asarray(function(pieces[i], points[which == i]), np.float64)
    out = np.empty((len(points), next(iter(parts.values())).shape[1]))
    for i, values in parts.items():
        out[which == i] = values
    return out
