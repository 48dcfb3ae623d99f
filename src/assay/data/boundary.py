"""The boundary: every array a user hands over is checked here, once, in NumPy.

Below it, code trusts: two-dimensional, finite, float64, equal rows.
"""

import numpy as np

from assay.errors import DataError

_CHUNK_VALUES = 4_000_000
LARGE = 25_000_000  # values; above it float32 is kept, because a float64 copy would double memory


def as_matrix(value, *, name: str, n_columns: int | None = None) -> np.ndarray:
    """Return `value` as a finite float64 matrix, or say what is wrong with it.

    Parameters
    ----------
    value : array-like of shape (n, d)
        NumPy, pandas, polars, JAX, nested lists or a `Table`.
    name : str
        How messages call it (the argument's name).
    n_columns : int, optional
        The number of columns it must have.

    Returns
    -------
    numpy.ndarray of shape (n, d), float64
        A view where no copy is needed. A float32 array of more than 25 million values stays
        float32, because the copy would not fit where the array just does.

    Raises
    ------
    DataError
        If it is not two-dimensional, is empty, is not numeric, has missing or infinite values
        (the first row and column are named), or has another number of columns.

    Examples
    --------
    >>> as_matrix([[1, 2], [3, 4]], name="X")
    array([[1., 2.],
           [3., 4.]])
    """
    from assay.data.table import Table

    if isinstance(value, Table):
        columns, array = value.columns, value.X
    else:
        columns, array = _column_names(value), _to_array(value, name)
    if array.ndim != 2:
        raise DataError(
            f"`{name}` must have two dimensions (rows, columns), got shape {array.shape}.",
            hint=_shape_hint(name, array.ndim),
        )
    if n_columns is not None and array.shape[1] != n_columns:
        raise DataError(
            f"`{name}` must have {n_columns} columns, got {array.shape[1]}.",
            hint="Pass the same columns, in the same order, as when the model was fitted.",
        )
    if array.size == 0:
        raise DataError(
            f"`{name}` is empty: shape {array.shape}.", hint="Pass at least one row and one column."
        )
    array = _to_float(array, name, columns)
    _refuse_nonfinite(array, name, columns)
    return array


def as_vector(value, *, name: str, n_rows: int | None = None) -> np.ndarray:
    """Return `value` as a finite float64 vector.

    Parameters
    ----------
    value : array-like of shape (n,)
        A column of shape (n, 1) is refused, because it would broadcast silently later.
    name : str
        How messages call it.
    n_rows : int, optional
        The length it must have.

    Returns
    -------
    numpy.ndarray of shape (n,), float64

    Raises
    ------
    DataError
        If the shape, the length, the type or a value does not fit.

    Examples
    --------
    >>> as_vector([1, 2, 3], name="scores")
    array([1., 2., 3.])
    """
    array = _to_array(value, name)
    _check_vector(array, name, n_rows)
    array = _to_float(array[:, None], name, None)
    _refuse_nonfinite(array, name, None)
    return array[:, 0]


def as_labels(value, *, name: str, n_rows: int) -> np.ndarray:
    """Return labels as booleans: True is an anomaly.

    Parameters
    ----------
    value : array-like of shape (n_rows,)
        Booleans, 0 and 1, or words such as ``"normal"`` and ``"fault"``.
    name : str
        How messages call it.
    n_rows : int
        The length it must have.

    Returns
    -------
    numpy.ndarray of shape (n_rows,), bool

    Raises
    ------
    DataError
        If the length does not fit, a label is missing, or no normal value can be recognised.

    Examples
    --------
    >>> as_labels(["ok", "fault"], name="labels", n_rows=2)
    array([False,  True])
    """
    from assay.data.labels import read_labels

    array = _to_array(value, name)
    _check_vector(array, name, n_rows)
    if array.dtype == bool:
        return array.copy()
    labels, missing, _, _ = read_labels(array, where=f"`{name}`")
    if missing.any():
        row = int(np.argmax(missing))
        raise DataError(
            f"`{name}` has {int(missing.sum())} missing values, first at index {row}.",
            hint="Give every row a label, or take these rows out of the data too.",
        )
    return labels


def check_same_rows(**arrays) -> int:
    """Return the common number of rows of the named arrays; None is passed over.

    Raises
    ------
    DataError
        If two of them differ.

    Examples
    --------
    >>> check_same_rows(X=[[1.0], [2.0]], labels=[0, 1])
    2
    """
    sizes = {name: len(a) for name, a in arrays.items() if a is not None}
    if len(set(sizes.values())) > 1:
        shown = ", ".join(f"`{name}` has {size}" for name, size in sizes.items())
        raise DataError(
            f"Equal numbers of rows are needed: {shown}.",
            hint="Pass rows that belong together; take the same rows out of each.",
        )
    return next(iter(sizes.values()), 0)


def _column_names(value):
    columns = getattr(value, "columns", None)
    try:
        return tuple(str(c) for c in columns) if columns is not None else None
    except TypeError:
        return None


def _to_array(value, name):
    if value is None:
        raise DataError(f"`{name}` is None; an array is needed.", hint=f"Pass `{name}`.")
    if isinstance(value, (str, bytes)) or hasattr(value, "__fspath__"):
        raise DataError(
            f"`{name}` must be an array, got {type(value).__name__} {str(value)[:60]!r}.",
            hint="Read a file with `assay.data.read_table(path)` first.",
        )
    if np.ma.isMaskedArray(value):
        if np.ma.getmaskarray(value).any():
            row = int(np.argwhere(np.ma.getmaskarray(value))[0][0])
            raise DataError(
                f"`{name}` has masked values, first at row {row}.",
                hint="Leave out the masked rows, or fill them on purpose.",
            )
        value = value.data
    try:
        return np.asarray(value)
    except ValueError as error:
        lengths = [len(row) if hasattr(row, "__len__") else 1 for row in value]
        odd = next((i for i, k in enumerate(lengths) if k != lengths[0]), 0)
        raise DataError(
            f"`{name}` is ragged: row {odd} has {lengths[odd]} values, row 0 has {lengths[0]}.",
            hint="Give every row the same number of values.",
        ) from error


def _check_vector(array, name, n_rows):
    if array.ndim != 1:
        cure = f"Pass `{name}[:, 0]`." if array.ndim == 2 else "Pass one value per row."
        raise DataError(f"`{name}` must have one dimension, got shape {array.shape}.", hint=cure)
    if n_rows is not None and len(array) != n_rows:
        raise DataError(
            f"`{name}` must have {n_rows} values, one per row, got {len(array)}.",
            hint="Pass rows that belong together.",
        )


def _to_float(array, name, columns):
    if array.dtype == np.float64 or (array.dtype == np.float32 and array.size > LARGE):
        return array
    if array.dtype.kind in "biuf":
        return array.astype(np.float64)
    if array.dtype.kind == "c":
        raise DataError(
            f"`{name}` holds complex numbers; real numbers are needed.",
            hint="Pass the real and imaginary parts, or modulus and phase, as columns.",
        )
    if array.dtype.kind == "O":
        return _objects_to_float(array, name, columns)
    raise DataError(
        f"`{name}` must be numeric, got dtype {array.dtype}.",
        hint="Pass the numeric columns only; `assay.data.read_table` sets text columns aside.",
    )


def _objects_to_float(array, name, columns):
    out = np.empty(array.shape, dtype=np.float64)
    for position, value in np.ndenumerate(array):
        try:
            if isinstance(value, (str, bytes)):
                raise TypeError
            out[position] = np.nan if value is None else float(value)
        except (TypeError, ValueError, OverflowError):
            raise DataError(
                f"`{name}` must be numeric, got {str(value)[:40]!r} "
                f"({type(value).__name__}) at {_place(position, columns)}.",
                hint="Convert the column to numbers or leave it out.",
            ) from None
    return out


def _refuse_nonfinite(array, name, columns):
    step = max(1, _CHUNK_VALUES // array.shape[1])
    count, first = 0, None
    for start in range(0, len(array), step):
        bad = ~np.isfinite(array[start : start + step])
        found = int(np.count_nonzero(bad))
        if found and first is None:
            row, column = np.argwhere(bad)[0]
            first = (start + int(row), int(column))
        count += found
    if first is not None:
        raise DataError(
            f"`{name}` has {count} missing or infinite value{'s' if count > 1 else ''}, "
            f"first {array[first]} at {_place(first, columns)}.",
            hint="Leave out these rows or columns, or fill them on purpose before the study.",
        )


def _place(position, columns):
    row, column = position[0], position[1] if len(position) > 1 else 0
    shown = repr(columns[column]) if columns and column < len(columns) else column
    return f"row {row}, column {shown} (rows counted from 0)"


def _shape_hint(name, ndim):
    if ndim == 1:
        return f"Pass `{name}.reshape(-1, 1)` for one column, `{name}.reshape(1, -1)` for one row."
    if ndim > 2:
        return f"Flatten each item: `{name}.reshape(len({name}), -1)`."
    return "Pass rows of numbers."
