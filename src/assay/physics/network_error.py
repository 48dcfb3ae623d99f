r"""What a network's own error does to its unknowns: the equation is not met between the points.

A network minimises the sum of squares of its rows :math:`r` (equation, conditions, readings). In
the linear model around the end, row :math:`i` moves the parameters by the score
:math:`s_i = -N^{-1} j_i r_i` with :math:`N = J^T J`; at the minimum all scores add up to zero. On
points that it was not trained on, they do not (there :math:`N` is the mean over both sets of
points). Of the part for the unknowns two things are kept, averaged over several draws of points:

1. the sum :math:`\sum_i s_i`: where one more step on other points would lead, so the error of the
   points that were chosen and of a training that has not ended;
2. the scatter over cells :math:`\sum_c (\sum_{i \in c} s_i)(\sum_{i \in c} s_i)^T`, the
   cluster-robust ("sandwich") covariance: what is missed at a place is shared by its neighbours,
   so that places count as independent and points do not.
"""

import dataclasses
import functools as ft

import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree

from assay.physics.fitting import row_data
from assay.physics.points import in_box
from assay.physics.residuals import n_raw
from assay.train import program
from assay.train.rows import block_items, normal_matrix, row_blocks

DRAWS = 3
CELLS = 32
FRESH = 1000  # seeds of the points, away from those of the training


def network_error(setup, params, data, places, directions, *, unsaid: bool) -> np.ndarray:
    """Return the covariance (k, k) that the network's own error adds.

    Parameters
    ----------
    setup : Setup
    params : pytree
        The trained weights and unknowns.
    data : RowData
        Of the training, for its weights.
    places : tuple of arrays
        Of the training, one a term.
    directions : function
        Of the normal matrix on fresh points; returns (n_parameters, k), the columns of the inverse
        normal matrix on both sets of points that belong to the unknowns.
    unsaid : bool
        Whether the noise of the readings is estimated from the misfit. Then what neighbouring
        readings miss together is no noise, and is added.
    """
    frame, n = setup.shared.frame, len(places[0])
    box = {v: (frame.low[i], frame.high[i]) for i, v in enumerate(setup.system.problem.box)}
    kind, found = ("latin" if len(box) == 1 else "sobol"), []
    for draw in range(DRAWS):
        fresh = (in_box(box, n, kind, seed=FRESH + draw), *places[1:])
        new = dataclasses.replace(row_data(setup, fresh), weights=data.weights)
        block = block_items(n_raw(params), np.result_type(float).itemsize)
        square, _ = normal_matrix(setup.terms, params, new, block)
        scores = _scores(setup.terms, params, new, directions(square))
        total = sum(part.sum(axis=0) for part in scores)
        by_cell = _by_cell(fresh[0], scores[0], frame)
        whole = np.outer(total, total) + by_cell.T @ by_cell
        if unsaid:
            whole = whole + _shared_misfit(setup, fresh, scores, frame)
        found.append(whole)
    return np.mean(found, axis=0)


def _scores(terms, params, data, directions):
    """Return the scores (n_items, k) of the items of each term."""
    columns = []
    for direction in directions.T:
        rows, moved = _along(terms, params, data, direction.astype(np.result_type(float)))
        columns.append(
            [-np.sum(np.asarray(r) * np.asarray(m), axis=1) for r, m in zip(rows, moved,
             strict=True)]
        )  # fmt: skip
    return [np.stack(parts, axis=1) for parts in zip(*columns, strict=True)]


@ft.partial(jax.jit, static_argnames="terms")
def _along(terms, params, data, direction):
    """Return the rows of each term, and their slopes along a direction of the parameters."""
    program._TRACES[0] += 1
    theta, unravel = ravel_pytree(params)
    return jax.jvp(
        lambda flat: row_blocks(terms, unravel(flat), data),
        (theta,),
        (jnp.asarray(direction, theta.dtype),),
    )


def _shared_misfit(setup, places, scores, frame):
    """Return the scatter of readings over cells beyond that of single ones."""
    which = [i for i, kind in enumerate(setup.kinds) if kind == "reading"]
    points = np.concatenate([places[i] for i in which])
    each = np.concatenate([scores[i] for i in which])
    by_cell = _by_cell(points, each, frame)
    excess = np.diag(by_cell.T @ by_cell) - np.diag(each.T @ each)
    return np.diag(np.maximum(excess, 0.0))


def _by_cell(points, scores, frame):
    """Return the sums (n_cells, k) of scores over cells of the box that hold equally many."""
    scaled = (points - np.asarray(frame.low)) / np.asarray(frame.high - frame.low)
    groups = [np.arange(len(points))]
    while len(groups) < CELLS and min(len(group) for group in groups) > 1:
        halves = []
        for group in groups:
            axis = int(np.argmax(np.ptp(scaled[group], axis=0)))
            order = group[np.argsort(scaled[group, axis], kind="stable")]
            halves += [order[: len(order) // 2], order[len(order) // 2 :]]
        groups = halves
    return np.array([scores[group].sum(axis=0) for group in groups])
