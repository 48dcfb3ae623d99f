"""Assay's side of the benchmark: ``ours.py THREADS EPOCHS [CACHE]``, one JSON line on stdout."""

import json
import sys
import time

from common import BATCH, CODE, COLUMNS, HIDDEN, RATE, images, pin

pin(int(sys.argv[1]))

import equinox as eqx  # noqa: E402 - JAX counts its cores when it is imported
import jax  # noqa: E402
import numpy as np  # noqa: E402

from assay.nn import MLP  # noqa: E402
from assay.train import (  # noqa: E402
    FitSpec,
    Hyper,
    enable_compilation_cache,
    epochs_to_steps,
    fit,
    fit_many,
    predict,
)
from assay.train.job import Job  # noqa: E402
from assay.train.losses import squared_error  # noqa: E402


class Coder(eqx.Module):
    """64-128-8-128-64, as its own class so that nothing but the engine is measured."""

    encoder: MLP
    decoder: MLP

    def __init__(self):
        self.encoder = MLP(COLUMNS, CODE, (HIDDEN,))
        self.decoder = MLP(CODE, COLUMNS, (HIDDEN,), final="sigmoid")

    def __call__(self, x):
        """Code one row and decode it."""
        return self.decoder(self.encoder(x))


def steps_alone(spec, hyper, x):
    """Seconds of the compiled chunks by themselves, with their batches ready."""
    job = Job.make(spec, hyper, x, None, seed=0, validation=None, patience=None, chunk=100)
    state, batches = job.start(), []
    for first in range(0, hyper.steps, job.layout.chunk):
        batches.append(job.batch(first))
    structures = jax.tree.structure(job.initial), jax.tree.structure(job.initial_optimiser)
    leaves = state.parameters, state.optimiser
    (parameters, optimiser, _), _ = job.dispatch(state, batches[0])
    jax.block_until_ready(parameters)
    parameters, optimiser = (jax.tree.unflatten(*p) for p in zip(structures, leaves, strict=True))
    from assay.train.program import run_chunk

    clock = time.perf_counter()
    for i, batch in enumerate(batches):
        parameters, optimiser, _ = run_chunk(
            spec, job.layout, parameters, optimiser, job.traced, job.seed,
            np.int32(i * job.layout.chunk), *batch,
        )  # fmt: skip
        jax.block_until_ready(parameters)
    return time.perf_counter() - clock


def main():
    """Measure and print."""
    epochs = int(sys.argv[2])
    if len(sys.argv) > 3:
        enable_compilation_cache(sys.argv[3])
    x = images()
    spec = FitSpec(build=Coder, loss=squared_error, batch=BATCH)
    hyper = Hyper(steps=epochs_to_steps(len(x), BATCH, epochs), learning_rate=RATE)
    clock = time.perf_counter()
    first = fit(spec, hyper, x, seed=0)
    predict(first.model, x)
    first_s = time.perf_counter() - clock
    again, alone, one_step = [], [], []
    for seed in (1, 2, 3):
        clock = time.perf_counter()
        done = fit(spec, hyper, x, seed=seed)
        predict(done.model, x)
        again.append(time.perf_counter() - clock)
        alone.append(steps_alone(spec, hyper, x))
        clock = time.perf_counter()
        fit(spec, Hyper(steps=1, learning_rate=RATE), x, seed=seed)
        one_step.append(time.perf_counter() - clock)
    clock = time.perf_counter()
    fit_many(spec, hyper, x, seeds=range(4))
    four_s = time.perf_counter() - clock
    result = {
        "first_s": first_s,
        "compile_s": first.compile_seconds,
        "again_s": min(again),
        "steps_alone_s": min(alone),
        "overhead_s": min(again) - min(alone),
        "one_step_fit_s": min(one_step),
        "four_fits_s": four_s,
        "step_us": 1e6 * min(alone) / hyper.steps,
        "mse": float(np.mean((predict(first.model, x) - x) ** 2)),
    }
    print(json.dumps(result))


if __name__ == "__main__":
    main()
