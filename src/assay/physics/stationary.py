"""Equations without a march: all points of the box at once, by collocation and Newton's method."""

from typing import Any

import numpy as np

from assay.errors import StudyError
from assay.physics.axes import chebyshev, fourier
from assay.physics.clock import used
from assay.physics.collocation import Equations, newton
from assay.physics.explicit import require_known_coefficients
from assay.physics.refining import refined, single, table_of
from assay.physics.solution import Solution
from assay.physics.wording import counted

# Points along each variable, level by level, for one, two and three variables.
SIZES = {
    1: (12, 17, 24, 33, 48, 65, 96, 129, 192, 257, 384, 513),
    2: (8, 11, 16, 22, 30, 40, 52, 64),
    3: (5, 7, 9, 11, 13),
}


def solve_stationary(
    problem: Any,
    parameters: dict[str, float],
    *,
    tolerance: float = 1e-6,
    seconds: float = 60.0,
    level: int | None = None,
) -> Solution:
    """Solve an equation on all points of its box at once.

    Collocation on Chebyshev points (Fourier points along periodic variables): the equation holds
    at the inner points, the conditions on the faces; where two faces meet, the first one rules.
    Nonlinear equations by Newton's method with halved steps. For one to three variables; time,
    where there is one, is taken like the others.

    Parameters
    ----------
    problem : Problem
    parameters : dict of str to float
    tolerance : float > 0 [-]
        Wanted relative L2 error.
    seconds : float > 0 [s]
        Budget.
    level : int, optional
        One solve on one level.

    Raises
    ------
    StudyError
        If the conditions do not fix a solution, or Newton's method does not find one.
    """
    import jax

    begun = used()
    require_known_coefficients(problem)
    sizes = SIZES[len(problem.box)]
    with jax.enable_x64(True):  # noqa: FBT003
        work = _Collocation(problem, parameters)
        if level is not None:
            if not 0 <= level < len(sizes):
                raise StudyError(
                    f"`level` must lie between 0 and {len(sizes) - 1}, got {level}.",
                    hint="Higher levels are finer.",
                )
            return single(problem, work.solve, sizes[level], seconds=seconds)
        return refined(
            problem, work.solve, sizes[1:], tolerance=tolerance, seconds=seconds, begun=begun
        )


class _Collocation:
    """The equations of one problem on points, and the last answer to start from."""

    def __init__(self, problem, parameters):
        self.problem, self.parameters = problem, parameters
        keys = (*problem.keys, *(key for face in problem.faces for key in face.keys))
        self.orders = [max(1, *(key[1][i] for key in keys)) for i in range(len(problem.box))]
        self.last = None

    def solve(self, n, deadline):
        """Return (table, method, n) for n points along each variable."""
        problem = self.problem
        axes = tuple(
            fourier(name, ends, n + n % 2, highest)
            if name in problem.periodic
            else chebyshev(name, ends, n, highest)
            for (name, ends), highest in zip(problem.box.items(), self.orders, strict=True)
        )
        equations = Equations(problem, axes, self.parameters)
        values, steps = newton(equations, self._start(axes), deadline)
        values = values.reshape(len(problem.fields), *equations.shape)
        values = np.moveaxis(values, 0, -1)
        for i, axis in enumerate(axes):
            values = np.moveaxis(np.tensordot(axis.blend, values, (1, i)), 0, i)
        table = table_of(tuple(axis.finer for axis in axes), values, (7,) * len(axes))
        self.last = table
        points = " by ".join(f"{len(a.nodes)} {a.kind}" for a in axes)
        return (
            table,
            f"collocation on {points} points, Newton's method in {counted(steps, 'step')}",
            n,
        )

    def _start(self, axes):
        places = np.meshgrid(*[axis.nodes for axis in axes], indexing="ij")
        points = np.stack([p.ravel() for p in places], axis=1)
        if self.last is None:
            return np.zeros(len(points) * len(self.problem.fields))
        return self.last.at(points).T.ravel()
