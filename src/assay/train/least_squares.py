r"""Gauss-Newton with Levenberg and Marquardt's damping: the default for small networks.

For rows :math:`r(\theta)` with Jacobian :math:`J` the step :math:`\delta` solves

.. math::

    (J^T J + \lambda I)\,\delta = -J^T r
    \quad\text{or}\quad
    \delta = -J^T (J J^T + \lambda I)^{-1} r,

whichever system is smaller: both give the same step. The damping follows the gain ratio [1]_.

References
----------
.. [1] K. Madsen, H. B. Nielsen, O. Tingleff, Methods for non-linear least squares problems,
   2nd ed., DTU, 2004, sec. 3.2, eqs. (3.14)-(3.16).
"""

import dataclasses
import functools as ft
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree

from assay.train import program
from assay.train.descent import YES, Descent, Limits, Stop, drive
from assay.train.rows import (
    RowData,
    Term,
    block_items,
    gram,
    jacobian,
    n_rows,
    normal,
    row_blocks,
    squares,
    sums,
)


@dataclasses.dataclass(frozen=True)
class Damping:
    """How Levenberg-Marquardt starts.

    Parameters
    ----------
    start : float > 0
        First damping over the largest squared column of the Jacobian; smaller trusts the linear
        model sooner.
    """

    start: float = 1e-3


@dataclasses.dataclass(frozen=True)
class _Layout:
    """What of the sizes changes the program."""

    dual: bool
    block: int
    chunk: int


def least_squares(
    terms: tuple[Term, ...],
    params: Any,
    data: RowData,
    *,
    limits: Limits | None = None,
    damping: Damping | None = None,
    progress=None,
    state=None,
    keep=None,
) -> Descent:
    """Minimise the sum of squares of all rows.

    Parameters
    ----------
    terms : tuple of functions
        Each ``term(params, shared, item) -> (k,)``; static, so they must compare by value.
    params : pytree of floating arrays
        Where to start, in the precision to work in (float64 needs ``jax.enable_x64``).
    data : RowData
        Items, weights and shared values; others of the same shapes do not compile again.
    limits : Limits, optional
        Steps, seconds and tolerances; all traced.
    damping : Damping, optional
    progress : callable, optional
        ``progress(steps_done, steps, loss, params)`` after every chunk of steps.
    state : dict, optional
        `Descent.state` of an earlier call, to go on from; see `resumed`.
    keep : object, optional
        See `assay.train.descent.drive`.

    Returns
    -------
    Descent
        `Descent.stop` says why it ended; after a breakdown the parameters are the last good ones.

    Examples
    --------
    >>> def line(params, shared, item):
    ...     return (params["a"] * item["x"] - item["y"])[None]
    >>> x = np.linspace(0.0, 1.0, 5).astype("f4")
    >>> data = RowData(items=({"x": x, "y": 3.0 * x},), weights=(np.ones(5, "f4"),))
    >>> found = least_squares((line,), {"a": np.float32(0.0)}, data)
    >>> round(float(found.params["a"]), 4)
    3.0
    """
    limits, damping = limits or Limits(), damping or Damping()
    theta, _ = ravel_pytree(params)
    rows, itemsize = n_rows(terms, params, data), theta.dtype.itemsize
    layout = _Layout(
        dual=rows < theta.size, block=block_items(theta.size, itemsize), chunk=limits.chunk
    )
    start = ft.partial(_start, terms, layout)
    run = ft.partial(_run, terms, layout)
    hyper = np.asarray(damping.start, theta.dtype)
    return drive(start, run, params, data, limits, hyper, progress, state, keep)


def _start(terms, layout, params, data, start):
    """Return the state before the first step: nothing is computed, so nothing compiles."""
    theta, _ = ravel_pytree(params)
    theta = np.asarray(theta)
    zeros = ft.partial(np.zeros, dtype=theta.dtype)
    rows = n_rows(terms, params, data) if layout.dual else theta.size
    matrix = {"small": zeros((rows, rows))}
    if layout.dual:
        matrix |= {"jac": zeros((theta.size, rows)), "rows": zeros(rows)}
    return {
        "theta": theta,
        "moved": np.asarray(YES),
        "parts": np.full(len(terms), np.nan, theta.dtype),
        "matrix": matrix,
        "slope": zeros(theta.size),
        "lambda": np.asarray(-start, theta.dtype),  # relative until the first Jacobian is known
        "grow": np.asarray(2, theta.dtype),
        "stop": np.int32(Stop.RUNNING),
        "step": np.int32(0),
    }


def _linearised(terms, layout, unravel, state, data):
    """Return the state with the loss, the small matrix and the gradient at its parameters."""
    theta = state["theta"]
    found = row_blocks(terms, unravel(theta), data)
    parts = sums(found)
    if layout.dual:
        jac = jacobian(terms, unravel, theta, data)
        rows = jnp.concatenate([rows.ravel() for rows in found])
        matrix = {"small": gram(jac.T), "jac": jac, "rows": rows}
        slope, columns = jac @ rows, jnp.sum(jac**2, axis=1)
    else:
        square, slope = normal(terms, unravel, theta, data, found, block=layout.block)
        matrix, columns = {"small": square}, jnp.diagonal(square)
    lam = state["lambda"]
    lam = jnp.where(lam < 0, -lam * jnp.max(columns), lam)
    return {**state, "parts": parts, "matrix": matrix, "slope": slope, "lambda": lam}


def _solve(layout, state):
    lam, matrix = state["lambda"], state["matrix"]
    small = matrix["small"] + lam * jnp.eye(matrix["small"].shape[0], dtype=lam.dtype)
    factor = jax.scipy.linalg.cho_factor(small, lower=True)
    if layout.dual:
        return -matrix["jac"] @ jax.scipy.linalg.cho_solve(factor, matrix["rows"])
    return -jax.scipy.linalg.cho_solve(factor, state["slope"])


@ft.partial(jax.jit, static_argnames=("terms", "layout"))
def _run(terms, layout, params, state, data, limits, last):
    """Do steps up to number `last`, at most `layout.chunk`; return the state and the losses."""
    program._TRACES[0] += 1
    first = state["step"]
    _, unravel = ravel_pytree(params)

    def step(carry):
        state, losses = carry
        state = jax.lax.cond(
            state["moved"],
            lambda s: _linearised(terms, layout, unravel, s, data),
            lambda s: s,
            state,
        )
        theta, before, lam = state["theta"], jnp.sum(state["parts"]), state["lambda"]
        delta = _solve(layout, state)
        # A matrix that is singular to rounding gives a step that is not finite: damp more.
        solved = jnp.all(jnp.isfinite(delta))
        trial = theta + jnp.where(solved, delta, 0)
        parts = squares(terms, unravel(trial), data)
        after = jnp.sum(parts)
        predicted = jnp.dot(delta, lam * delta - state["slope"])
        better = solved & jnp.isfinite(after) & (after < before) & (predicted > 0)
        new = _moved(state, trial, parts, (before - after) / predicted, better)
        new["stop"] = _reason(new, delta, predicted, before, better, limits)
        return new, losses.at[state["step"] - first].set(state["parts"])

    def going(carry):
        state, _ = carry
        return (state["stop"] == Stop.RUNNING) & (state["step"] < last)

    losses = jnp.full((layout.chunk, len(terms)), jnp.nan, state["theta"].dtype)
    return jax.lax.while_loop(going, step, (state, losses))


def _moved(state, trial, parts, gain, better):
    """Return the state after a step that lowered the loss, or after one that did not."""
    dtype = trial.dtype
    # Eq. (3.16): less damping the better the linear model foretold the fall.
    factor = jnp.where(better, jnp.maximum(1.0 / 3.0, 1.0 - (2.0 * gain - 1.0) ** 3), state["grow"])
    return {
        **state,
        "theta": jnp.where(better, trial, state["theta"]),
        "parts": jnp.where(better, parts, state["parts"]),
        "moved": better,
        "lambda": jnp.maximum(state["lambda"] * factor.astype(dtype), jnp.finfo(dtype).tiny),
        "grow": jnp.where(better, 2, state["grow"] * 2).astype(dtype),
        "step": state["step"] + 1,
    }


def _reason(new, delta, predicted, before, better, limits):
    """Return why the loop ends after this step, or RUNNING."""
    theta = new["theta"]
    eps = jnp.finfo(theta.dtype).eps
    short = jnp.linalg.norm(delta) <= limits["step"] * (jnp.linalg.norm(theta) + limits["step"])
    checks = (
        (~jnp.isfinite(before) | ~jnp.all(jnp.isfinite(new["slope"])), Stop.NONFINITE),
        # The sum of squares is rounded to eps of itself: a smaller fall cannot be seen.
        (~better & (predicted <= 4 * eps * before), Stop.FLOOR),
        (~better & short, Stop.STEP),
        (~jnp.isfinite(new["lambda"]) | (new["grow"] > 2.0**40), Stop.STUCK),
        (jnp.max(jnp.abs(new["slope"])) <= limits["gradient"], Stop.GRADIENT),
        (jnp.sum(new["parts"]) <= limits["target"], Stop.TARGET),
    )
    stop = jnp.int32(Stop.RUNNING)
    for holds, reason in checks:
        stop = jnp.where(holds & (stop == Stop.RUNNING), jnp.int32(reason), stop)
    return stop
