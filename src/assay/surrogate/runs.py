"""Runs of a simulator, and how a user says which columns are which."""

import dataclasses
from typing import Any

import numpy as np

_MANY_OUTPUTS = 12
# Losses are squares, and means over squares of squares must still be finite.
LARGEST = 1e70


@dataclasses.dataclass(frozen=True, eq=False)
class Runs:
    """Runs of a simulator: what went in, what came out; every run is complete.

    Attributes
    ----------
    X : array of shape (n, d), float64 [units of the inputs]
    Y : array of shape (n, m), float64 [units of the outputs]
    inputs, outputs : tuple of str
        Names, d and m of them.
    input_units, output_units : tuple of str
        ``""`` where a unit is unknown.
    coordinate : array of shape (m,) or None
        Where the outputs are points of one series or field: its time or place.
    coordinate_name : str
        ``""`` or such as ``"t [yr]"``.
    groups : array of shape (n,), str, or None
        Runs that belong together.
    row_numbers : array of shape (n,), int
        1-based line in a text file, else 1-based row.
    source : str
    notes : tuple of str
        What was noticed and done while reading.

    Examples
    --------
    >>> runs = Runs(np.zeros((3, 2)), np.ones((3, 1)), ("a", "b"), ("y",))
    >>> runs.n_runs, runs.n_inputs, runs.n_outputs, runs.is_series
    (3, 2, 1, False)
    """

    X: np.ndarray
    Y: np.ndarray
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    input_units: tuple[str, ...] = ()
    output_units: tuple[str, ...] = ()
    coordinate: np.ndarray | None = None
    coordinate_name: str = ""
    groups: np.ndarray | None = None
    row_numbers: np.ndarray | None = None
    source: str = "array"
    notes: tuple[str, ...] = ()

    def __post_init__(self):
        if self.row_numbers is None:
            object.__setattr__(self, "row_numbers", np.arange(1, len(self.X) + 1))
        for units, names in (("input_units", self.inputs), ("output_units", self.outputs)):
            if not getattr(self, units):
                object.__setattr__(self, units, ("",) * len(names))

    @property
    def n_runs(self) -> int:
        """Number of runs."""
        return len(self.X)

    @property
    def n_inputs(self) -> int:
        """Number of inputs."""
        return self.X.shape[1]

    @property
    def n_outputs(self) -> int:
        """Number of outputs."""
        return self.Y.shape[1]

    @property
    def is_series(self) -> bool:
        """Whether the outputs belong together as points of a series, or are too many to be told."""
        return self.coordinate is not None or self.n_outputs > _MANY_OUTPUTS

    def take(self, index: Any) -> "Runs":
        """Return the runs at `index` (integers, a slice or a mask), with all that is theirs."""
        rows = {
            name: getattr(self, name)[index]
            for name in ("X", "Y", "groups", "row_numbers")
            if getattr(self, name) is not None
        }
        return dataclasses.replace(self, **rows)


@dataclasses.dataclass(frozen=True)
class Reading:
    """Which columns are which, by name or pattern; empty: not given."""

    inputs: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()
    group: str | None = None
    drop: tuple[str, ...] = ()
