"""The same in plain JAX, as an expert writes it: one scan over all steps, nothing else."""

import json
import sys
import time

from common import INPUTS, LAYERS, OUTPUTS, SURROGATE_RATE, WIDTH, pin, runs

pin(int(sys.argv[1]))

import jax  # noqa: E402 - JAX counts its cores when it is imported
import jax.numpy as jnp  # noqa: E402
import optax  # noqa: E402


def start(key):
    """Return weights and biases of all layers."""
    sizes = [INPUTS, *[WIDTH] * LAYERS, OUTPUTS]
    keys = jax.random.split(key, len(sizes) - 1)
    return [
        (jax.random.normal(k, (m, n)) / jnp.sqrt(m), jnp.zeros(n))
        for k, m, n in zip(keys, sizes[:-1], sizes[1:], strict=True)
    ]


def loss(layers, x, y):
    """Return the mean squared error of the batch."""
    for w, b in layers[:-1]:
        x = jnp.tanh(x @ w + b)
    w, b = layers[-1]
    return jnp.mean((x @ w + b - y) ** 2)


def main():
    """Train, measure and print."""
    steps = int(sys.argv[2])
    x, y = map(jnp.asarray, runs())
    optimiser = optax.adam(optax.cosine_decay_schedule(SURROGATE_RATE, steps))

    @jax.jit
    def train(layers, state):
        def step(carry, _):
            layers, state = carry
            value, slope = jax.value_and_grad(loss)(layers, x, y)
            change, state = optimiser.update(slope, state)
            return (optax.apply_updates(layers, change), state), value

        return jax.lax.scan(step, (layers, state), length=steps)

    times = []
    for seed in (0, 1, 2):
        layers = start(jax.random.key(seed))
        clock = time.perf_counter()
        (layers, _), _ = jax.block_until_ready(train(layers, optimiser.init(layers)))
        times.append(time.perf_counter() - clock)
    step_us = 1e6 * min(times[1:]) / steps  # the first one compiles
    print(json.dumps({"step_us": step_us, "mse": float(loss(layers, x, y))}))


if __name__ == "__main__":
    main()
