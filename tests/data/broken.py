"""Broken files: how each is written, and a fragment of the message it must get.

Used by the reader's tests and by the tests of the command line. Each function writes a file (or a
folder) into a folder and returns its path. `options` are what `read_table` is called with.
"""

import dataclasses
import gzip
import io
import pickle
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

import numpy as np


@dataclasses.dataclass(frozen=True)
class Broken:
    """A broken file: `write(folder)` returns its path; `expected` is in the message."""

    name: str
    write: Callable[[Path], Path]
    expected: str
    options: dict = dataclasses.field(default_factory=dict)


def text(content, *, name="table.csv", encoding="utf-8"):
    def write(folder):
        path = folder / name
        path.write_bytes(content.encode(encoding))
        return path

    return write


def raw(content, *, name="table.csv"):
    def write(folder):
        path = folder / name
        path.write_bytes(content() if callable(content) else content)
        return path

    return write


def rows(n=30, *, start="a,b\n", line="{k}.5,{k}\n", changed=None):
    """A good table of n rows with some lines replaced: {index: line}."""
    lines = [line.format(k=k * k % 17) for k in range(n)]
    for index, new in (changed or {}).items():
        lines[index] = new
    return start + "".join(lines)


def npz(**arrays):
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    return buffer.getvalue()


def npy(array):
    buffer = io.BytesIO()
    np.save(buffer, array, allow_pickle=True)
    return buffer.getvalue()


def parquet(columns=None):
    import polars as pl

    buffer = io.BytesIO()
    pl.DataFrame(columns or {"a": [1.0, 2.0], "b": [3.0, 4.0]}).write_parquet(buffer)
    return buffer.getvalue()


def _folder(folder):
    (folder / "logs").mkdir()
    (folder / "logs" / "monday.csv").write_text("a,b\n1,2\n")
    return folder / "logs"


def _missing(folder):
    (folder / "valve1.csv").write_text("a,b\n1,2\n")
    return folder / "vavle1.csv"


def _missing_folder(folder):
    return folder / "nowhere" / "valve1.csv"


def _loop(folder):
    path = folder / "loop.csv"
    path.symlink_to(path)
    return path


def _hdf5(fill):
    def write(folder):
        import h5py

        path = folder / "table.h5"
        with h5py.File(path, "w") as file:
            fill(file)
        return path

    return write


def _pandas_hdf5(file):
    group = file.create_group("df")
    group.attrs["pandas_type"] = "frame"
    group.create_dataset("block0_values", data=np.ones((3, 2)))


def _two_matrices(file):
    file["a"] = np.ones((3, 2))
    file["b"] = np.ones((4, 2))


def _truncated_hdf5(folder):
    path = _hdf5(lambda file: file.create_dataset("X", data=np.ones((1000, 20))))(folder)
    path.write_bytes(path.read_bytes()[:600])
    return path


def _zip(members, *, name):
    def write(folder):
        path = folder / name
        with zipfile.ZipFile(path, "w") as archive:
            for member, content in members.items():
                archive.writestr(member, content)
        return path

    return write


class _Hostile:
    """What an attacker would put into a pickle: loading it would end the process."""

    def __reduce__(self):
        return (exec, ("raise SystemExit('a pickle was executed')",))


def _png():
    return b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + zlib.compress(b"pixels" * 100)


def _measured_labels():
    return "a,state\n" + "".join(f"1.5,{k / 7}\n" for k in range(900))


_OBJECTS = np.array([_Hostile(), 1.0], dtype=object)
_KEY = {"label": "state"}

BROKEN = (
    # Not there, or no file
    Broken("missing file", _missing, "does not exist. Hint: Did you mean"),
    Broken("missing folder", _missing_folder, "does not exist"),
    Broken("folder", _folder, "is a folder. Hint: Pass a file in it, such as 'monday.csv'"),
    Broken("link to itself", _loop, "could not be opened"),
    # Empty
    Broken("zero bytes", raw(b""), "is empty"),
    Broken("only blanks", text("  \n\n \t\n"), "is empty"),
    Broken("only a byte-order mark", raw(b"\xef\xbb\xbf"), "is empty"),
    Broken("only comments", text("# made by logger\n# v2\n"), "only comments"),
    Broken("header only", text("a,b,c\n"), "no rows"),
    Broken("header and units only", text("a,b,c\n[bar],[K],[m]\n"), "no rows"),
    Broken("zero bytes parquet", raw(b"", name="t.parquet"), "is empty"),
    Broken("zero bytes npz", raw(b"", name="t.npz"), "is empty"),
    # Another kind of file
    Broken("renamed PNG", raw(_png), "is a PNG image"),
    Broken("PDF", raw(b"%PDF-1.7\n1 0 obj\n"), "is a PDF document"),
    Broken("pickle", raw(lambda: pickle.dumps(_Hostile(), 4)), "never loaded"),
    Broken("HTML page", text("<!doctype html>\n<html><body>404</body></html>"), "an HTML page"),
    Broken("XML", text("<?xml version='1.0'?>\n<a><b>1</b></a>"), "an XML file"),
    Broken("spreadsheet", _zip({"xl/workbook.xml": "<a/>"}, name="t.xlsx"), "is a spreadsheet"),
    Broken("zip", _zip({"t.csv": "a,b\n1,2\n"}, name="t.zip"), "is a ZIP archive"),
    Broken("random bytes", raw(lambda: np.random.default_rng(0).bytes(4096)), "not a text table"),
    Broken("text named parquet", text("a,b\n1,2\n", name="t.parquet"), "is not Parquet"),
    Broken("text named npz", text("a,b\n1,2\n", name="t.npz"), "is not NPZ"),
    Broken("text named h5", text("a,b\n1,2\n", name="t.h5"), "is not HDF5"),
    Broken("MATLAB", raw(b"MATLAB 5.0 MAT-file" + bytes(200), name="t.mat"), "a MATLAB file"),
    # Cut off or damaged
    Broken("truncated parquet", raw(lambda: parquet()[:-20], name="t.parquet"), "Parquet"),
    Broken("half a parquet", raw(lambda: parquet()[:60], name="t.parquet"), "Parquet"),
    Broken("truncated npz", raw(lambda: npz(X=np.ones((50, 3)))[:300], name="t.npz"), "damaged"),
    Broken("truncated npy", raw(lambda: npy(np.ones((50, 3)))[:200], name="t.npy"), "NumPy"),
    Broken("truncated HDF5", _truncated_hdf5, "HDF5"),
    Broken(
        "truncated gzip", raw(lambda: gzip.compress(rows(500).encode())[:60], name="t.csv.gz"),
        "damaged compressed",
    ),
    Broken("odd UTF-16", raw("a;b\n1;2\n".encode("utf-16") + b"\x00"), "damaged utf-16"),
    Broken("last line cut off", text(rows(changed={29: "7.5"})), "line 31: 1 fields, expected 2"),
    # Ragged
    Broken("short row", text(rows(changed={12: "7.5\n"})), "line 14: 1 fields, expected 2"),
    Broken("long row", text(rows(changed={12: "7.5,1,2\n"})), "line 14: 3 fields, expected 2"),
    Broken(
        "long row far down", text(rows(3000, changed={2500: "7.5,1,2,3\n"})),
        "line 2502: 4 fields, expected 2",
    ),
    Broken(
        "short row far down", text(rows(3000, changed={2500: "7.5\n"})),
        "line 2502: 1 fields, expected 2",
    ),
    Broken("open quote", text(rows(changed={12: '"7.5,1\n'})), "line 14: a quotation mark"),
    # Values
    Broken(
        "text halfway down", text(rows(changed={15: "oops,3\n"})),
        "line 17, column 'a': a number is needed, got text 'oops'",
    ),
    Broken(
        "text far down", text(rows(3000, changed={2900: "4.5,stuck\n"})),
        "line 2902, column 'b': a number is needed, got text 'stuck'",
    ),
    Broken("unit in a cell", text(rows(changed={15: "7.5 bar,3\n"})), "got text '7.5 bar'"),
    Broken("two dots", text(rows(changed={15: "7.5.1,3\n"})), "line 17, column 'a'"),
    Broken("hexadecimal", text(rows(changed={3: "0x1F,3\n"})), "got text '0x1F'"),
    Broken(
        "date in a number column", text(rows(changed={5: "2024-01-02,3\n"})),
        "line 7, column 'a': a number is needed, got",
    ),
    Broken("all text", text("a,b\nred,up\nblue,down\ngreen,up\n"), "no column of numbers"),
    Broken("only times", text("t\n2024-01-01 00:00:00\n2024-01-01 00:00:01\n"), "time stamps"),
    Broken("all missing", text("a,b\nNaN,-9999\nn/a,-9999\n,-9999\n"), "no column of numbers"),
    Broken("no complete row", text("a,b\n1,\n,2\n3,\n,4\n"), "none of 4 rows is complete"),
    Broken(
        "nearly no complete row", text(rows(40, line=",{k}\n", changed={3: "1.5,2\n"})),
        "only 1 of 40 rows are complete",
    ),
    Broken("all infinite", text("a,b\ninf,-inf\ninf,inf\n"), "no column of numbers"),
    Broken("only an index", text(",name\n0,x\n1,y\n2,z\n"), "no column of numbers"),
    # Columns asked for
    Broken("unknown column", text(rows()), "no column 'pressure'", {"columns": ["pressure"]}),
    Broken("near miss", text(rows(start="speed,b\n")), "Did you mean 'speed'", {"drop": "sped"}),
    Broken("unknown time", text(rows()), "no column 'when'", {"time": "when"}),
    Broken("unknown group", text(rows()), "no column 'unit'", {"group": "unit"}),
    Broken(
        "text asked for", text("a,b\nred,1\nblue,2\n"), "line 2, column 'a': a number is needed",
        {"columns": ["a"]},
    ),
    Broken("nothing left", text(rows()), "no column left", {"drop": ["a", "b"]}),
    Broken(
        "column asked for twice", text(rows()), "something else", {"columns": ["a"], "label": "a"}
    ),
    Broken("column number", text(rows()), "no column 7", {"drop": 7}),
    Broken("rows out of range", text(rows()), "`rows` must be", {"rows": [400]}),
    Broken("names alone", text("a,b,c\n"), "column names but no rows of data"),
    Broken("no rows chosen", text(rows()), "no rows of data", {"rows": 0}),
    # Roles
    Broken("unknown label", text(rows()), "no column 'state'", _KEY),
    Broken("labels without normal", text("a,state\n1,red\n2,blue\n"), "recognised as normal", _KEY),
    Broken("labels 1 and 2", text("a,state\n1,1\n2,2\n"), "recognised as normal", _KEY),
    Broken("labels -1 and 1", text("a,state\n1,-1\n2,1\n"), "-1 means anomaly to some", _KEY),
    Broken("empty labels", text("a,state\n1,\n2,NaN\n"), "label column is empty", _KEY),
    Broken("measured labels", text(_measured_labels()), "too many for labels", _KEY),
    Broken(
        "bad time stamp",
        text("t,a\n2024-01-01 00:00:00,1\n2024-13-01 00:00:01,2\n2024-01-01 00:00:02,3\n"),
        "line 3: a time stamp is needed, got '2024-13-01", {"time": "t"},
    ),
    Broken("words for times", text("t,a\nmorning,1\nevening,2\n"), "a time stamp is needed",
           {"time": "t"}),
    # Arrays
    Broken("three dimensions", raw(lambda: npy(np.ones((4, 3, 2))), name="t.npy"), "matrix"),
    Broken("a single number", raw(lambda: npy(np.float64(3)), name="t.npy"), "matrix"),
    Broken("complex numbers", raw(lambda: npy(np.ones((3, 2)) * 1j), name="t.npy"), "complex"),
    Broken("no rows in npy", raw(lambda: npy(np.ones((0, 2))), name="t.npy"), "no rows"),
    Broken("NaN everywhere", raw(lambda: npy(np.full((3, 2), np.nan)), name="t.npy"), "empty"),
    Broken("objects", raw(lambda: npy(_OBJECTS), name="t.npy"), "never loaded"),
    Broken("objects in npz", raw(lambda: npz(X=np.ones((2, 2)), y=_OBJECTS), name="t.npz"), "NPZ"),
    Broken("empty npz", raw(lambda: npz(), name="t.npz"), "no arrays"),
    Broken(
        "ambiguous npz", raw(lambda: npz(a=np.ones((3, 2)), b=np.ones((4, 2))), name="t.npz"),
        "ambiguous: it holds 'a' (3, 2), 'b' (4, 2)",
    ),
    Broken(
        "unequal columns", raw(lambda: npz(a=np.ones(3), b=np.ones(4)), name="t.npz"), "ambiguous"
    ),
    Broken(
        "X and y of other lengths", raw(lambda: npz(X=np.ones((3, 2)), y=np.ones(4)), name="t.npz"),
        "ambiguous",
    ),
    Broken("text in npz", raw(lambda: npz(X=np.array([["a", "b"]])), name="t.npz"), "numbers"),
    Broken("pandas HDF5", _hdf5(_pandas_hdf5), "PyTables"),
    Broken("ambiguous HDF5", _hdf5(_two_matrices), "ambiguous"),
    Broken("empty HDF5", _hdf5(lambda file: None), "no arrays"),
    Broken(
        "nested parquet", raw(lambda: parquet({"a": [[1.0], [2.0]]}), name="t.parquet"), "numbers"
    ),
    Broken("parquet without rows", raw(lambda: parquet({"a": []}), name="t.parquet"), "no rows"),
    Broken(
        "text parquet", raw(lambda: parquet({"a": ["x", "y"]}), name="t.parquet"),
        "no column of numbers",
    ),
)  # fmt: skip
