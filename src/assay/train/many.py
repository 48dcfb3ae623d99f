"""Several networks of one specification: one compilation, as many at a time as there are cores."""

import contextlib
import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

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
    checkpoint: Path | str | None = None,
    checkpoint_seconds: float = 5.0,
    progress: Callable[[int, int, float], None] | None = None,
    chunk: int = CHUNK,
    workers: int | None = None,
) -> list[Fit]:
    """Train several networks that differ in seed or in traced numbers, with one compilation.

    Parameters
    ----------
    spec, x, y, validation, patience, checkpoint_seconds, chunk
        See `fit`.
    hypers : Hyper or sequence of Hyper
        One for all, or one a network.
    seeds : int or sequence of int
        One for all, or one a network.
    checkpoint : path, optional
        Folder with a file for each network (``0``, ``1``, ...) of the kind that `fit` keeps. A
        network whose fit had ended is read back, the others go on. More networks may join later.
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
        If the numbers of `hypers` and `seeds` differ, `checkpoint` is a file, or as `fit` does.

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
    paths = _paths(checkpoint, len(seeds))
    if workers is None:
        workers = cores()
    board = _Board(progress, hypers)
    # JAX's context managers hold for one thread: hand the caller's settings on.
    x64, device = bool(jax.config.jax_enable_x64), jax.config.jax_default_device

    def one(i):
        with board.turn(i), jax.enable_x64(x64), jax.default_device(device):
            return fit(
                spec,
                hypers[i],
                x,
                y,
                seed=seeds[i],
                validation=validation,
                patience=patience,
                checkpoint=paths[i],
                checkpoint_seconds=checkpoint_seconds,
                progress=lambda step, steps, loss: board.tell(i, step, loss),
                chunk=chunk,
            )

    with ThreadPoolExecutor(max(1, min(workers, len(seeds)))) as pool:
        futures = []
        try:
            futures += [pool.submit(one, i) for i in range(len(seeds))]
            return [future.result() for future in futures]
        except KeyboardInterrupt:
            # Only the main thread hears Ctrl-C; each fit ends at its next chunk.
            board.stop.set()
            if len(futures) < len(seeds):  # it came before they were all told to begin
                raise
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


def _paths(folder, n):
    if folder is None:
        return [None] * n
    folder = Path(folder)
    if folder.exists() and not folder.is_dir():
        raise StudyError(
            f"The checkpoint of several networks must be a folder, and {folder} is a file.",
            hint="Give another path, or delete the file if it is of no use any more.",
        )
    return [folder / str(i) for i in range(n)]


def cores() -> int:
    """Return how many fits run at a time by default."""
    if jax.default_backend() != "cpu":
        return 1
    if hasattr(os, "sched_getaffinity"):  # the cores this process may use, not all there are
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class _Board:
    """What the threads tell each other: progress, whose turn it is to compile, and Ctrl-C."""

    def __init__(self, progress, hypers):
        self.progress = progress
        self.total = sum(hyper.steps for hyper in hypers)
        self.done = [0] * len(hypers)
        self.lock = threading.Lock()
        self.stop = threading.Event()
        # Threads that start together would each compile the same program. One at a time gets to
        # the end of its first chunk, until one has compiled; one read from a checkpoint has not.
        self.compiled = threading.Event()
        self.gate = threading.Lock()
        self.through = None  # the fit that the gate has let in

    @contextlib.contextmanager
    def turn(self, i):
        """Wait until the fit may begin."""
        if not self.compiled.is_set():
            self.gate.acquire()
            self.through = i
            if self.compiled.is_set():
                self._open(i)
        try:
            yield
        finally:
            self._open(i)

    def tell(self, i, step, loss):
        self.compiled.set()
        self._open(i)
        if self.stop.is_set():
            raise KeyboardInterrupt
        with self.lock:
            self.done[i] = step
            if self.progress is not None:
                self.progress(sum(self.done), self.total, loss)

    def _open(self, i):
        """Let the next fit in, if it is this one that kept it waiting."""
        if self.through == i:
            self.through = None
            self.gate.release()
