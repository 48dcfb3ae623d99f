"""Opening what holds simulation runs: tables, matrices, fields on a grid, several arrays."""

import dataclasses
import os
from pathlib import Path
from typing import Any

import numpy as np

from assay.data import Table
from assay.data.binary import from_array, from_columns, hdf5_arrays, npz_arrays
from assay.data.chars import listed, printable_path
from assay.data.frames import read_memory
from assay.data.raw import Raw
from assay.data.reading import open_source
from assay.errors import DataError

_INPUT_NAMES = ("X", "inputs")
_OUTPUT_NAMES = ("Y", "y", "outputs")


@dataclasses.dataclass(frozen=True, eq=False)
class Source:
    """An opened source: its columns, and which of them belong to one variable.

    Attributes
    ----------
    raw : Raw
    variables : dict
        Of each variable that is more than a column: the positions of its columns.
    coordinates : dict
        Of each of those with one further dimension: where its columns lie, and in what.
    outputs : tuple of str
        Variables that are outputs by their name (``Y`` in an NPZ file).
    groups : array of shape (n,) or None
        That a `Table` brought along.
    """

    raw: Raw
    variables: dict[str, tuple[int, ...]] = dataclasses.field(default_factory=dict)
    coordinates: dict[str, tuple[np.ndarray, str]] = dataclasses.field(default_factory=dict)
    outputs: tuple[str, ...] = ()
    groups: np.ndarray | None = None


def open_runs(source: Any, *, letter: str) -> Source:
    """Open anything that holds one row, or one field, a run.

    Parameters
    ----------
    source : path, table, array, dict of arrays, xarray object
    letter : str
        What the columns of a nameless matrix are called, with their number: ``"x"`` or ``"y"``.

    Raises
    ------
    DataError
        If it is none of these.
    """
    if isinstance(source, Table):
        return _from_table(source)
    if isinstance(source, str | os.PathLike):
        fields = _several_arrays(Path(source))
        shown = printable_path(source)
        return Source(open_source(source)) if fields is None else from_fields(fields, shown)
    if type(source).__module__.split(".")[0] == "xarray":
        return _from_xarray(source, letter)
    if isinstance(source, dict) and any(np.ndim(value) > 1 for value in source.values()):
        return from_fields({str(k): np.asarray(v) for k, v in source.items()}, "dict")
    if hasattr(source, "to_frame") and getattr(source, "ndim", 1) == 1:
        return Source(open_source(source.to_frame()))
    plain = isinstance(source, list | tuple) and bool(len(source)) and np.isscalar(source[0])
    bare = hasattr(source, "__array__") and not hasattr(source, "columns")
    if plain or (bare and not getattr(getattr(source, "dtype", None), "names", None)):
        return _from_array(source, letter)
    return Source(open_source(source))


def _from_table(table: Table) -> Source:
    raw = read_memory(dict(zip(table.columns, table.X.T, strict=True)), table.source)
    raw = dataclasses.replace(
        raw,
        names=table.columns,
        aliases=table.columns,
        units=table.units,
        row_numbers=table.row_numbers,
        notes=table.notes,
    )
    return Source(raw, groups=table.groups)


def _from_array(source: Any, letter: str) -> Source:
    if isinstance(source, np.ma.MaskedArray):
        source = source.astype(float).filled(np.nan)
    array = np.asarray(source)
    if array.ndim == 0:
        raise DataError(
            f"An array of runs must have rows, got the single value {source!r}.",
            hint="Pass one row a run: shape (n_runs, n_columns).",
        )
    if not array.size:
        raise DataError(
            f"An array of runs must hold numbers, got one of shape {array.shape}.",
            hint="Pass one row a run: shape (n_runs, n_columns).",
        )
    array = array.reshape(len(array), -1)
    names = [letter] if array.shape[1] == 1 else [f"{letter}{k}" for k in range(array.shape[1])]
    return Source(from_array(array, "array", file=False, names=names))


def _several_arrays(path: Path) -> dict[str, np.ndarray] | None:
    """Return the arrays of an NPZ or HDF5 file that holds more than one table, else None."""
    try:
        with path.open("rb") as file:
            head = file.read(8)
    except OSError:
        return None  # whoever opens it next says what is wrong
    if head == b"\x89HDF\r\n\x1a\n":
        arrays = hdf5_arrays(path, printable_path(path))
    elif head[:4] == b"PK\x03\x04" and path.suffix.lower() == ".npz":
        arrays = npz_arrays(path, printable_path(path))
    else:
        return None
    wide = [name for name, array in arrays.items() if array.ndim > 1]
    named = [name for name in arrays if name in _INPUT_NAMES or name in _OUTPUT_NAMES]
    return arrays if len(arrays) > 1 and (len(wide) > 1 or (wide and named)) else None


def _from_xarray(source: Any, letter: str) -> Source:
    if hasattr(source, "to_dataset"):
        source = source.to_dataset(name=str(source.name or letter))
    held = list(source.data_vars.values())
    shared = [d for d in (held[0].dims if held else ()) if all(d in v.dims for v in held)]
    if not shared:
        shapes = ", ".join(f"'{k}' {v.dims}" for k, v in list(source.data_vars.items())[:8])
        raise DataError(
            f"The variables of a Dataset must share a dimension, the runs; got {shapes}.",
            hint="Give every variable the dimension of the runs.",
        )
    run = shared[0]
    fields = {str(k): v.transpose(run, ...).values for k, v in source.data_vars.items()}
    beside = {str(k): c.values for k, c in source.coords.items() if c.dims == (run,) and k != run}
    units = {str(k): str(v.attrs.get("units", "")) for k, v in source.variables.items()}
    along = {str(k): _axis(source, v, run) for k, v in source.data_vars.items() if v.ndim == 2}
    known = {k: found for k, found in along.items() if found is not None}
    return from_fields(beside | fields, "Dataset", along=known, units=units, file=False)


def _axis(source: Any, variable: Any, run: Any) -> tuple[np.ndarray, str] | None:
    (dim,) = (d for d in variable.dims if d != run)
    if dim not in source.coords or source.coords[dim].dtype.kind not in "biuf":
        return None
    unit = str(source.coords[dim].attrs.get("units", ""))
    return source.coords[dim].values.astype(float), f"{dim} [{unit}]" if unit else str(dim)


def from_fields(
    fields: dict[str, np.ndarray],
    shown: str,
    *,
    along: dict[str, tuple[np.ndarray, str]] | None = None,
    units: dict[str, str] | None = None,
    file: bool = True,
) -> Source:
    """Lay arrays of any dimension side by side as columns; the first dimension is the run.

    Parameters
    ----------
    fields : dict of arrays
        Those of shape (n, ...) become columns. A vector of another length is the coordinate of
        the arrays (n, m) of that width.
    shown : str
        What messages call the source.
    along : dict, optional
        Of each variable with one further dimension: where its columns lie, and in what.
    units : dict of str, optional
        Of the variables.
    file : bool

    Raises
    ------
    DataError
        If an array has another number of runs.
    """
    single = [name for name, array in fields.items() if array.ndim == 0]
    fields = {name: array for name, array in fields.items() if array.ndim}
    n, first = _n_runs(fields, shown)
    _require_rows(fields, shown, n, first)
    axes = {len(a): (a.astype(float), k) for k, a in fields.items() if len(a) != n}
    columns: dict[str, np.ndarray] = {}
    variables, coordinates, given_units = {}, {}, []
    for name, array in fields.items():
        if len(array) != n:  # a coordinate
            continue
        flat = array.reshape(n, -1)
        at = (along or {}).get(name)
        if at is None and array.ndim == 2:
            at = axes.get(flat.shape[1])
        start = len(columns)
        columns |= dict(zip(_column_names(name, array.shape, at, columns), flat.T, strict=True))
        given_units += [(units or {}).get(name, "")] * flat.shape[1]
        if array.ndim > 1:
            variables[name] = tuple(range(start, len(columns)))
        if at is not None:
            coordinates[name] = at
    raw = from_columns(columns, shown, file=file)
    kept = tuple(u or g for u, g in zip(raw.units, given_units, strict=True))
    notes = raw.notes
    if single:
        notes += (f"Left out, because it holds a single value: {listed(single)}.",)
    hinted = tuple(name for name in _OUTPUT_NAMES if name in fields)
    raw = dataclasses.replace(raw, units=kept, notes=tuple(notes))
    return Source(raw, variables, coordinates, hinted)


def _n_runs(fields: dict[str, np.ndarray], shown: str) -> tuple[int, str]:
    """Return the number of runs, and the name of the array that it is read from."""
    for name in _INPUT_NAMES:
        if name in fields:
            return len(fields[name]), name
    wide = [name for name, a in fields.items() if a.ndim > 1] or list(fields)
    if not wide:
        raise DataError(f"'{shown}' holds no arrays.", hint="Save one entry a run.")
    return len(fields[wide[0]]), wide[0]


def _require_rows(fields: dict[str, np.ndarray], shown: str, n: int, first: str) -> None:
    """Raise DataError for an array of another length that is not the coordinate of any."""
    widths = {int(np.prod(a.shape[1:])) for a in fields.values() if a.ndim > 1 and len(a) == n}
    for name, array in fields.items():
        axis = array.ndim == 1 and array.dtype.kind in "iuf" and name not in _OUTPUT_NAMES
        if len(array) != n and not (axis and len(array) in widths):
            raise DataError(
                f"'{shown}': '{name}' has {len(array):,} rows and '{first}' has {n:,}.",
                hint="Every array needs one entry a run, along its first dimension. Only a "
                "coordinate, such as the times of a series, has one entry a column instead.",
            )


def _column_names(name, shape, at, taken):
    """Name the columns of a variable: by their coordinate, else by their number."""
    if len(shape) == 1 or int(np.prod(shape[1:])) == 1:
        return [name]
    stem = f"{name.lower()}" if name in ("X", "Y") else f"{name}_"
    if at is not None:
        named = [f"{name}_{value:.6g}" for value in at[0]]
        if len(set(named)) == len(named) and not set(named) & set(taken):
            return named
    places = np.ndindex(*shape[1:])
    return [stem + "_".join(map(str, place)) for place in places]
