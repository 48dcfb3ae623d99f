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
    """

    points: np.ndarray
    fields: np.ndarray
    error: float
    source: str
    solution: Solution | None = None


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
        if not np.isfinite(fields).all() or fields.shape[1] != len(problem.fields):
            raise StudyError(
                f"The exact solution gives shape {fields.shape} or values that are not finite; "
                f"{len(problem.fields)} fields at {len(points)} points are needed.",
                hint="It is called with arrays, one a variable, and returns an array or a tuple.",
            )
        return Reference(points, fields, FLOOR, "the exact solution")
    if problem.unknown or problem.coefficients:
        raise StudyError(
            "Where parameters are unknown there is no solution to hold a field against.",
            hint="Give `exact` if it is known, or enough readings to hold some back (40).",
        )
    solution = solve_classical(problem, tolerance=tolerance, seconds=seconds)
    fields = solution.at(points)
    return Reference(points, fields, max(solution.error, FLOOR), solution.method, solution)
