"""A fit that kills itself: ``killed_fit.py CHECKPOINT OUT MODE MOMENT N`` (run by the tests).

MOMENT is what is counted, N the count at which the process ends without warning: ``progress`` (a
chunk has ended), ``fsync`` (a checkpoint is half on its way to the disk), ``replace`` (it is about
to take its place), or ``never``. Prints a line after every chunk.
"""

import os
import signal
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from assay.nn import to_arrays
from assay.train import Hyper, fit, fit_many
from train.common import CODER, rows

SETTINGS = {
    "plain": {"hyper": Hyper(steps=90, learning_rate=3e-3), "more": {}},
    "stopping": {
        "hyper": Hyper(steps=3000, learning_rate=0.03),
        "more": {"validation": (rows(40, seed=1), None), "patience": 3},
    },
}


def run(mode, checkpoint, progress=None):
    """Fit with a checkpoint after every chunk of 10 steps."""
    if mode == "many":
        return several(checkpoint, progress)
    setting = SETTINGS[mode]
    return fit(
        CODER, setting["hyper"], rows(), seed=4, chunk=10,
        checkpoint=checkpoint, checkpoint_seconds=0.0, progress=progress, **setting["more"],
    )  # fmt: skip


def several(checkpoint, progress=None, workers=2):
    """Fit three networks with checkpoints after every chunk of 10 steps."""
    return fit_many(
        CODER, [Hyper(steps=60), Hyper(steps=90), Hyper(steps=40)], rows(), seeds=(4, 5, 6),
        chunk=10, checkpoint=checkpoint, checkpoint_seconds=0.0, progress=progress,
        workers=workers,
    )  # fmt: skip


def everything(done):
    """All that a fit, or several, ends with, as arrays."""
    if isinstance(done, list):
        each = enumerate(map(everything, done))
        return {f"{i}.{name}": array for i, one in each for name, array in one.items()}
    history = {f"history.{n}": getattr(done.history, n) for n in ("steps", "train", "validation")}
    ends = {"steps": np.array(done.steps), "best": np.array(done.best_step)}
    return to_arrays(done.model) | history | ends | {"status": np.array(done.status.value)}


def main(checkpoint, out, mode, moment, n):
    left = int(n)

    def count(name):
        nonlocal left
        if name == moment:
            left -= 1
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)

    def counted(name, function):
        def wrapped(*arguments):
            count(name)
            return function(*arguments)

        return wrapped

    def progress(step, steps, loss):
        print(step, flush=True)
        count("progress")

    os.fsync, os.replace = counted("fsync", os.fsync), counted("replace", os.replace)
    np.savez(out, **everything(run(mode, Path(checkpoint), progress)))


if __name__ == "__main__":
    main(*sys.argv[1:])
