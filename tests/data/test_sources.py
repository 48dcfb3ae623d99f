"""Tables that are not text: binary files and objects in memory."""

import numpy as np
import pytest

from assay.data import read_table
from assay.errors import DataError

A, B = [1.0, 2.0, 4.0], [10, 30, 20]
EXPECTED = np.column_stack([A, B]).astype(float)


def pandas_frame():
    return pytest.importorskip("pandas").DataFrame({"a": A, "b": B})


def pandas_nullable():
    pd = pytest.importorskip("pandas")
    return pd.DataFrame({"a": pd.array(A, dtype="Float64"), "b": pd.array(B, dtype="Int64")})


def pandas_objects():
    return pandas_frame().astype(object)


def polars_frame():
    return pytest.importorskip("polars").DataFrame({"a": A, "b": B})


def arrow_table():
    return pytest.importorskip("pyarrow").table({"a": A, "b": B})


def dataset():
    xr = pytest.importorskip("xarray")
    return xr.Dataset({"a": ("i", A, {"units": "bar"}), "b": ("i", B)})


def data_array():
    xr = pytest.importorskip("xarray")
    return xr.DataArray(EXPECTED, dims=("i", "sensor"), coords={"sensor": ["a", "b"]})


NAMED = {
    "pandas": pandas_frame,
    "pandas nullable": pandas_nullable,
    "pandas objects": pandas_objects,
    "polars": polars_frame,
    "polars lazy": lambda: polars_frame().lazy(),
    "arrow": arrow_table,
    "dataset": dataset,
    "data array": data_array,
    "dict": lambda: {"a": A, "b": B},
    "dict of columns": lambda: {"a": np.array(A)[:, None], "b": np.array(B, dtype=">i4")},
    "list of dicts": lambda: [{"a": a, "b": b} for a, b in zip(A, B, strict=True)],
    "structured": lambda: np.array(list(zip(A, B, strict=True)), dtype=[("a", "f4"), ("b", "i2")]),
}
UNNAMED = {
    "float64": lambda: EXPECTED,
    "float16": lambda: EXPECTED.astype(np.float16),
    "longdouble": lambda: EXPECTED.astype(np.longdouble),
    "int8": lambda: EXPECTED.astype(np.int8),
    "objects": lambda: EXPECTED.astype(object),
    "strings": lambda: EXPECTED.astype(str),
    "Fortran order": lambda: np.asfortranarray(EXPECTED),
    "lists": lambda: EXPECTED.tolist(),
    "tuples": lambda: [tuple(r) for r in EXPECTED.tolist()],
    "list of arrays": lambda: list(EXPECTED),
    "masked": lambda: np.ma.masked_array(EXPECTED),
}


@pytest.mark.parametrize("kind", NAMED)
def test_named_sources(kind):
    table = read_table(NAMED[kind]())
    assert table.columns == ("a", "b")
    np.testing.assert_array_equal(table.X, EXPECTED)
    assert table.X.dtype == np.float64
    assert table.row_numbers.tolist() == [1, 2, 3]


@pytest.mark.parametrize("kind", UNNAMED)
def test_unnamed_sources(kind):
    table = read_table(UNNAMED[kind]())
    assert table.columns == ("x0", "x1")
    np.testing.assert_array_equal(table.X, EXPECTED)


def test_the_users_array_is_not_changed_or_kept():
    X = np.array([[1.0, np.inf], [2.0, 5.0], [3.0, 4.0]])
    copy = X.copy()
    table = read_table(X)
    np.testing.assert_array_equal(X, copy)
    assert table.n_rows == 2
    assert not np.shares_memory(table.X, X)


def test_units_of_a_dataset():
    assert read_table(dataset()).units == ("bar", "")


def test_time_from_pandas():
    pd = pytest.importorskip("pandas")
    frame = pandas_frame()
    frame["t"] = pd.date_range("2024-01-01", periods=3, freq="s", tz="Europe/Berlin")
    table = read_table(frame, time="t")
    assert table.times[0] == np.datetime64("2023-12-31T23:00:00")
    assert table.times.dtype == np.dtype("datetime64[us]")
    assert read_table(frame).columns == ("a", "b")


def test_time_from_xarray():
    xr = pytest.importorskip("xarray")
    when = np.datetime64("2024-01-01", "ns") + np.arange(3) * np.timedelta64(1, "s")
    array = xr.DataArray(
        EXPECTED, dims=("time", "sensor"), coords={"time": when, "sensor": ["a", "b"]}
    )
    table = read_table(array, time="time")
    assert table.columns == ("a", "b")
    assert table.times[2] - table.times[0] == np.timedelta64(2, "s")


def test_missing_values_of_pandas():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(
        {"a": pd.array([1, None, 3], dtype="Int64"), "s": ["x", None, "y"], "b": [1.0, 2.0, 3.5]}
    )
    table = read_table(frame)
    assert table.row_numbers.tolist() == [1, 3]
    assert table.columns == ("a", "b")


def test_categorical_labels():
    pd = pytest.importorskip("pandas")
    frame = pandas_frame()
    frame["state"] = pd.Categorical(["normal", "leak", "crack"])
    table = read_table(frame, label="state")
    assert table.labels.tolist() == [False, True, True]
    assert table.kinds.tolist() == ["", "leak", "crack"]


BAD = {
    "complex": (np.ones((2, 2)) * 1j, "complex"),
    "three dimensions": (np.ones((2, 2, 2)), "matrix"),
    "one dimension": (np.ones(3), "reshape"),
    "ragged": ([[1.0, 2.0], [3.0]], "row 2: 1 values, expected 2"),
    "flat list": ([1.0, 2.0], "list of rows"),
    "empty list": ([], "empty"),
    "empty dict": ({}, "no columns"),
    "unequal dict": ({"a": [1.0], "b": [1.0, 2.0]}, "equal lengths: 'a' has 1, 'b' has 2"),
    "nested dict": ({"a": [[1.0, 2.0]]}, "one dimension"),
    "nested list": ([[[1.0]], [[2.0]]], "matrix"),
    "number": (3.0, "must be a file or a table, got float"),
    "None": (None, "must be a file or a table, got NoneType"),
    "bytes": (b"a,b", "Bytes are no table"),
    "objects": (np.array([[1.0, {}], [2.0, 5.0]], dtype=object), "column 'x1'"),
    "no columns": (np.ones((3, 0)), "no column"),
    "no rows": (np.ones((0, 3)), "no rows"),
}


@pytest.mark.parametrize("kind", BAD)
def test_what_is_no_table(kind):
    source, message = BAD[kind]
    with pytest.raises(DataError, match=message) as caught:
        read_table(source)
    assert caught.value.hint
    assert "array" in caught.value.message or kind == "bytes"


def test_huge_python_integers():
    table = read_table({"a": [10**30, 1, 2], "b": [10**400, 1, 2]})
    assert table.row_numbers.tolist() == [2, 3]  # 10**400 is beyond float64: infinite


def test_dataset_with_several_dimensions():
    xr = pytest.importorskip("xarray")
    with pytest.raises(DataError, match="share one dimension"):
        read_table(xr.Dataset({"a": ("i", A), "b": (("i", "j"), EXPECTED)}))
    with pytest.raises(DataError, match="two dimensions"):
        read_table(xr.DataArray(np.ones((2, 2, 2))))


def test_npz_layouts(tmp_path):
    path = tmp_path / "t.npz"
    np.savez(path, X=EXPECTED, y=[0, 1, 0])
    table = read_table(path)
    assert table.columns == ("x0", "x1")
    assert table.labels.tolist() == [False, True, False]
    assert read_table(path, label="y").labels.tolist() == [False, True, False]
    assert read_table(path, drop="y").labels is None
    np.savez(path, anything=EXPECTED)
    np.testing.assert_array_equal(read_table(path).X, EXPECTED)
    np.savez(path, a=A, b=B)
    assert read_table(path).columns == ("a", "b")
    np.savez(path, data=EXPECTED, names=["a", "b"], t=[0.0, 1.0, 2.0])
    table = read_table(path, time="t")
    assert table.columns == ("a", "b")
    assert table.times.tolist() == [0, 1, 2]


def test_npy(tmp_path):
    np.save(tmp_path / "t.npy", EXPECTED)
    np.testing.assert_array_equal(read_table(tmp_path / "t.npy").X, EXPECTED)


def test_parquet_with_another_suffix(tmp_path):
    polars_frame().write_parquet(tmp_path / "t.dat")
    assert read_table(tmp_path / "t.dat").columns == ("a", "b")


def test_hdf5_layouts(tmp_path):
    h5py = pytest.importorskip("h5py")
    path = tmp_path / "t.h5"
    with h5py.File(path, "w") as file:
        file["run/X"] = EXPECTED
    np.testing.assert_array_equal(read_table(path).X, EXPECTED)
    with h5py.File(path, "w") as file:
        file["a"], file["b"], file["state"] = A, B, np.array([b"ok", b"leak", b"ok"])
    table = read_table(path, label="state")
    assert table.columns == ("a", "b")
    assert table.labels.tolist() == [False, True, False]


def test_a_pandas_index_that_says_something_is_a_column():
    pd = pytest.importorskip("pandas")
    frame = pandas_frame()
    frame.index = pd.date_range("2024-01-01", periods=3, freq="s")
    table = read_table(frame, time="index")
    assert table.columns == ("a", "b")
    assert table.times[1] == np.datetime64("2024-01-01T00:00:01")
    frame.index = pd.Index([7, 7, 8], name="pump")
    assert read_table(frame, group="pump").groups.tolist() == ["7", "7", "8"]
    frame.index = [4, 5, 6]
    assert read_table(frame).columns == ("a", "b")


def test_odd_pandas_frames():
    pd = pytest.importorskip("pandas")
    twice = pd.DataFrame(EXPECTED, columns=["a", "a"])
    with pytest.raises(DataError, match="'a'"):
        read_table(twice)
    numbered = pd.DataFrame(EXPECTED)
    assert read_table(numbered).columns == ("0", "1")
    nested = pd.DataFrame({"a": A, "b": [np.ones(2)] * 3})
    assert read_table(nested).columns == ("a",)
    levels = pd.DataFrame(EXPECTED, columns=pd.MultiIndex.from_tuples([("p", "x"), ("p", "y")]))
    assert read_table(levels).n_columns == 2
    with pytest.raises(DataError, match="matrix"):
        read_table(pd.Series(A))
