"""The classical methods that a network must beat, all of them, in every study.

To add one: write an estimator with `name`, `about`, `fit(problem)`, `predict(points)` and
`settings()`, and put an instance of it into `BASELINES` (forward) or `INVERSE_BASELINES`.
"""

import time
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator

from assay.errors import AssayError, StudyError
from assay.physics.classical import solve_classical
from assay.physics.solution import Solution, even_points, relative_l2

MOST_LEVELS = 12


class ClassicalSolver(BaseEstimator):
    """A classical solver, run level by level: every level is an answer at a price.

    Parameters
    ----------
    tolerance : float [-]
        Relative L2 error at which refining stops.
    seconds : float [s]
        Budget for all levels.

    Attributes
    ----------
    levels_ : tuple of Solution
        Coarsest first.
    fit_seconds_ : float [s]
        Of the last level, compiled: what one more solve costs.

    Examples
    --------
    >>> from assay.physics.gallery import oscillator
    >>> solver = ClassicalSolver(tolerance=1e-8).fit(oscillator())
    >>> solver.predict(np.array([[0.0]])).round(6).tolist()
    [[1.0]]
    """

    name: ClassVar[str] = "Classical solver"
    about: ClassVar[str] = "Refined until its own error estimate is below the tolerance."

    def __init__(self, tolerance=1e-8, seconds=60.0):
        self.tolerance = tolerance
        self.seconds = seconds

    def fit(self, problem: Any) -> "ClassicalSolver":
        """Solve on finer and finer levels."""
        start, levels, estimate = time.perf_counter(), [], np.inf
        probe, fields = even_points(problem), None
        for level in range(MOST_LEVELS):
            spent = time.perf_counter() - start
            if levels and spent + 3 * levels[-1].seconds > self.seconds:
                break
            try:
                found = self._timed(problem, level)
            except AssayError:
                if levels:
                    break
                raise
            levels.append(found)
            before, fields = fields, found.at(probe)
            if before is not None:
                estimate = relative_l2(before, fields)
                if estimate < self.tolerance:
                    break
        self.levels_: tuple[Solution, ...] = tuple(levels)
        self.estimate_ = float(estimate)
        self.fit_seconds_ = levels[-1].seconds
        converged = estimate < self.tolerance
        self.status_ = f"{levels[-1].method}; two levels differ by {estimate:.1e}" + (
            "." if converged else ", which is more than was asked for: out of levels or time."
        )
        return self

    def _timed(self, problem, level):
        """Solve twice where that is cheap: the first time compiles, which is not to be counted."""
        found = solve_classical(problem, level=level, seconds=self.seconds)
        # The first level compiles most, and how long the next one may take is judged by it.
        if found.seconds > self.seconds / (10 if level else 2):
            return found
        again = solve_classical(problem, level=level, seconds=self.seconds)
        return min(found, again, key=lambda solution: solution.seconds)

    def predict(self, points: Any) -> np.ndarray:
        """Return the fields (n, n_fields) at points (n, n_variables), from the finest level."""
        if not hasattr(self, "levels_"):
            raise StudyError("The solver was not run yet.", hint="Call fit(problem) first.")
        return self.levels_[-1].at(points)

    def settings(self) -> dict[str, Any]:
        """Return what was used, as plain values."""
        return {"tolerance": self.tolerance, "levels": len(self.levels_)}


class ZeroField(BaseEstimator):
    """Zero everywhere: the answer that a homogeneous equation also accepts."""

    name: ClassVar[str] = "Zero"
    about: ClassVar[str] = "Nothing happens: the floor that any solution must beat."

    def fit(self, problem: Any) -> "ZeroField":
        """Note how many fields there are."""
        self.n_fields_ = len(problem.fields)
        self.status_ = ""
        return self

    def predict(self, points: Any) -> np.ndarray:
        """Return zeros (n, n_fields)."""
        return np.zeros((len(points), self.n_fields_))

    def settings(self) -> dict[str, Any]:
        """Return nothing."""
        return {}


BASELINES = (ClassicalSolver(), ZeroField())
