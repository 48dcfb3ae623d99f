"""Sections 1 and 2: what neurons contribute, and how the error falls with the width."""

import numpy as np
from surrogates import N_MODES, Modes, float64, in_float64, patch, rms, slice_members, the_slice

from assay.nn import MLP, activation, from_arrays, n_parameters
from assay.problems.afterslip import NOISE_MM

WIDTHS = (1, 2, 4, 8, 16, 64)
POINT = 120

# The chapter's fitted network of four neurons, weights and bias of each, then output weights.
W1 = np.array([-3.1676326, 1.96260371, 1.79335978, 1.33761391])
B1 = np.array([2.60370187, 1.35987035, -1.32051943, 0.07266317])
W2 = np.array([1.34468686, 1.41010265, -1.35294317, 1.269225])
B2 = -2.85325834


def measure() -> dict[str, dict[str, float]]:
    """Return what is measured for each fact of these sections."""
    d = the_slice()
    nets = {width: slice_members((width,), d.x, d.y) for width in WIDTHS}
    return {**problems(), **functions(), **forward_pass(), **taken_apart(nets[4]), **widths(nets)}


def problems():
    """Describe the two problems."""
    d, runs = the_slice(), patch()
    rises, top = np.diff(d.y) > 0, int(d.y.argmax())
    return {
        "000-s00-slice-min": {"min": d.y.min()},
        "000-s00-slice-max": {"max": d.y.max()},
        "000-s00-slice-count": {"runs": len(d.y)},
        "000-s00-slice-bump": {
            "top": top, "rises before": rises[:top].all(), "falls after": not rises[top:].any(),
            "end over top": d.y[-1] / d.y[top],
        },
        "000-s00-noise": {"sigma": NOISE_MM},
        "000-s00-split": {
            "training": len(runs.X[runs.train]), "validation": len(runs.X[runs.validation]),
            "test": len(runs.X[runs.test]), "modes": N_MODES,
        },
        "000-s00-zscale800": {"scale": Modes.of(runs.Y[:800]).scale},
        "000-s00-epochs": {"epochs": len(runs.times)},
        "000-s01-we-input": {"log v0": d.log_v0[POINT], "x": d.x[POINT]},
        "000-s01-we-true": {"true": d.y[POINT]},
    }  # fmt: skip


def functions():
    """Look at the two activation functions on [-3, 3]."""
    a = np.linspace(-3.0, 3.0, 601)
    with float64():
        tanh, relu = (np.asarray(activation(name)(a)) for name in ("tanh", "relu"))
    return {
        "000-s01-tanh-range": {
            "largest size": np.abs(tanh).max(), "odd": np.abs(tanh + tanh[::-1]).max(),
        },
        "000-s01-relu-def": {"difference": np.abs(relu - np.maximum(a, 0.0)).max()},
    }  # fmt: skip


def forward_pass():
    """Go through the chapter's network by hand, and through a network of the library."""
    d = the_slice()
    a = W1 * d.x[POINT] + B1
    parts = np.tanh(a) * W2
    f = parts.sum() + B2
    model = four_neurons(W1, B1, W2, B2)
    output = in_float64(model, d.x[POINT : POINT + 1, None])[0, 0]
    hand, network = (value * d.spread + d.mean for value in (f, output))
    neurons = {
        f"000-s01-we-n{j + 1}": {"a": a[j], "tanh": np.tanh(a[j]), "contribution": parts[j]}
        for j in range(4)
    }
    return neurons | {
        "000-s01-we-sum": {"f": f},
        "000-s01-we-mm": {"hand": hand, "network": network, "difference": abs(hand - network)},
    }


def four_neurons(w1, b1, w2, b2):
    """Return a library network with these weights."""
    arrays = {
        "layers.0.weight": w1[:, None], "layers.0.bias": b1,
        "layers.1.weight": w2[None, :], "layers.1.bias": np.array([b2]),
    }  # fmt: skip

    with float64():
        return from_arrays(MLP, (1, 1, (4,), "tanh"), arrays)


def taken_apart(nets):
    """Add up what the four neurons contribute; swap two of them, and flip one."""
    d, worst = the_slice(), {"sum": 0.0, "swapped": 0.0, "flipped": 0.0}
    errors = []
    for net in nets:
        first, last = net.model_.layers
        w1, b1, w2, b2 = first.weight[:, 0], first.bias, last.weight[0], last.bias[0]
        own = net.predict(d.x[:, None])
        parts = np.tanh(d.x[:, None] * w1 + b1) * w2 * d.spread
        total = parts.sum(axis=1) + b2 * d.spread + d.mean
        order, sign = [1, 0, 2, 3], np.array([-1.0, 1.0, 1.0, 1.0])
        twins = {
            "swapped": four_neurons(w1[order], b1[order], w2[order], b2),
            "flipped": four_neurons(w1 * sign, b1 * sign, w2 * sign, b2),
        }
        differences = {"sum": total - own}
        for name, twin in twins.items():
            differences[name] = in_float64(twin, d.x[:, None])[:, 0] * d.spread + d.mean - own
        for name, difference in differences.items():
            worst[name] = max(worst[name], np.abs(difference).max())
        errors.append(rms(own - d.y))
    return {
        "000-s01-fit4-rms": {"worst": max(errors), "median": np.median(errors)},
        "000-s01-fit4-sum": {"difference": worst.pop("sum")},
        "000-s01-symmetry": worst,
    }


def widths(nets):
    """Compare widths, each over several starts."""
    d = the_slice()
    fits = {w: np.array([net.predict(d.x[:, None]) for net in nets[w]]) for w in WIDTHS}
    error = {w: np.array([rms(one - d.y) for one in fits[w]]) for w in WIDTHS}
    middle = {w: float(np.median(error[w])) for w in (4, 8, 16, 64)}
    steps = np.diff(fits[1], axis=1)
    monotone = [np.all(one > 0) or np.all(one < 0) for one in steps]
    count = {f"width {w}": n_parameters(nets[w][0].model_) for w in WIDTHS}
    found = {
        f"000-s02-width{w}-rms": {"lowest": error[w].min(), "highest": error[w].max()}
        for w in (1, 8, 64)
    }
    return found | {
        "000-s02-width16-rms": {"median": middle[16], "highest": error[16].max()},
        "000-s02-width2-rms": {"best": error[2].min()},
        "000-s02-width4-rms": {"worst": error[4].max(), "median": middle[4]},
        "000-s02-param-counts": count,
        "000-s02-one-neuron-no-bump": {
            "monotone": all(monotone), "width 1": error[1].min(), "width 2": error[2].min(),
            "ratio": error[1].min() / error[2].min(),
        },
        "000-s02-plateau": {
            "largest over smallest": max(middle.values()) / min(middle.values()),
            "smallest": min(middle.values()),
        },
        "000-s02-below-sigma": {
            "widest of the best": max(error[w].min() for w in WIDTHS[1:]),
            "width 1": error[1].min(),
        },
    }  # fmt: skip
