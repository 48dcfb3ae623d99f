"""Size: what a big file costs in memory, measured in a process of its own."""

import subprocess
import sys

import pytest

# VmHWM and not ru_maxrss, because the latter is inherited from the process that starts this one.
MEASURE = """
import sys
from assay.data import read_table
table = read_table(sys.argv[1])
peak = next(x for x in open("/proc/self/status") if x.startswith("VmHWM")).split()[1]
print(*table.X.shape, table.X.dtype, int(peak) / 1e6)
"""


def measure(path):
    run = subprocess.run(
        [sys.executable, "-c", MEASURE, str(path)], capture_output=True, text=True, check=True
    )
    rows, columns, dtype, peak = run.stdout.split()
    return (int(rows), int(columns)), dtype, float(peak)


def write(path, rows, columns, write):
    import numpy as np
    import polars as pl

    rng = np.random.default_rng(0)
    frame = pl.DataFrame({f"c{k}": rng.normal(size=rows) for k in range(columns)})
    write(frame, path)


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_parquet_is_never_whole_in_memory_twice(tmp_path):
    path = tmp_path / "t.parquet"
    write(path, 1_000_000, 30, lambda frame, p: frame.write_parquet(p))
    shape, dtype, peak = measure(path)
    assert shape == (1_000_000, 30)
    assert dtype == "float32"
    assert peak < 0.10 + 0.12 + 0.20  # imports, the table itself, working memory [GB]


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_two_million_rows_of_fifty_columns(tmp_path):
    path = tmp_path / "t.parquet"
    write(path, 2_000_000, 50, lambda frame, p: frame.write_parquet(p))
    shape, dtype, peak = measure(path)
    assert shape == (2_000_000, 50)
    assert dtype == "float32"
    assert peak < 1.3
