"""What five networks cost against one: run with Assay's own Python on an idle machine."""

import statistics
import time

import numpy as np

from assay.surrogate import DeepEnsemble, MLPSurrogate


def clocked(function):
    """Return the seconds that a call takes on the wall clock."""
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def main():
    """Measure in turns and print the ratio; the bar is 5.2."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-1.0, 1.0, (400, 3))
    Y = np.sin(X @ np.array([1.0, 2.0, 3.0]))
    member = MLPSurrogate(steps=4000)
    DeepEnsemble(member, 2).fit(X, Y)  # compiles
    member.fit(X, Y)
    ratios = [
        clocked(lambda: DeepEnsemble(member).fit(X, Y)) / clocked(lambda: member.fit(X, Y))
        for _ in range(7)
    ]
    print(f"five members cost {statistics.median(ratios):.2f} times one (bar 5.2), "
          f"from {min(ratios):.2f} to {max(ratios):.2f}")  # fmt: skip


if __name__ == "__main__":
    main()
