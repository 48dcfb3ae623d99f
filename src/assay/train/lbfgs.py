"""L-BFGS with a line search that meets the strong Wolfe conditions, from Optax."""

import functools as ft
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax.flatten_util import ravel_pytree

from assay.train import program
from assay.train.descent import NO, YES, Descent, Limits, Stop, drive
from assay.train.rows import RowData, Term, squares

MEMORY = 50  # pairs; ten give up early on the ill-conditioned losses of differential equations
LINE_STEPS = 25


def lbfgs(
    terms: tuple[Term, ...],
    params: Any,
    data: RowData,
    *,
    limits: Limits | None = None,
    progress=None,
    state=None,
    keep=None,
) -> Descent:
    """Minimise the sum of squares of all rows by L-BFGS.

    The step length satisfies a sufficient decrease and the strong curvature condition, found by
    Optax's zoom line search (Nocedal and Wright 2006, algorithms 3.5 and 3.6).

    Parameters
    ----------
    terms, params, data, progress, state, keep
        As in `assay.train.least_squares.least_squares`.
    limits : Limits, optional
        5,000 steps by default.

    Returns
    -------
    Descent
        Its ``state["evaluations"]`` counts the passes over all rows.

    Examples
    --------
    >>> def line(params, shared, item):
    ...     return (params["a"] * item["x"] - item["y"])[None]
    >>> x = np.linspace(0.0, 1.0, 5).astype("f4")
    >>> data = RowData(items=({"x": x, "y": 3.0 * x},), weights=(np.ones(5, "f4"),))
    >>> found = lbfgs((line,), {"a": np.float32(0.0)}, data)
    >>> round(float(found.params["a"]), 3)
    3.0
    """
    limits = limits or Limits(steps=5000, patience=200)
    run = ft.partial(_run, terms, limits.chunk)
    return drive(ft.partial(_start, terms), run, params, data, limits, (), progress, state, keep)


def _rule():
    search = optax.scale_by_zoom_linesearch(
        max_linesearch_steps=LINE_STEPS, initial_guess_strategy="one"
    )
    return optax.lbfgs(memory_size=MEMORY, linesearch=search)


def _start(terms, params, data, hyper):
    del data, hyper
    theta = np.asarray(ravel_pytree(params)[0])
    rule = jax.eval_shape(_rule().init, theta)
    fill = lambda leaf: np.zeros(leaf.shape, leaf.dtype)
    return {
        "theta": theta,
        "parts": np.full(len(terms), np.nan, theta.dtype),
        # The line search's stored value is infinite until it is known, and so asked for anew.
        "rule": jax.tree.map(fill, rule),
        "fresh": np.asarray(YES),
        "evaluations": np.int32(0),
        "stop": np.int32(Stop.RUNNING),
        "step": np.int32(0),
    }


@ft.partial(jax.jit, static_argnames=("terms", "chunk"))
def _run(terms, chunk, params, state, data, limits, last):
    program._TRACES[0] += 1
    _, unravel = ravel_pytree(params)
    first, rule = state["step"], _rule()

    def loss_of(theta):
        return jnp.sum(squares(terms, unravel(theta), data))

    value_and_slope = optax.value_and_grad_from_state(loss_of)

    def step(carry):
        state, losses = carry
        theta = state["theta"]
        inner = jax.lax.cond(state["fresh"], lambda: rule.init(theta), lambda: state["rule"])
        loss, slope = value_and_slope(theta, state=inner)
        parts = squares(terms, unravel(theta), data)
        with jax.numpy_dtype_promotion("standard"):
            change, inner = rule.update(
                slope, inner, theta, value=loss, grad=slope, value_fn=loss_of
            )
        trial = theta + change
        after = optax.tree.get(inner, "value")
        better = jnp.isfinite(after) & (after < loss) & jnp.all(jnp.isfinite(trial))
        count = state["evaluations"] + inner[-1].info.num_linesearch_steps.astype(jnp.int32)
        new = {
            "theta": jnp.where(better, trial, theta),
            "parts": parts,
            "rule": inner,
            "fresh": jnp.asarray(NO),
            "evaluations": count + 1,
            "stop": _reason(loss, after, slope, change, theta, better, limits),
            "step": state["step"] + 1,
        }
        return new, losses.at[state["step"] - first].set(parts)

    def going(carry):
        state, _ = carry
        return (state["stop"] == Stop.RUNNING) & (state["step"] < last)

    losses = jnp.full((chunk, len(terms)), jnp.nan, state["theta"].dtype)
    state, losses = jax.lax.while_loop(going, step, (state, losses))
    return {**state, "parts": squares(terms, unravel(state["theta"]), data)}, losses


def _reason(loss, after, slope, change, theta, better, limits):
    eps = jnp.finfo(theta.dtype).eps
    short = jnp.linalg.norm(change) <= limits["step"] * (jnp.linalg.norm(theta) + limits["step"])
    # The fall that the slope foretells for this step cannot be seen beside the loss's rounding.
    hidden = jnp.abs(jnp.dot(slope, change)) <= 4 * eps * loss
    checks = (
        (~jnp.isfinite(loss) | ~jnp.all(jnp.isfinite(slope)), Stop.NONFINITE),
        (jnp.max(jnp.abs(slope)) / 2 <= limits["gradient"], Stop.GRADIENT),
        (~better & hidden, Stop.FLOOR),
        (~better, Stop.STUCK),
        (short, Stop.STEP),
        (after <= limits["target"], Stop.TARGET),
    )
    stop = jnp.int32(Stop.RUNNING)
    for holds, reason in checks:
        stop = jnp.where(holds & (stop == Stop.RUNNING), jnp.int32(reason), stop)
    return stop
