"""What every reader hands over: names, and columns on demand."""

import dataclasses
from collections.abc import Callable

import numpy as np


@dataclasses.dataclass(frozen=True)
class Raw:
    """A source with its columns not yet read.

    `read` takes column positions and returns polars columns of equal length; it may be called
    twice for the same column, so that a big file needs one column in memory, not all.
    """

    source: str
    names: tuple[str, ...]
    units: tuple[str, ...]
    n_rows: int
    read: Callable[[list[int]], list]
    aliases: tuple[str, ...] = ()
    row_numbers: np.ndarray | None = None
    row_word: str = "row"
    notes: tuple[str, ...] = ()
    decimal_comma: bool = False
    label: str | None = None  # the label column of a layout that has one (NPZ with X and y)
    file: bool = True
    close: Callable[[], None] | None = None

    def where(self, column: int | None = None) -> str:
        """Name the source, and a column of it, for messages."""
        shown = f"'{self.source}'" if self.file else self.source
        return shown if column is None else f"{shown}, column '{self.names[column]}'"

    def row_name(self, row: int) -> str:
        """Name a row for a reader: ``"line 12"``."""
        number = row + 1 if self.row_numbers is None else int(self.row_numbers[row])
        return f"{self.row_word} {number}"
