"""Section 7: the same network and steps, in four combinations of units."""

import numpy as np
from surrogates import Modes, patch, patch_mlp, rms

STEPS, RATE, RUNS = 3000, 3e-3, 800


def measure() -> dict[str, dict[str, float]]:
    """Return what is measured for each fact of this section."""
    runs = patch()
    X, Y, held = runs.X[:RUNS], runs.Y[:RUNS], runs.validation
    modes = Modes.of(Y)
    spread = rms(runs.Y[held] - runs.Y[held].mean(axis=0))
    error, nets = {}, {}
    for name, inputs, unit in (
        ("a", "none", 1.0), ("b", "unit", 1.0),
        ("c", "unit", modes.scale), ("d", "none", modes.scale),
    ):  # fmt: skip
        net = patch_mlp(STEPS, input_scaling=inputs, output_scaling="none", precision="float32")
        net.fit(X, modes.coefficients(Y) / unit)
        error[name] = rms(modes.outputs(unit * net.predict(runs.X[held])) - runs.Y[held])
        nets[name] = net
    a, b, c, d = (error[name] for name in "abcd")
    start, end = (net.model_.layers[-1].weight for net in (nets["a"].untrained_, nets["a"]))
    return {
        "000-s07-a-rms": {"rms": a},
        "000-s07-b-rms": {"rms": b, "beside a": abs(a - b)},
        "000-s07-c-rms": {"rms": c},
        "000-s07-d-rms": {"rms": d},
        "000-s07-spread": {"spread": spread},
        "000-s07-scaling-c-vs-a": {
            "scaled": max(c, d), "raw": min(a, b), "ratio": min(a, b) / max(c, d),
        },
        "000-s07-raw-near-spread": {"a": a / spread, "b": b / spread},
        "000-s07-input-scaling-minor": {
            "ratio": c / d, "share of the log": abs(np.log(c / d)) / np.log(a / c),
        },
        "000-s07-step-bound-weight": {"weight": modes.scale / 64.0},
        "000-s07-step-bound-steps": {"steps": modes.scale / 64.0 / RATE},
        "000-s07-adam-step-bound": {"largest change": np.abs(end - start).max()},
        "000-s07-orthonormal-loss": orthonormal(modes),
    }  # fmt: skip


def orthonormal(modes):
    """Compare an error of the coefficients with the error in millimetres that it makes."""
    error = np.random.default_rng(0).normal(size=(1000, len(modes.axes)))
    squares = np.sum(error**2)
    return {
        "modes": np.abs(modes.axes @ modes.axes.T - np.eye(len(modes.axes))).max(),
        "loss": abs(np.sum((error @ modes.axes) ** 2) / squares - 1.0),
    }
