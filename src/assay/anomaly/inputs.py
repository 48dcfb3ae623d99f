"""From what the user hands over to normal rows, test rows and, where given, calibration rows."""

import dataclasses
import datetime
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from assay.data import Table, as_labels, concat, in_order, read_table, require_somewhere
from assay.errors import DataError, StudyError
from assay.shared_rows import SURE, shared_exactly
from assay.splits import copies, holdout_of


@dataclasses.dataclass(frozen=True)
class Reading:
    """Which columns are which; `None` and empty tuples mean: not given."""

    label: str | None = None
    kind: str | None = None
    time: str | None = None
    group: str | None = None
    drop: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    intervals: Any = None
    intervals_file: str | None = None


@dataclasses.dataclass(frozen=True, eq=False)
class Inputs:
    """Normal rows to learn from, rows to judge, and how they were told apart.

    `calibration` is None where the threshold's rows are to be split off the normal ones.
    `sources` are the names of the files of normal and calibration rows and of rows to judge;
    None where the rows were split off the normal ones. `places` say where the rows that set the
    threshold (the normal ones, or those for the calibration) and the rows to judge stood in what
    was handed over, before they were put in order of time; None where both are of one source.
    """

    normal: Table
    test: Table
    calibration: Table | None
    rule: str
    notes: tuple[str, ...]
    sources: tuple[tuple[str, ...] | None, ...] = ()
    places: tuple[np.ndarray, np.ndarray] | None = None


def gather(
    normal: Any,
    test: Any,
    labels: Any,
    calibration: Any,
    reading: Reading,
    *,
    normal_rows: int | None,
    seed: int,
) -> Inputs:
    """Read everything and tell normal rows from rows to judge.

    Parameters
    ----------
    normal, test, calibration : table source, or a list of them, or None
        Whatever `assay.data.read_table` takes.
    labels : array of shape (n_test_rows,) or None
        Labels of the test rows in the order of their sources, where `reading` names no column for
        them. Rows in memory that are set aside for a missing value may have one too.
    reading : Reading
    normal_rows : int or None
        The first rows of each file of `normal` are normal, the others are judged.
    seed : int
        Draws which normal rows are kept for the test where one labelled file is all there is.

    Returns
    -------
    Inputs

    Raises
    ------
    DataError, StudyError
        When a file cannot be read, or nothing says which rows are normal.
    """
    if normal_rows is not None and test is not None:
        raise StudyError(
            "Normal rows are either the first `normal_rows` of each file, or a file of their own.",
            hint="Leave out one of --normal-rows and --test.",
        )
    _same_width((normal, test, calibration), reading)
    judged_too = test is None
    found = [_read(s, reading, needs_label=judged_too) for s in _listed(normal)]
    if judged_too:
        require_somewhere(reading.drop, found)
        found = found if labels is None else _labelled(found, _listed(normal), labels)
        one = concat([_with_intervals(t, reading) for t in in_order(found)[0]])
        apart = _tell_apart(one, normal_rows, seed)
        return dataclasses.replace(apart, sources=(_names(found), None, None))
    found, places = in_order(found)
    rows = concat(found)
    tests = [_read(s, reading, needs_label=True, like=rows) for s in _listed(test)]
    require_somewhere(reading.drop, found + tests)
    tests = tests if labels is None else _labelled(tests, _listed(test), labels)
    tests, judged_places = in_order(tests)
    judged = concat([_with_intervals(table, reading) for table in tests])
    rows, places, notes = _without_faults(rows, places)
    held, held_names = None, None
    if calibration is not None:
        apart = [_read(s, reading, needs_label=False, like=rows) for s in _listed(calibration)]
        apart, places = in_order(apart)
        held, places, more = _without_faults(concat(apart), places)
        held_names, notes = _names(apart), notes + more
        _require_unseen(rows, held)
    rule = f"normal rows from {_short(rows.source)}, rows to judge from {_short(judged.source)}"
    notes = tuple(dict.fromkeys((*notes, *rows.notes, *judged.notes)))
    names = (_names(found), held_names, _names(tests))
    return Inputs(rows, judged, held, rule, notes, names, (places, judged_places))


def _same_width(sources: tuple[Any, Any, Any], reading: Reading) -> None:
    """Raise DataError where arrays without names differ in width, so that no column is known."""
    if any((reading.label, reading.kind, reading.time, reading.group, reading.drop)):
        return
    arrays = [s for part in sources for s in _listed(part) if isinstance(s, np.ndarray | list)]
    widths = [np.shape(a)[1] for a in arrays if isinstance(a, np.ndarray) and a.ndim == 2]
    widths += [len(a[0]) for a in arrays if isinstance(a, list) and a and np.ndim(a[0]) == 1]
    if len(set(widths)) > 1 and not reading.columns:
        raise DataError(
            f"The arrays have {' and '.join(map(str, dict.fromkeys(widths)))} columns, and no "
            "names that tell which belong together.",
            hint="Pass the same columns in the same order, or data frames, whose columns have "
            "names.",
        )


def _require_unseen(rows: Table, held: Table) -> None:
    """Raise DataError where calibration rows are rows that the detectors learn from.

    A detector scores rows that it has learnt lower than new ones: the threshold would be too low.
    """
    shared = shared_exactly((rows.X,), held.X)
    if shared.p < SURE and shared.share - shared.chance >= 0.01:
        raise DataError(
            f"{shared.count:,} of {shared.n:,} distinct calibration rows are among the normal rows "
            "that are learnt from, so that no threshold can be set on them.",
            hint="Give other normal rows for the calibration, or none: a fifth of the normal rows "
            "is then held out for it.",
        )


def _listed(source):
    if (
        isinstance(source, (list, tuple))
        and source
        and not isinstance(source[0], (list, tuple, float, int))
    ):
        return list(source)
    return [source]


def _names(tables):
    return tuple(dict.fromkeys(table.source for table in tables))


def _short(source):
    names = source.split(", ")
    return source if len(names) < 4 else f"{names[0]} and {len(names) - 1} more files"


def _read(source: Any, reading: Reading, *, needs_label: bool, like: Table | None = None) -> Table:
    """Read one source; special columns that a file of normal rows need not have are optional."""
    if isinstance(source, Table):
        return source if like is None else source.select(like.columns)
    optional = {"drop"} if needs_label else {"drop", "label", "kind"}
    columns = reading.columns or (like.columns if like is not None else None)
    return read_table(
        source,
        columns=columns,
        drop=reading.drop,
        label=reading.label,
        time=reading.time,
        group=reading.group,
        kind=reading.kind,
        optional=optional,
    )


def _labelled(tables: list[Table], sources: list[Any], labels: Any) -> list[Table]:
    """Return the tables, still in the order of their sources, with the labels of their rows."""
    kept = [table.n_rows for table in tables]
    whole = [_length(source) for source in sources]
    given = len(labels) if hasattr(labels, "__len__") else None
    complete = None not in whole and given == sum(whole)
    sizes = whole if complete else kept  # labels of rows that were set aside are set aside too
    found = as_labels(labels, name="labels", n_rows=sum(sizes))
    pieces = np.split(found, np.cumsum(sizes)[:-1])
    if complete:
        pieces = [p[t.row_numbers - 1] for p, t in zip(pieces, tables, strict=True)]
    return [dataclasses.replace(t, labels=p) for t, p in zip(tables, pieces, strict=True)]


def _length(source: Any) -> int | None:
    """Return how many rows a source in memory has; None for files, which have lines, and others."""
    if isinstance(source, dict):
        return max((len(column) for column in source.values() if np.ndim(column)), default=None)
    if isinstance(source, list):
        return len(source)
    shape = getattr(source, "shape", None)
    return shape[0] if isinstance(shape, tuple) and len(shape) == 2 else None


def _with_intervals(table: Table, reading: Reading) -> Table:
    """Label the rows of one source whose time lies in one of the given intervals."""
    if reading.intervals is None:
        return table
    if table.times is None:
        raise StudyError(
            "Labelled intervals need the time of each row.",
            hint="Name the column with --time (`time=` in Python).",
        )
    label = np.zeros(table.n_rows, bool)
    moment = float if table.times.dtype.kind == "f" else _moment
    for low, high in _intervals_for(table.source, reading.intervals, moment):
        label |= (table.times >= low) & (table.times <= high)
    note = f"{int(label.sum())} rows lie in the labelled intervals."
    return dataclasses.replace(table, labels=label, notes=(*table.notes, note))


def _intervals_for(source: str, intervals: Any, moment: Any) -> list[tuple[Any, Any]]:
    """Return the intervals of one file; a mapping is looked up by the end of its path."""
    if isinstance(intervals, dict):
        name = Path(source).name
        near = [key for key in intervals if Path(key).name == name]
        if not near:
            raise DataError(
                f"The labelled intervals have no entry for '{name}'.",
                hint=f"They have: {', '.join(sorted(intervals)[:5]) or 'none'}.",
            )
        intervals = intervals[near[0]]
    cure = 'Give JSON such as [["2014-01-27 14:20:00", "2014-01-29 13:15:00"]].'
    try:
        found = [(moment(a), moment(b)) for a, b in intervals]
    except (TypeError, ValueError) as error:
        raise DataError(
            f"The labelled intervals must be pairs of times, e.g. [start, end]: {error}.", hint=cure
        ) from error
    for low, high in found:
        if low > high:
            raise DataError(
                f"A labelled interval ends before it begins: {low} to {high}.", hint=cure
            )
    return found


def _moment(value: Any) -> np.datetime64:
    """Read a time as tables do: in UTC where a zone is given, else as it stands."""
    found = datetime.datetime.fromisoformat(str(value))
    if found.tzinfo is not None:
        found = found.astimezone(datetime.UTC).replace(tzinfo=None)
    return np.datetime64(found, "us")


def _without_faults(table: Table, places: np.ndarray) -> tuple[Table, np.ndarray, tuple[str, ...]]:
    """Leave labelled faults out of normal rows (and of their places), and say so."""
    if table.labels is None or not table.labels.any():
        return table, places, ()
    keep = ~table.labels
    if not keep.any():
        raise DataError(
            f"Every row of '{_short(table.source)}' is labelled as an anomaly.",
            hint="The first files must hold normal operation; check the label column.",
        )
    note = f"{int((~keep).sum())} rows labelled as anomalies were left out of the normal rows."
    return table.take(np.flatnonzero(keep)), places[keep], (note,)


def _tell_apart(table: Table, normal_rows: int | None, seed: int) -> Inputs:
    """Split one source into normal rows and rows to judge."""
    if normal_rows is not None:
        if normal_rows >= table.n_rows:
            raise StudyError(
                f"`normal_rows` is {normal_rows}, but '{_short(table.source)}' has only "
                f"{table.n_rows} rows.",
                hint="Ask for fewer normal rows, so that some are left to judge.",
            )
        first = table.take(np.arange(normal_rows))
        rows, _, notes = _without_faults(first, np.arange(normal_rows))
        rule = f"the first {normal_rows} rows are normal, the rows after them are judged"
        rest = table.take(np.arange(normal_rows, table.n_rows))
        return Inputs(rows, rest, None, rule, (*notes, *table.notes))
    series = table.times is not None
    if table.labels is None:
        n = table.n_rows
        if series:
            a, b = np.arange(int(0.8 * n)), np.arange(int(0.8 * n), n)
        else:
            a, b = holdout_of(copies(table.X), n, 0.2, seed)
        where = "the last fifth of the record" if series else "a fifth of the rows, drawn at random"
        rule = f"no labels: all rows are taken for normal, and {where} is judged"
        return Inputs(table.take(a), table.take(b), None, rule, table.notes)
    normal = np.flatnonzero(~table.labels)
    if len(normal) < 4:
        raise DataError(
            f"'{_short(table.source)}' has only {len(normal)} rows labelled as normal.",
            hint="Check that the label column is 0 (or 'normal') for normal rows.",
        )
    if series:
        cut = normal[len(normal) // 2]
        a, b = normal[normal < cut], np.arange(cut, table.n_rows)
        b = np.union1d(b, np.flatnonzero(table.labels))
        rule = "the first half of the normal rows in time is learnt from, the rest is judged"
    else:
        same = copies(table.X)
        of_normal = None if same is None else same[normal]
        first, _ = holdout_of(of_normal, len(normal), 0.5, seed)
        a = normal[first]
        b = np.setdiff1d(np.arange(table.n_rows), a)
        rule = "half of the normal rows, drawn at random, is learnt from; the rest is judged"
    return Inputs(table.take(a), table.take(b), None, rule, table.notes)


def several(source: Any) -> Sequence[Any]:
    """Return the sources as a list, one entry a file."""
    return _listed(source)
