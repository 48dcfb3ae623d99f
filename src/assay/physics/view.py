"""What the checks of `physics` look at."""

import dataclasses
from typing import Any

import numpy as np

from assay.physics.problem import Problem
from assay.physics.reference import Reference


@dataclasses.dataclass(frozen=True, eq=False)
class PhysicsView:
    """Everything that was declared, solved and graded in one physics study.

    Attributes
    ----------
    problem : Problem
    candidate : tuple of estimators
        One a seed; networks are `PINN` (see there for what they keep), what a user brought may
        have ``predict`` alone.
    reference : Reference
        Points, fields, and the error of the reference itself.
    predictions : array of shape (n_seeds, n_points, n_fields)
    errors : array of shape (n_seeds,)
        Relative L2 errors against the reference [-].
    solver : ClassicalSolver or the classical least-squares fit
        The strongest baseline.
    solver_error : float [-]
    misses : (float, float), optional
        Where readings grade the methods: what the best run and the solver leave of them.
    seed : int
        For whatever a check draws.
    """

    problem: Problem
    candidate: tuple[Any, ...]
    reference: Reference
    predictions: np.ndarray
    errors: np.ndarray
    solver: Any
    solver_error: float
    misses: tuple[float, float] | None = None
    seed: int = 0
