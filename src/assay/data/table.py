"""A table that is ready for a study: numbers, names, and what was done to get there."""

import dataclasses

import numpy as np

from assay.data.scaling import column_statistics
from assay.errors import DataError
from assay.result import Column, DataSummary


@dataclasses.dataclass(frozen=True, eq=False)
class Table:
    """Numeric columns with the special columns beside them; every row is complete.

    Attributes
    ----------
    X : numpy.ndarray of shape (n, d), finite [unit of each column]
        float64. Above 25 million values float32, unless that would cost a column more than a
        thousandth of its spread; a note says which.
    columns, units : tuple of str, d of each
        Unique, printable names; ``""`` where the unit is unknown.
    labels : numpy.ndarray of shape (n,), bool, or None
        True is an anomaly.
    times : numpy.ndarray of shape (n,), datetime64[us] (UTC where a zone was given) or float64
    groups : numpy.ndarray of shape (n,), str, or None
    kinds : numpy.ndarray of shape (n,), str, or None
        The kind of anomaly, ``""`` for normal rows.
    source : str
        The file, or what the caller called the data.
    row_numbers : numpy.ndarray of shape (n,), int
        1-based line in a text file, else 1-based row.
    places : numpy.ndarray of shape (n,), int, or None
        Where a row stands in its series, where that is not the order of `row_numbers`: rows next
        to each other there follow each other in time.
    notes : tuple of str
        What the reader did or noticed, a sentence each.
    absent : tuple of str
        Optional columns that were asked for and are not there (`read_table`).
    """

    X: np.ndarray
    columns: tuple[str, ...]
    units: tuple[str, ...]
    labels: np.ndarray | None = None
    times: np.ndarray | None = None
    groups: np.ndarray | None = None
    kinds: np.ndarray | None = None
    source: str = "array"
    row_numbers: np.ndarray | None = None
    places: np.ndarray | None = None
    notes: tuple[str, ...] = ()
    absent: tuple[str, ...] = ()

    def __post_init__(self):
        if self.row_numbers is None:
            object.__setattr__(self, "row_numbers", np.arange(1, len(self.X) + 1))
        n, d = self.X.shape
        for name in ("columns", "units"):
            if len(getattr(self, name)) != d:
                raise DataError(f"`{name}` must have {d} entries, got {len(getattr(self, name))}.")
        for name in ("labels", "times", "groups", "kinds", "row_numbers", "places"):
            array = getattr(self, name)
            if array is not None and array.shape != (n,):
                raise DataError(f"`{name}` must have shape ({n},), got {array.shape}.")

    def __len__(self):
        return len(self.X)

    def __repr__(self):
        has = [n for n in ("labels", "times", "groups", "kinds") if getattr(self, n) is not None]
        beside = f", with {', '.join(has)}" if has else ""
        return f"Table({self.source!r}: {self.n_rows} rows x {self.n_columns} columns{beside})"

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.X.shape[0]

    @property
    def n_columns(self) -> int:
        """Number of feature columns."""
        return self.X.shape[1]

    def take(self, index) -> "Table":
        """Return the rows at `index` (integers, a slice or a mask), with all that belongs to them.

        Examples
        --------
        >>> import numpy as np
        >>> table = Table(np.array([[1.0], [2.0]]), ("x",), ("",))
        >>> table.take([1]).X
        array([[2.]])
        """
        if not isinstance(index, slice):
            index = np.asarray(index)
            index = index.astype(np.intp) if index.size == 0 else index
        names = ("X", "labels", "times", "groups", "kinds", "row_numbers", "places")
        parts = {
            name: getattr(self, name)[index] for name in names if getattr(self, name) is not None
        }
        return dataclasses.replace(self, **parts)

    def select(self, columns) -> "Table":
        """Return the table with these feature columns, in this order.

        Raises
        ------
        DataError
            If a name is not a column.
        """
        index = find_columns(columns, self.columns, source=self.source)
        return dataclasses.replace(
            self,
            X=self.X[:, index],
            columns=tuple(self.columns[i] for i in index),
            units=tuple(self.units[i] for i in index),
        )

    def summary(self, *, profile: dict | None = None) -> DataSummary:
        """Return what a report shows of the data.

        Parameters
        ----------
        profile : dict, optional
            The outcome of `assay.data.profile`.
        """
        shown = ()
        if self.n_rows:
            mean, std, low, high = (a.tolist() for a in column_statistics(self.X))
            rows = zip(self.columns, self.units, low, high, mean, std, strict=True)
            shown = tuple(Column(*row) for row in rows)
        return DataSummary(
            sources=(self.source,),
            rows=self.n_rows,
            columns=shown,
            notes=self.notes,
            profile=dict(profile or {}),
        )


def concat(tables) -> Table:
    """Stack tables with the same columns, in any order, below each other.

    Groups become the sources where a table has no groups, so that files stay apart. Special
    columns that not every table has are left out, with a note.

    Parameters
    ----------
    tables : sequence of Table

    Returns
    -------
    Table

    Raises
    ------
    DataError
        If there are none, or the columns differ.
    """
    tables = list(tables)
    if not tables:
        raise DataError("No tables to stack.", hint="Pass at least one table.")
    first = tables[0]
    for other in tables[1:]:
        different = sorted(set(first.columns) ^ set(other.columns))
        if different:
            raise DataError(
                f"'{other.source}' and '{first.source}' have different columns: "
                f"{', '.join(map(repr, different[:5]))}.",
                hint="Name the columns that they share with `columns`, or leave these out.",
            )
    aligned = [first, *(t.select(first.columns) for t in tables[1:])]
    parts, notes = {}, [note for t in tables for note in t.notes]
    for name in ("labels", "times", "kinds"):
        have = [getattr(t, name) for t in aligned]
        if all(a is not None for a in have) and len({a.dtype.kind for a in have}) == 1:
            parts[name] = np.concatenate(have)
        elif any(a is not None for a in have):
            notes.append(f"The {name} are not used: not every file has them in the same form.")
    groups = [t.groups if t.groups is not None else np.full(t.n_rows, t.source) for t in aligned]
    return dataclasses.replace(
        first,
        X=np.concatenate([t.X for t in aligned]),
        labels=parts.get("labels"),
        times=parts.get("times"),
        kinds=parts.get("kinds"),
        groups=np.concatenate(groups) if len(aligned) > 1 else first.groups,
        source=", ".join(dict.fromkeys(t.source for t in aligned)),
        row_numbers=np.concatenate([t.row_numbers for t in aligned]),
        places=_places(aligned),
        notes=tuple(dict.fromkeys(notes)),
    )


def _places(tables) -> np.ndarray | None:
    """Return the places of stacked tables, apart from each other, or None where none has any."""
    if all(table.places is None for table in tables):
        return None
    stacked, start = [], 0
    for table in tables:
        own = table.row_numbers if table.places is None else table.places
        if len(own):
            stacked.append(own - own.min() + start)
            start = int(stacked[-1].max()) + 2  # the last of one is no neighbour of the next
    return np.concatenate(stacked)


def find_columns(wanted, names, *, source: str, aliases=()) -> list[int]:
    """Return the positions of the wanted columns (names or 0-based numbers)."""
    from assay.errors import did_you_mean

    wanted = (wanted,) if isinstance(wanted, (str, int, np.integer)) else tuple(wanted)
    lookup = {alias: i for i, alias in reversed(list(enumerate(aliases)))}
    lookup.update({name: i for i, name in enumerate(names)})
    folded = {}
    for name, i in lookup.items():
        folded.setdefault(str(name).strip().casefold(), set()).add(i)
    found = []
    for want in wanted:
        if isinstance(want, (int, np.integer)) and not isinstance(want, bool):
            if not -len(names) <= want < len(names):
                raise DataError(
                    f"'{source}' has {len(names)} columns, so there is no column {want}.",
                    hint="Columns are counted from 0.",
                )
            found.append(int(want) % len(names))
        elif want in lookup:
            found.append(lookup[want])
        elif len(folded.get(str(want).strip().casefold(), ())) == 1:
            found.append(next(iter(folded[str(want).strip().casefold()])))
        else:
            raise DataError(
                f"'{source}' has no column '{want}'.", hint=did_you_mean(str(want), names)
            )
    return list(dict.fromkeys(found))
