"""Section 3: the chain rule by hand against autodiff, and what a gradient costs."""

import time

import numpy as np
from surrogates import N_MODES, float64, slice_members, the_slice

from assay.nn import MLP, initialise, n_parameters

WIDTHS = (8, 32, 128, 512)
REPEATS = 40


def measure() -> dict[str, dict[str, float]]:
    """Return what is measured for each fact of this section."""
    return {**by_hand(), **cost()}


def by_hand():
    """Write the gradient of a network of four neurons out, at fitted and at random weights."""
    d = the_slice()
    x, y = d.x[:, None], d.scaled[:, None]
    fitted = slice_members((4,), d.x, d.y)[0].model_
    worst = dict.fromkeys(("w1", "b1", "w2", "b2"), 0.0)
    for seed in range(5):
        other = initialise(fitted, np.random.default_rng(seed))  # biases too
        for name, (ours, theirs) in both_ways(other, x, y).items():
            off = np.abs(ours - theirs).max() / np.abs(theirs).max()
            worst[name] = max(worst[name], off)
    found, largest = {}, 0.0
    for name, (ours, theirs) in both_ways(fitted, x, y).items():
        found[f"000-s03-hand-vs-auto-{name}"] = {
            "fitted": np.abs(ours - theirs).max(), "random": worst[name],
        }  # fmt: skip
        largest = max(largest, np.abs(theirs).max())
    return found | {"000-s03-grad-values": {"largest": largest}}


def both_ways(model, x, y):
    """Return, for each array of weights, the gradient by hand and by autodiff."""
    import jax
    import jax.numpy as jnp

    (w1, b1), (w2, b2) = ((layer.weight, layer.bias) for layer in model.layers)
    h = np.tanh(x @ w1.T + b1)
    r = 2.0 * (h @ w2.T + b2 - y) / len(x)
    delta = (r @ w2) * (1.0 - h**2)
    hand = (delta.T @ x, delta.sum(axis=0), r.T @ h, r.sum(axis=0))
    with float64():
        gradient = jax.grad(lambda net: jnp.mean((jax.vmap(net)(x) - y) ** 2))(
            jax.tree.map(jnp.asarray, model)
        )
    first, last = gradient.layers
    auto = (first.weight, first.bias, last.weight, last.bias)
    pairs = [(ours, np.asarray(theirs)) for ours, theirs in zip(hand, auto, strict=True)]
    return dict(zip(("w1", "b1", "w2", "b2"), pairs, strict=True))


def cost():
    """Time the loss and its gradient for networks of growing width."""
    found, ratio, saved = {}, [], []
    for width in WIDTHS:
        count, forward, gradient = timed(width)
        ratio.append(gradient / forward)
        saved.append(2 * count * forward / gradient)
        found[f"000-s03-params-w{width}"] = {"parameters": count, "passes": 2 * count}
        found[f"000-s03-time-w{width}"] = {"ratio": ratio[-1]}
    return found | {
        "000-s03-cost-ratio-bounded": {"largest": max(ratio)},
        "000-s03-fd-growth": {"growing": bool(np.all(np.diff(saved) > 0)), "widest": saved[-1]},
    }


def timed(width):
    """Return the number of parameters, and the seconds of the loss and of its gradient.

    The fastest of repeats by turns: other work on the machine can only slow one down.
    """
    import jax
    import jax.numpy as jnp

    with float64():
        x = np.random.default_rng(0).uniform(-1.0, 1.0, (1000, 3))
        y = np.random.default_rng(1).normal(size=(1000, N_MODES))
        net = MLP(3, N_MODES, (width,) * 3, "tanh")
        net = initialise(net, np.random.default_rng(2), rule="lecun")
        net = jax.tree.map(jnp.asarray, net)
        loss = jax.jit(lambda net: jnp.mean((jax.vmap(net)(x) - y) ** 2))
        gradient = jax.jit(jax.grad(loss))
        spent = {loss: [], gradient: []}
        for function in spent:
            jax.block_until_ready(function(net))
        for _ in range(REPEATS):
            for function, seconds in spent.items():
                start = time.perf_counter()
                jax.block_until_ready(function(net))
                seconds.append(time.perf_counter() - start)
    return n_parameters(net), min(spent[loss]), min(spent[gradient])
