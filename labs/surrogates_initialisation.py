"""Section 4: how signal and gradient come through thirty layers before any training."""

import numpy as np
from surrogates import STARTS, float64, layer_gradients

from assay.nn import MLP, Linear, initialise

DEPTH, WIDTH = 30, 64
SCALES = {"s05": 0.5, "s10": 1.0, "s20": 2.0}


def measure() -> dict[str, dict[str, float]]:
    """Return what is measured for each fact of this section."""
    signal, gradient, saturated = {}, {}, {}
    for name, scale in SCALES.items():
        each = [through(scale, seed) for seed in range(STARTS)]
        signal[name], gradient[name], saturated[name] = map(np.array, zip(*each, strict=True))
    found = {"000-s04-variance-rule": variance_rule(), "000-s04-glorot": glorot()}
    for name in SCALES:
        numbers = {
            "spread-l1": signal[name][:, 0], "spread-l30": signal[name][:, -1],
            "grad-l1": gradient[name][:, 0], "grad-l30": gradient[name][:, -1],
            "sat": saturated[name],
        }  # fmt: skip
        for what, values in numbers.items():
            found[f"000-s04-{name}-{what}"] = {"lowest": values.min(), "highest": values.max()}
    return found | patterns(signal, gradient)


def through(scale, seed):
    """Return, per layer, the spread of its output and the size of its gradient; and saturation."""
    x = np.random.default_rng(2).uniform(-1.0, 1.0, (1000, 3))
    y = np.random.default_rng(3).normal(size=(1000, 1))
    with float64():
        net = MLP(3, 1, (WIDTH,) * DEPTH, "tanh")
    net = initialise(net, np.random.default_rng(seed), rule="lecun", scale=scale)
    h, spread = x, []
    for layer in net.layers[:-1]:
        h = np.tanh(h @ layer.weight.T + layer.bias)
        spread.append(h.std())
    gradient = layer_gradients(lambda model: model.layers[:-1], net, x, y)
    return spread, gradient, np.mean(np.abs(h) > 0.99)


def patterns(signal, gradient):
    """Return what holds for every start, with the worst of them."""
    small = signal["s05"]
    ratios = small[:, 4:] / small[:, 3:-1]
    mean_factor = (small[:, -1] / small[:, 0]) ** (1.0 / (DEPTH - 1))
    grows = gradient["s10"][:, -1] / gradient["s10"][:, 0]
    explodes = gradient["s20"][:, 0] / gradient["s20"][:, -1]
    names = list(SCALES)
    first = np.array([gradient[name][:, 0] for name in names])
    last = np.array([signal[name][:, -1] for name in names])
    return {
        "000-s04-shrink-geometric": {
            "mean lowest": mean_factor.min(), "mean highest": mean_factor.max(),
            "layer lowest": ratios.min(), "layer highest": ratios.max(),
        },
        "000-s04-vanish-all": {"largest": gradient["s05"].max()},
        "000-s04-s1-factor10": {
            "lowest": grows.min(), "highest": grows.max(), "signal": signal["s10"][:, -1].min(),
        },
        "000-s04-s2-explodes": {
            "ratio": explodes.min(), "signal": signal["s20"][:, -1].min(),
        },
        "000-s04-order-s": {
            "signal grows": bool(np.all(np.diff(last, axis=0) > 0)),
            "gradient factor": (first[1:] / first[:-1]).min(),
        },
    }  # fmt: skip


def variance_rule():
    """Compare the variance of a weighted sum over many draws with what the rule says."""
    rng = np.random.default_rng(0)
    worst = 0.0
    for scale in SCALES.values():
        x = rng.uniform(-1.0, 1.0, WIDTH)
        many = initialise(Linear(WIDTH, 100_000), rng, rule="lecun", scale=scale)  # a draw a row
        worst = max(worst, abs(np.var(many.weight @ x) / (scale**2 * np.mean(x**2)) - 1.0))
    return {"relative difference": worst}


def glorot():
    """Compare the variance of Glorot's weights with 2 / (inputs + outputs)."""
    weight = initialise(Linear(700, 1300), np.random.default_rng(0), rule="glorot").weight
    return {"variance over formula": np.var(weight) * (700 + 1300) / 2.0}
