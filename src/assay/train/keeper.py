"""When the state of a fit goes to its checkpoint, and in which form."""

import dataclasses
import time
from pathlib import Path

import jax
import numpy as np

from assay.train import checkpoint
from assay.train.job import Job
from assay.train.outcome import FitStatus
from assay.train.spec import Hyper
from assay.train.state import State

_TREES = ("parameters", "optimiser", "best")
_NUMBERS = ("step", "best_step", "best_loss", "since_best", "compile_seconds")


class Keeper:
    """Writes the state now and then, and reads it back; does nothing without a path."""

    def __init__(self, path: Path | str | None, seconds: float, job: Job):
        self.path = None if path is None else Path(path)
        self.seconds = seconds
        self.marks = {} if path is None else _marks(job)
        self._last = time.monotonic()

    def load(self, start: State) -> State:
        """Return the kept state of this very fit, or `start` if there is none."""
        found = None if self.path is None else checkpoint.load(self.path, self.marks)
        if found is None:
            return start
        arrays, rest = found
        trees = {
            name: [arrays[f"{name}.{i}"] for i in range(len(getattr(start, name)))]
            for name in _TREES
        }
        return State(
            **trees,
            **rest["numbers"],
            losses=(arrays["losses"],),
            steps=tuple(arrays["steps"].tolist()),
            train=tuple(arrays["train"].tolist()),
            validation=tuple(arrays["validation"].tolist()),
            seconds=rest["seconds"],
            status=None if rest["status"] is None else FitStatus(rest["status"]),
        )

    def save(self, state: State, seconds: float, *, now: bool = False) -> None:
        """Write the state if the last time is long enough ago, or `now`."""
        if self.path is None or (not now and time.monotonic() - self._last < self.seconds):
            return
        arrays = {
            "losses": np.concatenate(state.losses or ([],)),
            "steps": np.array(state.steps, np.int64),
            "train": np.array(state.train, np.float64),
            "validation": np.array(state.validation, np.float64),
        }
        for name in _TREES:
            for i, leaf in enumerate(getattr(state, name)):
                arrays[f"{name}.{i}"] = np.asarray(leaf)
        rest = {
            "numbers": {name: getattr(state, name) for name in _NUMBERS},
            "seconds": seconds,
            "status": None if state.status is None else state.status.value,
        }
        checkpoint.save(self.path, arrays, rest, self.marks)
        self._last = time.monotonic()


def _marks(job):
    """Everything that the end of a fit depends on."""
    validation = job.validation or (None, None)
    return checkpoint.fingerprint(
        {f"spec.{f.name}": getattr(job.spec, f.name) for f in dataclasses.fields(job.spec)}
        | {f"hyper.{f.name}": getattr(job.hyper, f.name) for f in dataclasses.fields(Hyper)}
        | {
            "x": job.x,
            "y": job.y,
            "validation x": validation[0],
            "validation y": validation[1],
            "seed": int(job.seed),
            "patience": job.patience,
            "chunk": job.layout.chunk,
            # Another compiler or device may round differently, and the ends would not be equal.
            "version of jax": jax.__version__,
            "device": jax.default_backend(),
            "float64": bool(jax.config.jax_enable_x64),
        }
    )
