"""What a solution is held against: the exact one, or a classical one that is finer than needed."""

import dataclasses
from typing import Any

import numpy as np

from assay.errors import StudyError
from assay.physics.classical import solve_classical
from assay.physics.solution import Solution, even_points

FLOOR = 1e-15  # relative: rounding of float64


@dataclasses.dataclass(frozen=True, eq=False)
class Reference:
    """Fields at the points where every method is graded.

    Attributes
    ----------
    points : array of shape (n, n_variables)
        An even grid over the box.
    fields : array of shape (n, n_fields)
    error : float [-]
        Relative L2 error of the reference itself: rounding for an exact solution, else what the
        solver estimates. No error smaller than it can be told.
    source : str
        For the report.
    solution : Solution or None
        Where it is a classical one.
    fitted : bool
        Whether its unknowns were found from the same readings: then it is no truth from outside.
    """

    points: np.ndarray
    fields: np.ndarray
    error: float
    source: str
    solution: Solution | None = None
    fitted: bool = False


def reference_of(problem: Any, *, tolerance: float, seconds: float) -> Reference:
    """Return the exact solution where the problem has one, else a refined classical one.

    Parameters
    ----------
    problem : Problem
        Unknown parameters must come with an exact solution: without it no field is known.
    tolerance : float [-]
        That the classical solution shall reach.
    seconds : float [s]
        Its budget.

    Raises
    ------
    StudyError
        If there is neither.
    """
    points = even_points(problem)
    if problem.exact is not None:
        fields = problem.exact_at(points)
        if not np.isfinite(fields).all():
            row = int(np.argmax(~np.isfinite(fields).all(axis=1)))
            raise StudyError(
                f"The exact solution is not finite at {_place(problem, points[row])}.",
                hint="Look at it there: a division by zero, a root or a logarithm of less than 0.",
            )
        return Reference(points, fields, FLOOR, "the exact solution")
    if problem.unknown or problem.coefficients:
        raise StudyError(
            "Where parameters are unknown there is no solution to hold a field against.",
            hint="Such a problem is graded on its readings: use PhysicsStudy.",
        )
    solution = solve_classical(problem, tolerance=tolerance, seconds=seconds)
    fields = solution.at(points)
    return Reference(points, fields, max(solution.error, FLOOR), solution.method, solution)


def _place(problem, point):
    """Return a point in words: ``t = 0, x = 0.5``."""
    pairs = zip(problem.space.variables, point, strict=True)
    return ", ".join(f"{name} = {value:g}" for name, value in pairs)
