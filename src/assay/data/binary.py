"""Binary files: Parquet, NPZ, NPY and HDF5. Nothing in them is ever executed."""

import warnings
from pathlib import Path

import numpy as np

from assay.data.chars import clean_names, printable
from assay.data.encoding import named_in_unicode
from assay.data.raw import Raw
from assay.errors import DataError


def read_parquet(path: Path, shown: str) -> Raw:
    """Open a Parquet file; its columns are read when they are asked for."""
    import polars as pl

    try:
        with path.open("rb") as file:
            file.seek(max(path.stat().st_size - 4, 0))
            if file.read(4) != b"PAR1":
                raise DataError(
                    f"'{shown}' is a Parquet file that is cut off: its end is missing.",
                    hint="Copy it again, or let the program that writes it close it first.",
                )
            file.seek(0)
            schema = pl.read_parquet_schema(file)
        whole = path if named_in_unicode(path) else path.read_bytes()
        n_rows = pl.scan_parquet(whole, glob=False).select(pl.len()).collect().item()
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        raise _damaged(shown, "Parquet", error) from error
    given = list(schema)
    names, units, aliases, notes = clean_names(given)

    def read(positions):
        wanted = [given[k] for k in positions]
        try:
            # Without a memory map the file's pages do not count as memory of this process.
            frame = pl.read_parquet(whole, columns=wanted, glob=False, memory_map=False)
        except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
            raise _damaged(shown, "Parquet", error) from error
        return [frame[name].rechunk() for name in wanted]

    return Raw(shown, names, units, n_rows, read, aliases, notes=tuple(notes))


def read_npy(path: Path, shown: str) -> Raw:
    """Open a NPY file with a matrix or a structured array."""
    return from_array(_load(path, shown), shown, file=True)


def read_npz(path: Path, shown: str) -> Raw:
    """Open an NPZ file: X and y, one matrix, or several columns of equal length."""
    return from_arrays(npz_arrays(path, shown), shown)


def npz_arrays(path: Path, shown: str) -> dict:
    """Return all arrays of an NPZ file by name; `shown` is what messages call the file."""
    with _load(path, shown) as archive:
        arrays = {}
        for key in archive.files:
            try:
                arrays[key] = archive[key]
            except Exception as error:
                raise _damaged(shown, f"NPZ, array '{printable(key)}'", error) from error
    return arrays


def _load(path, shown):
    try:
        with warnings.catch_warnings():
            # A damaged header can warn on its way to failing.
            warnings.simplefilter("ignore", UserWarning)
            return np.load(path, allow_pickle=False)
    except ValueError as error:
        if "pickle" in str(error).lower():
            raise DataError(
                f"'{shown}' holds Python objects, which are never loaded.",
                hint="Save plain numbers: np.savez(path, X=X.astype(float)).",
            ) from error
        raise _damaged(shown, "NumPy", error) from error
    # NumPy's header parser lets through whatever its tokenizer raises.
    except Exception as error:
        raise _damaged(shown, "NumPy", error) from error


def read_hdf5(path: Path, shown: str) -> Raw:
    """Open an HDF5 file with one matrix or several columns of equal length."""
    return from_arrays(hdf5_arrays(path, shown), shown)


def hdf5_arrays(path: Path, shown: str) -> dict:
    """Return all arrays of an HDF5 file by name; `shown` is what messages call the file."""
    try:
        import h5py
    except ImportError as error:
        raise DataError(
            f"'{shown}' is an HDF5 file, and h5py is not installed.",
            hint="Install it: pip install 'assay[hdf5]'.",
        ) from error
    try:
        with h5py.File(path, "r") as file:
            if any("pandas_type" in file[key].attrs for key in file):
                raise DataError(
                    f"'{shown}' is a table that pandas wrote with PyTables.",
                    hint="Write it again: pandas.read_hdf(path).to_parquet('table.parquet').",
                )
            arrays = {}

            def visit(name, item):
                if isinstance(item, h5py.Dataset) and item.shape:
                    kind = item.dtype.kind
                    if kind in "biufcOSV" and item.ndim:
                        arrays[name] = item[()]

            file.visititems(visit)
    except (OSError, RuntimeError, KeyError, ValueError) as error:
        if isinstance(error, DataError):
            raise
        raise _damaged(shown, "HDF5", error) from error
    return {k: _text(a) if a.dtype.kind in "OS" else a for k, a in arrays.items()}


def _text(array):
    return np.array(
        [
            v.decode("utf-8", "replace") if isinstance(v, bytes) else str(v)
            for v in array.ravel().tolist()
        ]
    ).reshape(array.shape)


def from_arrays(arrays: dict, shown: str) -> Raw:
    """Find the table among named arrays, or list them."""
    arrays = {printable(k): a for k, a in arrays.items()}
    shapes = ", ".join(f"'{k}' {a.shape}" for k, a in list(arrays.items())[:12])
    if not arrays:
        raise DataError(f"'{shown}' holds no arrays.", hint="Save a matrix: np.savez(path, X=X).")
    matrices = {k: a for k, a in arrays.items() if a.ndim == 2 and a.shape[1] > 1}
    columns = {
        k: a.ravel() for k, a in arrays.items() if a.ndim == 1 or (a.ndim == 2 and a.shape[1] == 1)
    }
    if len(arrays) == 1:
        (array,) = arrays.values()
        return from_array(array, shown, file=True)
    if len(matrices) == 1 and len(matrices) + len(columns) == len(arrays):
        (matrix_name,), (matrix,) = matrices, matrices.values()
        beside = {k: a for k, a in columns.items() if len(a) == len(matrix)}
        if matrix_name == "X" and set(columns) == {"y"} and len(beside) == 1:
            return from_array(matrix, shown, file=True, beside=beside, label="y")
        if len(beside) == len(columns):
            return from_array(matrix, shown, file=True, beside=beside)
        names = {k: a for k, a in columns.items() if len(a) == matrix.shape[1]}
        if (
            len(names) == 1
            and next(iter(names.values())).dtype.kind == "U"
            and (len(beside) + 1 == len(columns))
        ):
            header = [str(v) for v in next(iter(names.values()))]
            return from_array(matrix, shown, file=True, beside=beside, names=header)
    lengths = {len(a) for a in columns.values()}
    if len(columns) == len(arrays) and len(lengths) == 1:
        return from_columns(columns, shown, file=True)
    raise DataError(
        f"'{shown}' is ambiguous: it holds {shapes}.",
        hint="Save one table: a matrix X with labels y, one matrix, or columns of equal length.",
    )


def from_array(array, shown, *, file, beside=None, label=None, names=None) -> Raw:
    """Open a matrix as columns x0, x1, ..., with named columns beside it."""
    where = f"'{shown}'" if file else shown
    array = np.asarray(array)
    if array.dtype.names:
        return from_columns({n: array[n] for n in array.dtype.names}, shown, file=file)
    if array.ndim == 1 and file:
        array = array[:, None]
    if array.ndim != 2:
        cure = (
            "Pass array.reshape(len(array), -1), one row per item."
            if array.ndim > 2
            else "Pass array.reshape(-1, 1) for one column."
        )
        raise DataError(
            f"{where} must be a matrix (rows, columns), got shape {array.shape}.", hint=cure
        )
    _real(array, where)
    beside = dict(beside or {})
    given = list(names or (f"x{k}" for k in range(array.shape[1]))) + list(beside)
    names, units, aliases, notes = clean_names(given)
    others = list(beside.values())
    d = array.shape[1]

    def read(positions):
        return [series(array[:, k] if k < d else others[k - d]) for k in positions]

    return Raw(
        shown, names, units, len(array), read, aliases, notes=tuple(notes), label=label, file=file
    )


def from_columns(columns: dict, shown: str, *, file: bool) -> Raw:
    """Open named columns of equal length."""
    where = f"'{shown}'" if file else shown
    arrays = {}
    for key, value in columns.items():
        arrays[key] = _column(value, where, printable(key))
    lengths = {k: len(a) for k, a in arrays.items()}
    if len(set(lengths.values())) > 1:
        odd = ", ".join(f"'{k}' has {n}" for k, n in list(lengths.items())[:5])
        raise DataError(
            f"{where}: columns must have equal lengths: {printable(odd)}.",
            hint="Cut the columns to the same rows.",
        )
    if not arrays:
        raise DataError(f"{where} has no columns.", hint="Pass at least one column.")
    names, units, aliases, notes = clean_names(list(arrays))
    values = list(arrays.values())
    return Raw(
        shown,
        names,
        units,
        len(values[0]),
        lambda ks: [series(values[k]) for k in ks],
        aliases,
        notes=tuple(notes),
        file=file,
    )


def _column(value, where, key):
    try:
        array = np.asarray(value)
    except ValueError:
        array = np.empty(0)
        array = array.reshape(0, 0, 0)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        raise DataError(
            f"{where}, column '{key}' must have one dimension, got {array.shape}.",
            hint="Pass one value per row.",
        )
    _real(array, f"{where}, column '{key}'")
    return array


def _real(array, where):
    if array.dtype.kind == "c":
        raise DataError(
            f"{where} holds complex numbers; real numbers are needed.",
            hint="Pass the real and imaginary parts, or modulus and phase, as columns.",
        )
    if array.dtype.kind == "V":
        raise DataError(
            f"{where} holds raw records, not numbers.", hint="Pass plain numeric columns."
        )


def series(values):
    """Turn a NumPy column into a polars one; objects become numbers where all are, else text."""
    import polars as pl

    values = np.ascontiguousarray(values)
    kind = values.dtype.kind
    if kind == "f" and values.dtype.itemsize not in (4, 8):
        values = values.astype(np.float64)
    if kind == "O":
        filled = list(_plain_objects(values))
        if all(v is None or isinstance(v, (int, float)) for v in filled):
            numbers = [None if v is None else _float(v) for v in filled]
            return pl.Series(numbers, dtype=pl.Float64)
        return pl.Series([None if v is None else str(v) for v in filled], dtype=pl.String)
    if kind == "S":
        values = np.char.decode(values, "utf-8", "replace")
    if kind == "M":
        values = values.astype("datetime64[us]")
    if kind == "m":
        return pl.Series(values.astype("timedelta64[us]"))
    if values.dtype.byteorder == ">":
        values = values.astype(values.dtype.newbyteorder("="))
    return pl.Series(values)


def _plain_objects(values):
    for v in values.tolist():
        if isinstance(v, np.generic):
            v = v.item()
        missing = type(v).__name__ in ("NAType", "NaTType") or (isinstance(v, float) and v != v)
        yield None if missing else v


def _float(value):
    try:
        return float(value)
    except OverflowError:
        return float("inf")


def _damaged(shown, kind, error):
    said = printable(" ".join(str(error).split())[:120])
    return DataError(
        f"'{shown}' could not be read as {kind}: {said}",
        hint="The file may be cut off or of another kind: copy or export it again.",
    )
