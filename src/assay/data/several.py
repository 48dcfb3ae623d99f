"""What is asked of several tables together: the order of time, and columns that are somewhere."""

import dataclasses

import numpy as np

from assay.data.table import Table
from assay.errors import DataError, did_you_mean


def in_order(tables: list[Table]) -> tuple[list[Table], np.ndarray]:
    """Return each table in the order of time within each group, saying so where that changed it.

    A clock that is set back in autumn gives an hour twice; blocks, windows and delays need order.
    Beside them: where each row stood before, counted through all tables. Whatever belongs to the
    rows by its position (labels, scores) must follow them.

    Parameters
    ----------
    tables : list of Table

    Returns
    -------
    tables : list of Table
    places : int array, one entry a row
    """
    ordered, places, start = [], [], 0
    for table in tables:
        order = np.arange(table.n_rows)
        if table.times is not None:
            whole = order * 0 if table.groups is None else _first_places(table.groups)
            order = np.lexsort((table.times, whole))
        moved = int(np.sum(order != np.arange(table.n_rows)))
        if moved:
            note = (
                f"{table.source}: the times go back at some rows; {moved} rows were put in order "
                "of time."
            )
            table = dataclasses.replace(
                table.take(order), places=np.arange(table.n_rows), notes=(*table.notes, note)
            )
        ordered.append(table)
        places.append(start + order)
        start += table.n_rows
    return ordered, np.concatenate(places)


def _first_places(groups: np.ndarray) -> np.ndarray:
    """Return for each row where its group first occurs, so that groups keep their order."""
    _, first, inverse = np.unique(groups, return_index=True, return_inverse=True)
    return first[inverse]


def require_somewhere(names, tables: list[Table]) -> None:
    """Raise DataError where a column to leave out is in none of the tables.

    A misspelt name would otherwise leave the column in, and nobody would be told.

    Parameters
    ----------
    names : sequence of str
    tables : list of Table
        As read with ``optional={"drop"}``.
    """
    for name in names:
        if all(name in table.absent for table in tables):
            raise DataError(
                f"No source has a column '{name}' to leave out.",
                hint=did_you_mean(name, tables[-1].columns),
            )
