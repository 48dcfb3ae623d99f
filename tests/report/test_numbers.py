import math

import pytest

from assay.report import numbers


@pytest.mark.parametrize(
    ("value", "interval", "digits"),
    [
        (58.123, (51.2, 64.9), 1),  # half width 6.85: two digits of it are 6.9
        (0.9521, (0.934, 0.968), 3),
        (1234.0, (1000.0, 1500.0), 0),
        (0.5, (0.5, 0.5), 3),  # no width: three digits of the value
        (0.0, None, 2),
        (float("nan"), None, 2),
    ],
)
def test_two_digits_of_the_half_width(value, interval, digits):
    assert numbers.digits_after_point(value, interval) == digits


def test_a_column_shares_its_digits():
    values = [58.1, 32.0, 75.2, None, math.nan]
    intervals = [(51.2, 64.9), (25.0, 39.0), (68.0, 82.0), None, None]
    assert numbers.column_digits(values, intervals) == 1
    assert [numbers.number(v, 1) for v in values] == ["58.1", "32.0", "75.2", "—", "—"]


def test_a_column_over_many_decades_has_no_common_digits():
    assert numbers.column_digits([3e-7, 12.0]) is None
    assert numbers.column_digits([2e9, 1e9]) is None


def test_whole_numbers_stay_whole():
    assert numbers.column_digits([120, 80.0, 40]) == 0


def test_a_rounded_zero_has_no_sign():
    assert numbers.number(-0.004, 2) == "0.00"
    assert numbers.number(-0.006, 2) == "-0.01"
    assert numbers.percent(-0.0001, 0, signed=True) == "0 %"


@pytest.mark.parametrize("value", [None, math.nan, math.inf, -math.inf, "text", object()])
def test_what_is_no_number_is_a_dash(value):
    for write in (numbers.number, numbers.seconds, numbers.microseconds, numbers.count):
        assert write(value) == "—"


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.05, "0.05 µs"), (999.0, "999 µs"), (41_000.0, "41 ms"), (3.2e6, "3.2 s")],
)
def test_microseconds(value, text):
    assert numbers.microseconds(value) == text


@pytest.mark.parametrize(
    ("value", "text"), [(59.96, "60 s"), (3599.7, "1 h 0 min"), (125.2, "2 min 5 s")]
)
def test_seconds(value, text):
    assert numbers.seconds(value) == text


def test_a_column_over_three_decades_has_three_digits_each():
    times = [12809.4, 5.31, 0.0412]
    assert numbers.column_digits(times) is None
    assert [numbers.number(t) for t in times] == ["12,800", "5.31", "0.0412"]
    assert numbers.number(12809) == "12,809"  # a count stays what it is
