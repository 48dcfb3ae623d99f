"""How training ended: what the status says, and what the loss curve says."""

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

from assay.checks import Check, NotApplicable, finding
from assay.result import Finding
from assay.symptoms import percent
from assay.train import FitStatus

# A fall smaller than this many times the scatter of the loss curve is no fall.
SCATTERS = 3.0


@dataclasses.dataclass(frozen=True)
class LateFall:
    """How much the training loss still fell over the second half of the steps.

    `drop` [-] is the fall as a share of the loss at half time, `share` [-] as a share of the whole
    fall since the first point of the curve; 0 where it is within the scatter of the curve.
    """

    drop: float
    share: float


def late_fall(estimator: Any) -> LateFall | None:
    """Return how the loss fell late in training, or None for a curve of fewer than three points.

    From the fifth of the steps around the middle to the last tenth: a schedule that lets the rate
    fall to zero flattens the very end of any curve, so that the end alone says little.
    """
    history = getattr(estimator, "history_", None) or {}
    loss = np.asarray(history.get("train", ()), dtype=np.float64)
    n = loss.size
    if n < 3:
        return None
    first, last = int(0.4 * n), min(int(0.9 * n), n - 1)
    inside = loss[first : max(int(0.6 * n), first + 1)]
    middle, end = inside.mean(), loss[last:].mean()
    # Half the squared difference of neighbours is the scatter about any slow curve.
    scatter = np.median(np.abs(np.diff(loss[first:]))) / (0.6745 * np.sqrt(2.0))
    sure = SCATTERS * scatter * np.sqrt(1.0 / inside.size + 1.0 / (n - last))
    fall = float(middle - end)
    if not middle > 0 or (fall <= sure and n >= 10):
        return LateFall(0.0, 0.0)
    return LateFall(fall / float(middle), fall / max(float(loss[0] - end), 1e-300))


def end_of_training(estimator: Any, most: LateFall) -> str | None:
    """Return how a network's fit ended: finished, unfinished, broken; None where nothing says."""
    text = str(getattr(estimator, "status_", "") or "")
    status = next((s for s in FitStatus if text.startswith(s.sentence)), None)
    if status is None:
        return None
    if status is FitStatus.NONFINITE:
        return "broken"
    if status is FitStatus.INTERRUPTED:
        return "unfinished"
    if status is FitStatus.STOPPED_EARLY:
        return "finished"
    fall = late_fall(estimator)
    if fall is None:
        return "finished" if status is FitStatus.CONVERGED else "unfinished"
    return "unfinished" if fall.drop > most.drop or fall.share > most.share else "finished"


def training_finding(check: Check, estimators: Sequence[Any], *, most: LateFall) -> Finding:
    """Return the finding of a check for training that broke down or did not finish.

    Parameters
    ----------
    check : Check
    estimators : fitted networks, one a seed
    most : LateFall
        What the loss may still fall by over the second half of training.
    """
    ends = [end_of_training(estimator, most) for estimator in estimators]
    if all(end is None for end in ends):
        raise NotApplicable("The candidate says nothing about how its training ended.")
    total = len(ends)
    broken, unfinished = ends.count("broken"), ends.count("unfinished")
    if broken:
        return finding(
            check,
            "fail",
            f"Training broke down in {broken} of {total} runs: the loss became infinite or not a "
            "number.",
            measured=broken,
            threshold=0,
            unit="runs",
            cause="Steps that are too large, or values far outside the range of the others.",
            fix=(
                "Look for single absurd values in the rows of the fit and take them out.",
                "Lower the learning rate by a factor of 10.",
            ),
        )
    falls = [f for f in map(late_fall, estimators) if f is not None]
    drop, share = (max((getattr(f, k) for f in falls), default=None) for k in ("drop", "share"))
    by_share = drop is not None and drop <= most.drop and share > most.share
    how = (
        ""
        if drop is None
        else f"over the second half of the steps the loss fell by {percent(drop)}, which is "
        f"{percent(share)} of all that it fell"
        if drop > 0
        else "the loss no longer fell over the second half of the steps"
    )
    told = {
        "measured": share if by_share else drop,
        "threshold": most.share if by_share else most.drop,
    }
    runs = f"{unfinished} of {total} runs" if total > 1 else "its one run"
    if not unfinished:
        runs = f"all {total} runs" if total > 1 else "its one run"
        return finding(
            check, "pass", f"Training finished in {runs}{': ' * bool(how)}{how}.", **told
        )
    why = how or "it was interrupted, or its steps were used up while the loss was falling"
    return finding(
        check,
        "warn",
        f"Training had not finished in {runs}: {why}.",
        **told,
        cause="Too few steps for this network and this many rows, or an interrupted fit.",
        fix=(
            "Give training two to four times the steps (in Python: `steps=` of the candidate) and "
            "run the study again.",
            "If the loss falls slowly from the start, raise the learning rate by a factor of 3.",
        ),
    )
