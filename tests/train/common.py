"""Small specifications that the tests of the training engine share."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from assay.nn import MLP
from assay.train import FitSpec
from assay.train.losses import squared_error


class Coder(eqx.Module):
    encoder: MLP
    decoder: MLP

    def __init__(self, n, code):
        self.encoder = MLP(n, code, (8,))
        self.decoder = MLP(code, n, (8,))

    def __call__(self, x):
        return self.decoder(self.encoder(x))


def noisy_error(model, x, y, key, extra):
    noise = extra["noise"] * jax.random.normal(key, x.shape, x.dtype)
    return squared_error(model, x + noise, y, None, ())


def root_error(model, x, y, key, extra):
    """Not a number as soon as the single output is negative."""
    del y, key, extra
    return jnp.sqrt(model(x)[0])


CODER = FitSpec(build=Coder, build_args=(6, 2), loss=squared_error, batch=16)
LINE = FitSpec(build=MLP, build_args=(3, 1, ()), loss=squared_error, batch=16)


def rows(n=100, d=6, seed=0):
    """Rows near a plane, in float32 so that nothing is cast on the way."""
    rng = np.random.default_rng(seed)
    return (rng.normal(size=(n, 2)) @ rng.normal(size=(2, d))).astype(np.float32)


def line_rows(n=100, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 3)).astype(np.float32)
    y = x @ np.array([[1.0], [-2.0], [0.5]], np.float32) + 0.3
    return x, (y + 0.1 * rng.normal(size=y.shape)).astype(np.float32)
