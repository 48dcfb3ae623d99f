"""Time stamps in the forms that loggers write."""

import numpy as np

from assay.data.chars import printable
from assay.errors import DataError

_ISO = ("%Y-%m-%d", "%Y/%m/%d", "%Y.%m.%d")
_DAY_FIRST = ("%d.%m.%Y", "%d/%m/%Y", "%d-%m-%Y", "%d.%m.%y", "%d/%m/%y")
_MONTH_FIRST = ("%m/%d/%Y", "%m-%d-%Y", "%m/%d/%y")
_NAMED = ("%d-%b-%Y", "%d %b %Y", "%d-%b-%y", "%b %d %Y", "%d-%B-%Y", "%d %B %Y")
_CLOCKS = ("%H:%M:%S%.f", "%H:%M", "%I:%M:%S %p", "%I:%M %p")
_COMPACT = ("%Y%m%d%H%M%S", "%Y%m%d %H%M%S", "%Y%m%dT%H%M%S", "%Y%m%d%H%M")
_DIGITS = r"\d\d?[-/.:]\d|\d{8}|\d[- ][A-Za-z]{3,9}[- ]\d"
_OLDEST = np.datetime64("1500-01-01", "us")
_YEARS = (3.15e8, 4.2e9)  # seconds of 1980 and of 2103 since 1970


def looks_like_times(series) -> bool:
    """Whether most of the first filled values of a text column are time stamps."""
    import polars as pl

    if series.dtype in (pl.Date, pl.Datetime, pl.Time, pl.Duration):
        return True
    if series.dtype != pl.String:
        return False
    head = _tidy(series.drop_nulls().head(50))
    head = head.filter(head.str.contains(_DIGITS))  # spares words the many forms below
    return bool(len(head)) and _best(head)[2] >= 0.8 * len(head)


def to_times(series, *, where: str, row_name) -> tuple[np.ndarray, np.ndarray, list[str]]:
    """Read a polars column as times.

    Parameters
    ----------
    series : polars.Series
    where : str
        For messages: the file and the column.
    row_name : callable
        Names row i for a reader (``"line 12"``).

    Returns
    -------
    times : numpy.ndarray of datetime64[us], UTC where zones were given, or float64
    missing : numpy.ndarray of bool
    notes : list of str

    Raises
    ------
    DataError
        If a value is no time stamp.
    """
    import polars as pl

    from assay.data.clean import missing_mask, to_numbers

    dtype = series.dtype
    if dtype in (pl.Datetime, pl.Date):
        notes = []
        if getattr(dtype, "time_zone", None):
            series = series.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
            notes.append(f"{where}: time stamps converted to UTC.")
        times = series.cast(pl.Datetime("us")).to_numpy().astype("datetime64[us]")
        return times, np.isnat(times), notes
    if dtype == pl.Duration:
        return _seconds(series.dt.total_microseconds().cast(pl.Float64).to_numpy() / 1e6)
    if dtype == pl.Time:
        return _seconds(series.cast(pl.Int64).cast(pl.Float64).to_numpy() / 1e9)
    numbers = to_numbers(series)
    if numbers.n_text == 0:
        return _numeric(numbers.values, where)
    missing = missing_mask(series)
    text = _tidy(series.cast(pl.String))
    form, parsed, _ = _best(text.filter(~pl.Series(missing)).head(2000))
    if form is not None:
        parsed = _parse(text, form)
    bad = ~missing & (np.ones(len(text), bool) if form is None else np.isnat(parsed))
    if bad.any():
        row = int(np.argmax(bad))
        raise DataError(
            f"{where}, {row_name(row)}: a time stamp is needed, "
            f"got '{printable(series[row])[:40]}'.",
            hint="Write times as 2024-03-09 10:14:33, 09.03.2024 10:14 or seconds.",
        )
    notes = []
    if form in _ambiguous_forms() and not form.startswith("%d."):
        parsed, note = _day_or_month(text, form, parsed, where)
        notes.append(note) if note else None
    if "%z" in form or form.endswith("Z"):
        notes.append(f"{where}: time stamps converted to UTC.")
    if form in _CLOCKS:
        day = np.datetime64("1900-01-01", "us")
        return (parsed - day).astype(np.int64) / 1e6, missing, notes
    return parsed, missing, notes


def _seconds(values):
    return values, np.isnan(values), []


def _numeric(values, where):
    """Numbers are seconds of any origin; those that can only be Unix time become dates."""
    missing = np.isnan(values)
    if missing.all():
        return values, missing, []
    low, high = np.nanmin(values), np.nanmax(values)
    for factor, unit in ((1, "seconds"), (1e3, "milliseconds"), (1e6, "microseconds"), (1e9, "ns")):
        if _YEARS[0] * factor <= low and high <= _YEARS[1] * factor:
            micro = np.where(missing, 0, values) * (1e6 / factor)
            times = np.round(micro).astype(np.int64).astype("datetime64[us]")
            times[missing] = np.datetime64("NaT")
            return times, missing, [f"{where}: read as {unit} since 1970-01-01 (UTC)."]
    if low >= 1.9e13 and high <= 2.2e13 and np.all(values[~missing] % 1 == 0):
        import polars as pl

        text = pl.Series(np.where(missing, 0, values).astype(np.int64)).cast(pl.String)
        times = _parse(text, "%Y%m%d%H%M%S")
        if not np.isnat(times[~missing]).any():
            return times, missing, []
    return values, missing, []


def _tidy(text):
    # "2024-03-09 10:14:33,250" has a decimal comma in its seconds.
    text = text.str.strip_chars().str.replace(r"(:\d\d),(\d)", "${1}.${2}")
    return text.str.replace(r" ?(UTC|GMT)$", "Z")


def _forms():
    dates = _ISO + _DAY_FIRST + _MONTH_FIRST + _NAMED
    for date in dates:
        for clock in _CLOCKS:
            yield f"{date} {clock}"
            if date in _ISO:
                yield f"{date}T{clock}"
    for date in _ISO:
        for clock in _CLOCKS[:2]:
            for zone in ("%z", " %z", "Z"):
                yield f"{date} {clock}{zone}"
                yield f"{date}T{clock}{zone}"
    yield from dates
    yield from _COMPACT
    yield from _CLOCKS


def _best(head):
    """Return the form that reads most of `head`, what it read, and how many."""
    best = (None, None, 0)
    for form in _forms():
        parsed = _parse(head, form)
        n = int(np.count_nonzero(~np.isnat(parsed)))
        if n > best[2]:
            best = (form, parsed, n)
            if n == len(head):
                break
    return best


def _parse(text, form):
    import polars as pl

    if form in _CLOCKS:
        text, form = "1900-01-01 " + text, "%Y-%m-%d " + form
    if not any(c in form for c in ("%H", "%I")):
        parsed = text.str.to_date(form, strict=False).cast(pl.Datetime("us"))
    else:
        parsed = text.str.to_datetime(form, strict=False, time_unit="us")
    if getattr(parsed.dtype, "time_zone", None):
        parsed = parsed.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
    times = parsed.to_numpy().astype("datetime64[us]")
    # "%Y" also reads the 24 of 09.03.24, as a year of antiquity.
    return np.where(times < _OLDEST, np.datetime64("NaT"), times)


def _ambiguous_forms():
    dates = tuple(d for d in _DAY_FIRST + _MONTH_FIRST if "." not in d)
    return {f"{d} {c}" for d in dates for c in _CLOCKS} | set(dates)


def _day_or_month(text, form, parsed, where):
    """Choose where both read: the order that runs forward in time, else the shorter record."""
    swapped = form.replace("%d", "\0").replace("%m", "%d").replace("\0", "%m")
    other = _parse(text, swapped)
    if np.isnat(other).sum() > np.isnat(parsed).sum() or np.array_equal(parsed, other):
        return parsed, ""
    filled = [t[~np.isnat(t)] for t in (parsed, other)]
    forward = [bool((np.diff(t) >= np.timedelta64(0)).all()) for t in filled]
    spans = [t.max() - t.min() for t in filled]
    reason = "that gives the shorter record"
    take_other = spans[1] < spans[0]
    if forward[0] != forward[1]:
        reason, take_other = "that runs forward in time", forward[1]
    if take_other:
        parsed, form = other, swapped
    order = "day/month/year" if form.startswith("%d") else "month/day/year"
    return parsed, f"{where}: dates read as {order}, the order {reason}; both are possible."
