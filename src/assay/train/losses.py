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


def squared_error_columns(model, x, y):
    """Return `squared_error` of n rows at once, which are columns: (n,).

    A row at a time under ``vmap`` puts the rows first. Columns put them last, along the memory:
    then no product of a step runs over a transposed array (docs/decisions.md).

    Parameters
    ----------
    model : callable
        Maps (in_size, n) to (out_size, n).
    x : array of shape (in_size, n)
    y : array of shape (out_size, n)

    Raises
    ------
    StudyError
        As `squared_error`.

    Examples
    --------
    >>> from assay.nn import MLP
    >>> squared_error_columns(MLP(3, 2), jnp.ones((3, 5)), jnp.ones((2, 5))).shape
    (5,)
    """
    output = model(x)
    if output.shape != y.shape:
        raise StudyError(
            f"The network returns columns of shape {output.shape}, the target has {y.shape}.",
            hint="Give `y` as (n_rows, out_size), or change `out_size`.",
        )
    return jnp.mean((output - y) ** 2, axis=0)
