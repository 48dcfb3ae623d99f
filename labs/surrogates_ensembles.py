"""Section 11: whether the disagreement of an ensemble is an error bar."""

import time

import numpy as np
from surrogates import N_MODES, patch, patch_mlp, run_errors, slice_members, the_slice

from assay.surrogate import DeepEnsemble, PCAOutputs

CUT = 4.0  # MPa, the largest stress step in training
RUNS = 400


def measure() -> dict[str, dict[str, float]]:
    """Return what is measured for each fact of this section, and the time of the whole chapter."""
    return {**on_the_slice(), **on_the_patch(), "000-s00-runtime": {"cpu s": time.process_time()}}


def on_the_slice():
    """Train eight networks on the left part of the slice, and look to its right."""
    d = the_slice()
    left = d.x <= 0.2
    members = slice_members((32, 32), d.x[left], d.y[left], size=8)
    each = np.array([member.predict(d.x[:, None]) for member in members])
    spread, error = each.std(axis=0, ddof=1), np.abs(each.mean(axis=0) - d.y)
    found = {}
    for name, rows in (("in", left), ("out", ~left)):
        found[f"000-s11a-{name}-maxerr"] = {"largest error": error[rows].max()}
        found[f"000-s11a-{name}-maxspread"] = {"largest spread": spread[rows].max()}
        found[f"000-s11a-{name}-share"] = {"share": np.mean(error[rows] <= 2.0 * spread[rows])}
    rising = np.diff(each[:, ~left], axis=1) > 0
    return found | {
        "000-s11a-count": {"left": left.sum(), "right": (~left).sum()},
        "000-s11a-wrong-together": {
            "all rise": rising.all(), "lowest at the end": each[:, -1].min(), "truth": d.y[-1],
            "error over spread": error[~left].max() / spread[~left].max(),
        },
        "000-s11a-agree-inside": {
            "error": error[left].max(), "spread": spread[left].max(),
            "outside over inside": error[~left].max() / error[left].max(),
        },
    }  # fmt: skip


def on_the_patch():
    """Train five networks on small stress steps, and test them on larger ones."""
    runs = patch()
    rows = np.flatnonzero(runs.X[:RUNS, 2] <= CUT)
    ensemble = DeepEnsemble(patch_mlp(6000, precision="float32"), size=5)
    model = PCAOutputs(ensemble, modes=N_MODES).fit(runs.X[rows], runs.Y[rows])
    X, Y = runs.X[runs.test], runs.Y[runs.test]
    # The members' spread alone: `predict(return_std=True)` adds what the modes leave over.
    each = model.mean_ + model.scale_ * model.model_.predict_members(X) @ model.components_
    error = run_errors(each.mean(axis=0) - Y)
    spread = run_errors(each.std(axis=0, ddof=1))
    inside = X[:, 2] <= CUT
    numbers = {
        name: {
            "mederr": np.median(error[part]), "medspread": np.median(spread[part]),
            "ratio": np.median(error[part] / spread[part]),
            "share": np.mean(error[part] <= 2.0 * spread[part]),
        }
        for name, part in (("in", inside), ("out", ~inside))
    }  # fmt: skip
    found = {
        f"000-s11b-{name}-{what}": {what: value}
        for name, values in numbers.items()
        for what, value in values.items()
    }
    near, far = numbers["in"], numbers["out"]
    return found | {
        "000-s11b-train-count": {"runs": len(rows)},
        "000-s11b-test-counts": {"inside": inside.sum(), "outside": (~inside).sum()},
        "000-s11b-time": {"seconds": model.model_.fit_seconds_},
        "000-s11b-majority": {
            "inside": near["share"], "outside": far["share"], "gap": near["share"] - far["share"],
        },
        "000-s11b-spread-misleads": {
            what: far[what] / near[what] for what in ("ratio", "mederr", "medspread")
        },
    }  # fmt: skip
