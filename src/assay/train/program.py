"""The compiled programs: a chunk of optimiser steps, and the loss on a block of rows.

Everything that differs between two fits of one network is an argument, so that each compiles once
a process. Measured on two cores for a 64-128-8-128-64 autoencoder (batch 64), microseconds a step:
state as a tree of arrays or as one flat vector 138 / 163; batches gathered inside the loop or
beforehand on the host 134 / 138. The tree, because it is faster, and the host, because then the
number of rows is not part of the program, and the data never need to be on the device as a whole.
"""

import dataclasses
import functools as ft

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax

from assay.nn.initialisation import is_parameter
from assay.train.spec import FitSpec

_TRACES = [0]


def trace_count() -> int:
    """Return how many training programs have been traced in this process.

    A fit that differs only in seed, rows, steps, learning rate, weight decay or `extra` must not
    raise it.
    """
    return _TRACES[0]


@dataclasses.dataclass(frozen=True)
class Layout:
    """What of the data's form changes the program: how batches come, and whether y is x."""

    chunk: int
    whole: bool
    y_is_x: bool


@ft.lru_cache(maxsize=256)
def _skeleton(spec, x64):
    """Shapes of the parameters and the static rest of the model; computes nothing."""
    del x64  # part of the key only: the switch changes the dtypes
    shapes, static = eqx.partition(
        eqx.filter_eval_shape(spec.build, *spec.build_args), is_parameter
    )
    if any(isinstance(leaf, jax.ShapeDtypeStruct) for leaf in jax.tree.leaves(static)):
        # Arrays that are not trained (integer tables, say) need their values.
        _, static = eqx.partition(spec.build(*spec.build_args), is_parameter)
    return shapes, static


def skeleton(spec: FitSpec):
    """Return (shapes of the parameters, static rest) of the network of `spec`."""
    return _skeleton(spec, bool(jax.config.jax_enable_x64))


def optimiser(spec: FitSpec, learning_rate, weight_decay) -> optax.GradientTransformation:
    """Build the update rule; inside a compiled function, from traced numbers."""
    scale = {
        "adam": optax.scale_by_adam,
        "adamw": optax.scale_by_adam,
        "sgd": optax.identity,
        "momentum": ft.partial(optax.trace, decay=0.9),
    }[spec.optimiser]()
    decay = optax.add_decayed_weights(weight_decay)
    before_rate = (scale, decay) if spec.optimiser == "adamw" else (decay, scale)
    return optax.chain(*before_rate, optax.scale_by_learning_rate(learning_rate))


def initial_state(spec: FitSpec, parameters):
    """Return the state of the optimiser before the first step; all of ours start from zeros."""
    state = jax.eval_shape(lambda p: optimiser(spec, 1.0, 0.0).init(p), parameters)
    return jax.tree.map(lambda leaf: np.zeros(leaf.shape, leaf.dtype), state)


def _mean_loss(spec, static, parameters, x, y, count, key, extra):
    """Mean loss over the first `count` rows of a batch."""
    model = eqx.combine(parameters, static)
    if spec.columns is not None:
        per_row = spec.columns(model, x.T, y.T)
    else:
        keys = None if key is None else jax.random.split(key, x.shape[0])
        in_axes = (0, 0, None if key is None else 0)
        per_row = jax.vmap(lambda a, b, k: spec.loss(model, a, b, k, extra), in_axes)(x, y, keys)
    if per_row.ndim != 1:
        raise TypeError(f"The loss of one row must be a scalar, got shape {per_row.shape[1:]}.")
    used = jnp.arange(x.shape[0], dtype=count.dtype) < count
    return jnp.sum(jnp.where(used, per_row, 0)) / count.astype(per_row.dtype)


def _step_key(spec, seed, step):
    """Key of a step: of seed and step alone, so that nothing depends on how steps are chunked."""
    return jax.random.fold_in(jax.random.key(seed), step) if spec.needs_key else None


def _rate(spec, hyper, step):
    if spec.schedule == "constant":
        return hyper["learning_rate"]
    rate = hyper["learning_rate"]
    done = step.astype(rate.dtype) / hyper["steps"].astype(rate.dtype)
    return rate * (0.5 + 0.5 * jnp.cos(jnp.pi * done))


@ft.partial(jax.jit, static_argnames=("spec", "layout"))
def run_chunk(spec, layout, parameters, state, hyper, seed, first, x, y, counts):
    """Do up to `layout.chunk` steps from step `first` on; return the new carry and the losses.

    `x` is (chunk, batch, ...), or (rows, ...) if `layout.whole`: every step uses all of it. The
    loop ends at ``hyper["steps"]``, a traced number, so that steps past it cost nothing (a scan
    would compute and discard them).
    """
    _TRACES[0] += 1
    _, static = skeleton(spec)

    def loss_of(parameters, i):
        batch_x = x if layout.whole else x[i]
        batch_y = batch_x if layout.y_is_x else (y if layout.whole else y[i])
        key = _step_key(spec, seed, first + i)
        return _mean_loss(
            spec, static, parameters, batch_x, batch_y, counts[i], key, hyper["extra"]
        )

    def step(i, carry):
        parameters, state, losses = carry
        loss, gradient = jax.value_and_grad(loss_of)(parameters, i)
        rule = optimiser(spec, _rate(spec, hyper, first + i), hyper["weight_decay"])
        # Optax raises a float to a whole number, which a caller's strict promotion would refuse.
        with jax.numpy_dtype_promotion("standard"):
            updates, state = rule.update(gradient, state, parameters)
        return optax.apply_updates(parameters, updates), state, losses.at[i].set(loss)

    n = jnp.minimum(layout.chunk, hyper["steps"] - first)
    losses = jnp.zeros(layout.chunk, hyper["learning_rate"].dtype)
    return jax.lax.fori_loop(0, n, step, (parameters, state, losses))


@ft.partial(jax.jit, static_argnames=("spec", "y_is_x"))
def loss_sum(spec, y_is_x, parameters, extra, seed, block, x, y, count):
    """Sum of the losses of the first `count` rows of a block, with a key that is always the same.

    Blocks count down from the largest step, so that no training step shares their keys.
    """
    _TRACES[0] += 1
    _, static = skeleton(spec)
    key = _step_key(spec, seed, 2**31 - 1 - block)
    y = x if y_is_x else y
    mean = _mean_loss(spec, static, parameters, x, y, count, key, extra)
    return mean * count.astype(mean.dtype)
