"""Section 5: gradient descent, momentum and Adam, each at six learning rates."""

import numpy as np
from surrogates import STARTS, float64, in_float64, rms, spec, the_slice

from assay.nn import to_arrays
from assay.surrogate import MLPSurrogate
from assay.train import FitStatus, Hyper, fit, fit_many

RATES = (1e-3, 3e-3, 1e-2, 3e-2, 1e-1, 3e-1)
OPTIMISERS = {"gd": "sgd", "mom": "momentum", "adam": "adam"}
STEPS = 3000
NET = (1, 1, (16, 16), "tanh")


def measure() -> dict[str, dict[str, float]]:
    """Return what is measured for each fact of this section."""
    with float64():
        error = {short: errors(name) for short, name in OPTIMISERS.items()}
        return {**table(error), **comparison(error), **spikes(), **adam_itself()}


def errors(optimiser):
    """Return the final error [mm] for each rate and start: (6, starts); infinite if it diverged.

    The rates are traced numbers, so that one compilation serves all of them.
    """
    d = the_slice()
    pairs = [(rate, seed) for rate in RATES for seed in range(STARTS)]
    fits = fit_many(
        spec(NET, optimiser=optimiser),
        [Hyper(steps=STEPS, learning_rate=rate) for rate, _ in pairs],
        d.x[:, None], d.scaled[:, None], seeds=[seed for _, seed in pairs],
    )  # fmt: skip
    final = [
        np.inf
        if done.status is FitStatus.NONFINITE
        else d.spread * rms(in_float64(done.model, d.x[:, None])[:, 0] - d.scaled)
        for done in fits
    ]
    return np.reshape(final, (len(RATES), STARTS))


def table(error):
    """Return the numbers of each optimiser and rate: the median over the starts."""
    found = {}
    for short, values in error.items():
        for rate, row in zip(RATES, values, strict=True):
            name = f"000-s05-{short}-lr{rate:g}".replace("0.", "0p")
            found[name] = {"median": np.median(row)}
            if short == "adam" and rate in (1e-2, 3e-2):  # the end may fall on a spike
                found[name] |= {"lowest": row.min(), "highest": row.max()}
    return found


def comparison(error):
    """Compare the optimisers, each at its best rate."""
    median = {short: np.median(values, axis=1) for short, values in error.items()}
    at = {short: int(values.argmin()) for short, values in median.items()}
    good = {short: int(np.sum(values < 2.0)) for short, values in median.items()}
    best = {short: float(np.median(values.min(axis=0))) for short, values in error.items()}
    return {
        "000-s05-best-lr": {short: RATES[index] for short, index in at.items()},
        "000-s05-adam-lowest": {
            "adam over mom": best["adam"] / best["mom"], "mom over gd": best["mom"] / best["gd"],
        },
        "000-s05-wider-range": {
            "mom more": good["mom"] - good["gd"], "adam more": good["adam"] - good["gd"],
        },
        "000-s05-momentum-diverges": {
            "momentum": np.median(error["mom"][-1]), "adam diverged": np.isinf(error["adam"]).sum(),
        },
    }  # fmt: skip


def spikes():
    """Look at the loss of every step of Adam's end, at a constant rate and under the cosine."""
    d, found = the_slice(), {}
    for schedule in ("constant", "cosine"):
        done = fit(
            spec(NET, schedule=schedule), Hyper(steps=STEPS, learning_rate=1e-2),
            d.x[:, None], d.scaled[:, None], seed=0, chunk=1,
        )  # fmt: skip
        end = done.history.train[-1000 if schedule == "constant" else -STEPS // 10 :]
        found[schedule] = end.max() / np.median(end)
    return {"000-s05-adam-spikes": found}


def adam_itself():
    """Hold the library's Adam against the rule written out, and look at its first step."""
    d, rate, steps = the_slice(), 3e-3, 40
    x, y = d.x[:, None], d.scaled[:, None]
    done = {n: fit(spec(NET, schedule="cosine"), Hyper(n, rate), x, y, seed=0) for n in (1, steps)}
    ours = written_out(done[steps].initial_model, x, y, steps, rate, (0.9, 0.999, 1e-8))
    theirs = to_arrays(done[steps].model)
    off = max(np.abs(ours[name] - theirs[name]).max() for name in ours)
    before = to_arrays(done[1].initial_model)
    gradient = gradients(done[1].initial_model, x, y)
    step = {name: after - before[name] for name, after in to_arrays(done[1].model).items()}
    # Only where the gradient is far above Adam's epsilon.
    length = np.concatenate([np.abs(step[k][np.abs(gradient[k]) > 0.1]).ravel() for k in step])
    return {
        "000-s05-adam-defaults": {
            "rate": MLPSurrogate().learning_rate, "cosine": MLPSurrogate().schedule == "cosine",
            "difference": off,
        },
        "000-s05-bias-correction": {
            "off one rate": np.abs(length / rate - 1.0).max(),
            "without": 0.1 / np.sqrt(0.001),
        },
    }  # fmt: skip


def gradients(model, x, y):
    """Return the gradient of the mean squared error as named arrays."""
    import jax
    import jax.numpy as jnp

    loss = lambda net: jnp.mean((jax.vmap(net)(x) - y) ** 2)
    return to_arrays(jax.jit(jax.grad(loss))(jax.tree.map(jnp.asarray, model)))


def written_out(model, x, y, steps, rate, constants):
    """Return the weights after `steps` of Adam under a cosine, in NumPy."""
    from assay.nn import MLP, from_arrays

    b1, b2, eps = constants
    weights = to_arrays(model)
    mean = {name: np.zeros_like(value) for name, value in weights.items()}
    square = {name: np.zeros_like(value) for name, value in weights.items()}
    for i in range(steps):
        gradient = gradients(from_arrays(MLP, NET, weights), x, y)
        now = rate * 0.5 * (1.0 + np.cos(np.pi * i / steps))
        for name, g in gradient.items():
            mean[name] = b1 * mean[name] + (1.0 - b1) * g
            square[name] = b2 * square[name] + (1.0 - b2) * g**2
            first = mean[name] / (1.0 - b1 ** (i + 1))
            second = square[name] / (1.0 - b2 ** (i + 1))
            weights[name] = weights[name] - now * first / (np.sqrt(second) + eps)
    return weights
