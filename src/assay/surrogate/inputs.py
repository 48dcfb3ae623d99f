"""From what the user hands over to simulation runs, and from runs to the parts of a study."""

import dataclasses
import os
from typing import Any

import numpy as np

from assay.data.chars import counted, listed
from assay.errors import DataError, StudyError
from assay.fingerprint import row_hashes
from assay.splits import group_holdout, holdout
from assay.surrogate.joining import from_one, from_two
from assay.surrogate.runs import LARGEST
from assay.surrogate.runs import Reading as Reading
from assay.surrogate.runs import Runs as Runs
from assay.surrogate.sources import open_runs

_VALIDATION = 0.2
_TEST = 0.25
_FEWEST_RUNS = 20
_FEWEST_GROUPS = 3
_FEWEST_TEST = 2


@dataclasses.dataclass(frozen=True, eq=False)
class Split:
    """The parts of a surrogate study, and the rule in a sentence."""

    fit: Runs
    validation: Runs
    test: Runs
    rule: str


def read_runs(
    source: Any,
    outputs_source: Any = None,
    reading: Reading = Reading(),  # noqa: B008 - frozen
    *,
    like: Runs | None = None,
) -> Runs:
    """Read simulation runs from one source, or inputs and outputs from two.

    Parameters
    ----------
    source : path, table, frame, array, dict of arrays, xarray object, or Runs
        A list of paths is read file by file and pooled; a pair ``(X, Y)`` is two sources.
    outputs_source : the same, optional
        The outputs, run by run in the same order. Then all other columns of `source` are inputs.
    reading : Reading
        Names or patterns of inputs, outputs, the group and what is left out. Outputs must be
        named unless they have a source of their own, or are an array called ``Y``.
    like : Runs, optional
        Read the same inputs and outputs as these: for test runs.

    Returns
    -------
    Runs
        Failed runs, with a value that is missing or not finite, are set aside and noted.

    Raises
    ------
    DataError, StudyError
        If a source cannot be read, a name fits nothing, an output is also an input, or two
        sources do not belong together.

    Examples
    --------
    >>> table = {"k [N/m]": [1.0, 2.0, 4.0], "m": [1.0, 1.5, 1.2], "f": [1.0, 1.2, np.nan]}
    >>> runs = read_runs(table, reading=Reading(outputs=("f",)))
    >>> runs.inputs, runs.input_units, runs.X.tolist()
    (('k', 'm'), ('N/m', ''), [[1.0, 1.0], [2.0, 1.5]])
    """
    several = isinstance(source, list) and source and isinstance(source[0], str | os.PathLike)
    if several and outputs_source is None:
        found = [_read(source[0], None, reading, like)]
        found += [_read(one, None, reading, found[0]) for one in source[1:]]
        runs = _pooled(found)
    else:
        runs = _read(source[0] if several else source, outputs_source, reading, like)
    if like is None and not reading.inputs:
        runs = _without_idle(runs)
    _require_moderate(runs)
    return runs if like is not None else _varied(runs)


def _read(source: Any, outputs_source: Any, reading: Reading, like: Runs | None) -> Runs:
    """Read one source, or inputs and outputs from two."""
    if isinstance(source, Runs):
        return source
    if isinstance(source, tuple) and len(source) == 2 and outputs_source is None:
        source, outputs_source = source
    if like is not None:
        reading = Reading(inputs=like.inputs, outputs=like.outputs, group=reading.group)
    first = open_runs(source, letter="x")
    second = None if outputs_source is None else open_runs(outputs_source, letter="y")
    try:
        runs = from_one(first, reading) if second is None else from_two(first, second, reading)
    finally:
        for opened in (first, second):
            if opened is not None and opened.raw.close is not None:
                opened.raw.close()
    if like is not None:
        _require_same_units(runs, like)
    return runs


def _require_same_units(runs: Runs, like: Runs) -> None:
    told = zip(
        (*runs.inputs, *runs.outputs),
        (*runs.input_units, *runs.output_units),
        (*like.input_units, *like.output_units),
        strict=True,
    )
    for name, unit, wanted in told:
        if unit and wanted and unit != wanted:
            raise DataError(
                f"'{runs.source}' gives '{name}' in [{unit}], '{like.source}' in [{wanted}].",
                hint="Convert one of them, so that both use the same unit.",
            )


def _pooled(found: list[Runs]) -> Runs:
    """Stack the runs of several files."""
    if len(found) == 1:
        return found[0]
    notes = [note for runs in found for note in runs.notes]
    stacked = {
        name: np.concatenate([getattr(runs, name) for runs in found])
        for name in ("X", "Y", "groups", "row_numbers")
        if getattr(found[0], name) is not None
    }
    shown = ", ".join(dict.fromkeys(runs.source for runs in found))
    notes.append(f"The runs of {len(found)} files are pooled.")
    return dataclasses.replace(found[0], **stacked, source=shown, notes=tuple(dict.fromkeys(notes)))


def _without_idle(runs: Runs) -> Runs:
    """Leave out inputs that nobody named and that say nothing: constants and counters of rows."""
    still = np.ptp(runs.X, axis=0) == 0
    step = np.diff(runs.X, axis=0)
    # After a failed run a counter jumps, by as much as the row numbers do.
    rows = np.diff(runs.row_numbers)[:, None]
    counts = (step == rows).all(axis=0) if len(step) else np.zeros(len(still), bool)
    counts &= len(runs.X) >= _FEWEST_RUNS
    if (still | counts).all():
        counts[:] = False  # a single input that was sampled in steps of one
    notes = list(runs.notes)
    for idle, why in ((still, "they never change"), (counts & ~still, "they only count the runs")):
        if idle.any():
            names = listed(name for name, hit in zip(runs.inputs, idle, strict=True) if hit)
            notes.append(f"No inputs, because {why}: {names}. Name the inputs to keep them.")
    kept = np.flatnonzero(~(still | counts))
    if not kept.size:
        return runs  # what is wrong with it is said by whoever asks that inputs vary
    return dataclasses.replace(
        runs,
        X=runs.X[:, kept],
        inputs=tuple(runs.inputs[k] for k in kept),
        input_units=tuple(runs.input_units[k] for k in kept),
        notes=tuple(notes),
    )


def _varied(runs: Runs) -> Runs:
    """Raise StudyError where there is nothing to learn: no input, or no output, ever changes."""
    if runs.n_runs < 2:
        return runs  # too few to tell: whoever splits them says so
    for values, names, what in ((runs.X, runs.inputs, "input"), (runs.Y, runs.outputs, "output")):
        if (np.ptp(values, axis=0) == 0).all():
            raise StudyError(
                f"'{runs.source}': no {what} ever changes ({listed(names)}).",
                hint=f"Give runs in which the {what}s differ.",
            )
    return runs


def _require_moderate(runs: Runs) -> Runs:
    """Raise DataError where a number is so large that its square cannot be computed with."""
    both = ((runs.X, runs.inputs, "input"), (runs.Y, runs.outputs, "output"))
    for values, names, what in both:
        beyond = np.argwhere(np.abs(values) > LARGEST)
        if len(beyond):
            row, column = beyond[0]
            raise DataError(
                f"'{runs.source}', row {runs.row_numbers[row]}: the {what} '{names[column]}' is "
                f"{values[row, column]:.3g}; numbers up to {LARGEST:g} can be computed with.",
                hint="Look for wrong values in the column, or pass its logarithm.",
            )
    return runs


def require_runs(runs: Runs) -> None:
    """Raise StudyError where there are too few runs for any study."""
    if runs.n_runs < _FEWEST_RUNS:
        raise StudyError(
            f"A surrogate study needs at least {_FEWEST_RUNS} complete runs, got {runs.n_runs}.",
            hint="Run the simulator more often: ten runs an input are a usual start.",
        )


def split_runs(runs: Runs, test: Runs | None, seed: int) -> Split:
    """Split into fit, validation and test: 60, 15 and 25 % of the runs.

    Repeated designs (equal inputs) stay in one part, and so do groups.

    Parameters
    ----------
    runs : Runs
    test : Runs or None
        Test runs that were given; then 80 % of `runs` are fitted and 20 % chosen on.
    seed : int

    Raises
    ------
    StudyError
        If there are too few runs, groups or different designs.
    """
    require_runs(runs)
    same, how = _together(runs)
    if test is not None:
        if test.n_runs < _FEWEST_TEST:
            raise StudyError(
                f"'{test.source}': at least {_FEWEST_TEST} complete test runs are needed, got "
                f"{test.n_runs}.",
                hint="Give more test runs, or none: a quarter of the runs is sealed then.",
            )
        fit, held = _part(same, runs.n_runs, _VALIDATION, seed)
        rule = f"{how}: 80 % to fit, 20 % to choose on; the test runs were given"
        return Split(runs.take(fit), runs.take(held), test, rule)
    rest, sealed = _part(same, runs.n_runs, _TEST, seed)
    inner = None if same is None else same[rest]
    fit, held = _part(inner, len(rest), _VALIDATION, seed + 1)
    rule = f"{how}: 60 % to fit, 15 % to choose on, 25 % sealed"
    return Split(runs.take(rest[fit]), runs.take(rest[held]), runs.take(sealed), rule)


def _together(runs: Runs) -> tuple[np.ndarray | None, str]:
    """Return an id per run, equal for runs that must stay in one part, and the rule's first words.

    None where every run may go anywhere. Equal designs are kept together however few they are: a
    simulator gives the same answer twice, and a test run whose answer is known is no test.
    """
    _, designs, times = np.unique(row_hashes(runs.X), return_inverse=True, return_counts=True)
    repeated = bool((times > 1).any())
    if runs.groups is None:
        return (designs, "runs at random, repeated designs kept together") if repeated else (
            None, "runs drawn at random"
        )  # fmt: skip
    names, number = np.unique(runs.groups, return_inverse=True)
    if len(names) < _FEWEST_GROUPS:
        raise StudyError(
            f"To keep groups whole, {_FEWEST_GROUPS} parts need at least {_FEWEST_GROUPS} groups, "
            f"got {len(names)}.",
            hint="Leave out --group, or give runs of more groups.",
        )
    return _joined(number, designs), "whole groups drawn at random"


def _joined(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Return ids that are equal where either of two ids is, through any chain of runs."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    ones, size = np.ones(len(first), bool), int(first.max()) + 1
    shape = (size + int(second.max()) + 1,) * 2
    links = coo_array((ones, (first, size + second)), shape=shape)
    return connected_components(links, directed=False)[1][first]


def _part(same: np.ndarray | None, n: int, share: float, seed: int) -> tuple:
    """Return the rows of two parts: `same` (n,) ids stay on one side."""
    if same is None:
        return holdout(n, share, seed)
    if len(np.unique(same)) < 2:
        raise StudyError(
            f"All {counted(n, 'run')} belong together (one design, or one group): no two parts.",
            hint="Give runs with more different inputs, or finer groups.",
        )
    return group_holdout(same, share, seed)
