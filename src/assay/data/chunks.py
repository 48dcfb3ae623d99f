"""Working through many rows in blocks, so that memory stays bounded."""

from collections.abc import Callable

import numpy as np

from assay.errors import DataError


def map_rows(function: Callable, X, *, chunk: int = 65_536) -> np.ndarray:
    """Apply `function` to blocks of rows and stack what it returns.

    Parameters
    ----------
    function : callable
        Takes rows of `X`, shape (m, ...), and returns an array with m rows.
    X : array of shape (n, ...)
    chunk : int, > 0
        Rows in a block.

    Returns
    -------
    numpy.ndarray of shape (n, ...)

    Raises
    ------
    DataError
        If `function` returns another number of rows than it was given.

    Examples
    --------
    >>> import numpy as np
    >>> map_rows(lambda rows: rows.sum(axis=1), np.ones((5, 3)), chunk=2)
    array([3., 3., 3., 3., 3.])
    """
    if chunk < 1:
        raise DataError(f"`chunk` must be at least 1, got {chunk}.")
    n = len(X)
    out = None
    for start in range(0, max(n, 1), chunk):
        block = np.asarray(function(X[start : start + chunk]))
        expected = min(chunk, n - start)
        if block.ndim == 0 or len(block) != expected:
            raise DataError(
                f"`function` must return one row per row it is given: expected {expected}, "
                f"got shape {block.shape}.",
                hint="Return an array whose first axis runs over the rows.",
            )
        if out is None:
            if expected == n:
                return block
            out = np.empty((n, *block.shape[1:]), dtype=block.dtype)
        out[start : start + expected] = block
    return out
