"""Assay's side: ``physics_ours.py THREADS adam STEPS``, ``... oscillator 0``, ``... burgers S``."""

import json
import sys
import time

from common import OSCILLATOR_POINTS, PHYSICS_LAYERS, PHYSICS_RATE, PHYSICS_WIDTH, burgers_grid, pin

pin(int(sys.argv[1]))

import numpy as np  # noqa: E402 - JAX counts its cores when it is imported

from assay.physics.gallery import burgers, oscillator  # noqa: E402
from assay.physics.pinn import PINN  # noqa: E402


def adam(steps):
    """Return microseconds a step of Adam, float32, conditions as terms: the same work as peers."""
    settings = {
        "hidden": (PHYSICS_WIDTH,) * PHYSICS_LAYERS, "optimiser": "adam", "conditions": "soft",
        "learning_rate": PHYSICS_RATE, "points": OSCILLATOR_POINTS, "precision": "float32",
    }  # fmt: skip
    PINN(steps=steps, **settings).fit(oscillator())
    network = PINN(steps=steps, random_state=1, **settings).fit(oscillator())
    seconds = network.fit_seconds_ - network.compile_seconds_
    return {"step_us": 1e6 * seconds / network.steps_}


class Watch:
    """Note when the error first falls below each target; looking is not charged."""

    def __init__(self, points, exact, targets):
        self.points, self.exact = points, exact
        self.reached = dict.fromkeys(targets)
        self.looking, self.start = 0.0, time.perf_counter()

    def __call__(self, step, predict):
        """Look."""
        clock = time.perf_counter()
        error = np.linalg.norm(np.asarray(predict(self.points))[:, 0] - self.exact)
        error /= np.linalg.norm(self.exact)
        for target, seen in self.reached.items():
            if error <= target and seen is None:
                self.reached[target] = clock - self.start - self.looking
        self.looking += time.perf_counter() - clock


def watched(problem, points, exact, target, **settings):
    """Fit twice, the first time to compile; return seconds to the target, and the end."""
    cold = Watch(points, exact, (target,))
    first = PINN(**settings).fit(problem, watch=cold)
    watch = Watch(points, exact, (target,))
    network = PINN(random_state=1, **settings).fit(problem, watch=watch)
    error = np.linalg.norm(network.predict(points)[:, 0] - exact) / np.linalg.norm(exact)
    return {
        "reached_s": watch.reached[target], "seconds": network.fit_seconds_ - watch.looking,
        "compile_s": first.compile_seconds_, "error": float(error),
        "cold_s": cold.reached[target],
    }  # fmt: skip


def main():
    """Measure and print."""
    which, amount = sys.argv[2], int(sys.argv[3])
    if which == "adam":
        found = adam(amount)
    elif which == "oscillator":
        points = np.linspace(0.0, 2.0, 1000)[:, None]
        exact = oscillator().exact_at(points)[:, 0]
        found = watched(oscillator(), points, exact, 4e-4)
    else:
        found = watched(burgers(), *burgers_grid(), 0.01, seconds=float(amount))
    print(json.dumps(found))


if __name__ == "__main__":
    main()
