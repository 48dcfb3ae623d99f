"""From what the user hands over to the parts: rows to fit, to choose on, and to test."""

import dataclasses
from typing import Any

import numpy as np

from assay.data import Table, concat, in_order, read_table, require_somewhere
from assay.errors import StudyError
from assay.splits import block_holdout, copies, group_holdout, holdout_of

_VALIDATION = 0.2
_TEST = 0.25
_BLOCKS = 5
_FEWEST_ROWS = 20
_FEWEST_GROUPS = 5


@dataclasses.dataclass(frozen=True)
class Reading:
    """Which columns are which; None and empty tuples mean: not given."""

    time: str | None = None
    group: str | None = None
    drop: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True, eq=False)
class Split:
    """The parts of a compress study, and the rule in a sentence."""

    fit: Table
    validation: Table
    test: Table
    rule: str


def read(
    source: Any, reading: Reading, *, like: Table | None = None, ordered: bool = True
) -> tuple[Table, tuple[str, ...]]:
    """Read one source or several (then each file is a group); return their names too.

    Rows are put in the order of time unless `ordered` is False: rows reconstructed elsewhere come
    in the order of the file.
    """
    listed = source if isinstance(source, (list, tuple)) and _is_several(source) else [source]
    tables = [_read(one, reading, like) for one in listed]
    require_somewhere(reading.drop, tables if like is None else [*tables, like])
    tables = in_order(tables)[0] if ordered else tables
    return concat(tables), tuple(dict.fromkeys(table.source for table in tables))


def _is_several(source):
    return bool(source) and not isinstance(source[0], (list, tuple, float, int))


def _read(source, reading, like):
    if isinstance(source, Table):
        return source if like is None else source.select(like.columns)
    return read_table(
        source,
        columns=reading.columns or (like.columns if like is not None else None),
        drop=reading.drop,
        time=reading.time,
        group=reading.group,
        optional={"drop"},
    )


def require_rows(table: Table) -> None:
    """Raise StudyError where there are too few rows for any study."""
    if table.n_rows < _FEWEST_ROWS:
        raise StudyError(
            f"A compress study needs at least {_FEWEST_ROWS} rows, got {table.n_rows}.",
            hint="Give more rows.",
        )


def split(table: Table, test: Table | None, seed: int) -> Split:
    """Split into fit, validation and test: by groups, by blocks of time, or by rows.

    Raises
    ------
    StudyError
        If there are too few rows.
    """
    require_rows(table)
    if test is None:
        rest, held, how = _part(table, _TEST, seed)
        fit, validation, _ = _part(table.take(rest), _VALIDATION, seed + 1)
        inner = table.take(rest)
        rule = f"{how}: 60 % to fit, 15 % to choose on, 25 % sealed"
        return Split(inner.take(fit), inner.take(validation), table.take(held), rule)
    fit, validation, how = _part(table, _VALIDATION, seed)
    rule = f"{how}: 80 % to fit, 20 % to choose on; the test rows were given"
    return Split(table.take(fit), table.take(validation), test, rule)


def _part(table: Table, share: float, seed: int) -> tuple[np.ndarray, np.ndarray, str]:
    groups = table.groups
    if groups is not None and len(np.unique(groups)) >= _FEWEST_GROUPS:
        return *group_holdout(groups, share, seed), "whole groups drawn at random"
    if table.times is not None:
        return *block_holdout(table.n_rows, share, _BLOCKS, 1, seed), "blocks of the record"
    same = copies(table.X)
    how = "rows drawn at random" + ("" if same is None else ", copies of a row kept together")
    return *holdout_of(same, table.n_rows, share, seed), how
