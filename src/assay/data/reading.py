"""Reading a table, whatever it is."""

import dataclasses
import difflib
import os
import stat
from pathlib import Path

from assay.data.assemble import assemble
from assay.data.chars import printable, printable_path
from assay.data.raw import Raw
from assay.data.table import Table
from assay.errors import DataError

_FOREIGN = (
    (b"\x89PNG", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF8", "a GIF image"),
    (b"%PDF", "a PDF document"),
    (b"\xd0\xcf\x11\xe0", "an old Excel or Office file"),
    (b"MATLAB 5.0", "a MATLAB file"),
    (b"SQLite format 3", "an SQLite database"),
    (b"7z\xbc\xaf", "a 7-Zip archive"),
    (b"Rar!", "a RAR archive"),
    (b"ARROW1", "an Arrow/Feather file"),
    (b"\x28\xb5\x2f\xfd", "a Zstandard archive"),
    (b"CDF\x01", "a classic NetCDF file"),
    (b"CDF\x02", "a classic NetCDF file"),
    (b"\x80\x04\x95", "a pickle, which is never loaded,"),
    (b"<!DOCTYPE", "an HTML page"),
    (b"<html", "an HTML page"),
    (b"<?xml", "an XML file"),
)


def read_table(
    source,
    *,
    name: str | None = None,
    columns=None,
    drop=(),
    label=None,
    time=None,
    group=None,
    kind=None,
    rows=None,
    optional=(),
) -> Table:
    """Read a table from a file or from memory.

    Parameters
    ----------
    source : path or table
        CSV or other text (separator, decimal sign, encoding, header and units found by looking;
        also .gz, .bz2, .xz), Parquet, NPZ, NPY, HDF5; a NumPy matrix, any data frame that
        narwhals knows, an xarray object, a dictionary of columns, a list of rows, a `Table`.
    name : str, optional
        What to call it in messages and reports; the path, or ``"array"``, by default.
    columns : sequence of str, optional
        The features, in this order. All numeric columns by default.
    drop : str or sequence of str
        Columns to leave out.
    label, time, group, kind : str, optional
        Columns with a role; they are no features.
    rows : int, slice, mask or positions, optional
        The first rows, or which rows of the source to read.
    optional : sequence of str
        Which of ``"drop"``, ``"label"``, ``"time"``, ``"group"`` and ``"kind"`` may name a column
        that this source lacks; ``Table.absent`` then has the name.

    Returns
    -------
    Table

    Raises
    ------
    DataError
        If something cannot be used: the message names file, row and column, the hint the cure.

    Notes
    -----
    Nothing is filled. Rows with a missing value are set aside, as are columns of text and empty
    columns; each is told in ``Table.notes``. Infinite values count as missing, and so do codes
    such as -9999 where they are repeated and lie more than twice the range of the other values
    away from them.

    Examples
    --------
    >>> table = read_table({"Pressure [bar]": [1.0, 2.0], "state": ["ok", "leak"]}, label="state")
    >>> table.columns, table.units, table.labels.tolist()
    (('Pressure',), ('bar',), [False, True])
    """
    roles = {"label": label, "time": time, "group": group, "kind": kind}
    if isinstance(source, Table):
        return _again(source, name, columns, drop, rows, optional, roles)
    raw = open_source(source, name=name)
    try:
        return assemble(raw, columns=columns, drop=drop, rows=rows, optional=optional, **roles)
    finally:
        if raw.close is not None:
            raw.close()


def open_source(source, *, name: str | None = None) -> Raw:
    """Open a file, or anything in memory but a `Table`, without reading its columns.

    For a need that has to see the names before it can say which columns it wants.

    Parameters
    ----------
    source, name
        As `read_table` takes them.

    Returns
    -------
    Raw
        Call its `close`, where it has one, once the columns are read.

    Raises
    ------
    DataError
        If the source is no table.
    """
    if isinstance(source, (str, os.PathLike)):
        return _open_file(Path(source), printable_path(name or source))
    if isinstance(source, bytes):
        raise DataError("Bytes are no table.", hint="Write them to a file and pass its path.")
    from assay.data.frames import read_memory

    return read_memory(source, printable_path(name or "array"))


def _again(table, name, columns, drop, rows, optional, roles):
    """Choose from a table that has been read; the roles that it has stay."""
    from assay.data.frames import read_memory

    raw = read_memory(dict(zip(table.columns, table.X.T, strict=True)), name or table.source)
    raw = dataclasses.replace(raw, units=table.units, names=table.columns, aliases=table.columns)
    chosen = assemble(raw, columns=columns, drop=drop, rows=rows, optional=optional, **roles)
    position = chosen.row_numbers - 1
    kept = {
        field: getattr(table, field)[position]
        for field in ("labels", "times", "groups", "kinds", "places")
        if getattr(table, field) is not None and getattr(chosen, field) is None
    }
    return dataclasses.replace(
        chosen,
        **kept,
        row_numbers=table.row_numbers[position],
        notes=tuple(dict.fromkeys((*table.notes, *chosen.notes))),
    )


def _open_file(path, shown):
    head = _first_bytes(path, shown)
    suffix = path.suffix.lower()
    from assay.data import binary

    if head[:4] == b"PAR1":
        return binary.read_parquet(path, shown)
    if head[:8] == b"\x89HDF\r\n\x1a\n":
        return binary.read_hdf5(path, shown)
    if head[:6] == b"\x93NUMPY":
        return binary.read_npy(path, shown)
    if head[:4] in (b"PK\x03\x04", b"PK\x05\x06"):
        return _open_zip(path, shown, binary)
    expected = {
        ".parquet": "Parquet", ".pq": "Parquet", ".npz": "NPZ", ".npy": "NPY", ".h5": "HDF5",
        ".hdf5": "HDF5", ".hdf": "HDF5",
    }.get(suffix)  # fmt: skip
    for magic, what in _FOREIGN:
        if head.lstrip()[: len(magic)].lower() == magic.lower():
            raise DataError(
                f"'{shown}' is {what} and no table.",
                hint="Pass CSV, Parquet, NPZ, NPY or HDF5; export other formats to CSV first.",
            )
    if expected:
        raise DataError(
            f"'{shown}' is not {expected}, whatever its name says: it begins with {head[:8]!r}.",
            hint="Copy or export the file again, or name it .csv if it is text.",
        )
    from assay.data.delimited import read_text_table

    return read_text_table(path, shown)


def _open_zip(path, shown, binary):
    import zipfile

    try:
        with zipfile.ZipFile(path) as archive:
            members = archive.namelist()
    except (zipfile.BadZipFile, RuntimeError, OSError, ValueError) as error:
        raise DataError(
            f"'{shown}' is a damaged NPZ or ZIP file: {error}.", hint="Copy the file again."
        ) from error
    if (members or path.suffix == ".npz") and all(m.endswith(".npy") for m in members):
        return binary.read_npz(path, shown)
    if any(m.startswith(("xl/", "content.xml")) for m in members):
        raise DataError(
            f"'{shown}' is a spreadsheet.", hint="Save the sheet as CSV and pass that file."
        )
    raise DataError(
        f"'{shown}' is a ZIP archive.", hint="Unpack it and pass the file with the table."
    )


def _first_bytes(path, shown):
    try:
        kind = path.stat().st_mode
        if stat.S_ISDIR(kind):
            raise _a_folder(path, shown)
        if stat.S_ISFIFO(kind) or stat.S_ISSOCK(kind):
            raise DataError(
                f"'{shown}' is a pipe, which can be read once only.",
                hint="Write what comes out of it into a file, and pass that.",
            )
        with path.open("rb") as file:
            head = file.read(512)
    except FileNotFoundError as error:
        raise DataError(f"'{shown}' does not exist.", hint=_neighbours(path)) from error
    except PermissionError as error:
        raise DataError(
            f"'{shown}' may not be read.", hint="Change the permissions of the file."
        ) from error
    except DataError:
        raise
    except (OSError, ValueError) as error:
        said = getattr(error, "strerror", None) or str(error)
        raise DataError(
            f"'{shown}' could not be opened: {said}.", hint="Check the path."
        ) from error
    if not head:
        raise DataError(
            f"'{shown}' is empty: it has no bytes.",
            hint="Check that the file was written completely.",
        )
    return head


def _a_folder(path, shown):
    inside = sorted(p.name for p in path.iterdir() if p.is_file())[:3]
    cure = f"such as '{printable(inside[0])}'" if inside else "not its folder"
    return DataError(f"'{shown}' is a folder.", hint=f"Pass a file in it, {cure}.")


def _neighbours(path):
    folder = path.parent
    try:
        names = sorted(p.name for p in folder.iterdir())
    except OSError:
        return f"The folder '{printable_path(folder)}' does not exist either."
    close = difflib.get_close_matches(path.name, names, n=1, cutoff=0.5)
    if close:
        return f"Did you mean '{printable_path(folder / close[0])}'?"
    shown = ", ".join(map(printable, names[:8])) or "nothing"
    return f"The folder holds {shown}{', ...' if len(names) > 8 else ''}."
