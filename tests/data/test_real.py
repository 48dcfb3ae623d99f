"""Real files; skipped where the folder of shared data is absent."""

import numpy as np

from assay.data import read_table


def test_test_bench(shared):
    table = read_table(
        shared / "skab" / "valve1-0.csv", label="anomaly", drop="changepoint", time="datetime"
    )
    raw = np.genfromtxt(shared / "skab" / "valve1-0.csv", delimiter=";", skip_header=1)
    np.testing.assert_array_equal(table.X, raw[:, 1:9])
    np.testing.assert_array_equal(table.labels, raw[:, 9] == 1)
    assert table.times[0] == np.datetime64("2020-03-09T10:14:33")
    assert table.columns[-1] == "Volume Flow RateRMS"
    normal = read_table(shared / "skab" / "anomaly-free.csv", time="datetime")
    assert normal.columns == table.columns
    assert normal.n_rows == 9405


def test_all_test_bench_files_fit_together(shared):
    from assay.data import concat

    tables = [
        read_table(p, time="datetime", label="anomaly", drop="changepoint")
        for p in sorted((shared / "skab").glob("valve1-*.csv"))
    ]
    assert len(set(concat(tables).groups.tolist())) == 8


def test_machine_temperatures(shared):
    for path in sorted((shared / "nab").glob("*.csv")):
        table = read_table(path, time="timestamp")
        raw = np.genfromtxt(path, delimiter=",", skip_header=1, usecols=1)
        np.testing.assert_array_equal(table.X[:, 0], raw)
        assert table.times.dtype.kind == "M"


def test_labelled_tables(shared):
    for path in sorted((shared / "adbench").glob("*.npz")):
        table = read_table(path)
        with np.load(path) as archive:
            np.testing.assert_array_equal(table.X, archive["X"])
            np.testing.assert_array_equal(table.labels, archive["y"] == 1)


def test_whitespace_tables(shared):
    for path in sorted((shared / "uci").glob("*/data.txt")):
        np.testing.assert_array_equal(read_table(path).X, np.loadtxt(path))
