"""Scores that were made elsewhere, and the rows of a study that they belong to."""

import dataclasses
from collections.abc import Mapping
from typing import Any, Literal

import numpy as np

from assay.errors import StudyError

Higher = Literal["anomalous", "normal"]
ELSEWHERE = (
    "The candidate's scores were made elsewhere: how it was trained, on which rows, and whether it "
    "saw the rows to judge could not be checked."
)


@dataclasses.dataclass(frozen=True, eq=False)
class BroughtScores:
    """Scores made elsewhere, with the rows of the sources that they belong to.

    Attributes
    ----------
    calibration, test : (n,) arrays, finite, higher is more anomalous
        Of normal rows (the study picks those it holds out), and of the rows to judge.
    calibration_rows, test_rows : (n,) int arrays
        Row numbers in the source.
    """

    calibration: np.ndarray
    test: np.ndarray
    calibration_rows: np.ndarray
    test_rows: np.ndarray

    name = "Brought scores"
    unchecked = (ELSEWHERE,)

    @classmethod
    def beside(cls, scores: Any, inputs: Any, *, higher: Higher = "anomalous") -> "BroughtScores":
        """Lay scores beside the rows of a study.

        Parameters
        ----------
        scores : array of shape (n,), or mapping
            A mapping with ``"normal"`` (or ``"calibration"``, where calibration rows were given),
            one score per such row, and ``"test"``, one per row to judge. An array holds one per
            row of the file where all rows come from one, else those of the normal (or calibration)
            rows followed by those of the rows to judge.
        inputs : Inputs
            ``normal``, ``test`` and ``calibration`` (or None) tables.
        higher : {"anomalous", "normal"}

        Raises
        ------
        StudyError
            If the numbers of rows differ, or a score is not finite.
        """
        check_higher(higher)
        sign = -1.0 if higher == "normal" else 1.0
        held = inputs.normal if inputs.calibration is None else inputs.calibration
        n_held, n_test = len(held.row_numbers), len(inputs.test.row_numbers)
        if isinstance(scores, Mapping):
            key = next((k for k in ("calibration", "normal") if k in scores), None)
            if key is None or "test" not in scores:
                raise StudyError(
                    f"Scores made elsewhere need 'normal' and 'test', got {sorted(scores)}.",
                    hint="Without scores of normal rows there is no threshold.",
                )
            first = one_per_row(scores[key], n_held, f"The scores of {key} rows")
            second = one_per_row(scores["test"], n_test, "The scores of the rows to judge")
        else:
            total = n_held + n_test
            both = one_per_row(
                scores,
                total,
                f"The scores made elsewhere ({n_held} normal and {n_test} to judge)",
                cure="Scores of normal rows set the threshold: give those first, then the scores "
                "of the rows to judge, in the order of the files.",
            )
            # Where the rows to judge were split off the normal ones, both are of one file.
            of_one_file = getattr(inputs, "sources", ())[2:3] == (None,)
            if of_one_file or (held.source == inputs.test.source != "array"):
                # One file: its scores come in its own order, whichever part a row went to.
                rows = np.concatenate([held.row_numbers, inputs.test.row_numbers])
                _require_unique(rows, held.source)
                ordered = np.empty(total)
                ordered[np.argsort(rows)] = both
                both = ordered
            first, second = both[:n_held], both[n_held:]
        places = getattr(inputs, "places", None)
        if places is not None:  # rows that were put in order of time take their scores along
            first, second = (
                s[np.argsort(np.argsort(p))] for s, p in zip((first, second), places, strict=True)
            )
        return cls(sign * first, sign * second, held.row_numbers, inputs.test.row_numbers)

    def fit(self, X):
        """Fit nothing."""
        del X
        return self

    def scores_of(self, which: str, rows: np.ndarray) -> np.ndarray:
        """Return the scores of source rows `rows`; `which` is "calibration" or "test"."""
        scores, known = (
            (self.calibration, self.calibration_rows)
            if which == "calibration"
            else (self.test, self.test_rows)
        )
        rows = np.asarray(rows)
        if np.array_equal(rows, known):
            return scores
        _require_unique(known, "the files")
        order = np.argsort(known)
        place = np.minimum(np.searchsorted(known[order], rows), len(known) - 1)
        found = order[place]
        if not np.array_equal(known[found], rows):
            row = rows[np.argmax(known[found] != rows)]
            raise StudyError(
                f"There is no score for row {row} of the {which} part.",
                hint="Give one score per row of the data.",
            )
        return scores[found]

    def settings(self):
        """Return how many scores were brought."""
        return {"calibration_scores": len(self.calibration), "test_scores": len(self.test)}


def one_per_row(scores, n, who, *, cure="Give one score per row."):
    """Return `scores` as (n,) finite float64, or say what came instead of `n` of them."""
    try:
        array = np.asarray(scores)
        if array.dtype.kind == "c":
            raise TypeError
        if array.dtype.kind not in "biuf":
            array = array.astype(np.float64)
    except (TypeError, ValueError):
        kind = type(scores).__name__
        raise StudyError(
            f"{who} must give {n} numbers, got {kind} {str(scores)[:60]!r}.",
            hint="Return a NumPy array with one score per row.",
        ) from None
    if array.shape != (n,):
        cure = "Return `scores.ravel()`." if array.shape == (n, 1) else cure
        raise StudyError(
            f"{who} must give {n} scores, one per row, got shape {array.shape}.", hint=cure
        )
    array = array.astype(np.float64)
    bad = np.flatnonzero(~np.isfinite(array))
    if len(bad):
        raise StudyError(
            f"{who} gave {len(bad)} scores of {n} that are infinite or not a number, first at row "
            f"{bad[0]} (counted from 0): {array[bad[0]]}.",
            hint="Every row needs a finite score; use a large number for the worst rows.",
        )
    return array


def check_higher(higher):
    """Require a direction, or None."""
    if higher not in (None, "anomalous", "normal"):
        raise StudyError(
            f"`higher` must be 'anomalous' or 'normal', got {higher!r}.",
            hint="Say what a higher score means.",
        )


def _require_unique(rows, source):
    if len(np.unique(rows)) < len(rows):
        raise StudyError(
            f"Row numbers of {source} repeat, so that scores cannot be assigned to rows.",
            hint="Run one study per file, or give calibration rows of their own, without windows.",
        )
