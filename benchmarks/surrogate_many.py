"""What many networks at once cost against one: ``surrogate_many.py THREADS``, one JSON line."""

import json
import statistics
import sys
import time

from common import SURROGATE_RATE, pin, runs

pin(int(sys.argv[1]))

from assay.surrogate import DeepEnsemble, MLPSurrogate  # noqa: E402 - JAX counts its cores
from assay.train import FitSpec, Hyper, fit, fit_many, trace_count  # noqa: E402

STEPS, TURNS = 2000, 5


def clocked(function):
    """Return the seconds that a call takes on the wall clock."""
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def main():
    """Measure in turns, and print the medians of the ratios."""
    x, y = runs()
    member = MLPSurrogate(hidden=(64, 64, 64), activation="tanh", steps=STEPS, batch=None)
    ready = member.prepare(x, y)
    spec: FitSpec = ready.spec
    hypers = [
        Hyper(steps=STEPS, learning_rate=SURROGATE_RATE * 2.0 ** (i / 4 - 3)) for i in range(20)
    ]

    def one():
        fit(spec, hypers[0], ready.x, ready.y, seed=0)

    sides = {
        "five": lambda: DeepEnsemble(member, 5).fit(x, y),
        "twenty_seeds": lambda: fit_many(spec, hypers[0], ready.x, ready.y, seeds=range(20)),
        "twenty_rates": lambda: fit_many(spec, hypers, ready.x, ready.y, seeds=[0] * 20),
    }
    member.fit(x, y)
    one()
    before = trace_count()
    for run in sides.values():
        run()
    traces = trace_count() - before
    found = {"traces": traces}
    for name, run in sides.items():
        single = one if name != "five" else lambda: member.fit(x, y)
        found[name] = statistics.median(clocked(run) / clocked(single) for _ in range(TURNS))
    print(json.dumps(found))


if __name__ == "__main__":
    main()
