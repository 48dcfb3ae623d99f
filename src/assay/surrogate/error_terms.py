"""How far data are from what a surrogate says, with its error counted in one of three ways.

Each is a module with ``misfit(function, observed, apart_of, x)``: chi-square and half the log
determinant that goes with it, at one input.
"""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from assay.surrogate.local_errors import LocalErrors, widened


class FixedError(eqx.Module):
    """The same covariance at all inputs.

    Attributes
    ----------
    whitening : (k, k)
        Inverse of the lower Cholesky factor of the covariance of data and surrogate.
    """

    whitening: Any

    def misfit(self, function, observed, data, x):
        """Return chi-square [-] and half the log determinant, up to a constant, at `x` (d,)."""
        white = self.whitening @ (data - function(x)[observed])
        return white @ white, jnp.zeros(())


class SpreadError(eqx.Module):
    """The surrogate's own covariance at each input, times `factor` squared, and that of the data.

    Attributes
    ----------
    covariance : (k, k)
        Of the data.
    factor : float
    """

    covariance: Any
    factor: Any

    def misfit(self, function, observed, data, x):
        """Return chi-square [-] and half the log determinant at `x` (d,)."""
        mean, own = function.moments(x)
        total = self.covariance + self.factor**2 * own[observed][:, observed]
        return _chi_square(total, data - mean[observed])


class LocalError(eqx.Module):
    """The covariance of the errors of nearby runs, see `LocalErrors`, and that of the data.

    Attributes
    ----------
    whitening : (k, k)
        Of the data and of what does not vary.
    basis : (k, r)
        Orthonormal columns: where the whitened covariance varies.
    inputs : (n, d)
    widths : (d,)
    outer : (n, r, r)
        Products of the runs' whitened errors in the basis.
    average : (r, r)
    weight : float
    """

    whitening: Any
    basis: Any
    inputs: Any
    widths: Any
    outer: Any
    average: Any
    weight: Any

    def misfit(self, function, observed, data, x):
        """Return chi-square [-] and half the log determinant at `x` (d,)."""
        white = self.whitening @ (data - function(x)[observed])
        part = self.basis.T @ white
        left = white - self.basis @ part
        squares = (((x - self.inputs) / self.widths[None]) ** 2).sum(axis=1)
        near = jnp.exp(-0.5 * squares)
        summed = jnp.tensordot(near, self.outer, axes=1) + self.weight * self.average
        inner = widened(near.sum()) * summed / (near.sum() + self.weight)
        chi, half = _chi_square(jnp.eye(len(inner), dtype=inner.dtype) + inner, part)
        return chi + left @ left, half


def local_error(local: LocalErrors, noise, observed, whitening_of) -> LocalError:
    """Put `LocalErrors` together with the covariance `noise` (k, k) of the data.

    Parameters
    ----------
    local : LocalErrors
    noise : (k, k) array [units of the outputs squared]
    observed : (k,) int
    whitening_of : callable
        Inverse of a covariance's lower Cholesky factor.
    """
    whitening = whitening_of(noise + local.rest[np.ix_(observed, observed)])
    wide = whitening @ (local.sd[:, None] * local.directions)[observed]
    basis, factor = np.linalg.qr(wide)
    scores = local.scores @ factor.T
    return LocalError(
        whitening, basis, local.inputs, local.widths, scores[:, :, None] * scores[:, None, :],
        factor * local.average @ factor.T, np.float64(local.weight),
    )  # fmt: skip


def _chi_square(covariance, apart):
    factor = jnp.linalg.cholesky(covariance)
    white = jax.scipy.linalg.solve_triangular(factor, apart, lower=True)
    return white @ white, jnp.log(jnp.diagonal(factor)).sum()
