"""One column from outside: numbers where there are numbers, and what is not one."""

import dataclasses

import numpy as np

from assay.data.chars import FALSE_WORDS, MISSING_WORDS, TRUE_WORDS, printable

# Codes that loggers write for "no reading"; -999.25 is the null value of well logs (LAS 2.0).
SENTINELS = (
    -999.0, 999.0, -999.25, -999.9, 999.9, -9999.0, 9999.0, -9999.25, 9999.9, -99999.0, 99999.0,
    -999999.0, 999999.0, -32768.0, 1e30, -1e30, 1e31, -1e31, 1e35, 1e36,
)  # fmt: skip
_SENTINEL_SET = frozenset(SENTINELS)
_FAR = 2.0  # ranges of the other values between them and a sentinel

_THOUSANDS_COMMA = r"^[+-]?\d{1,3}(,\d{3})+(\.\d+)?$"
_THOUSANDS_DOT = r"^[+-]?\d{1,3}(\.\d{3})+(,\d+)?$"
_THOUSANDS_SPACE = r"^[+-]?\d{1,3}([ '’  ]\d{3})+([.,]\d+)?$"
_DECIMAL_COMMA = r"^[+-]?\d*,\d*([eE][+-]?\d+)?$"
_FORTRAN = r"^[+-]?\d*\.?\d*[dD][+-]?\d+$"


@dataclasses.dataclass(frozen=True)
class Numbers:
    """A column as numbers; NaN where there is none.

    `text_row` and `text` are the first value that is not a number, `n_text` how many there are;
    `said` are sentences about how the numbers were read.
    """

    values: np.ndarray
    n_text: int = 0
    text_row: int = -1
    text: str = ""
    said: tuple[str, ...] = ()
    n_infinite: int = 0
    sentinels: tuple[tuple[float, int], ...] = ()
    single_code: float | None = None

    @property
    def n_numbers(self) -> int:
        """How many values are finite numbers."""
        return int(np.count_nonzero(~np.isnan(self.values)))


def to_numbers(series, *, decimal_comma: bool = False) -> Numbers:
    """Read a polars column as float64: infinite values and repeated sentinels become NaN."""
    import polars as pl

    dtype = series.dtype
    if dtype == pl.String or dtype in (pl.Categorical, pl.Enum):
        found = _from_text(series.cast(pl.String), decimal_comma=decimal_comma)
    elif dtype.is_numeric() or dtype == pl.Boolean:
        found = Numbers(_to_numpy(series))
    elif dtype == pl.Null:
        found = Numbers(np.full(len(series), np.nan))
    else:
        filled = series.is_not_null()
        row = int(filled.arg_max() or 0) if len(series) else -1
        text = printable(series[row])[:40] if len(series) else ""
        return Numbers(np.full(len(series), np.nan), int(filled.sum()), row, text)
    return _without_codes(found)


def missing_mask(series) -> np.ndarray:
    """Whether each value of a polars column is empty or a word for missing."""
    import polars as pl

    mask = series.is_null()
    if series.dtype.is_float():
        mask = mask | series.is_nan().fill_null(value=False)
    elif series.dtype == pl.String or series.dtype in (pl.Categorical, pl.Enum):
        words = series.cast(pl.String).str.strip_chars().str.to_lowercase()
        mask = mask | words.is_in(list(MISSING_WORDS)).fill_null(value=False)
    return mask.to_numpy()


def _to_numpy(series):
    import polars as pl

    values = series.cast(pl.Float64, strict=False).to_numpy()
    # polars hands out read-only views of its own memory; what follows writes into the array.
    return values if values.flags.writeable else values.copy()


def _from_text(series, *, decimal_comma):
    import polars as pl

    text = series.str.strip_chars()
    missing = missing_mask(text)
    said = []
    if decimal_comma:
        values, used = _decimal_comma(text)
        said += used
    else:
        values = text.cast(pl.Float64, strict=False)
    open_ = (values.is_null() & ~pl.Series(missing)).to_numpy()
    if open_.any():
        rows = np.flatnonzero(open_)
        more, used, rest = _unusual(text.gather(rows), all_open=not values.is_not_null().any())
        values = _to_numpy(values)
        values[rows] = more
        said += used
        left = rows[rest]
    else:
        values, left = _to_numpy(values), np.empty(0, dtype=int)
    values[missing] = np.nan
    if not len(left):
        return Numbers(values, said=tuple(said))
    row = int(left[0])
    return Numbers(values, len(left), row, printable(text[row])[:40], tuple(said))


def _decimal_comma(text):
    """Read `1.234,5`; a dot can only be a thousands separator where every dot looks like one."""
    import polars as pl

    dots = text.filter(text.str.contains(".", literal=True).fill_null(value=False))
    thousands = len(dots) and dots.str.contains(_THOUSANDS_DOT).all()
    plain = text.str.replace_all(".", "", literal=True) if thousands else text
    values = plain.str.replace(",", ".", literal=True).cast(pl.Float64, strict=False)
    return values, (["dots read as thousands separators"] if thousands else [])


def _unusual(text, *, all_open):
    """Read what is a number only to people; return values, what was done, and what is left."""
    import polars as pl

    n = len(text)
    words = text.str.to_lowercase()
    if all_open and words.is_in(list(TRUE_WORDS + FALSE_WORDS)).all():
        values = words.is_in(list(TRUE_WORDS)).cast(pl.Float64).to_numpy()
        return (
            values,
            [f"'{text[0]}' and the like read as 1 (true) and 0 (false)"],
            np.zeros(n, bool),
        )
    values, said = np.full(n, np.nan), []
    forms = [
        (
            _THOUSANDS_COMMA,
            lambda s: s.str.replace_all(",", ""),
            "commas read as thousands separators",
        ),
        (_DECIMAL_COMMA, lambda s: s.str.replace(",", ".", literal=True), "decimal commas read"),
        (
            _THOUSANDS_SPACE,
            lambda s: s.str.replace_all(r"[ '’  ]", "").str.replace(",", ".", literal=True),
            "spaces or apostrophes read as thousands separators",
        ),
        (
            _THOUSANDS_DOT,
            lambda s: s.str.replace_all(".", "", literal=True).str.replace(",", ".", literal=True),
            "dots read as thousands separators",
        ),
        (_FORTRAN, lambda s: s.str.replace("[dD]", "e"), "Fortran exponents (1.0D+03) read"),
    ]
    commas = text.str.contains(_DECIMAL_COMMA)
    if commas.any() and not text.filter(commas).str.contains(_THOUSANDS_COMMA).all():
        forms = forms[1:]  # "1,5" beside "1,234": the comma is a decimal sign in both
    for pattern, rewrite, sentence in forms:
        fits = (text.str.contains(pattern) & pl.Series(np.isnan(values))).to_numpy()
        if fits.any():
            rows = np.flatnonzero(fits)
            values[rows] = rewrite(text.gather(rows)).cast(pl.Float64, strict=False).to_numpy()
            said.append(sentence)
    return values, said, np.isnan(values)


def _without_codes(found: Numbers) -> Numbers:
    values = found.values
    infinite = np.isinf(values)
    n_infinite = int(np.count_nonzero(infinite))
    if n_infinite:
        values[infinite] = np.nan
    codes, single = [], None
    while True:
        low, high = _extremes(values)
        code = next((c for c in (low, high) if c in _SENTINEL_SET), None)
        if code is None:
            break
        at = values == code
        n_at = int(np.count_nonzero(at))
        others = values[~at]
        o_low, o_high = _extremes(others)
        # Other codes do not widen the range that this one is compared with.
        if o_low in _SENTINEL_SET or o_high in _SENTINEL_SET:
            inner = others[~np.isin(others, SENTINELS)]
            o_low, o_high = _extremes(inner)
        far = (
            code < 0
            if np.isnan(o_low)
            else max(o_low - code, code - o_high) > _FAR * (o_high - o_low)
        )
        if not far or n_at < 2:
            single = code if far else None
            break
        values[at] = np.nan
        codes.append((code, n_at))
    return dataclasses.replace(
        found, values=values, n_infinite=n_infinite, sentinels=tuple(codes), single_code=single
    )


def _extremes(values):
    """Smallest and largest number, NaN where there is none (np.nanmin would warn)."""
    if not len(values):
        return np.nan, np.nan
    return float(np.fmin.reduce(values)), float(np.fmax.reduce(values))
