"""Reading inputs and outputs, from one opened source or side by side from two."""

import numpy as np

from assay.data.assemble import assemble
from assay.data.chars import counted, listed
from assay.errors import DataError, StudyError
from assay.surrogate.roles import (
    called_y,
    coordinate_of,
    find,
    group_of,
    place_of,
    repeated_keys,
    require_apart,
    require_in_either,
)
from assay.surrogate.runs import Reading, Runs
from assay.surrogate.sources import Source


def from_one(source: Source, reading: Reading) -> Runs:
    """Read inputs and outputs from one table."""
    raw, shown = source.raw, source.raw.source
    outputs = find(source, reading.outputs or source.outputs, "output")
    drop, group = find(source, reading.drop, "column to leave out"), group_of(source, reading)
    if not outputs:
        raise StudyError(
            f"Which columns of '{shown}' are outputs? None is named.",
            hint=f"Name them (--outputs y, --outputs 'u_*'); it has {listed(raw.names)}.",
        )
    inputs = find(source, reading.inputs, "input") if reading.inputs else None
    require_apart(raw.names, inputs, outputs, drop, group, shown)
    if inputs is None and not set(range(len(raw.names))) - {*outputs, *drop, group}:
        raise StudyError(
            f"Every column of '{shown}' is an output: no input is left.",
            hint="Name fewer columns with --outputs, or the inputs with --inputs.",
        )
    columns = None if inputs is None else [*inputs, *outputs]
    table = _assemble(raw, columns, drop, group)
    names = [raw.names[k] for k in outputs]
    at = [place_of(table, name, "output", shown) for name in names]
    if inputs is None:
        chosen = [k for k in range(table.n_columns) if k not in set(at)]
    else:
        chosen = [place_of(table, raw.names[k], "input", shown) for k in inputs]
    X, Y = table.X[:, chosen].astype(float), table.X[:, at].astype(float)
    coordinate = coordinate_of(source, outputs)
    return Runs(
        X, Y, tuple(table.columns[k] for k in chosen), tuple(names),
        tuple(table.units[k] for k in chosen), tuple(table.units[k] for k in at),
        *coordinate, _groups(source, table), table.row_numbers, shown,
        tuple(dict.fromkeys((*table.notes, *_failed(raw.n_rows - table.n_rows, raw.n_rows)))),
    )  # fmt: skip


def from_two(first: Source, second: Source, reading: Reading) -> Runs:
    """Read inputs from one source and outputs from another, run by run."""
    second = called_y(second)
    shown = f"{first.raw.source}, {second.raw.source}"
    if first.raw.n_rows != second.raw.n_rows:
        raise DataError(
            f"'{first.raw.source}' has {first.raw.n_rows:,} runs of inputs and "
            f"'{second.raw.source}' has {second.raw.n_rows:,} runs of outputs.",
            hint="Each run needs one row in both, in the same order.",
        )
    sides = []
    for source, wanted, what in (
        (first, reading.inputs, "input"),
        (second, reading.outputs, "output"),
    ):
        drop = [k for name in reading.drop for k in find(source, (name,), "", missing_ok=True)]
        group = group_of(source, reading, missing_ok=True)
        columns = find(source, wanted, what) if wanted else None
        sides.append((columns, drop, group))
    require_in_either(first, second, reading)
    keys = repeated_keys(first, second, sides)
    doubled = [] if sides[1][0] is None else [second.raw.names[k] for k in keys]
    taken = [k for name in doubled for k in find(first, (name,), "input")]
    if sides[0][0] is not None and set(taken) & set(sides[0][0]):
        raise StudyError(
            f"{listed(doubled)} would be an input and an output.",
            hint="Give every column one role; a narrower pattern may be enough.",
        )
    _require_own(first, second, sides, keys, taken)
    tables = []
    for source, (columns, drop, group), own in zip(
        (first, second), sides, (taken, keys), strict=True
    ):
        left = [] if columns is not None else own
        tables.append(_assemble(source.raw, columns, [*drop, *left], group))
    places = [_positions(s.raw, t) for s, t in zip((first, second), tables, strict=True)]
    both = np.intersect1d(*places)
    kept = [np.searchsorted(at, both) for at in places]
    X, Y = tables[0].take(kept[0]), tables[1].take(kept[1])
    outputs = [second.raw.names.index(name) for name in Y.columns]
    groups = _groups(first, X) if _groups(first, X) is not None else _groups(second, Y)
    lost = first.raw.n_rows - len(both)
    notes = [*tables[0].notes, *tables[1].notes, *_failed(lost, first.raw.n_rows)]
    if taken:
        notes.append(f"{listed(doubled)} of '{first.raw.source}' are outputs, so no inputs.")
    if keys and sides[1][0] is None:
        shared = listed(second.raw.names[k] for k in keys)
        notes.append(f"{shared} stand in both sources with equal values: no outputs.")
    return Runs(
        X.X.astype(float), Y.X.astype(float), X.columns, Y.columns, X.units, Y.units,
        *coordinate_of(second, outputs), groups, X.row_numbers, shown,
        tuple(dict.fromkeys(notes)),
    )  # fmt: skip


def _require_own(first: Source, second: Source, sides, keys, taken) -> None:
    """Raise StudyError where one source has nothing that the other has not."""
    for source, (columns, drop, group), away, what in (
        (first, sides[0], taken, "input"),
        (second, sides[1], keys, "output"),
    ):
        left = set(range(len(source.raw.names))) - {*drop, *away, group}
        if columns is None and not left:
            raise StudyError(
                f"'{source.raw.source}' has no {what} left: all of its columns have another role "
                "or stand in the other source too.",
                hint=f"Give a source with the {what}s; it has {listed(source.raw.names)}.",
            )


def _assemble(raw, columns, drop, group):
    return assemble(
        raw, columns=columns, drop=drop, label=None, time=None, group=group, kind=None, rows=None
    )


def _groups(source: Source, table) -> np.ndarray | None:
    if table.groups is not None or source.groups is None:
        return table.groups
    return source.groups[_positions(source.raw, table)]


def _positions(raw, table) -> np.ndarray:
    """Return where the rows of `table` stand among all rows of the source."""
    if raw.row_numbers is None:
        return table.row_numbers - 1
    order = np.argsort(raw.row_numbers, kind="stable")
    return order[np.searchsorted(raw.row_numbers[order], table.row_numbers)]


def _failed(lost: int, n: int) -> list[str]:
    if not lost:
        return []
    return [
        f"{counted(lost, 'run')} of {n:,} failed (a value is missing or not finite) and set aside: "
        "a surrogate learns nothing about where the simulator fails."
    ]
