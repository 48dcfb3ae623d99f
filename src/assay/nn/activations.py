"""Activations by name: the name is what a specification holds, so that it compares by value."""

import math
from collections.abc import Callable

import jax
import jax.numpy as jnp

from assay.errors import StudyError, did_you_mean


def identity(x):
    """Return `x`."""
    return x


def relu(x):
    """Return max(x, 0)."""
    return jax.nn.relu(x)


def tanh(x):
    """Return the hyperbolic tangent."""
    return jnp.tanh(x)


def gelu(x):
    """Return x times the normal distribution function of x (exact, not the tanh approximation)."""
    # Through erf, as PyTorch has it, not erfc, as JAX has it: a quarter of a training step less
    # (104 to 78 us), for an absolute error of 1e-7 far out on the negative side.
    return x * (0.5 + 0.5 * jax.lax.erf(x * math.sqrt(0.5)))


def silu(x):
    """Return x times the logistic function of x."""
    return jax.nn.silu(x)


def softplus(x):
    """Return log(1 + exp(x))."""
    return jax.nn.softplus(x)


def sigmoid(x):
    """Return the logistic function."""
    return jax.nn.sigmoid(x)


def sine(x):
    """Return sin(x)."""
    return jnp.sin(x)


ACTIVATIONS = (identity, relu, tanh, gelu, silu, softplus, sigmoid, sine)


def activation(name: str) -> Callable:
    """Return the activation called `name`.

    Parameters
    ----------
    name : str
        One of ``identity, relu, tanh, gelu, silu, softplus, sigmoid, sine``.

    Returns
    -------
    callable
        An elementwise function of one array.

    Raises
    ------
    StudyError
        If there is no activation of that name.

    Examples
    --------
    >>> float(activation("relu")(-2.0))
    0.0
    """
    for function in ACTIVATIONS:
        if function.__name__ == name:
            return function
    raise StudyError(
        f"Unknown activation {name!r}.",
        hint=did_you_mean(name, (function.__name__ for function in ACTIVATIONS)),
    )
