"""What a surrogate study works out while the test part is sealed: intervals and learning curves.

It refits methods on other runs than the fit did. Where one of them fails at that, it should fail
before the test part is opened.
"""

import dataclasses
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from assay.errors import DataError, StudyError
from assay.study import Trained
from assay.surrogate.curves import Curve, curve_of_method
from assay.surrogate.error_bars import Calibration, calibrate
from assay.surrogate.spread import predict_with_spread

if TYPE_CHECKING:
    from assay.surrogate.need import SurrogateParts

BATCH = 1_000  # rows that the cost of a prediction is measured on


@dataclasses.dataclass(frozen=True, eq=False)
class Held:
    """One fitted method on the validation runs.

    `validation_errors` (prediction minus truth) and `validation_spread` are (n, m) [units of the
    outputs]; both None where only predictions of the test runs are known, the spread also where
    the method has none.
    """

    trained: Trained
    validation_errors: np.ndarray | None
    validation_spread: np.ndarray | None

    @classmethod
    def of(cls, trained: Trained, parts: "SurrogateParts") -> "Held":
        """Predict the validation runs."""
        if getattr(trained.estimator, "only_test", False):
            return cls(trained, None, None)
        mean, spread = predict_with_spread(trained.estimator, parts.validation.X)
        return cls(trained, mean - parts.validation.Y, spread)

    @property
    def name(self) -> str:
        """Return the name of the method."""
        return self.trained.method.name


@dataclasses.dataclass(frozen=True, eq=False)
class Prepared:
    """Errors on the validation runs, one a fitted method; calibrations and curves by name.

    `notes` are sentences on what could not be worked out.
    """

    held: tuple[Held, ...]
    calibrations: dict[str, Calibration | None]
    curves: dict[str, Curve | None]
    notes: tuple[str, ...] = ()

    def held_of(self, trained: Trained) -> Held:
        """Return the errors of one fitted method on the validation runs."""
        return next(one for one in self.held if one.trained is trained)


def prepare(
    parts: "SurrogateParts",
    candidate: list[Trained],
    baselines: list[Trained],
    *,
    learning_curve: bool,
) -> Prepared:
    """Learn intervals and learning curves of the candidate and of the strongest baseline.

    Parameters
    ----------
    parts : SurrogateParts
        Sealed or not: the test part is not looked at.
    candidate, baselines : list of Trained
        Of the candidate one a seed. Other baselines have intervals where they tell a spread.
    learning_curve : bool

    Raises
    ------
    StudyError
        If a method cannot be fitted or asked.
    """
    for trained in (*candidate, *baselines):
        rehearse(trained.estimator, parts.validation.X)
    held = tuple(Held.of(trained, parts) for trained in (*candidate, *baselines))
    first, theirs = held[0], held[len(candidate) :]
    best = theirs[strongest(baselines)]
    calibrations, curves, notes = {}, {}, []
    for one in dict.fromkeys((first, best, *theirs)):
        if one.validation_spread is not None or one in (first, best):
            make = _again(one, first)
            calibrations[one.name] = calibrate(one, parts.fit, parts.validation, make, parts.seed)
    for one in (first, best) if learning_curve else ():
        make = _again(one, first)
        if make is None:
            continue
        try:
            curves[one.name] = curve_of_method(
                one, make, parts.fit, parts.validation, parts.yard, parts.seed
            )
        except (
            StudyError,
            DataError,
        ) as error:  # a user's method that needs more runs
            notes.append(f"No learning curve of {one.name}: {error.message}")
    return Prepared(held, calibrations, curves, tuple(notes))


def rehearse(estimator: Any, X: np.ndarray) -> None:
    """Ask what a user brought in the ways in which it will be asked when the test part is open.

    Parameters
    ----------
    estimator : fitted estimator
        One of ours passes.
    X : array of shape (n, d) [units of the inputs]
        Validation runs: all of them at once were predicted when they ranked the methods.

    Raises
    ------
    StudyError, DataError
        If it fails, or what it returns has another shape or is not finite.
    """
    if getattr(estimator, "is_foreign", False):
        for rows in (X[:1], in_batch(X)):
            predict_with_spread(estimator, rows)


def in_batch(X: np.ndarray) -> np.ndarray:
    """Return the rows of `X` over and over, at least `BATCH` of them."""
    return np.resize(X, (max(BATCH, len(X)), X.shape[1]))


def strongest(baselines: list[Trained]) -> int:
    """Return the index of the baseline with the smallest validation loss."""
    return int(np.argmin([trained.rank for trained in baselines]))


def _again(one: Held, first: Held) -> Callable[[], Any] | None:
    """Return what makes the estimator once more, unfitted; None for what cannot be refitted."""
    if one is first and not getattr(one.trained.estimator, "refits", True):
        return None
    return lambda: one.trained.method.make(one.trained.seed)
