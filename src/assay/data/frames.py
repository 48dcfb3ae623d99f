"""Tables that are already in memory: frames of any library, xarray, dictionaries, lists."""

import numpy as np

from assay.data.binary import from_array, from_columns, series
from assay.data.chars import clean_names, printable
from assay.data.raw import Raw
from assay.errors import DataError


def read_memory(source, shown: str) -> Raw:
    """Turn an object in memory into columns on demand.

    Raises
    ------
    DataError
        If it is nothing that has rows and columns.
    """
    if isinstance(source, dict):
        if not source:
            raise DataError(f"{shown} has no columns.", hint="Pass at least one column.")
        return from_columns(source, shown, file=False)
    module = type(source).__module__.split(".")[0]
    if module == "xarray":
        return _from_xarray(source, shown)
    if isinstance(source, (list, tuple)):
        return _from_list(source, shown)
    if isinstance(source, np.ma.MaskedArray):
        source = source.astype(float).filled(np.nan)
    if isinstance(source, np.ndarray):
        return from_array(source, shown, file=False)
    frame = _frame(_with_index(source), shown)
    if frame is not None:
        return _from_frame(frame, shown)
    if hasattr(source, "__array__"):
        return from_array(np.asarray(source), shown, file=False)
    raise DataError(
        f"{shown} must be a file or a table, got {type(source).__name__}.",
        hint="Pass a path, a NumPy matrix, a data frame, an xarray object or a dict of columns.",
    )


def _with_index(source):
    """Keep a pandas index that says something: time stamps, or one with a name."""
    index = getattr(source, "index", None)
    if not type(source).__module__.startswith("pandas") or not hasattr(source, "reset_index"):
        return source
    says = type(index).__name__ == "DatetimeIndex" or any(n is not None for n in index.names)
    flat = type(index).__name__ != "MultiIndex" or None not in index.names
    names = {str(n) for n in index.names} & {str(c) for c in getattr(source, "columns", ())}
    return source.reset_index() if says and flat and not names else source


def _frame(source, shown):
    import narwhals as nw

    try:
        frame = nw.from_native(source)
    except TypeError:
        return None
    except ValueError as error:
        said = " ".join(str(error).split())[:120]
        raise DataError(
            f"{shown} is a data frame that cannot be used: {printable(said)}",
            hint="Give every column a name of its own.",
        ) from error
    return frame.collect() if isinstance(frame, nw.LazyFrame) else frame


def _from_frame(frame, shown):
    given = _given_names(frame)
    names, units, aliases, notes = clean_names(given)

    def read(positions):
        return [_series(frame[:, int(k)], names[k], shown) for k in positions]

    return Raw(shown, names, units, len(frame), read, aliases, notes=tuple(notes), file=False)


def _given_names(frame):
    return [str(c) for c in frame.columns]


def _series(column, name, shown):
    native = column.to_native()
    if type(native).__module__.startswith("polars"):
        import polars as pl

        if native.dtype == pl.Object:
            return series(np.array(native.to_list(), dtype=object))
        return native
    dtype = getattr(native, "dtype", None)
    if getattr(dtype, "kind", "O") in "biuf" and isinstance(dtype, np.dtype):
        return series(native.to_numpy())
    if getattr(dtype, "kind", "") == "c":
        raise DataError(
            f"{shown}, column '{name}' holds complex numbers; real numbers are needed.",
            hint="Pass the real and imaginary parts, or modulus and phase, as columns.",
        )
    if getattr(dtype, "kind", "") == "O":
        return series(native.to_numpy())
    try:
        return column.to_polars()
    except Exception:  # a frame library may raise anything for a type that polars lacks
        return series(np.asarray(native.to_numpy(), dtype=object))


def _from_xarray(source, shown):
    import xarray as xr

    if isinstance(source, xr.Dataset):
        dims = {v.dims for v in source.data_vars.values()}
        if len(dims) == 1 and len(next(iter(dims))) == 1:
            (dim,) = next(iter(dims))
            columns = {str(k): v.values for k, v in source.data_vars.items()}
            for k, c in source.coords.items():
                if c.dims == (dim,):
                    columns.setdefault(str(k), c.values)
            units = {str(k): str(v.attrs.get("units", "")) for k, v in source.variables.items()}
            return _with_units(from_columns(columns, shown, file=False), units)
        shapes = ", ".join(f"'{k}' {v.dims}" for k, v in list(source.data_vars.items())[:8])
        raise DataError(
            f"{shown}: the variables of a Dataset must share one dimension, got {shapes}.",
            hint="Stack the other dimensions, or pass one variable as a DataArray.",
        )
    if source.ndim == 1:
        return _from_xarray(source.to_dataset(name=str(source.name or "x0")), shown)
    if source.ndim != 2:
        raise DataError(
            f"{shown} must be a DataArray with two dimensions, got {source.dims}.",
            hint="Stack dimensions: array.stack(row=(...)).",
        )
    rows, across = source.dims
    labels = source.coords[across].values if across in source.coords else None
    names = [str(v) for v in labels] if labels is not None and labels.dtype.kind in "UO" else None
    beside = {str(k): c.values for k, c in source.coords.items() if c.dims == (rows,)}
    return from_array(source.values, shown, file=False, names=names, beside=beside)


def _with_units(raw, units):
    import dataclasses

    known = tuple(u or units.get(a, "") for u, a in zip(raw.units, raw.aliases, strict=True))
    return dataclasses.replace(raw, units=known)


def _from_list(source, shown):
    if not len(source):
        raise DataError(f"{shown} is empty.", hint="Pass at least one row.")
    if all(isinstance(row, dict) for row in source):
        keys = list(dict.fromkeys(k for row in source for k in row))
        return from_columns(
            {k: np.array([row.get(k) for row in source], dtype=object) for k in keys},
            shown, file=False,
        )  # fmt: skip
    widths = [len(r) if hasattr(r, "__len__") and not isinstance(r, str) else None for r in source]
    if None in widths:
        raise DataError(
            f"{shown} must be a list of rows, got {source[widths.index(None)]!r} in place "
            f"{widths.index(None)}.",
            hint="Pass [[1.0], [2.0]] for one column.",
        )
    odd = next((i for i, w in enumerate(widths) if w != widths[0]), None)
    if odd is not None:
        raise DataError(
            f"{shown}, row {odd + 1}: {widths[odd]} values, expected {widths[0]}.",
            hint="Give every row the same number of values.",
        )
    try:
        array = np.asarray(source)
        if array.dtype.kind not in "biufc":
            array = np.empty((len(source), widths[0]), dtype=object)
            for i, row in enumerate(source):
                array[i, :] = row
    except ValueError as error:
        raise DataError(
            f"{shown} is not a table of plain values: {error}.",
            hint="Pass numbers, one row a list.",
        ) from error
    return from_array(array, shown, file=False)
