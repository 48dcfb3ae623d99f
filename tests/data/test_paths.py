"""Where a table lies: names that are long, odd, or of something that is no file."""

import os

import numpy as np
import polars as pl
import pytest

from assay.data import read_table
from assay.errors import DataError

FRAME = pl.DataFrame({"a": np.arange(30.0), "b": np.arange(30.0) ** 2})


def odd(tmp_path, suffix):
    """Return a path whose name is no UTF-8, as old archives have it."""
    path = os.fsdecode(os.path.join(os.fsencode(tmp_path), b"pump-\xfc" + suffix))
    try:
        open(path, "wb").close()
    except OSError:
        pytest.skip("this file system takes names in UTF-8 only")
    return path


@pytest.mark.parametrize("suffix", [b".csv", b".parquet"])
def test_a_name_that_is_no_utf8_can_be_read(tmp_path, suffix):
    path = odd(tmp_path, suffix)
    with open(path, "wb") as file:
        FRAME.write_csv(file) if suffix == b".csv" else FRAME.write_parquet(file)
    table = read_table(path)
    np.testing.assert_array_equal(table.X, FRAME.to_numpy())
    assert table.source.isprintable()


def test_a_long_path_is_named_whole_so_that_it_is_found_again(tmp_path):
    folder = tmp_path / ("d" * 100) / ("e" * 100)
    folder.mkdir(parents=True)
    FRAME.write_csv(folder / "pump.csv")
    assert read_table(folder / "pump.csv").source == str(folder / "pump.csv")
    with pytest.raises(DataError) as caught:
        read_table(folder / "pomp.csv")
    assert str(folder / "pomp.csv") in caught.value.message
    assert str(folder / "pump.csv") in caught.value.hint


def test_a_folder_is_named_once(tmp_path):
    FRAME.write_csv(tmp_path / "pump.csv")
    with pytest.raises(DataError) as caught:
        read_table(tmp_path)
    assert caught.value.message == f"'{tmp_path}' is a folder."
    assert caught.value.hint == "Pass a file in it, such as 'pump.csv'."


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_is_not_called_empty(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(DataError, match="is a pipe"):
        read_table(tmp_path / "pipe")
