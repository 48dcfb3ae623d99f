"""A short profile of the data: how many rows are copies, how many dimensions there really are."""

import numpy as np

from assay.data.boundary import as_matrix
from assay.data.scaling import column_statistics

_MAX_ROWS = 20_000
_MAX_VALUES = 20_000_000
_NEAR_CONSTANT = 0.999  # share of rows with one and the same value


def profile(X) -> dict:
    """Describe the rows of `X`, on at most 20,000 of them, evenly spaced.

    Parameters
    ----------
    X : array of shape (n, d), finite, or Table

    Returns
    -------
    dict
        ``rows``, ``columns``: size of `X`; ``rows_used``: rows looked at; ``duplicates``: rows
        that equal an earlier one exactly, among those; ``constant`` and ``near_constant``:
        0-based columns that do not vary, or have one value in more than 99.9 % of the rows;
        ``dimension_90`` and ``dimension_99``: the number of principal components that hold 90
        and 99 % of the variance of the standardised columns [-].

    Raises
    ------
    DataError
        If `X` is not a finite matrix.

    References
    ----------
    .. [1] I. T. Jolliffe, Principal Component Analysis, 2nd ed., Springer 2002, section 6.1.1
       (cumulative share of the variance of the correlation matrix).

    Examples
    --------
    >>> import numpy as np
    >>> t = np.linspace(0.0, 1.0, 50)
    >>> found = profile(np.column_stack([t, 2 * t, np.ones(50)]))
    >>> found["dimension_99"], found["constant"]
    (1, [2])
    """
    X = as_matrix(X, name="X")
    n, d = X.shape
    most = min(_MAX_ROWS, max(200, _MAX_VALUES // d))
    index = np.unique(np.linspace(0, n - 1, most).astype(np.intp)) if n > most else slice(None)
    rows = np.ascontiguousarray(X[index])
    with np.errstate(over="ignore", invalid="ignore"):
        mean, std, low, high = column_statistics(rows)
    constant = (high == low) | ~(std > 0) | ~np.isfinite(std)
    varying = np.flatnonzero(~constant)
    dimension_90, dimension_99 = _dimensions(rows[:, varying], mean[varying], std[varying])
    return {
        "rows": n,
        "columns": d,
        "rows_used": len(rows),
        "duplicates": len(rows) - _distinct(rows),
        "constant": np.flatnonzero(high == low).tolist(),
        "near_constant": _near_constant(rows, varying),
        "dimension_90": dimension_90,
        "dimension_99": dimension_99,
    }


def _distinct(rows):
    # -0.0 and 0.0 are equal numbers with different bytes.
    whole = np.ascontiguousarray(rows + 0.0)
    return len(np.unique(whole.view(np.dtype((np.void, whole.dtype.itemsize * whole.shape[1])))))


def _near_constant(rows, varying):
    """Columns with one value in nearly all rows: it is the median of such a column."""
    if len(rows) < 2:
        return []
    middle = np.partition(rows, len(rows) // 2, axis=0)[len(rows) // 2]
    share = (rows == middle).mean(axis=0)
    return [int(j) for j in varying if share[j] > _NEAR_CONSTANT]


def _dimensions(rows, mean, std):
    if rows.shape[0] < 2 or rows.shape[1] == 0:
        return 0, 0
    Z = (rows.astype(np.float64) - mean) / std
    # The smaller of the two Gram matrices has the same eigenvalues that are not zero.
    gram = Z.T @ Z if Z.shape[1] <= Z.shape[0] else Z @ Z.T
    variance = np.clip(np.linalg.eigvalsh(gram)[::-1], 0.0, None)
    share = np.cumsum(variance) / variance.sum()
    return tuple(int(np.searchsorted(share, level - 1e-12)) + 1 for level in (0.90, 0.99))
