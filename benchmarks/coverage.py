"""Coverage of calibrated 95 % intervals beside the bands of chance: run with Assay's own Python.

    python benchmarks/coverage.py [--only NAME] [--method gp|ensemble] [--folds 5] [--designs 5]

The UCI sets are read from the folder in ASSAY_DATA; without it they are left out.
"""

import argparse
import os
import time
from pathlib import Path

import numpy as np
from sklearn.base import clone

from assay.problems import BOREHOLE, ISHIGAMI, OTL_CIRCUIT, PISTON, WING_WEIGHT, afterslip_runs
from assay.surrogate import (
    CalibratedSurrogate,
    DeepEnsemble,
    GaussianProcess,
    MLPSurrogate,
    PCAOutputs,
    coverage_band,
    fit_conformal,
)  # fmt: skip
from assay.surrogate.calibrated import PROBES, of_all_runs
from assay.surrogate.out_of_fold import out_of_fold

FUNCTIONS = ((BOREHOLE, 40), (OTL_CIRCUIT, 100), (PISTON, 100), (WING_WEIGHT, 100), (ISHIGAMI, 200))
SETS = ("energy", "concrete", "yacht")
TEST_RUNS = 1000


def of_function(problem, n):
    """Return a function from the number of a design to (X, Y, X of tests, Y of tests)."""

    def draw(design):
        X, new = problem.sample(n, design), problem.sample(TEST_RUNS, 1000 + design, kind="random")
        return X, problem(X)[:, 0], new, problem(new)[:, 0]

    return draw


def of_afterslip(n):
    """Return the same for `n` of the 3,200 training runs; the 400 tests are always the same."""
    runs = afterslip_runs()

    def draw(design):
        chosen = np.random.default_rng(design).permutation(3200)[:n]
        return runs.X[chosen], runs.Y[chosen], runs.X[runs.test], runs.Y[runs.test]

    return draw


def of_set(folder, name):
    """Return the same for the splits that a UCI set comes with."""

    def numbers(file):
        return np.loadtxt(folder / name / f"{file}.txt", ndmin=1).astype(int)

    data = np.loadtxt(folder / name / "data.txt")
    X, y = data[:, numbers("index_features")], data[:, numbers("index_target")[0]]

    def draw(split):
        fit, test = numbers(f"index_train_{split}"), numbers(f"index_test_{split}")
        return X[fit], y[fit], X[test], y[test]

    return draw


def problems():
    """Yield (name, function from a design to its runs)."""
    for problem, n in FUNCTIONS:
        yield f"{problem.name} {n}", of_function(problem, n)
    folder = os.environ.get("ASSAY_DATA")
    if folder:
        for name in SETS:
            yield name, of_set(Path(folder) / "uci", name)
    for n in (400, 800):
        yield f"afterslip {n}", of_afterslip(n)


def method(name, outputs, steps, members):
    """Return an unfitted estimator."""
    single = GaussianProcess()
    if name == "ensemble":
        single = DeepEnsemble(MLPSurrogate(steps=steps), members)
    return single if outputs == 1 else PCAOutputs(single)


def main():
    """Print a row for each problem and method."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="part of a problem's name")
    parser.add_argument("--method", choices=("gp", "ensemble"), action="append")
    parser.add_argument("--folds", type=int)
    parser.add_argument("--designs", type=int, default=5)
    parser.add_argument("--members", type=int, default=5)
    parser.add_argument("--steps", type=int, help="of the ensemble's training")
    asked = parser.parse_args()
    print("problem         method       n tests  k  cover    sd folds'     one study     binomial"
          "      of mean  inside       w/rms      s")  # fmt: skip
    for name, draw in problems():
        if asked.only.lower() not in name.lower():
            continue
        for kind in asked.method or ("gp", "ensemble"):
            row(name, draw, kind, asked)


def row(name, draw, kind, asked):
    """Measure one problem with one method, and print it."""
    shares, before, ratios, start = [], [], [], time.perf_counter()
    for design in range(asked.designs):
        X, Y, new, truth = draw(design)
        outputs = 1 if Y.ndim == 1 else Y.shape[1]
        model, as_folds = calibrated(method(kind, outputs, asked.steps, asked.members), X, Y, asked)
        error, half = np.abs(model.predict(new) - truth), model.half_width(new)
        shares.append(np.mean(error <= half))
        before.append(np.mean(error <= as_folds.half_width(new)))
        ratios.append(np.median(half) / np.sqrt(np.mean(error**2)))
    tests, n, share = len(truth), model.conformal_.n, float(np.mean(shares))
    # What one study is held against, and what the mean over these studies is.
    bands = [coverage_band(tests, n), coverage_band(tests, None),
             coverage_band(tests, n, repeats=asked.designs)]  # fmt: skip
    verdict = "/".join("yes" if low <= share <= high else "no" for low, high in bands)
    shown = "".join(f"{f'{low:.3f}-{high:.3f}':>13s}" for low, high in bands)
    seconds = (time.perf_counter() - start) / asked.designs
    print(f"{name:16s}{kind:9s}{n:5d}{tests:6d}{asked.designs:3d} {share:.4f} {np.std(shares):.3f} "
          f"{np.mean(before):.4f}{shown}  {verdict:11s} {np.mean(ratios):5.2f} {seconds:6.1f}",
          flush=True)  # fmt: skip


def calibrated(single, X, Y, asked):
    """Return what `CalibratedSurrogate(single).fit(X, Y)` makes, and with the folds' floor."""
    found = out_of_fold(lambda: clone(single), X, Y, folds=asked.folds or 5, probes=PROBES)
    conformal, model = fit_conformal(found.errors, found.spread), clone(single).fit(X, Y)
    ours = of_all_runs(conformal, found, model)
    return CalibratedSurrogate.of(model, ours), CalibratedSurrogate.of(model, conformal)


if __name__ == "__main__":
    main()
