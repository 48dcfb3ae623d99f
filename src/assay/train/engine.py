"""The loop around the compiled chunk: what happens between chunks of steps, on the host."""

import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from assay.train.job import Job
from assay.train.keeper import Keeper
from assay.train.outcome import Fit, FitStatus
from assay.train.spec import FitSpec, Hyper

CHUNK = 100  # steps: long enough to hide the dispatch, short enough to report progress


def fit(
    spec: FitSpec,
    hyper: Hyper,
    x: np.ndarray,
    y: np.ndarray | None = None,
    *,
    seed: int,
    validation: tuple[np.ndarray, np.ndarray | None] | None = None,
    patience: int | None = None,
    checkpoint: Path | str | None = None,
    checkpoint_seconds: float = 5.0,
    progress: Callable[[int, int, float], None] | None = None,
    chunk: int = CHUNK,
) -> Fit:
    """Train the network of `spec` on the rows of `x`.

    Parameters
    ----------
    spec : FitSpec
        What is compiled.
    hyper : Hyper
        Numbers that do not compile again.
    x : array of shape (n_rows, ...) [scaled, of order 1]
        Inputs; floating ones are used in JAX's default float type.
    y : array of shape (n_rows, ...), optional
        Targets; by default the rows of `x` themselves.
    seed : int
        At least 0: of the initial weights, the order of rows, and the loss's random numbers.
    validation : (x, y), optional
        Further rows; the weights of the smallest loss on them are returned. ``(x, None)`` where
        `y` is None.
    patience : int, optional
        Stop after so many validations in a row without a smaller loss; needs `validation`. There
        is a validation at the end of every chunk, or of every few chunks where the validation rows
        outnumber the rows of a chunk.
    checkpoint : path, optional
        File that keeps the state. If it exists and belongs to this very fit, the fit goes on from
        there, and ends bit for bit where an unbroken run ends. It is left there at the end.
    checkpoint_seconds : float [s]
        Least time between two writes of it; 0 writes after every chunk.
    progress : callable, optional
        ``progress(steps_done, steps, training_loss)`` after every chunk.
    chunk : int
        Steps between two looks from the host, at least 1. Another value compiles again.

    Returns
    -------
    Fit
        Ctrl-C ends a fit with the status INTERRUPTED after writing the checkpoint; it does not
        raise, so look at `Fit.status`, or call `Fit.unless_interrupted`.

    Raises
    ------
    StudyError
        If rows do not fit together, there are none, or the checkpoint is damaged or another fit's.

    Examples
    --------
    >>> from assay.nn import MLP
    >>> from assay.train.losses import squared_error
    >>> x = np.linspace(-1.0, 1.0, 50)[:, None]
    >>> spec = FitSpec(build=MLP, build_args=(1, 1, ()), loss=squared_error, batch=50)
    >>> done = fit(spec, Hyper(steps=500, learning_rate=0.05), x, 3.0 * x, seed=0)
    >>> round(float(done.model.layers[0].weight[0, 0]), 2)
    3.0
    """
    started = time.perf_counter()
    job = Job.make(
        spec, hyper, x, y, seed=seed, validation=validation, patience=patience, chunk=chunk
    )
    keeper = Keeper(checkpoint, checkpoint_seconds, job)
    state = keeper.load(job.start())
    earlier = state.seconds
    spent = lambda: earlier + time.perf_counter() - started
    try:
        batch = job.batch(state.step)
        while state.status is None:
            pending = job.dispatch(state, batch)
            # The host prepares the next batches while the device works on these.
            batch = job.batch(state.step + job.layout.chunk)
            state = job.finish(state, pending)
            keeper.save(state, spent(), now=state.status is not None)
            if progress is not None:
                progress(state.step, hyper.steps, state.train[-1])
    except KeyboardInterrupt:
        keeper.save(state, spent(), now=True)
        return job.result(state, state.status or FitStatus.INTERRUPTED, spent())
    return job.result(state, state.status, spent())
