"""Several networks of one specification: one compilation, as many at a time as there are cores."""

import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

import jax
import numpy as np

from assay.errors import StudyError
from assay.train.engine import CHUNK, fit
from assay.train.outcome import Fit
from assay.train.spec import FitSpec, Hyper


def fit_many(
    spec: FitSpec,
    hypers: Hyper | Sequence[Hyper],
    x: np.ndarray,
    y: np.ndarray | None = None,
    *,
    seeds: int | Sequence[int],
    validation: tuple[np.ndarray, np.ndarray | None] | None = None,
    patience: int | None = None,
    progress: Callable[[int, int, float], None] | None = None,
    chunk: int = CHUNK,
    workers: int | None = None,
) -> list[Fit]:
    """Train several networks that differ in seed or in traced numbers, with one compilation.

    Parameters
    ----------
    spec, x, y, validation, patience, chunk
        See `fit`.
    hypers : Hyper or sequence of Hyper
        One for all, or one a network.
    seeds : int or sequence of int
        One for all, or one a network.
    progress : callable, optional
        ``progress(steps_done, steps, training_loss)``, counted over all networks; called from one
        thread at a time.
    workers : int, optional
        Fits at a time; by default the number of cores on a CPU, and one on any other device.

    Returns
    -------
    list of Fit
        One a network, in order, the same to the bit for any number of workers. Ctrl-C gives all
        that had not ended the status INTERRUPTED.

    Raises
    ------
    StudyError
        If the numbers of `hypers` and `seeds` differ, or as `fit` does.

    Notes
    -----
    Threads, because XLA leaves Python's lock while it computes, and a network of this size keeps
    one core busy. ``vmap`` over networks is no faster on a CPU (docs/why-slow.md).

    Examples
    --------
    >>> from assay.nn import MLP
    >>> from assay.train.losses import squared_error
    >>> x = np.linspace(-1.0, 1.0, 50)[:, None]
    >>> spec = FitSpec(build=MLP, build_args=(1, 1, ()), loss=squared_error, batch=50)
    >>> fits = fit_many(spec, Hyper(steps=300, learning_rate=0.05), x, 3.0 * x, seeds=(0, 1))
    >>> [round(float(one.model.layers[0].weight[0, 0]), 1) for one in fits]
    [3.0, 3.0]
    """
    hypers, seeds = _pairs(hypers, seeds)
    if workers is None:
        workers = _cores() if jax.default_backend() == "cpu" else 1
    board = _Board(progress, hypers)
    # JAX's context managers hold for one thread: hand the caller's settings on.
    x64, device = bool(jax.config.jax_enable_x64), jax.config.jax_default_device

    def one(i):
        if i:
            board.first_is_compiled.wait()
        try:
            with jax.enable_x64(x64), jax.default_device(device):
                return fit(
                    spec,
                    hypers[i],
                    x,
                    y,
                    seed=seeds[i],
                    validation=validation,
                    patience=patience,
                    progress=lambda step, steps, loss: board.tell(i, step, loss),
                    chunk=chunk,
                )
        finally:
            board.first_is_compiled.set()

    with ThreadPoolExecutor(max(1, min(workers, len(seeds)))) as pool:
        futures = [pool.submit(one, i) for i in range(len(seeds))]
        try:
            return [future.result() for future in futures]
        except KeyboardInterrupt:
            # Only the main thread hears Ctrl-C; each fit ends at its next chunk.
            board.stop.set()
            return [future.result() for future in futures]
        except BaseException:
            board.stop.set()  # one fit cannot be done, so the others need not be
            raise


def _pairs(hypers, seeds):
    hypers = [hypers] if isinstance(hypers, Hyper) else list(hypers)
    seeds = [seeds] if isinstance(seeds, int | np.integer) else list(seeds)
    n = max(len(hypers), len(seeds))
    hypers, seeds = hypers * (n if len(hypers) == 1 else 1), seeds * (n if len(seeds) == 1 else 1)
    if len(hypers) != len(seeds) or not n:
        raise StudyError(
            f"`hypers` and `seeds` must be equally many, or one for all, got {len(hypers)} and "
            f"{len(seeds)}.",
            hint="Give one of each for every network.",
        )
    return hypers, seeds


def _cores():
    if hasattr(os, "sched_getaffinity"):  # the cores this process may use, not all there are
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class _Board:
    """What the threads tell each other: progress, the end of compiling, and Ctrl-C."""

    def __init__(self, progress, hypers):
        self.progress = progress
        self.total = sum(hyper.steps for hyper in hypers)
        self.done = [0] * len(hypers)
        self.lock = threading.Lock()
        self.stop = threading.Event()
        # Threads that start together would each compile the same program.
        self.first_is_compiled = threading.Event()

    def tell(self, i, step, loss):
        self.first_is_compiled.set()
        if self.stop.is_set():
            raise KeyboardInterrupt
        with self.lock:
            self.done[i] = step
            if self.progress is not None:
                self.progress(sum(self.done), self.total, loss)
