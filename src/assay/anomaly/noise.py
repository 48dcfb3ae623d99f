r"""Restoring rows from noise: the linear optimum in closed form, and a network that adds to it.

In the coordinates of the principal axes, with variances :math:`\lambda_i`, rows plus normal noise
of standard deviation :math:`\sigma` are restored best, among linear maps, by the Wiener filter [1]_

.. math:: w_i = \frac{\lambda_i}{\lambda_i + \sigma^2}\, \tilde u_i, \qquad
          E(u_i - w_i)^2 = \frac{\lambda_i \sigma^2}{\lambda_i + \sigma^2}.

The network sees :math:`\tilde u_i` and returns a correction, both in units of the standard
deviations in these formulas (a preconditioning as in [2]_, per axis), so that it starts next to the
linear optimum and learns only what is curved.

References
----------
.. [1] N. Wiener, Extrapolation, Interpolation and Smoothing of Stationary Time Series, 1949.
.. [2] T. Karras et al., Elucidating the design space of diffusion-based generative models, NeurIPS
   2022, eq. 7.
"""

import math

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from assay.nn import MLP

# Noise levels at which rows are scored, as multiples of the basic one. Below a half the network
# follows single training rows, beyond four the score is the norm of the row.
LEVELS = (0.5, 1.0, 2.0, 4.0)
LOWEST, HIGHEST = 0.35, 6.0  # range in training, so that no level lies at its edge
SQUASH = 3.0  # standard deviations from which on the network sees a coordinate no further out


class Restorer(eqx.Module):
    """The network's part: from a noisy row and the noise level to the correction.

    Parameters
    ----------
    in_size : int
        Number of axes.
    hidden : tuple of int
    activation : str
    """

    net: MLP

    def __init__(self, in_size: int, hidden: tuple[int, ...], activation: str):
        self.net = MLP(in_size + 1, in_size, hidden, activation)

    def __call__(self, u, variances, sigma, basic):
        """Return one row (in_size,) restored from `u`, which has noise of deviation `sigma`."""
        total = variances + sigma**2
        seen = u / jnp.sqrt(total)
        # Bounded, so that far outside the training rows the correction stays bounded too and the
        # linear residual decides: a network that goes on linearly restores faults as well.
        seen = SQUASH * jnp.tanh(seen / SQUASH)
        level = jnp.log(sigma / basic)[None]
        correction = self.net(jnp.concatenate([seen, level]))
        return variances / total * u + jnp.sqrt(variances / total) * sigma * correction


def linear_error(variances, sigma):
    """Return the expected squared error of the Wiener filter, over all axes."""
    return jnp.sum(variances * sigma**2 / (variances + sigma**2))


def restoring_loss(model, x, y, key, extra):
    """Squared error of one restored row, in units of the Wiener filter's: 1 is the linear optimum.

    `extra` is (variances, basic level). The noise level is drawn uniformly in its logarithm.
    """
    variances, basic = (value.astype(x.dtype) for value in extra)
    low, high = math.log(LOWEST), math.log(HIGHEST)
    # One draw for both, because every further call of the generator compiles for half a second.
    drawn = jax.random.normal(key, (x.size + 1,), x.dtype)
    sigma = basic * jnp.exp(low + (high - low) * jax.scipy.special.ndtr(drawn[-1]))
    noisy = x + sigma * drawn[:-1]
    error = jnp.sum((model(noisy, variances, sigma, basic) - y) ** 2)
    return error / linear_error(variances, sigma)


class Filter(eqx.Module):
    """A trained restorer with the variances and levels it needs, for scoring.

    All fields are arrays, so that every detector of one size shares a compiled program.
    """

    restorer: Restorer
    variances: np.ndarray
    sigmas: np.ndarray
    basic: np.ndarray


def residuals(model: Filter, u):
    """Return what the restorer would change in one clean row, at every level: (n_levels, k)."""

    def at(sigma):
        return u - model.restorer(u, model.variances, sigma, model.basic)

    return jax.vmap(at)(model.sigmas)


def energies(model: Filter, u):
    """Return the squared length of the residual of one row at every level: (n_levels,)."""
    return jnp.sum(residuals(model, u) ** 2, axis=1)
