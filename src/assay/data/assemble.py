"""From a source to a Table: which columns are features, which rows are complete, and why."""

import dataclasses

import numpy as np

from assay.data.boundary import LARGE
from assay.data.chars import counted, listed
from assay.data.clean import to_numbers
from assay.data.raw import Raw
from assay.data.roles import chosen_rows, find_roles, order_notes, present, special_columns
from assay.data.table import Table
from assay.data.timestamps import looks_like_times
from assay.errors import DataError

_BATCH_VALUES = 4_000_000  # values in memory beside the table while columns are read
_CACHE_VALUES = 5_000_000  # below it columns are cleaned once and kept
_LEAST_LEFT = 0.1  # part of the rows that must be complete
_FLOAT32_LOSS = 1e-3  # standard deviations; rounding above it needs float64


@dataclasses.dataclass
class _Feature:
    """What the first pass learnt about a column."""

    position: int
    n_missing: int
    first_missing: int
    low: float
    high: float
    lossy: bool
    values: np.ndarray | None


def assemble(raw: Raw, *, columns, drop, label, time, group, kind, rows, optional=()) -> Table:
    """Build the table: two passes over the columns, so that only the result is ever whole.

    The first pass decides what each column is and which rows are complete; the second fills an
    array of exactly that size.
    """
    if columns is not None and not isinstance(columns, (str, int)) and len(columns) == 0:
        columns = None  # what a command line passes when no column is named
    asked = {"label": label, "time": time, "group": group, "kind": kind}
    drop, asked, absent = present(raw, drop, asked, optional)
    special, candidates = find_roles(raw, columns, drop, **asked)
    chosen = chosen_rows(rows, raw)
    n = raw.n_rows if chosen is None else len(chosen)
    if n == 0:
        raise DataError(
            f"{raw.where()} has no rows of data.", hint="Check that the file holds data rows."
        )
    notes = list(raw.notes)
    row_numbers = np.arange(1, raw.n_rows + 1) if raw.row_numbers is None else raw.row_numbers
    if chosen is not None:
        raw = dataclasses.replace(
            raw,
            read=_reader_of(raw.read, chosen),
            n_rows=n,
            row_numbers=row_numbers[chosen],
        )
        row_numbers = row_numbers[chosen]
        notes.append(f"{counted(n, 'row')} chosen by `rows`.")
    parts, incomplete = special_columns(raw, special, notes)
    features, feature_gaps = _first_pass(raw, candidates, notes, asked=columns is not None)
    keep = _complete_rows(raw, features, feature_gaps, incomplete, notes)
    X = _second_pass(raw, features, keep, notes)
    if keep is not None:
        parts = {name: array[keep] for name, array in parts.items()}
        row_numbers = row_numbers[keep]
    if "times" in parts:
        notes += order_notes(parts["times"])
    _constant_note(X, raw, features, notes)
    return Table(
        X=X,
        columns=tuple(raw.names[f.position] for f in features),
        units=tuple(raw.units[f.position] for f in features),
        source=raw.source,
        row_numbers=row_numbers,
        notes=tuple(dict.fromkeys(notes)),
        absent=absent,
        **parts,
    )


def _reader_of(read, chosen):
    return lambda positions: [series.gather(chosen) for series in read(positions)]


def _batches(raw, positions):
    size = max(1, _BATCH_VALUES // max(raw.n_rows, 1))
    for start in range(0, len(positions), size):
        part = list(positions[start : start + size])
        yield from zip(part, raw.read(part), strict=True)


def _first_pass(raw, candidates, notes, *, asked):
    features, gaps, aside = [], None, {"text": [], "times": [], "empty": [], "index": []}
    said, infinite, codes, singles, rising, huge = {}, [], [], [], [], []
    cache = raw.n_rows * len(candidates) <= _CACHE_VALUES
    large = raw.n_rows * len(candidates) > LARGE
    for position, series in _batches(raw, candidates):
        found = to_numbers(series, decimal_comma=raw.decimal_comma)
        name = raw.names[position]
        if found.n_text:
            what = "times" if looks_like_times(series) else "text"
            if asked or (what == "text" and found.n_numbers >= found.n_text):
                raise _not_a_number(raw, position, found, what)
            aside[what].append(name)
            continue
        missing = np.isnan(found.values)
        n_missing = int(np.count_nonzero(missing))
        if n_missing == len(missing):
            aside["empty"].append(name)
            continue
        if not asked and not series.dtype.is_temporal() and _is_index(raw, position, found.values):
            aside["index"].append(name)
            continue
        if n_missing:
            gaps = missing if gaps is None else gaps | missing
        infinite += [f"{found.n_infinite:,} in '{name}'"] if found.n_infinite else []
        codes += [f"{c:g} ({k:,} times in '{name}')" for c, k in found.sentinels]
        singles += [f"{found.single_code:g} in '{name}'"] if found.single_code is not None else []
        for sentence in found.said:
            said.setdefault(sentence, []).append(name)
        features.append(_describe(position, found.values, missing, large=large, cache=cache))
        if len(missing) >= 20 and _rises(found.values):
            rising.append(name)
        if series.dtype.is_integer() and max(-features[-1].low, features[-1].high) > 2**53:
            huge.append(name)
    if not features:
        raise _nothing_left(raw, aside)
    notes += _first_notes(aside, said, infinite, codes, singles, rising, huge)
    return features, gaps


def _describe(position, values, missing, *, large, cache):
    low, high = float(np.fmin.reduce(values)), float(np.fmax.reduce(values))
    lossy = False
    if large and high > low:
        spread = float(np.nanstd(values))
        largest = max(abs(low), abs(high))
        lossy = largest * np.finfo(np.float32).eps > _FLOAT32_LOSS * spread or largest > 1e37
    n_missing = int(np.count_nonzero(missing))
    first = int(np.argmax(missing)) if n_missing else -1
    return _Feature(position, n_missing, first, low, high, lossy, values if cache else None)


def _is_index(raw, position, values):
    """Whether it is nameless and counts rows, as pandas writes its index."""
    alias = raw.aliases[position] if raw.aliases else raw.names[position]
    if alias and not alias.startswith("Unnamed: "):
        return False
    return len(values) > 1 and bool((np.diff(values) == 1).all())


def _rises(values):
    return bool((np.diff(values[:200]) > 0).all() and (np.diff(values) > 0).all())


def _first_notes(aside, said, infinite, codes, singles, rising, huge):
    notes = []
    if aside["times"]:
        notes.append(
            f"Columns set aside because they hold time stamps: {listed(aside['times'])}. "
            "Name one as the time to use it."
        )
    if aside["text"]:
        notes.append(f"Columns set aside because they hold text: {listed(aside['text'])}.")
    if aside["empty"]:
        notes.append(f"Columns set aside because they are empty: {listed(aside['empty'])}.")
    if aside["index"]:
        notes.append(f"Columns set aside because they only count rows: {listed(aside['index'])}.")
    for sentence, names in said.items():
        notes.append(f"In {listed(names)}: {sentence}.")
    if infinite:
        notes.append(f"Infinite values count as missing: {_some(infinite)}.")
    if codes:
        notes.append(f"Codes for missing, far outside the other values: {_some(codes)}.")
    if singles:
        notes.append(f"Kept, but looks like a code for missing: {_some(singles)}.")
    if rising:
        notes.append(
            f"Columns that rise in every row, like a clock or a counter: "
            f"{listed(rising)}. Name one as the time, or drop it, if it is none of the "
            "measurements."
        )
    if huge:
        notes.append(f"Whole numbers beyond 2^53 lose their last digits: {listed(huge)}.")
    return notes


def _some(items, most=5):
    return ", ".join(items[:most]) + (f" and {len(items) - most} more" if len(items) > most else "")


def _not_a_number(raw, position, found, what):
    place = f"{raw.where()}, {raw.row_name(found.text_row)}, column '{raw.names[position]}'"
    kind = "a time stamp" if what == "times" else "text"
    more = f" ({found.n_text:,} such values)" if found.n_text > 1 else ""
    cure = f"Correct the value, or leave the column out (drop '{raw.names[position]}')."
    return DataError(f"{place}: a number is needed, got {kind} '{found.text}'{more}.", hint=cure)


def _nothing_left(raw, aside):
    reasons = [f"{listed(names, most=3)} {verb}" for names, verb in (
        (aside["text"], "text"), (aside["times"], "time stamps"), (aside["empty"], "empty"),
        (aside["index"], "row counter")) if names]  # fmt: skip
    return DataError(
        f"{raw.where()} has no column of numbers: {'; '.join(reasons)}.",
        hint="Pass a table with at least one numeric column beside label, time and group.",
    )


def _complete_rows(raw, features, gaps, incomplete, notes):
    """Return a mask of complete rows, or None if all are; tell what is set aside."""
    bad = None if gaps is None else gaps.copy()
    for missing in incomplete.values():
        bad = missing.copy() if bad is None else bad | missing
    if bad is None or not bad.any():
        return None
    n, n_bad = len(bad), int(np.count_nonzero(bad))
    holes = [(f.n_missing, raw.names[f.position], f.first_missing) for f in features if f.n_missing]
    holes += [(int(m.sum()), raw.names[p], int(np.argmax(m))) for p, m in incomplete.items()]
    holes.sort(reverse=True)
    worst = ", ".join(f"'{name}' in {count:,}" for count, name, _ in holes[:3])
    if n - n_bad < max(1, _LEAST_LEFT * n):
        count, name, row = holes[0]
        left = (
            f"only {n - n_bad:,} of {n:,} rows are complete"
            if n > n_bad
            else (f"none of {counted(n, 'row')} is complete")
        )
        raise DataError(
            f"{raw.where()}, {raw.row_name(row)}, column '{name}': {left}; "
            f"'{name}' is missing in {count:,}.",
            hint=f"Leave the emptiest columns out (drop '{name}'), or fill them on purpose before.",
        )
    rows = [raw.row_name(int(r)) for r in np.flatnonzero(bad)[:3]]
    more = f" and {n_bad - 3:,} more" if n_bad > 3 else ""
    notes.append(
        f"{counted(n_bad, 'row')} of {n:,} set aside because a value is missing: "
        f"{', '.join(rows)}{more}; missing most often: {worst}."
    )
    return ~bad


def _second_pass(raw, features, keep, notes):
    n = raw.n_rows if keep is None else int(np.count_nonzero(keep))
    large = n * len(features) > LARGE
    lossy = [raw.names[f.position] for f in features if f.lossy]
    dtype = np.float32 if large and not lossy else np.float64
    if large and lossy:
        notes.append(
            f"Stored in float64 because float32 would round away the spread of {listed(lossy)}; "
            "subtract an offset or drop these columns to halve the memory."
        )
    elif large:
        notes.append("Stored in float32 to halve the memory: more than 25 million values.")
    X = np.empty((n, len(features)), dtype=dtype)
    if features[0].values is not None:
        for j, feature in enumerate(features):
            X[:, j] = feature.values if keep is None else feature.values[keep]
        return X
    for j, (_, series) in enumerate(_batches(raw, [f.position for f in features])):
        values = to_numbers(series, decimal_comma=raw.decimal_comma).values
        X[:, j] = values if keep is None else values[keep]
    return X


def _constant_note(X, raw, features, notes):
    if len(X) < 2:
        return
    constant = [
        raw.names[f.position]
        for j, f in enumerate(features)
        if f.low == f.high or (X[0, j] == X[-1, j] and (X[:, j] == X[0, j]).all())
    ]
    if constant:
        notes.append(f"Constant columns, kept: {listed(constant)}.")
