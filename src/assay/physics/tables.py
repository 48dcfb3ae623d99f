"""A condition's value as a table: what one window hands to the next, and what is saved.

A function on a box of up to two variables is kept by its values at Chebyshev's points; between them
Chebyshev's polynomials interpolate, with an error that falls exponentially for smooth functions.
"""

import math

import jax.numpy as jnp
import numpy as np

SIZES = {0: (), 1: (129,), 2: (49, 49)}


def nodes(n: int) -> np.ndarray:
    """Return Chebyshev's n points of the second kind, rising from -1 to 1.

    Examples
    --------
    >>> (nodes(3).round(12) + 0.0).tolist()
    [-1.0, 0.0, 1.0]
    """
    return -np.cos(np.pi * np.arange(n) / (n - 1))


def grid(n_variables: int) -> np.ndarray:
    """Return the points (n, n_variables) in [-1, 1] where a table wants its values."""
    axes = np.meshgrid(*(nodes(n) for n in SIZES[n_variables]), indexing="ij")
    if not axes:
        return np.zeros((1, 0))
    return np.stack([axis.ravel() for axis in axes], axis=1)


def coefficients(values: np.ndarray, n_variables: int) -> np.ndarray:
    """Return the coefficients of Chebyshev's polynomials from values at `grid`.

    Examples
    --------
    >>> made = coefficients(grid(1)[:, 0] ** 2, 1)
    >>> (made[:3].round(12) + 0.0).tolist()  # x^2 = (T_0 + T_2) / 2
    [0.5, 0.0, 0.5]
    """
    shape = SIZES[n_variables]
    made = np.asarray(values, np.float64).reshape(shape)
    for axis, n in enumerate(shape):
        made = np.moveaxis(np.tensordot(_transform(n), made, axes=(1, axis)), 0, axis)
    return np.asarray(made) + 0.0


def _transform(n):
    """Matrix from values at `nodes` to coefficients."""
    k = np.arange(n)
    ends = np.where((k == 0) | (k == n - 1), 0.5, 1.0)
    angles = np.pi * (n - 1 - k) / (n - 1)  # nodes = cos(angles)
    return 2.0 / (n - 1) * ends[:, None] * ends[None, :] * np.cos(np.outer(k, angles))


def table_value(table, scaled):
    """Return the value of a table at a point given by scalars in [-1, 1], one a variable."""
    value = table
    for x in scaled:  # the first axis is used up in each turn
        value = jnp.tensordot(_polynomials(x, value.shape[0]), value, axes=(0, 0))
    return value


def _polynomials(x, n):
    """Return T_0 to T_(n-1) at a scalar, by doubling: log n products instead of n."""
    have = jnp.stack([jnp.ones_like(x), x])
    while have.shape[0] < n:
        # T_(m+k) = 2 T_m T_k - T_(m-k) for the highest m known, k = 1 .. m.
        m = have.shape[0] - 1
        top = 2 * have[m] * have[1 : m + 1] - have[:m][::-1]
        have = jnp.concatenate([have, top])
    return have[:n]


def sizes_of(n_variables: int) -> int:
    """Return how many numbers a table has."""
    return math.prod(SIZES[n_variables])
