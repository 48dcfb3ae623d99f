"""What detectors see of each part: rows or windows, with what belongs to them beside."""

import dataclasses
import functools

import numpy as np
from scipy import stats

from assay.anomaly.inputs import Inputs
from assay.anomaly.threshold import minimum_rows
from assay.data import Table, windows
from assay.errors import StudyError
from assay.splits import block_holdout, copies, group_holdout, holdout_of
from assay.units import block_ids, block_length, codes, correlation_time

_CALIBRATION_SHARE = 0.2
_BLOCKS = 5
_FEWEST_GROUPS = 8
_LONGEST_GAP = 5.0  # median steps; loggers lose a sample now and then, and that is no break


@dataclasses.dataclass(frozen=True, eq=False)
class Feed:
    """One part as a detector sees it.

    `X` is (n, p): rows, or windows laid flat. `rows` are row numbers in the source (of a window:
    its last row); `runs` (n,) numbers the stretches without a break in order of time, and is None
    where rows have no order. The rest is as in `assay.data.Table` and may be None. `notes` say what
    cutting windows left out.
    """

    X: np.ndarray
    rows: np.ndarray
    labels: np.ndarray | None
    kinds: np.ndarray | None
    times: np.ndarray | None
    groups: np.ndarray | None
    runs: np.ndarray | None = None
    notes: tuple[str, ...] = ()

    def __len__(self):
        return len(self.X)

    @functools.cached_property
    def copies(self) -> np.ndarray | None:
        """Return an id per row, equal for copies, or None where no rows were copied."""
        return copies(self.X)


def feed(table: Table, *, window: int | None, step: int, what: str) -> Feed:
    """Return the rows of `table`, or its windows where `window` is given.

    Raises
    ------
    DataError
        If no window fits.
    """
    runs = _runs(table)
    if window is None:
        ordered = None if table.times is None else runs
        beside = (table.row_numbers, table.labels, table.kinds, table.times, table.groups)
        return Feed(table.X, *beside, ordered)
    cut = windows(table.X, table.times, window=window, step=step, groups=runs, gap=_LONGEST_GAP)
    last = np.asarray(cut.last)

    def at(values):
        return None if values is None else values[last]

    # A window that holds an anomalous row is anomalous, wherever in it the row lies.
    labels = None if table.labels is None else cut.any(table.labels)
    beside = (table.row_numbers[last], labels, at(table.kinds), at(table.times), at(table.groups))
    return Feed(cut.X, *beside, runs[last], tuple(f"{what}: {note}" for note in cut.notes))


def _runs(table: Table) -> np.ndarray:
    """Return an id for each run of neighbouring rows of one group: no window crosses its border."""
    places = table.row_numbers if table.places is None else table.places
    jump = np.diff(places) != 1
    if table.groups is not None:
        jump |= table.groups[1:] != table.groups[:-1]
    return np.concatenate([[0], np.cumsum(jump)])


def split_normal(
    inputs: Inputs, *, rate: float, window: int | None, step: int, seed: int
) -> tuple[Feed, Feed, str]:
    """Split the normal rows into what is fitted on and what the threshold is set on.

    Returns
    -------
    fit, calibration : Feed
    rule : str
        How it was done, in a sentence.

    Raises
    ------
    StudyError
        If there are too few rows for the asked false-alarm rate.
    """

    def seen(table, what):
        return feed(table, window=window, step=step, what=what)

    rows, needed = inputs.normal, minimum_rows(rate)
    if inputs.calibration is not None:
        rule = "threshold from the calibration rows given"
        fit, held = seen(rows, "normal rows"), seen(inputs.calibration, "calibration rows")
        return fit, _enough(held, needed, rate), rule
    n = rows.n_rows // (step if window else 1)
    # Twice the bare minimum, so that the threshold is not simply the largest score.
    share = min(0.5, max(_CALIBRATION_SHARE, 2.2 * needed / max(n, 1)))
    if n * 0.5 < needed or n < 8:
        raise StudyError(
            f"A false-alarm rate of {rate:g} needs at least {needed} normal rows for the "
            f"threshold and as many to learn from; there are {n}.",
            hint=f"Give at least {max(2 * needed, 8)} normal rows{_or_ask_for(n // 2)}.",
        )
    if rows.groups is not None and len(np.unique(rows.groups)) >= _FEWEST_GROUPS:
        # The threshold must hold for a machine or run that the detectors have not seen.
        first, second = group_holdout(rows.groups, share, seed)
        rule = f"{100 * share:.0f} % of the normal groups held out whole for the threshold"
    elif rows.times is not None or window is not None:
        gap = window or 0
        blocks = _blocks(rows.n_rows, share, gap)
        first, second = block_holdout(rows.n_rows, share, blocks, gap, seed)
        held = f"{100 * share:.0f} % of the normal record held out in {blocks} blocks"
        rule = f"{held} for the threshold"
    else:
        same = copies(rows.X)
        first, second = holdout_of(same, rows.n_rows, share, seed)
        how = "" if same is None else ", copies of a row kept together"
        rule = f"{100 * share:.0f} % of the normal rows held out at random for the threshold{how}"
    fit = seen(rows.take(first), "normal rows to learn from")
    held = seen(rows.take(second), "normal rows for the threshold")
    return fit, _enough(held, needed, rate), rule


def _blocks(n: int, share: float, gap: int) -> int:
    """Return into how many blocks a record can be held out, so that each holds some windows."""
    for blocks in range(_BLOCKS, 0, -1):
        segment = n // blocks
        if segment * share >= 2 * gap and segment * (1.0 - share) >= 4 * gap:
            return blocks
    raise StudyError(
        f"Windows of {gap} rows are too long for {n} normal rows: some must be left to learn from "
        "and some to set the threshold on.",
        hint=f"Ask for windows of at most {max(int(n * min(share / 2, (1 - share) / 4)), 1)} rows, "
        "or give a longer record.",
    )


def _or_ask_for(held: int) -> str:
    """Return what rate so many held-out rows carry, where that is a rate worth asking for."""
    rate = 1 / (held + 1)
    return "" if rate >= 0.5 else f", or ask for a false-alarm rate of at least {rate:.2g}"


def _enough(held: Feed, needed: int, rate: float) -> Feed:
    if len(held) < needed:
        raise StudyError(
            f"A false-alarm rate of {rate:g} needs at least {needed} held-out normal rows or "
            f"windows for the threshold; there are {len(held)}.",
            hint=f"Give more normal rows{_or_ask_for(len(held))}.",
        )
    return held


def unit_of(part: Feed) -> str:
    """Return what is drawn independently in a part: ``"group"``, ``"block"`` or ``"row"``."""
    if part.groups is not None and len(np.unique(part.groups)) >= _FEWEST_GROUPS:
        return "group"
    return "row" if part.runs is None else "block"


def blocks_of(part: Feed, scores: np.ndarray | None) -> np.ndarray:
    """Return an id per row of what is drawn independently.

    Rows each for themselves, with their copies; groups where there are enough of them; else blocks
    of a series that are long against the correlation time of the candidate's scores (of the data's
    first principal column where there are none yet).
    """
    unit, n = unit_of(part), len(part)
    if unit == "row":
        return np.arange(n) if part.copies is None else part.copies
    if unit == "group":
        return codes(part.groups, n, name="groups")[0]
    starts = codes(part.runs, n, name="runs")[0]
    signal = _signal(part) if scores is None else stats.rankdata(scores)
    tau = correlation_time(signal, starts=starts)
    return block_ids(n, block_length(n, tau), groups=starts)


def _signal(part: Feed) -> np.ndarray:
    """Return the distance of each row from the median row, as ranks: what a detector follows."""
    spread = part.X.std(axis=0)
    centred = (part.X - np.median(part.X, axis=0)) / np.where(spread > 0, spread, 1.0)
    return stats.rankdata(np.einsum("ij,ij->i", centred, centred))
