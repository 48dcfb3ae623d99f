"""What becomes of each column and row, and what the notes say about it."""

import numpy as np
import pytest

from assay.data import read_table
from assay.errors import DataError


@pytest.fixture
def csv(tmp_path):
    def write(text, **options):
        path = tmp_path / "table.csv"
        path.write_text(text)
        return read_table(path, **options)

    return write


def said(table, *fragments):
    assert any(all(f in note for f in fragments) for note in table.notes), table.notes


def ramp(n, line="{k}.5,{v}\n", start="a,b\n", special=None):
    special = special or {}
    v = lambda k: special.get(k, (k * 7919) % 100)
    return start + "".join(line.format(k=(k * 31) % 90, v=v(k)) for k in range(n))


@pytest.mark.parametrize("word", ["", "NaN", "nan", "#N/A", "n/a", "-", "NULL", "?", "#VALUE!"])
def test_words_for_missing_set_the_row_aside(csv, word):
    table = csv(ramp(30, special={4: word, 9: word}))
    assert table.n_rows == 28
    assert not {6, 11} & set(table.row_numbers.tolist())
    said(table, "2 rows of 30 set aside", "line 6, line 11", "'b' in 2")


@pytest.mark.parametrize("code", [-9999, -999, 9999, -999.25, -99999, 999])
def test_repeated_codes_far_outside_are_missing(csv, code):
    table = csv(ramp(40, special={4: code, 9: code}))
    assert table.n_rows == 38
    said(table, "Codes for missing", f"{code:g} (2 times in 'b')")


def test_two_codes_in_one_column(csv):
    table = csv(ramp(40, special={4: -9999, 9: -9999, 11: 9999, 12: 9999}))
    assert table.n_rows == 36
    assert table.X[:, 1].max() < 100
    said(table, "-9999 (2 times in 'b')")


def test_a_code_inside_the_range_is_a_value(csv):
    rng = np.random.default_rng(0)
    numbers = rng.integers(0, 12_000, 50)
    numbers[[3, 7]] = 9999
    table = csv("a,b\n" + "".join(f"1.{k},{v}\n" for k, v in enumerate(numbers)))
    assert table.n_rows == 50
    assert not any("Codes" in note for note in table.notes)


def test_a_single_code_is_kept_and_told(csv):
    table = csv(ramp(40, special={4: -9999}))
    assert table.n_rows == 40
    said(table, "Kept, but looks like a code", "-9999 in 'b'")


def test_a_column_of_codes_only_is_empty(csv):
    table = csv(ramp(30, line="{k},-9999\n"))
    assert table.columns == ("a",)
    said(table, "empty", "'b'")


def test_infinite_values_are_missing(csv):
    table = csv(ramp(40, special={4: "inf", 9: "-Infinity"}))
    assert table.n_rows == 38
    said(table, "Infinite", "2 in 'b'")


def test_text_columns_are_set_aside_by_name(csv):
    table = csv(ramp(30, line="{k}.5,red{v}\n"))
    assert table.columns == ("a",)
    said(table, "hold text: 'b'")


def test_a_mostly_numeric_column_with_text_is_an_error_unless_dropped(csv):
    text = ramp(30, special={20: "stuck"})
    with pytest.raises(
        DataError, match="line 22, column 'b': a number is needed, got text 'stuck'"
    ):
        csv(text)
    assert csv(text, drop="b").columns == ("a",)
    assert csv(text, columns=["a"]).columns == ("a",)


def test_time_stamps_are_set_aside(csv):
    table = csv("t,a\n" + "".join(f"2024-01-01 00:00:{k:02d},{k * k % 7}\n" for k in range(30)))
    assert table.columns == ("a",)
    said(table, "time stamps: 't'")


def test_constant_columns_are_kept_and_listed(csv):
    table = csv(ramp(30, line="{k}.5,4\n"))
    assert table.columns == ("a", "b")
    said(table, "Constant columns, kept: 'b'")


def test_booleans_become_numbers(csv):
    table = csv("a,on\n1.5,true\n2.5,False\n3.5,true\n")
    assert table.X[:, 1].tolist() == [1, 0, 1]
    said(table, "'on'", "1 (true)")


def test_repeated_and_blank_names(csv):
    table = csv("p,p,,p\n1,2,3,4\n5,7,3,2\n")
    assert table.columns == ("p", "p_2", "column_3", "p_3")
    said(table, "repeated column names", "'p_2'")
    said(table, "without a name", "'column_3'")


def test_made_up_names_do_not_hit_given_ones(csv):
    assert csv("p,p,p_2\n1,2,3\n5,7,1\n").columns == ("p", "p_2_2", "p_2")


def test_same_name_in_two_units(csv):
    table = csv("T [K],T [degC]\n1,2\n5,7\n")
    assert table.columns == ("T [K]", "T [degC]")
    assert table.units == ("K", "degC")


def test_columns_can_be_named_with_or_without_unit(csv):
    text = "Pressure [bar],flow (m/s)\n1,2\n5,7\n"
    assert csv(text, columns=["flow (m/s)"]).columns == ("flow",)
    assert csv(text, columns=["flow", "pressure"]).X.tolist() == [[2, 1], [7, 5]]


@pytest.mark.parametrize(
    "name", ["<script>alert(1)</script>", "a\tb\nc", "bell\x07", "\u202eevil", "ß" * 500]
)
def test_hostile_names_are_printable(name, tmp_path):
    table = read_table({name: [1.0, 2.0], "b": [3.0, 5.0]})
    assert table.columns[0].isprintable()
    assert len(table.columns[0]) <= 120
    if "script" in name:
        assert table.columns[0] == name  # escaping is the work of what shows it


def test_ten_thousand_columns(tmp_path):
    import time

    import polars as pl

    X = np.random.default_rng(0).normal(size=(20, 10_000))
    path = tmp_path / "wide.csv"
    np.savetxt(path, X, delimiter=",", header=",".join(f"c{k}" for k in range(10_000)), comments="")
    begin = time.perf_counter()
    table = read_table(path)
    assert table.X.shape == (20, 10_000)
    np.testing.assert_allclose(table.X, X, rtol=1e-15)
    parquet = tmp_path / "wide.parquet"
    pl.DataFrame({f"c{k}": X[:, k] for k in range(10_000)}).write_parquet(parquet)
    np.testing.assert_array_equal(read_table(parquet).X, X)
    assert time.perf_counter() - begin < 60  # a minute means something quadratic


def test_whole_numbers_that_lose_digits_are_told():
    table = read_table({"id": [2**60 + 1, 5], "a": [1.0, 2.0]})
    said(table, "2^53", "'id'")


def test_rows(csv):
    text = ramp(30)
    assert csv(text, rows=5).row_numbers.tolist() == [2, 3, 4, 5, 6]
    assert csv(text, rows=slice(28, None)).row_numbers.tolist() == [30, 31]
    assert csv(text, rows=[3, 1]).row_numbers.tolist() == [5, 3]
    assert csv(text, rows=np.arange(30) == 4).row_numbers.tolist() == [6]


def test_group_and_kind(csv):
    text = "a,unit,state,what\n1,7,0,\n2,7,1,leak\n3,8,0,\n4,,1,leak\n5,8,0,x\n"
    table = csv(text, group="unit", label="state", kind="what")
    assert table.groups.tolist() == ["7", "7", "8", "8"]
    assert table.kinds.tolist() == ["", "leak", "", ""]
    said(table, "1 row of 5 set aside", "'unit' in 1")


def test_a_counter_is_told(csv):
    table = csv("n,a\n" + "".join(f"{3 * k},{k * k % 11}\n" for k in range(40)))
    said(table, "rise in every row", "'n'")


def test_optional_columns_that_are_absent(csv):
    table = csv(ramp(5), drop=["state"], label="fault", optional=("drop", "label"))
    assert table.absent == ("state", "fault")
    assert table.labels is None


def test_take_select_and_summary(csv):
    table = csv("a [bar],state\n1,0\n2,1\n5,0\n", label="state")
    part = table.take([2, 0])
    assert part.X.tolist() == [[5], [1]]
    assert part.labels.tolist() == [False, False]
    assert part.row_numbers.tolist() == [4, 2]
    assert table.take([]).n_rows == 0
    assert table.take(table.labels).X.tolist() == [[2]]
    (column,) = table.summary().columns
    assert (column.name, column.unit, column.low, column.high) == ("a", "bar", 1.0, 5.0)
    assert column.mean == pytest.approx(8 / 3)
    assert column.std == pytest.approx(np.std([1, 2, 5]))
    assert table.select(["a"]).columns == ("a",)
    with pytest.raises(DataError, match="no column 'b'"):
        table.select(["b"])


def test_a_table_can_be_read_again(csv):
    table = csv("a [bar],b,state\n1,2,0\n2,4,1\n5,7,0\n", label="state")
    again = read_table(table, columns=["b"], rows=slice(1, None))
    assert again.X.tolist() == [[4], [7]]
    assert again.labels.tolist() == [True, False]
    assert again.row_numbers.tolist() == [3, 4]
    assert read_table(table).units == ("bar", "")


def test_concat():
    from assay.data import concat

    one = read_table({"a": [1.0, 2.0], "b": [3.0, 5.0]}, name="one")
    two = read_table({"b": [7.0], "a": [9.0]}, name="two")
    both = concat([one, two])
    assert both.X.tolist() == [[1, 3], [2, 5], [9, 7]]
    assert both.groups.tolist() == ["one", "one", "two"]
    with pytest.raises(DataError, match="different columns: 'c'"):
        concat([one, read_table({"a": [1.0], "b": [1.0], "c": [2.0]})])


def test_large_tables_are_float32_unless_a_column_would_suffer(monkeypatch):
    from assay.data import assemble

    monkeypatch.setattr(assemble, "LARGE", 100)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 3))
    table = read_table(X)
    assert table.X.dtype == np.float32
    np.testing.assert_allclose(table.X, X, rtol=1e-6)
    said(table, "float32")
    X[:, 1] += 1e6
    table = read_table(X)
    assert table.X.dtype == np.float64
    np.testing.assert_array_equal(table.X, X)
    said(table, "float64", "'x1'")


def test_columns_read_twice_give_the_same(monkeypatch, csv):
    from assay.data import assemble

    text = ramp(200, special={3: "", 50: "n/a"})
    expected = csv(text).X
    monkeypatch.setattr(assemble, "_CACHE_VALUES", 0)
    monkeypatch.setattr(assemble, "_BATCH_VALUES", 1)
    np.testing.assert_array_equal(csv(text).X, expected)


def test_no_column_named_means_all(csv):
    text = ramp(5, line="{k}.5,red{v}\n")
    assert csv(text, columns=()).columns == csv(text).columns == ("a",)


@pytest.mark.parametrize("roles", [("label", "time"), ("label", "group"), ("time", "group")])
def test_one_column_has_one_role(roles):
    table = {"state": [0, 0, 1], "a": [1.0, 2.0, 3.0]}
    with pytest.raises(DataError, match=f"'state' is named as {roles[0]} and as {roles[1]}"):
        read_table(table, **dict.fromkeys(roles, "state"))


def test_a_label_may_name_the_kinds_too():
    table = {"state": ["ok", "leak", "ok"], "a": [1.0, 2.0, 3.0]}
    assert read_table(table, label="state", kind="state").kinds.tolist() == ["", "leak", ""]
