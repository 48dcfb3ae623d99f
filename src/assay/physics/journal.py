"""What a training has done so far, on disk: a killed fit goes on from there, bit for bit.

Everything between two descents (drawing points, weighing terms, windows) follows from what the
descents returned and is done again; the descents are what takes time, and are read back.
"""

import re
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import numpy as np
from jax.flatten_util import ravel_pytree

from assay.train import checkpoint
from assay.train.checkpoint import CheckpointError
from assay.train.descent import Descent, Leaves, Stop
from assay.train.rows import row_vector

ENDING = ".training"  # of the file, beside the folder of the network
SECONDS = 5.0  # between two writings
LARGE = ("matrix",)  # of a state: made again from the rest


class Journal:
    """Keeps the descents of a training; does nothing without a folder.

    Parameters
    ----------
    folder : path or None
        The file lies beside it, with the ending ``.training``.
    marks : dict of str to str
        What the end of the training depends on, see `marks_of`.

    Attributes
    ----------
    clock : float [s]
        Of `time.perf_counter`, when the training began; what it took before it stopped counts.
    began : float [s]
        When the last descent began, on that clock.
    """

    def __init__(self, folder: Path | str | None, marks: dict[str, str]):
        self.path = None if folder is None else _beside(Path(folder))
        self.marks, self.count, self.last = marks, 0, time.monotonic()
        self.done: list[dict] = []
        self.running: dict | None = None
        self.spent = self.began = 0.0
        found = None if self.path is None else checkpoint.load(self.path, marks)
        if found is not None:
            arrays, rest = found
            self.spent = float(rest["seconds"])
            self.done = [_read(arrays, f"{i}.") for i in range(rest["done"])]
            self.running = _read(arrays, "running.") if rest["running"] else None
        self.clock = time.perf_counter() - self.spent

    def descend(self, method: Callable, params: Any) -> Descent:
        """Return what ``method(keep)`` returns, or what it returned before the training stopped."""
        place, self.count = self.count, self.count + 1
        if place < len(self.done):
            self.began = float(self.done[place]["spent"][2])
            return _descent(self.done[place], params)
        already = 0.0 if self.running is None else float(self.running["seconds"][-1])
        self.began = time.perf_counter() - self.clock - already
        try:
            found = method(self if self.path is not None else None)
        except KeyboardInterrupt:
            self.close()
            raise
        if self.path is not None and found.stop is not Stop.INTERRUPTED:
            for earlier in self.done:  # the next descent starts from the last state alone
                earlier["state"] = {"step": earlier["state"]["step"]}
            self.done.append(_entry(found, self.began))
            self.running = None
            self._write(now=False)
        return found

    def resumed(self) -> tuple[dict, list, list] | None:
        """Return the state, losses and seconds of the descent that was cut off; None without."""
        if self.running is None:
            return None
        kept = self.running
        return kept["state"], list(kept["parts"]), list(kept["seconds"])

    def keep(self, state: dict, parts: list, seconds: list, *, now: bool) -> None:
        """Note where a descent is; written every `SECONDS`, or `now`."""
        if now or time.monotonic() - self.last > SECONDS:
            self.running = {
                "state": _small(state), "parts": np.array(parts, float),
                "seconds": np.array(seconds, float),
            }  # fmt: skip
            self._write(now=True)

    def close(self) -> None:
        """Write what is not yet on disk."""
        if self.path is not None:
            self._write(now=True)

    def _write(self, *, now):
        if not now and time.monotonic() - self.last < SECONDS:
            return
        arrays = {}
        for i, entry in enumerate(self.done):
            arrays |= _written(entry, f"{i}.")
        if self.running is not None:
            arrays |= _written(self.running, "running.")
        rest = {
            "done": len(self.done),
            "running": self.running is not None,
            "seconds": time.perf_counter() - self.clock,
        }
        checkpoint.save(self.path, arrays, rest, self.marks)
        self.last = time.monotonic()


def _beside(folder: Path) -> Path:
    return folder.with_name(folder.name + ENDING)


def fit_kept(estimator: Any, problem: Any, folder: Path) -> None:
    """Fit, going on from what was kept; where that is of another training, begin anew and say so.

    For folders that a study made for itself: between two runs of one command the file that declares
    the problem may have been edited, or a library brought up to date.

    Parameters
    ----------
    estimator : PINN
    problem : Problem
    folder : path
        See `PINN.fit`, which refuses what is another training's.

    Warns
    -----
    UserWarning
        If what was kept cannot be used; it is removed.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    try:
        estimator.fit(problem, checkpoint=folder)
    except CheckpointError as error:
        path = _beside(folder)
        reason = error.message.removeprefix(f"The checkpoint {path} ")
        warnings.warn(
            f"The training starts afresh: what an interrupted run had kept of it {reason}",
            stacklevel=2,
        )
        path.unlink()
        estimator.fit(problem, checkpoint=folder)


def marks_of(settings: dict[str, Any], terms: tuple, params: Any, data: Any) -> dict[str, str]:
    """Return what the end of a training depends on: settings, equation, points, first weights.

    Parameters
    ----------
    settings : dict
        Of the estimator.
    terms, params, data
        Of the first part of the training.
    """
    program = jax.make_jaxpr(lambda p, d: row_vector(terms, p, d))(params, data)
    # Addresses differ between two processes.
    text = re.sub(r"0x[0-9a-f]+", "", str(program.jaxpr))
    numbers = [np.asarray(c) for c in program.consts if hasattr(c, "dtype")]
    leaves = [np.asarray(leaf) for leaf in jax.tree.leaves((params, data))]
    return checkpoint.fingerprint(
        {f"setting {name}": value for name, value in settings.items()}
        | {
            "equation": np.frombuffer(text.encode(), np.uint8),
            "constants": tuple(numbers),
            "points and readings": tuple(leaves),
            "version of jax": jax.__version__,
            "device": jax.default_backend(),
        }
    )


def _entry(found: Descent, began: float) -> dict:
    theta, _ = ravel_pytree(found.params)
    return {
        "theta": np.asarray(theta),
        "stop": np.int32(found.stop),
        "parts": found.history["parts"],
        "seconds": found.history["seconds"],
        "steps": found.history["step"],
        "spent": np.array([found.seconds, found.compile_seconds, began]),
        "state": _small(found.state),
    }


def _descent(entry: dict, params: Any) -> Descent:
    _, unravel = ravel_pytree(params)
    history = {
        "step": entry["steps"],
        "loss": entry["parts"].sum(axis=1),
        "seconds": entry["seconds"],
        "parts": entry["parts"],
    }
    return Descent(
        params=jax.tree.map(np.asarray, unravel(entry["theta"])),
        stop=Stop(int(entry["stop"])),
        history=history,
        steps=int(entry["state"]["step"]),
        seconds=float(entry["spent"][0]),
        compile_seconds=float(entry["spent"][1]),
        state=dict(entry["state"]),
    )


def _small(state: dict) -> dict:
    """Return a state as arrays, or tuples of arrays, without what can be made again."""
    small = {}
    for name, value in state.items():
        if name not in LARGE:
            leaves = Leaves(np.asarray(leaf) for leaf in jax.tree.leaves(value))
            plain = isinstance(value, np.ndarray | np.generic | jax.Array)
            small[name] = leaves[0] if plain else leaves
    return small


def _written(entry: dict, prefix: str) -> dict[str, np.ndarray]:
    arrays = {f"{prefix}{k}": np.asarray(v) for k, v in entry.items() if k != "state"}
    for name, value in entry["state"].items():
        if isinstance(value, Leaves):
            arrays |= {f"{prefix}state.{name}.{i}": leaf for i, leaf in enumerate(value)}
        else:
            arrays[f"{prefix}state.{name}"] = np.asarray(value)
    return arrays


def _read(arrays: dict[str, np.ndarray], prefix: str) -> dict:
    entry, several = {"state": {}}, {}
    for key, array in arrays.items():
        if not key.startswith(prefix):
            continue
        name = key[len(prefix) :]
        if not name.startswith("state."):
            entry[name] = array
            continue
        name, _, number = name.removeprefix("state.").partition(".")
        if number:
            several.setdefault(name, {})[int(number)] = array
        else:
            entry["state"][name] = array
    for name, leaves in several.items():
        entry["state"][name] = Leaves(leaves[i] for i in range(len(leaves)))
    return entry
