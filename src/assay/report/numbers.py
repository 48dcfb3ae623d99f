"""How numbers are written: rounded to what is known, the same digits within a column."""

import math
from collections.abc import Sequence
from typing import Any

MISSING = "—"
Interval = tuple[float, float]


def is_number(value: Any) -> bool:
    """Return whether `value` is a finite number."""
    try:
        return value is not None and math.isfinite(value)
    except (TypeError, ValueError):
        return False


def digits_after_point(value: float, interval: Interval | None = None) -> int:
    """Return how many decimals `value` deserves.

    With an interval: two significant digits of its half width. Without: three significant
    digits of the value. Between 0 and 12.

    Examples
    --------
    >>> digits_after_point(0.5812, (0.551, 0.608)), digits_after_point(58.12, (55.1, 60.8))
    (3, 1)
    >>> digits_after_point(0.0371), digits_after_point(1234.5)
    (4, 0)
    """
    if interval is not None and all(map(is_number, interval)) and interval[1] > interval[0]:
        digits = 1 - math.floor(math.log10((interval[1] - interval[0]) / 2))
    elif is_number(value) and value != 0:
        digits = 2 - math.floor(math.log10(abs(value)))
    else:
        digits = 2
    return min(max(digits, 0), 12)


def column_digits(
    values: Sequence[float | None], intervals: Sequence[Interval | None] = ()
) -> int | None:
    """Return the decimals for a whole column, or None where one number of decimals cannot serve.

    Examples
    --------
    >>> column_digits([0.58, 0.75, None], [(0.55, 0.61), (0.72, 0.78), None])
    3
    >>> column_digits([1e-6, 1200.0]) is None
    True
    """
    intervals = list(intervals) or [None] * len(values)
    known = [(v, i) for v, i in zip(values, intervals, strict=True) if is_number(v)]
    sizes = [abs(v) for v, _ in known if v != 0]
    if not known or not sizes:
        return 0 if known else 2
    if max(sizes) / min(sizes) > 1e3 or max(sizes) >= 1e7:
        return None
    if all(float(v).is_integer() and i is None for v, i in known):
        return 0
    wanted = sorted(digits_after_point(v, i) for v, i in known if v != 0 or i is not None)
    digits = wanted[len(wanted) // 2]
    return digits if digits <= 6 else None


def number(value: Any, digits: int | None = None) -> str:
    """Return `value` with `digits` decimals, or three significant digits where that is None.

    Examples
    --------
    >>> number(0.58123, 3), number(12345.6, 0), number(3.2e-7), number(None)
    ('0.581', '12,346', '3.2e-7', '—')
    >>> number(12809.4), number(12809.0)  # a whole number may be a count
    ('12,800', '12,809')
    >>> number(-0.0001, 2)
    '0.00'
    """
    if not is_number(value):
        return MISSING
    value = float(value)
    if digits is None:
        return _significant(value)
    text = f"{value:,.{digits}f}"
    return text.removeprefix("-") if not any(c in "123456789" for c in text) else text


def _significant(value: float) -> str:
    if value == 0:
        return "0"
    if 1e-3 <= abs(value) < 1e6:
        digits = 2 - math.floor(math.log10(abs(value)))
        if digits < 0 and not value.is_integer():
            value = round(value, digits)
        text = f"{value:,.{max(digits, 0)}f}"
        return text.rstrip("0").rstrip(".") if "." in text else text
    mantissa, exponent = f"{value:.2e}".split("e")
    if "." in mantissa:
        mantissa = mantissa.rstrip("0").rstrip(".")
    return f"{mantissa}e{int(exponent)}"


def interval(given: Interval | None, digits: int | None = None) -> str:
    """Return ``"low to high"``, or nothing where there is no interval.

    Examples
    --------
    >>> interval((-0.12, 0.308), 2), interval(None)
    ('-0.12 to 0.31', '')
    """
    if given is None or not all(map(is_number, given)):
        return ""
    return f"{number(given[0], digits)} to {number(given[1], digits)}"


def percent(share: float | None, digits: int, *, signed: bool = False) -> str:
    """Return a share in per cent.

    Examples
    --------
    >>> percent(0.1234, 1, signed=True), percent(-0.05, 0)
    ('+12.3 %', '-5 %')
    """
    if not is_number(share):
        return MISSING
    text = number(100 * share, digits)
    plus = "+" if signed and not text.startswith("-") and text.strip("0.,") else ""
    return f"{plus}{text} %"


def with_unit(text: str, unit: str) -> str:
    """Return `text` and the unit, which is left out for pure numbers (``"-"``) and no value."""
    return text if unit in ("", "-") or text in ("", MISSING) else f"{text} {unit}"


def count(value: Any) -> str:
    """Return a whole number with thousands separated."""
    return f"{int(value):,}" if is_number(value) else MISSING


def seconds(value: float | None) -> str:
    """Return a time in the unit a person would choose.

    Examples
    --------
    >>> seconds(0.00042), seconds(0.25), seconds(12.34), seconds(200), seconds(9000)
    ('0.42 ms', '250 ms', '12.3 s', '3 min 20 s', '2 h 30 min')
    """
    if not is_number(value):
        return MISSING
    if value < 1:
        return f"{_significant(1000 * value)} ms"
    if value < 100:
        return f"{_significant(value)} s"
    whole = round(value)
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


def microseconds(value: float | None) -> str:
    """Return a time given in microseconds: ``"0.4 µs"``, ``"1.2 ms"``, ``"3 s"``."""
    if not is_number(value):
        return MISSING
    if 0 <= value < 0.01:
        return "under 0.01 µs"
    for limit, divisor, unit in ((1e3, 1, "µs"), (1e6, 1e3, "ms")):
        if value < limit:
            return f"{_significant(value / divisor)} {unit}"
    return f"{_significant(value / 1e6)} s"


def times(value: float | None) -> str:
    """Return a ratio: ``"3.2 ×"``."""
    return f"{float(f'{value:.2g}'):,g} ×" if is_number(value) else MISSING
