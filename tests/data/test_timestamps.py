"""Time stamps in the usual forms, against the standard library."""

import datetime as dt

import numpy as np
import pytest

from assay.data import read_table

WHEN = [dt.datetime(2024, 3, d, 10 + h, 14, 33) for d in (9, 10, 13, 25) for h in (0, 5)]
FORMS = [
    "%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%S", "%Y/%m/%d %H:%M:%S", "%d.%m.%Y %H:%M:%S",
    "%d/%m/%Y %H:%M:%S", "%m/%d/%Y %H:%M:%S", "%m/%d/%Y %I:%M:%S %p", "%d-%b-%Y %H:%M:%S",
    "%Y%m%d%H%M%S", "%Y%m%dT%H%M%S", "%d.%m.%y %H:%M:%S", "%Y-%m-%d %H:%M:%S.250",
    "%Y-%m-%dT%H:%M:%SZ", "%Y-%m-%dT%H:%M:%S+0000", "%Y-%m-%d %H:%M:%S+00:00",
    "%Y-%m-%d %H:%M:%S UTC", "%Y-%m-%dT%H:%M:%S.250Z",
]  # fmt: skip


def read(tmp_path, stamps, separator=";"):
    path = tmp_path / "t.csv"
    lines = [f"{s}{separator}{k * k % 7}" for k, s in enumerate(stamps)]
    path.write_text(f"when{separator}a\n" + "\n".join(lines) + "\n")
    return read_table(path, time="when")


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("separator", [";", ",", "\t"])
def test_forms(form, separator, tmp_path):
    table = read(tmp_path, [w.strftime(form) for w in WHEN], separator)
    extra = dt.timedelta(milliseconds=250) if ".250" in form else dt.timedelta()
    assert table.times.dtype == np.dtype("datetime64[us]")
    assert table.times.tolist() == [w + extra for w in WHEN]


@pytest.mark.parametrize("form", ["%d.%m.%Y %H:%M", "%Y-%m-%d %H:%M", "%Y-%m-%dT%H:%M"])
def test_minutes(form, tmp_path):
    table = read(tmp_path, [w.strftime(form) for w in WHEN])
    assert table.times.tolist() == [w.replace(second=0) for w in WHEN]


@pytest.mark.parametrize("form", ["%d.%m.%Y", "%Y-%m-%d", "%Y%m%d", "%d-%b-%Y"])
def test_days(form, tmp_path):
    if form == "%Y%m%d":
        pytest.skip("a bare number such as 20240309 is read as a number")
    table = read(tmp_path, [w.strftime(form) for w in WHEN])
    assert table.times.tolist() == [w.replace(hour=0, minute=0, second=0) for w in WHEN]


@pytest.mark.parametrize("factor", [1, 1000, 1_000_000])
def test_unix_time(factor, tmp_path):
    stamps = [int(w.replace(tzinfo=dt.UTC).timestamp()) * factor for w in WHEN]
    table = read(tmp_path, stamps)
    assert table.times.tolist() == WHEN
    assert any("since 1970" in note for note in table.notes)


def test_seconds_of_a_run(tmp_path):
    table = read(tmp_path, [0.0, 0.1, 0.2, 0.3])
    assert table.times.tolist() == [0.0, 0.1, 0.2, 0.3]


def test_zones_become_utc(tmp_path):
    table = read(tmp_path, ["2024-03-09T10:00:00+0200", "2024-03-09T10:00:01+0200"])
    assert table.times[0] == np.datetime64("2024-03-09T08:00:00")
    assert any("UTC" in note for note in table.notes)


def test_comma_in_the_seconds(tmp_path):
    table = read(tmp_path, ["2024-03-09 10:00:00,250", "2024-03-09 10:00:00,500"])
    assert table.times[1] - table.times[0] == np.timedelta64(250, "ms")


def test_clock_only(tmp_path):
    assert read(tmp_path, ["00:00:10", "00:01:00", "01:00:00"]).times.tolist() == [10, 60, 3600]


def test_day_or_month_first_by_the_order_of_time(tmp_path):
    days = [dt.datetime(2024, 3, d, 8) for d in range(1, 12)]
    table = read(tmp_path, [d.strftime("%m/%d/%Y %H:%M") for d in days])
    assert table.times.tolist() == days
    assert any("month/day/year" in note for note in table.notes)
    table = read(tmp_path, [d.strftime("%d/%m/%Y %H:%M") for d in days])
    assert table.times.tolist() == days
    assert any("day/month/year" in note for note in table.notes)


def test_missing_stamps_set_the_row_aside(tmp_path):
    table = read(tmp_path, [w.isoformat() for w in WHEN[:4]] + ["", "n/a"])
    assert table.n_rows == 4
    assert any("2 rows of 6 set aside" in note for note in table.notes)


def test_disorder_is_told(tmp_path):
    table = read(tmp_path, [w.isoformat() for w in (WHEN[1], WHEN[0], WHEN[0])])
    assert any("backwards 1 time" in note for note in table.notes)
    assert any("same time stamp" in note for note in table.notes)
