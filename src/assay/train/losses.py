"""Losses of one row, in the form that `FitSpec` takes."""

import jax.numpy as jnp

from assay.errors import StudyError


def squared_error(model, x, y, key, extra):
    """Mean squared error of one row, ``mean((model(x) - y)**2)``.

    Parameters
    ----------
    model : callable
    x : array of shape (in_size,)
    y : array of shape (out_size,)
    key, extra
        Not used; every loss takes them.

    Raises
    ------
    StudyError
        If the output does not have the shape of `y`: it would broadcast silently.
    """
    del key, extra
    output = model(x)
    if output.shape != y.shape:
        raise StudyError(
            f"The network returns rows of shape {output.shape}, the target has {y.shape}.",
            hint="Give `y` as (n_rows, out_size), or change `out_size`.",
        )
    return jnp.mean((output - y) ** 2)
