"""Finding out how a text table is written, from its head only."""

import csv
import dataclasses
import re

from assay.data.chars import MISSING_WORDS, bare_unit, is_unit

HEAD_BYTES = 1 << 18
_MAX_LINES = 400
_MAX_RECORD = 20  # lines
_SEPARATORS = (",", ";", "\t", "|")
WHITESPACE = " "
_COMMENTS = ("#", "%", "//")
_NUMBER = re.compile(r"^[+-]?(\d+\.?\d*|\.\d+)([eEdD][+-]?\d+)?$|^[+-]?(inf|infinity|nan)$", re.I)
_COMMA_NUMBER = re.compile(r"^[+-]?(\d{1,3}([. ']\d{3})+|\d*),\d*([eE][+-]?\d+)?$")
_GROUPED = re.compile(r"^[+-]?\d{1,3}([,. '’]\d{3})+([.,]\d+)?$")
_EXCEL_SEPARATOR = re.compile(r'^"?sep=.?"?[\s,;]*$', re.I)
_CLOCK = r"\d{1,2}:\d{2}(:\d{2}([.,]\d+)?)?( ?[AaPp][Mm])?( ?(Z|UTC|GMT|[+-]\d{2}:?\d{2}))?"
_TIME = re.compile(
    rf"^\d{{1,4}}[-/.]\d{{1,2}}[-/.]\d{{1,4}}([ T]{_CLOCK})?$|^{_CLOCK}$"
    rf"|^\d{{1,2}}[- ][A-Za-z]{{3,9}}[- ]\d{{2,4}}( {_CLOCK})?$"
)


@dataclasses.dataclass(frozen=True)
class Dialect:
    """How the text is written; `first` is the 0-based line where the data begin."""

    separator: str
    decimal_comma: bool
    names: tuple[str, ...] | None
    units: tuple[str, ...]
    first: int
    n_fields: int
    numeric: tuple[bool, ...]
    comment: str | None
    trailing: bool
    notes: tuple[str, ...] = ()


def sniff(text: str, *, complete: bool) -> Dialect | None:
    """Find the dialect of the head of a file; None if there is no line with data.

    `complete` says that `text` is the whole file, not cut off in a line.
    """
    lines = text.split("\n")[: _MAX_LINES + 1]
    if len(lines) > 1 and not (complete and len(lines) <= _MAX_LINES):
        lines = lines[:-1]
    comment = next((c for c in _COMMENTS for x in lines[:50] if x.lstrip().startswith(c)), None)
    table = [
        (i, line.rstrip("\r"))
        for i, line in enumerate(lines)
        if line.strip()
        and not (comment and line.lstrip().startswith(comment))
        and not (i == 0 and _EXCEL_SEPARATOR.match(line))
    ]
    if not table:
        return None
    separator, rows, decimal_comma, trailing = _separate(table)
    start, width = _table_start(rows)
    skipped = start
    rows = rows[start:]
    notes = []
    names, units, begin, header_notes = _header(rows, width, lines, comment, separator)
    notes += header_notes
    if skipped:
        notes.append(f"{skipped} line{'s' if skipped > 1 else ''} before the table skipped.")
    data = rows[begin:]
    first = data[0][0] if data else rows[-1][0] + 1
    n_fields = max(width, len(names or ()))
    if names is not None and len(names) == width - 1 and data:
        # R's write.table: the header lacks the name of the row names.
        names, units = ("", *names), ("", *units) if units else units
    numeric = tuple(
        _share((r[k] for _, r in data if k < len(r)), decimal_comma) >= 0.5 for k in range(n_fields)
    )
    return Dialect(
        separator, decimal_comma, names, units, first, n_fields, numeric, comment, trailing,
        tuple(notes),
    )  # fmt: skip


def split_line(line: str, separator: str) -> list[str]:
    """Split one line into its stripped fields."""
    if separator == WHITESPACE:
        line = re.sub(r"\s+", " ", line.strip())
    try:
        return [f.strip() for f in next(csv.reader([line], delimiter=separator), [])]
    except csv.Error:
        return line.split(separator)


def _records(table, separator):
    """Split lines into records, which may hold quoted line breaks: (first line, fields)."""
    if separator == WHITESPACE or not any(line.count('"') % 2 for _, line in table):
        return [(i, split_line(line, separator)) for i, line in table]
    reader = csv.reader((line + "\n" for _, line in table), delimiter=separator)
    records, begin = [], 0
    try:
        for fields in reader:
            if reader.line_num - begin > _MAX_RECORD:
                raise csv.Error("a quotation mark is never closed")
            records.append((table[begin][0], [f.strip() for f in fields]))
            begin = reader.line_num
    except csv.Error:
        return [(i, split_line(line, separator)) for i, line in table]
    return records


def is_number(cell: str, *, decimal_comma: bool = False) -> bool:
    """Whether a cell of the head is a number as people write them."""
    cell = cell.strip()
    return bool(
        _NUMBER.match(cell) or _GROUPED.match(cell) or (decimal_comma and _COMMA_NUMBER.match(cell))
    )


def _separate(table):
    best = None
    for separator in (*_SEPARATORS, WHITESPACE):
        rows, trailing = _without_trailing(_records(table, separator), separator)
        tail = rows[len(rows) // 2 :] if len(rows) > 3 else rows[-2:]
        widths = [len(r) for _, r in tail]
        width = max(set(widths), key=lambda w: (widths.count(w), w))
        steady = widths.count(width) / len(widths)
        body = [r for _, r in tail if len(r) == width]
        commas = separator != "," and _uses_decimal_comma(body)
        clean = _cleanliness(body, separator, commas)
        if width == 1:
            steady *= 0.5  # one column always fits; any separator that fits is likelier
        score = steady * clean + 1e-3 * (separator != WHITESPACE) + 1e-4 * min(width, 9)
        # The header has the same number of fields, if the separator is the right one.
        score += 0.05 * sum(len(r) == width for _, r in rows) / len(rows)
        if best is None or score > best[0]:
            best = (score, separator, rows, commas, trailing)
    _, separator, rows, commas, trailing = best
    if max(len(r) for _, r in rows) > 1 and separator == "," and _one_column_commas(rows):
        rows = [(i, [line]) for i, line in table]
        return ";", rows, True, False
    if all(len(r) == 1 for _, r in rows):
        separator = ","
        if _uses_decimal_comma([r for _, r in rows[1:]]):
            separator, commas = ";", True
    return separator, rows, commas, trailing


def _one_column_commas(rows):
    """Whether a header of one name stands over `1,5` and `2,5`: decimal commas."""
    body = [r for _, r in rows[1:]]
    return (
        len(rows[0][1]) == 1
        and len(body) > 0
        and all(len(r) == 2 and all(re.fullmatch(r"[+-]?\d+", c) for c in r) for r in body)
    )


def _without_trailing(rows, separator):
    """Take away the empty field after a separator at the end of each line."""
    if separator == WHITESPACE:
        return rows, False
    body = rows[1:] or rows
    if all(len(r) > 1 and r[-1] == "" for _, r in body):
        header_width, width = len(rows[0][1]), len(body[0][1])
        if header_width < width or rows[0][1][-1] == "":
            return [(i, r[:-1] if r[-1] == "" and len(r) == width else r) for i, r in rows], True
    return rows, False


def _uses_decimal_comma(body):
    cells = [c for r in body for c in r if "," in c]
    fits = [c for c in cells if _COMMA_NUMBER.match(c)]
    if not fits or len(fits) < 0.5 * len(cells):
        return False
    # "1,234.5" is a thousands comma; "1,234" alone is read by what the others show.
    dotted = any(re.match(r"^[+-]?\d*\.\d+", c) and "," not in c for r in body for c in r)
    only_groups = all(re.match(r"^[+-]?\d{1,3}(,\d{3})+$", c) for c in fits)
    return not (any(re.search(r",\d{3}\.", c) for c in cells) or (dotted and only_groups))


def _cleanliness(body, separator, commas):
    """Share of cells that are one thing: a number, a time, missing, or text of one piece."""
    total = good = 0.0
    others = [s for s in (*_SEPARATORS,) if s != separator]
    for row in body[:100]:
        for cell in row:
            total += 1
            if is_number(cell, decimal_comma=commas) or _TIME.match(cell):
                good += 1
            elif cell.casefold() in MISSING_WORDS:
                good += 0.9
            elif not any(s in cell for s in others):
                good += 0.7
    return good / total if total else 0.0


def _table_start(rows):
    """Where the table begins: lines above it have another number of fields."""
    widths = [len(r) for _, r in rows]
    tail = widths[len(widths) // 2 :]
    width = max(set(tail), key=lambda w: (tail.count(w), w))
    start = 0
    if widths[0] != width:
        steady = next((k for k, w in enumerate(widths) if w == width), 0)
        # One name fewer than fields is a header without a name for the first column.
        above = rows[steady - 1][1] if steady else []
        is_header = len(above) == width - 1 > 0 and _all_text(above)
        start = steady - 1 if is_header and not _all_text(rows[steady][1]) else steady
    return start, width


def _all_text(cells):
    filled = [c for c in cells if c.casefold() not in MISSING_WORDS]
    return bool(filled) and not any(
        is_number(c, decimal_comma=True) or _TIME.match(c) for c in filled
    )


def _share(cells, decimal_comma):
    filled = [c for c in cells if c.casefold() not in MISSING_WORDS]
    if not filled:
        return 1.0
    return sum(is_number(c, decimal_comma=decimal_comma) for c in filled) / len(filled)


def _header(rows, width, lines, comment, separator):
    first = [c for c in rows[0][1]]
    below = [r for _, r in rows[1:51]]
    if not _is_header(first, below):
        names = _commented_header(rows[0][0], width, lines, comment, separator)
        return names, (), 0, ["Column names taken from a comment line."] if names else []
    begin, units, notes = 1, (), []
    if below and _is_units_row(below[0], below[1:]):
        units = tuple(bare_unit(c) for c in below[0])
        units += ("",) * (width - len(units))
        begin = 2
        notes.append(f"Line {rows[1][0] + 1} read as units.")
    return tuple(first), units, begin, notes


def _is_header(first, below):
    filled = [c for c in first if c.casefold() not in MISSING_WORDS]
    if not filled:
        return False
    numbers = [is_number(c, decimal_comma=True) for c in filled]
    if _all_text(first):
        return True
    if all(numbers):
        counting = [str(k) for k in range(len(first))]
        blank_first = first[0] == "" and first[1:] == counting[: len(first) - 1]
        return (len(first) >= 3 and first == counting) or (len(first) > 1 and blank_first)
    # A name over a column of numbers, although other names are numbers or dates.
    texts = [k for k, c in enumerate(first) if c and _all_text([c])]
    over_numbers = [
        k for k in texts
        if sum(k < len(r) and is_number(r[k], decimal_comma=True) for r in below)
        > 0.5 * max(len(below), 1)
    ]  # fmt: skip
    return (
        len(over_numbers) > 0.5 * len(texts)
        and bool(below)
        and len(texts) > 0
        and (len(set(first)) == len(first))
    )


def _is_units_row(cells, below):
    filled = [c for c in cells if c and c.casefold() not in MISSING_WORDS - {"-", "--"}]
    texts = [c for c in filled if c not in ("-", "--", "1")]  # "1" is a unit only beside others
    if not texts or any(is_number(c, decimal_comma=True) for c in texts):
        return False
    if any(len(c) > 24 or _TIME.match(c) for c in texts):
        return False
    known = sum(is_unit(bare_unit(c)) or (c[0] in "[({<" and c[-1] in "])}>") for c in texts)
    over_numbers = [
        any(k < len(r) and is_number(r[k], decimal_comma=True) for r in below)
        for k, c in enumerate(cells) if c in texts
    ]  # fmt: skip
    return known >= 0.5 * len(texts) and (any(over_numbers) or not below)


def _commented_header(first, width, lines, comment, separator):
    """Return the names in the last comment line above the data (np.savetxt writes them)."""
    if comment is None:
        return None
    above = [x.strip() for x in lines[:first] if x.lstrip().startswith(comment)]
    if not above:
        return None
    cells = split_line(above[-1].lstrip("".join(comment)).strip(), separator)
    return tuple(cells) if len(cells) == width and _all_text(cells) and width > 1 else None
