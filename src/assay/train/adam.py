"""Adam on a sum of squares, with the loss of each term at every step and the best weights kept."""

import dataclasses
import functools as ft
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax.flatten_util import ravel_pytree

from assay.errors import StudyError
from assay.train import program
from assay.train.descent import Descent, Limits, Stop, drive
from assay.train.rows import RowData, Term, squares

CHUNK = 100


@dataclasses.dataclass(frozen=True)
class Rate:
    """The learning rate of Adam.

    Parameters
    ----------
    value : float > 0
    schedule : {"constant", "cosine"}
        "cosine" lets it fall to zero at the last step.
    steps : int, optional
        Which step that is; by default the last one of the call.
    """

    value: float = 1e-3
    schedule: str = "constant"
    steps: int | None = None

    def __post_init__(self):
        if not 0 < self.value < np.inf:
            raise StudyError(
                f"The learning rate must be positive, got {self.value!r}.", hint="1e-3"
            )
        if self.schedule not in ("constant", "cosine"):
            raise StudyError(
                f"`schedule` must be 'constant' or 'cosine', got {self.schedule!r}.",
                hint="'cosine' ends calmer.",
            )


def adam(
    terms: tuple[Term, ...],
    params: Any,
    data: RowData,
    *,
    limits: Limits | None = None,
    rate: Rate | None = None,
    progress=None,
    state=None,
    keep=None,
) -> Descent:
    """Minimise the sum of squares of all rows by Adam, on all rows in every step.

    Parameters
    ----------
    terms, params, data, progress, state, keep
        As in `assay.train.least_squares.least_squares`.
    limits : Limits, optional
        10,000 steps by default; tolerances other than ``target`` are not looked at.
    rate : Rate, optional

    Returns
    -------
    Descent
        With the parameters of the smallest loss; the last ones are in ``state["theta"]``.

    Examples
    --------
    >>> def line(params, shared, item):
    ...     return (params["a"] * item["x"] - item["y"])[None]
    >>> x = np.linspace(0.0, 1.0, 5).astype("f4")
    >>> data = RowData(items=({"x": x, "y": 3.0 * x},), weights=(np.ones(5, "f4"),))
    >>> found = adam((line,), {"a": np.float32(0.0)}, data, limits=Limits(500, stall=0.0),
    ...     rate=Rate(0.1))
    >>> round(float(found.params["a"]), 2)
    3.0
    """
    limits, rate = limits or Limits(steps=10_000, stall=0.0, chunk=CHUNK), rate or Rate()
    run = ft.partial(_run, terms, rate.schedule, limits.chunk)
    theta, _ = ravel_pytree(params)
    hyper = {
        "rate": np.asarray(rate.value, theta.dtype),
        "steps": np.int32(rate.steps or limits.steps),
    }
    return drive(ft.partial(_start, terms), run, params, data, limits, hyper, progress, state, keep)


def _start(terms, params, data, hyper):
    del data
    theta = np.asarray(ravel_pytree(params)[0])
    zeros = np.zeros_like(theta)
    return {
        "theta": theta,
        "best": theta,
        "best_loss": np.asarray(np.inf, theta.dtype),
        "parts": np.full(len(terms), np.nan, theta.dtype),
        "moments": (np.int32(0), zeros, zeros),
        "hyper": hyper,
        "stop": np.int32(Stop.RUNNING),
        "step": np.int32(0),
    }


@ft.partial(jax.jit, static_argnames=("terms", "schedule", "chunk"))
def _run(terms, schedule, chunk, params, state, data, limits, last):
    program._TRACES[0] += 1
    _, unravel = ravel_pytree(params)
    first = state["step"]

    def loss_of(theta):
        parts = squares(terms, unravel(theta), data)
        return jnp.sum(parts), parts

    def step(carry):
        state, losses = carry
        theta = state["theta"]
        (loss, parts), slope = jax.value_and_grad(loss_of, has_aux=True)(theta)
        moments = optax.ScaleByAdamState(*state["moments"])
        with jax.numpy_dtype_promotion("standard"):
            change, moments = optax.scale_by_adam().update(slope, moments)
        rate = state["hyper"]["rate"]
        if schedule == "cosine":
            done = state["step"].astype(rate.dtype) / state["hyper"]["steps"].astype(rate.dtype)
            rate = rate * (0.5 + 0.5 * jnp.cos(jnp.pi * done))
        better = loss < state["best_loss"]
        stop = jnp.where(loss <= limits["target"], Stop.TARGET, Stop.RUNNING)
        stop = jnp.where(jnp.isfinite(loss), stop, Stop.NONFINITE).astype(jnp.int32)
        new = {
            **state,
            "theta": theta - rate * change,
            "best": jnp.where(better, theta, state["best"]),
            "best_loss": jnp.where(better, loss, state["best_loss"]),
            "parts": parts,
            "moments": tuple(moments),
            "stop": stop,
            "step": state["step"] + 1,
        }
        return new, losses.at[state["step"] - first].set(parts)

    def going(carry):
        state, _ = carry
        return (state["stop"] == Stop.RUNNING) & (state["step"] < last)

    losses = jnp.full((chunk, len(terms)), jnp.nan, state["theta"].dtype)
    return jax.lax.while_loop(going, step, (state, losses))
