"""Learning curves of a study's methods, in the unit of the report."""

import dataclasses
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from assay.surrogate.learning_curve import (
    LearningCurve,
    RunsNeeded,
    learning_curve,
    nothing_learned,
    runs_needed,
)

if TYPE_CHECKING:
    from assay.surrogate.inputs import Runs
    from assay.surrogate.prepared import Held
    from assay.surrogate.scoring import Scored, Yard

FEWEST_FIT = 20  # a quarter of fewer runs teaches nothing
# Random halves of few runs differ from each other, and a small fit costs little.
FEW, REPEATS = 200, 2
LITTLE = 0.9  # of the error of the mean: above it nothing has been learned that a curve could show


@dataclasses.dataclass(frozen=True, eq=False)
class Curve:
    """The learning curve of one method [unit of the report], its target, and the runs needed."""

    curve: LearningCurve
    target: float
    needed: RunsNeeded


def curve_of_method(
    scored: "Held | Scored",
    make: Callable[[], Any],
    fit: "Runs",
    validation: "Runs",
    yard: "Yard",
    seed: int,
) -> Curve | None:
    """Fit on a quarter and on half of the runs, and estimate how many runs reach the target.

    The target is the user's sigma or, without one, half of the present error.

    Parameters
    ----------
    scored : Held or Scored
        With the errors on the validation runs, which are the end of the curve.
    make : callable
        Returns an unfitted estimator.
    fit, validation : Runs
    yard : Yard
    seed : int
        Of the parts.

    Returns
    -------
    Curve or None
        None where there are too few runs, or no error at all.
    """
    n = fit.n_runs
    if n < FEWEST_FIT or scored.validation_errors is None:
        return None
    now = float(np.sqrt(np.mean(yard.losses(scored.validation_errors))))
    if now == 0.0:
        return None
    found = learning_curve(
        make, fit.X, fit.Y, validation.X, validation.Y,
        scale=yard.scale, sizes=(n // 4, n // 2, n), seed=seed, known=now,
        repeats=REPEATS if n < FEW and scored.trained.fit_s < 1.0 else 1,
    )  # fmt: skip
    shown = LearningCurve(found.sizes, found.rms * yard.factor)
    target = yard.factor if yard.sigma is not None else 0.5 * now * yard.factor
    mean = yard.shown(yard.losses(validation.Y - fit.Y.mean(axis=0)))
    if now * yard.factor > max(LITTLE * mean, target):
        return Curve(shown, target, nothing_learned(shown, mean))
    return Curve(shown, target, runs_needed(shown, target))
