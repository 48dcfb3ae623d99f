"""What changes in a fit, and how it changes at the end of a chunk of steps."""

import dataclasses
import math

import jax
import numpy as np

from assay.train.outcome import FitStatus


@dataclasses.dataclass(frozen=True)
class State:
    """All that changes in a fit; replaced as a whole after each chunk, so never half done.

    `parameters`, `optimiser` and `best` are lists of arrays, the leaves of their trees. Without
    validation rows `best` are the weights at the start of the chunk of the smallest training loss:
    that loss was measured on them, so they are known to be sound.
    """

    parameters: list
    optimiser: list
    best: list
    step: int = 0
    best_step: int = 0
    best_loss: float = math.inf
    since_best: int = 0
    losses: tuple = ()  # arrays of per-step losses, one a chunk
    steps: tuple = ()
    train: tuple = ()
    validation: tuple = ()
    status: FitStatus | None = None
    seconds: float = 0.0  # of earlier runs, if the fit was resumed
    compile_seconds: float = 0.0


def after_chunk(state: State, parameters, optimiser, losses, *, compiling: float) -> State:
    """Take over what the device computed for a chunk; `losses` are those of its steps."""
    finite = bool(np.isfinite(losses).all())
    mean = float(np.mean(losses, dtype=float)) if finite else math.nan
    done = state.step + len(losses)
    return dataclasses.replace(
        state,
        parameters=jax.tree.leaves(parameters),
        optimiser=jax.tree.leaves(optimiser),
        step=done,
        losses=(*state.losses, losses),
        steps=(*state.steps, done),
        train=(*state.train, mean),
        validation=(*state.validation, math.nan),
        status=None if finite else FitStatus.NONFINITE,
        compile_seconds=state.compile_seconds + compiling,
    )


def keep_best_start(before: State, after: State) -> State:
    """Without validation: keep the weights that the chunk started from if its loss is the least."""
    if after.train[-1] >= before.best_loss:
        return after
    return dataclasses.replace(
        after, best=before.parameters, best_loss=after.train[-1], best_step=before.step
    )


def after_validation(state: State, loss: float, patience: int | None) -> State:
    """Take over a validation loss: keep the weights if it is the least, else lose patience."""
    state = dataclasses.replace(state, validation=(*state.validation[:-1], loss))
    if not math.isfinite(loss):
        return dataclasses.replace(state, status=FitStatus.NONFINITE)
    if loss < state.best_loss:
        return dataclasses.replace(
            state, best=state.parameters, best_loss=loss, best_step=state.step, since_best=0
        )
    since = state.since_best + 1
    stop = patience is not None and since >= patience
    return dataclasses.replace(
        state, since_best=since, status=FitStatus.STOPPED_EARLY if stop else None
    )


def at_last_step(state: State, per_epoch: int) -> State:
    """Give a fit that used all its steps a status."""
    if not all(np.isfinite(np.asarray(leaf)).all() for leaf in state.parameters):
        return dataclasses.replace(state, status=FitStatus.NONFINITE)
    flat = has_flattened(np.concatenate(state.losses), per_epoch)
    return dataclasses.replace(state, status=FitStatus.CONVERGED if flat else FitStatus.BUDGET)


def has_flattened(losses: np.ndarray, per_epoch: int) -> bool:
    """Whether the mean loss of the last tenth of the steps is hardly below the tenth before.

    "Hardly" is by less than 1 % of it, and by less than a twentieth of the whole fall since the
    first tenth: a tiny learning rate also changes little at a time, but as much at the end as at
    the start. A tenth is an epoch at least; False if there are not two of them.

    Examples
    --------
    >>> has_flattened(1.0 + np.exp(-np.arange(1000) / 100.0), per_epoch=10)
    True
    >>> has_flattened(np.exp(-np.arange(1000) / 100.0), per_epoch=10)
    False
    >>> has_flattened(1.0 - 1e-5 * np.arange(1000), per_epoch=10)
    False
    """
    window = max(len(losses) // 10, per_epoch)
    if len(losses) < 2 * window:
        return False
    first = losses[:window].mean(dtype=float)
    before = losses[-2 * window : -window].mean(dtype=float)
    last = losses[-window:].mean(dtype=float)
    return bool(before - last < min(0.01 * abs(before), 0.05 * max(first - last, 0.0)))
