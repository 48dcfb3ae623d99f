"""The host loop that the least-squares, L-BFGS and Adam programs share, and what they return.

Each method is two compiled functions: one that makes the state of a start, one that does a chunk
of steps. What is asked of them (steps, seconds, tolerances) is traced or stays on the host, so that
no other value compiles again.
"""

import dataclasses
import enum
import math
import time
from collections.abc import Callable
from typing import Any

import jax
import numpy as np
from jax.flatten_util import ravel_pytree

from assay.errors import StudyError
from assay.train.program import trace_count

YES, NO = True, False  # flags that the compiled loops carry
CHUNK_SECONDS = 0.5  # between two looks from the host


class Stop(enum.IntEnum):
    """Why a descent ended; the compiled loop carries the number."""

    RUNNING = 0
    GRADIENT = 1
    STEP = 2
    FLOOR = 3
    TARGET = 4
    STUCK = 5
    STALLED = 6
    BUDGET = 7
    SECONDS = 8
    NONFINITE = 9
    INTERRUPTED = 10

    @property
    def sentence(self) -> str:
        """What it means, for a reader."""
        return _SENTENCES[self]

    @property
    def settled(self) -> bool:
        """Whether more steps would not have changed much."""
        return self in (Stop.GRADIENT, Stop.STEP, Stop.FLOOR, Stop.TARGET, Stop.STALLED)


_SENTENCES = {
    Stop.RUNNING: "It is still running.",
    Stop.GRADIENT: "Converged: the gradient of the loss is below the tolerance.",
    Stop.STEP: "Converged: the steps have become smaller than the tolerance.",
    Stop.FLOOR: "Converged to the precision of the arithmetic: the next step would lower the loss "
    "by less than its rounding error.",
    Stop.TARGET: "Converged: the loss reached the target.",
    Stop.STUCK: "Stopped: no step along the last direction lowers the loss.",
    Stop.STALLED: "Converged: the loss has stopped falling.",
    Stop.BUDGET: "All steps were used while the loss was still falling; more may help.",
    Stop.SECONDS: "The time was used up while the loss was still falling; more may help.",
    Stop.NONFINITE: "Broke down: the loss became infinite or not a number; the weights are the "
    "last good ones.",
    Stop.INTERRUPTED: "Interrupted; the weights are the last good ones.",
}


@dataclasses.dataclass(frozen=True)
class Limits:
    """When a descent ends; only `chunk` compiles again.

    Parameters
    ----------
    steps : int
        At most so many, at least 1.
    seconds : float
        Looked at between chunks.
    gradient : float
        Ends at a largest component of the gradient of the loss (sum of squares, halved) below it.
    step : float
        Ends at a step shorter than this times the length of the parameters.
    target : float
        Ends at a loss below it.
    stall : float
        Ends where the loss has fallen by less than this share over `patience` steps.
    patience : int
        See `stall`.
    chunk : int
        Most steps between two looks from the host.
    """

    steps: int = 500
    seconds: float = math.inf
    gradient: float = 0.0
    step: float = 1e-12
    target: float = 0.0
    stall: float = 1e-2
    patience: int = 30
    chunk: int = 50

    def __post_init__(self):
        for name in ("steps", "patience", "chunk"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
                raise StudyError(
                    f"`{name}` must be a whole number of at least 1, got {value!r}.",
                    hint="Leave it out for the default.",
                )
        for name in ("seconds", "gradient", "step", "target", "stall"):
            value = getattr(self, name)
            if not value >= 0:
                raise StudyError(
                    f"`{name}` must not be negative, got {value!r}.", hint="0 switches it off."
                )

    def traced(self, dtype) -> dict[str, np.ndarray]:
        """Return the numbers that the compiled loop looks at."""
        names = ("gradient", "step", "target")
        return {name: np.asarray(getattr(self, name), dtype) for name in names}


@dataclasses.dataclass(frozen=True)
class Descent:
    """What a descent returns.

    Attributes
    ----------
    params : pytree of numpy arrays
        The best that were met.
    stop : Stop
    history : dict of str to arrays of shape (n,)
        ``step``, ``loss`` (before each step, and after the last), ``seconds``; ``parts`` is
        (n, n_terms).
    steps : int
    seconds, compile_seconds : float [s]
    state : dict
        The last state of the method, for a start from there.
    """

    params: Any
    stop: Stop
    history: dict[str, np.ndarray]
    steps: int
    seconds: float
    compile_seconds: float
    state: Any = None


def drive(
    start, run, params, data, limits, hyper, progress: Callable | None, state: Any = None, keep=None
) -> Descent:
    """Run chunks of steps until the method, the budget or the user ends it.

    Parameters
    ----------
    start : function (params, data, hyper) -> state
        The state is a dictionary with at least ``theta`` (flat), ``parts``, ``stop``, ``step``.
        It is called first and computes nothing.
    run : function (params, state, data, limits, last) -> (state, parts before each step)
    params : pytree of arrays
        Where to start.
    data : RowData
    limits : Limits
    hyper : pytree of numbers
        Of the method, traced.
    progress : function (step, steps, loss, params), optional
        Called after every chunk.
    state : dict, optional
        To go on from instead of `start`; `Limits.steps` counts its steps too.
    keep : object, optional
        With ``resumed()``, the state, losses and seconds of this descent where it was cut off
        before, or None; and ``keep(state, losses, seconds, now=)``, called after every chunk.
    """
    clock = time.perf_counter()
    params = jax.tree.map(np.asarray, params)
    theta, unravel = ravel_pytree(params)
    fresh, compiling, stop = start(params, data, hyper), 0.0, Stop.RUNNING
    state = fresh if state is None else whole(state, fresh)
    first, log = int(state["step"]), _Log(limits, time.perf_counter() - clock)
    cut = None if keep is None else keep.resumed()
    if cut is not None:
        state, log.parts, log.seconds = whole(cut[0], fresh), cut[1], cut[2]
        clock -= log.seconds[-1]
    traced, per_chunk = limits.traced(theta.dtype), 1
    try:
        while stop is Stop.RUNNING:
            tick, before, done = time.perf_counter(), trace_count(), int(state["step"])
            # Stalling is looked at every so many steps, however fast the machine is.
            look = done + limits.patience - (done - first) % limits.patience
            last = np.int32(min(done + per_chunk, limits.steps, look))
            state, parts = jax.block_until_ready(run(params, state, data, traced, last))
            took, count = time.perf_counter() - tick, int(state["step"]) - done
            if trace_count() > before:
                compiling += took  # with the first step, which is short beside it
            else:
                per_chunk = _paced(per_chunk, count, took, limits.chunk)
            log.add(np.asarray(parts)[:count], np.asarray(state["parts"]), took)
            done = int(state["step"])
            stop = log.reason(Stop(int(state["stop"])), done, time.perf_counter() - clock)
            if progress is not None:
                progress(done, limits.steps, log.loss, unravel(state["theta"]))
            if keep is not None and stop is Stop.RUNNING:
                keep.keep(state, log.parts, log.seconds, now=False)
    except KeyboardInterrupt:
        if log.now is None:
            raise
        stop = Stop.INTERRUPTED
        # Between a chunk and its losses the two do not belong together.
        if keep is not None and 0 < len(log.parts) == int(state["step"]) - first:
            keep.keep(state, log.parts, log.seconds, now=True)
    found = jax.tree.map(np.asarray, unravel(state.get("best", state["theta"])))
    return Descent(
        params=found, stop=stop, history=log.history(first), steps=int(state["step"]),
        seconds=time.perf_counter() - clock, compile_seconds=compiling, state=state,
    )  # fmt: skip


def _paced(per_chunk, count, took, most):
    """Return how many steps to ask for next, so that the host looks every `CHUNK_SECONDS`."""
    each = took / max(count, 1)
    wanted = int(CHUNK_SECONDS / max(each, 1e-9))
    return int(np.clip(wanted, 1, min(most, 8 * per_chunk)))


class _Log:
    """The losses of a descent, as it goes."""

    def __init__(self, limits, seconds):
        self.limits, self.parts, self.seconds = limits, [], [seconds]
        self.now = None

    @property
    def loss(self):
        return float(np.sum(self.now, dtype=float))

    def add(self, parts, now, took):
        start, n = self.seconds[-1], max(len(parts), 1)
        self.parts += list(parts)
        self.now = now
        self.seconds += [start + took * (i + 1) / n for i in range(len(parts))]

    def reason(self, stop, done, seconds):
        if stop is not Stop.RUNNING:
            return stop
        back = self.limits.patience
        if self.limits.stall > 0 and len(self.parts) >= back and len(self.parts) % back == 0:
            earlier = float(np.sum(self.parts[-back], dtype=float))
            if self.loss > earlier * (1.0 - self.limits.stall):
                return Stop.STALLED
        if done >= self.limits.steps:
            return Stop.BUDGET
        return Stop.SECONDS if seconds > self.limits.seconds else Stop.RUNNING

    def history(self, first):
        now = [] if self.now is None else [self.now]
        parts = np.array(self.parts + now, float)
        return {
            "step": first + np.arange(len(parts)),
            "loss": parts.sum(axis=1),
            "seconds": np.array(self.seconds[: len(parts)], float),
            "parts": parts,
        }


class Leaves(tuple):
    """The arrays of a part of a state that was kept."""

    __slots__ = ()


def whole(state: dict, like: dict) -> dict:
    """Return a state with the structure of another, and what it lacks of that.

    Parameters
    ----------
    state : dict
        As it was, or as it was kept: parts as `Leaves`, without matrices.
    like : dict
        The state at a start.
    """
    made = {}
    for name, value in like.items():
        if name not in state:
            made[name] = value
        elif isinstance(state[name], Leaves):
            made[name] = jax.tree.unflatten(jax.tree.structure(value), state[name])
        else:
            made[name] = state[name]
    if "matrix" in like and "matrix" not in state:
        made["moved"] = np.asarray(YES)  # the matrix is made again
    return made


def resumed(state: dict, *, anew: bool = True) -> dict:
    """Return a state to go on from after the data changed: the loss is looked at anew."""
    changes = {"stop": np.int32(Stop.RUNNING)}
    if anew and "moved" in state:
        changes["moved"] = np.asarray(YES)
    if anew and "best_loss" in state:
        changes["best_loss"] = np.full_like(state["best_loss"], np.inf)
    if anew and "fresh" in state:
        changes["fresh"] = np.asarray(YES)
    # The matrix is made again; of other data it may have another size.
    kept = {name: part for name, part in state.items() if not (anew and name == "matrix")}
    return {**kept, **changes}
