import numpy as np
import pytest

from assay.data import as_labels, as_matrix, as_vector, check_same_rows, map_rows
from assay.errors import DataError


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ([1.0, 2.0], r"`X` must have two dimensions.*reshape\(-1, 1\)"),
        (np.ones((2, 2, 2)), r"got shape \(2, 2, 2\).*reshape\(len\(X\), -1\)"),
        (3.0, "two dimensions"),
        ([[1.0, np.nan], [2.0, 3.0]], "1 missing or infinite value, first nan at row 0, column 1"),
        ([[1.0, 2.0], [np.inf, np.nan]], "2 missing or infinite values, first inf at row 1, col"),
        ([[1.0], [1.0, 2.0]], "ragged: row 1 has 2 values, row 0 has 1"),
        ([["a", "b"]], "must be numeric"),
        (np.array([[1.0, "a"]], dtype=object), "got 'a' \\(str\\) at row 0, column 1"),
        (np.array([[1.0, None]], dtype=object), "missing or infinite"),
        (np.ones((2, 2)) * 1j, "complex"),
        (np.ones((0, 2)), "empty"),
        (np.ones((2, 0)), "empty"),
        (None, "is None"),
        ("file.csv", "read_table"),
        (np.ma.masked_array([[1.0, 2.0]], [[True, False]]), "masked"),
    ],
)
def test_matrices_that_are_refused(value, message):
    with pytest.raises(DataError, match=message) as caught:
        as_matrix(value, name="X")
    assert caught.value.hint


def test_the_column_is_named_for_frames():
    pd = pytest.importorskip("pandas")
    with pytest.raises(DataError, match="row 1, column 'temp'"):
        as_matrix(pd.DataFrame({"p": [1.0, 2.0], "temp": [1.0, np.nan]}), name="X")


def test_number_of_columns():
    with pytest.raises(DataError, match="must have 3 columns, got 2"):
        as_matrix(np.ones((4, 2)), name="X", n_columns=3)


def test_matrices_that_pass():
    X = np.ones((2, 3))
    assert as_matrix(X, name="X") is X
    for value in (X.astype(np.float32), X.astype(bool), X.astype(object), X.tolist()):
        array = as_matrix(value, name="X")
        assert array.dtype == np.float64
        np.testing.assert_array_equal(array, X)


def test_large_float32_is_not_copied(monkeypatch):
    from assay.data import boundary

    monkeypatch.setattr(boundary, "LARGE", 5)
    X = np.ones((2, 3), dtype=np.float32)
    assert as_matrix(X, name="X") is X


def test_nan_far_down_is_found():
    X = np.ones((3_000_000, 2))
    X[2_999_999, 1] = np.nan
    with pytest.raises(DataError, match="row 2999999, column 1"):
        as_matrix(X, name="X")


def test_vectors():
    assert as_vector([1, 2], name="v", n_rows=2).tolist() == [1.0, 2.0]
    with pytest.raises(DataError, match=r"one dimension.*\[:, 0\]"):
        as_vector([[1.0], [2.0]], name="v")
    with pytest.raises(DataError, match="must have 3 values, one per row, got 2"):
        as_vector([1.0, 2.0], name="v", n_rows=3)
    with pytest.raises(DataError, match="first nan at row 1"):
        as_vector([1.0, np.nan], name="v")


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ([0, 1, 0], [False, True, False]),
        ([0.0, 1.0, 1.0], [False, True, True]),
        ([True, False, True], [True, False, True]),
        (["normal", "leak", "normal"], [False, True, False]),
        ([0, 2, 3], [False, True, True]),
        (["0.0", "1.0", "0"], [False, True, False]),
        (["Yes", "no", "NO"], [True, False, False]),
        ([1, 1, 1], [True, True, True]),
        (np.array(["ok", "run", "ok"], dtype=object), [False, True, False]),
        (["run", "fault", "run"], [False, True, False]),
    ],
)
def test_labels(value, expected):
    labels = as_labels(value, name="labels", n_rows=3)
    assert labels.dtype == bool
    assert labels.tolist() == expected


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ([0, 1], "must have 3 values"),
        ([0, 1, np.nan], "1 missing values, first at index 2"),
        ([-1, 1, 1], "-1 means anomaly to some"),
        ([1, 2, 3], "recognised as normal"),
        (["red", "blue", "blue"], "recognised as normal"),
        ([[0], [1], [0]], "one dimension"),
    ],
)
def test_labels_that_are_refused(value, message):
    with pytest.raises(DataError, match=message):
        as_labels(value, name="labels", n_rows=3)


def test_same_rows():
    assert check_same_rows(X=np.ones((3, 1)), times=None, labels=[0, 1, 0]) == 3
    with pytest.raises(DataError, match="`X` has 3, `labels` has 2"):
        check_same_rows(X=np.ones((3, 1)), labels=[0, 1])


@pytest.mark.parametrize("chunk", [1, 2, 3, 7, 100])
def test_map_rows_equals_one_call(chunk):
    X = np.random.default_rng(0).normal(size=(7, 3))
    np.testing.assert_array_equal(map_rows(lambda r: r**2, X, chunk=chunk), X**2)
    np.testing.assert_array_equal(map_rows(lambda r: r[:, 0], X, chunk=chunk), X[:, 0])
    assert map_rows(lambda r: r[:, 0] > 0, X, chunk=chunk).dtype == bool


def test_map_rows_without_rows():
    assert map_rows(lambda r: r.sum(axis=1), np.ones((0, 3))).shape == (0,)


def test_map_rows_never_gives_more_than_a_chunk():
    sizes = []
    map_rows(lambda r: sizes.append(len(r)) or r, np.ones((10, 1)), chunk=4)
    assert sizes == [4, 4, 2]


def test_map_rows_refuses_a_function_that_loses_rows():
    with pytest.raises(DataError, match="one row per row"):
        map_rows(lambda r: r.mean(axis=0), np.ones((10, 2)), chunk=4)
    with pytest.raises(DataError, match="at least 1"):
        map_rows(lambda r: r, np.ones((10, 2)), chunk=0)
