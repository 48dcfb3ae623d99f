"""Section 6: twenty noisy examples, weight decay as a prior, and early stopping."""

import dataclasses

import numpy as np
from surrogates import float64, in_float64, rms, spec, the_slice

from assay.nn import MLP, initialise, to_arrays
from assay.surrogate import weight_decay_of
from assay.train import Hyper, fit, fit_many
from assay.train.losses import squared_error

NOISE = 10.0  # mm
PRIORS = {"none": np.inf, "0p3": 0.3, "1p0": 1.0, "3p0": 3.0, "10p0": 10.0}
CHOICES = ("0p3", "1p0", "3p0", "10p0")
STEPS, RATE = 6000, 3e-3
EXAMPLES = 20
DRAWS = 5  # further draws of the examples


def decayed_error(model, x, y, key, extra):
    """Squared error of a row, plus half of `extra` times the squared weights without biases."""
    import jax.numpy as jnp

    weights = sum(jnp.sum(layer.weight**2) for layer in model.layers)
    return squared_error(model, x, y, key, ()) + 0.5 * extra * weights


NET = {"build_args": (1, 1, (64, 64), "tanh"), "loss": decayed_error}


@dataclasses.dataclass(frozen=True, eq=False)
class Examples:
    """Noisy training and validation examples, scaled; the true curve grades."""

    x: np.ndarray
    y: np.ndarray
    x_validation: np.ndarray
    y_validation: np.ndarray


def measure() -> dict[str, dict[str, float]]:
    """Return what is measured for each fact of this section."""
    with float64():
        quoted = outcome(examples(6), chunk=1)
        others = [outcome(examples(100 + i), chunk=20) for i in range(DRAWS)]
        return {**numbers(quoted), **patterns(quoted, others), **the_prior()}


def examples(seed) -> Examples:
    """Draw the examples: 6 is the chapter's draw."""
    d, rng = the_slice(), np.random.default_rng(seed)
    order = rng.permutation(len(d.x))
    parts = [np.sort(order[:EXAMPLES]), np.sort(order[EXAMPLES : 2 * EXAMPLES])]
    y = [(d.y[rows] + NOISE * rng.normal(size=EXAMPLES) - d.mean) / d.spread for rows in parts]
    return Examples(d.x[parts[0], None], y[0][:, None], d.x[parts[1], None], y[1][:, None])


def outcome(e, chunk):
    """Train without a prior, with four, and without one but stopped early.

    Returns (training, validation and true error [mm] of each), and the history of validation.
    """
    d = the_slice()
    decay = [0.0 if np.isinf(sd) else prior(sd) for sd in PRIORS.values()]
    fits = fit_many(
        spec(**NET), [Hyper(STEPS, RATE, extra=one) for one in decay], e.x, e.y, seeds=7
    )
    stopped = fit(
        spec(**NET), Hyper(STEPS, RATE, extra=0.0), e.x, e.y, seed=7, chunk=chunk,
        validation=(e.x_validation, e.y_validation),
    )  # fmt: skip
    graded = {}
    for name, done in zip((*PRIORS, "stopped"), (*fits, stopped), strict=True):
        says = lambda x, model=done.model: in_float64(model, x)
        graded[name] = {
            "train": d.spread * rms(says(e.x) - e.y),
            "val": d.spread * rms(says(e.x_validation) - e.y_validation),
            "true": d.spread * rms(says(d.x[:, None])[:, 0] - d.scaled),
        }
    curve = d.spread * np.sqrt(stopped.history.validation)
    return graded, curve, stopped.best_step


def prior(sd):
    """Return the decay of the mean loss that a prior of this standard deviation stands for."""
    noise = NOISE / the_slice().spread
    return weight_decay_of(sd, noise_sd=noise, n_rows=EXAMPLES)


def chosen(graded):
    """Return the prior of the smallest validation error."""
    return min(CHOICES, key=lambda name: graded[name]["val"])


def numbers(quoted):
    """Return the errors of each network on the chapter's examples."""
    graded, curve, step = quoted
    found = {
        f"000-s06-sw{name}-{what}": {"rms": graded[name][what]}
        for name in PRIORS
        for what in ("train", "val", "true")
    }
    return found | {
        "000-s06-chosen-sw": {"prior sd": PRIORS[chosen(graded)]},
        "000-s06-early-stop-step": {"step": step},
        "000-s06-early-stop-err": {"rms": graded["stopped"]["true"]},
        "000-s06-val-u-shape": {"step": step, "rise": curve[-1] - curve.min()},
    }


def patterns(quoted, others):
    """Return what the section concludes, from the chapter's draw and from others."""
    graded = quoted[0]
    none, train = graded["none"], {name: graded[name]["train"] for name in PRIORS}
    true = {name: graded[name]["true"] for name in (*PRIORS, "stopped")}

    def middle(pick):
        return float(np.median([one[pick(one)]["true"] for one, _, _ in others]))

    without = middle(lambda one: "none")
    return {
        "000-s06-overfits-noise": {
            "train": none["train"], "val": none["val"], "ratio": none["val"] / none["train"],
        },
        "000-s06-defences-help": {
            "stopped": true["stopped"] / true["none"],
            "decayed": true[chosen(graded)] / true["none"],
            "stopped elsewhere": middle(lambda one: "stopped") / without,
            "decayed elsewhere": middle(chosen) / without,
        },
        "000-s06-train-monotone": {
            "1 over 0p3": train["1p0"] / train["0p3"], "3 over 1": train["3p0"] / train["1p0"],
            "10 over 3": train["10p0"] / train["3p0"], "none over 3": train["none"] / train["3p0"],
        },
        "000-s06-weak-prior-overfits": {
            "3 over 1": true["3p0"] / true["1p0"], "10 over 1": true["10p0"] / true["1p0"],
        },
    }  # fmt: skip


def the_prior():
    """Hold the decay against the negative log posterior that it stands for."""
    import jax
    import jax.numpy as jnp

    d, e, sd = the_slice(), examples(6), 0.7
    noise = NOISE / d.spread
    net = initialise(MLP(1, 1, (8,), "tanh"), np.random.default_rng(0))
    net = jax.tree.map(jnp.asarray, net)

    def posterior(model, prior_sd):
        misfit = jnp.sum((jax.vmap(model)(e.x) - e.y) ** 2) / (2.0 * noise**2)
        return misfit + sum(jnp.sum(w**2) for w in jax.tree.leaves(model)) / (2.0 * prior_sd**2)

    whole, data = (to_arrays(jax.grad(posterior)(net, one)) for one in (sd, np.inf))
    weights = to_arrays(net)
    off = max(np.abs(whole[k] - data[k] - weights[k] / sd**2).max() for k in weights)
    # One step of gradient descent with the library's decay, against the same step without.
    decay = weight_decay_of(sd, noise_sd=noise, n_rows=EXAMPLES)
    plain = spec((1, 1, (8,), "tanh"), optimiser="sgd")
    with_it, without = (
        fit(plain, Hyper(1, 0.1, weight_decay=one), e.x, e.y, seed=0) for one in (decay, 0.0)
    )
    start, a, b = (to_arrays(m) for m in (with_it.initial_model, with_it.model, without.model))
    shrunk = max(np.abs(b[k] - a[k] - 0.1 * decay * start[k]).max() for k in start)
    draws = sd * np.random.default_rng(0).normal(size=1_000_000)
    scale = EXAMPLES / (2.0 * noise**2)  # from the mean loss to the log posterior
    names = {"lambda 0p3": 0.3, "lambda 1": 1.0, "lambda 3": 3.0, "lambda 10": 10.0}
    return {
        "000-s06-decay": {name: scale * prior(one) for name, one in names.items()},
        "000-s06-map-identity": {
            "gradient": off, "shrink": shrunk, "inside": np.mean(np.abs(draws) <= 2.0 * sd),
        },
    }  # fmt: skip
