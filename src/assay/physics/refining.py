"""Refinement until the estimated error is small enough, or the time is gone."""

import time
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from assay.errors import StudyError
from assay.physics.clock import used
from assay.physics.marching import OutOfTime
from assay.physics.solution import Level, Solution, Table, even_points, relative_l2

# A finer level is believed to be at most this much better than the one before, because errors in
# time and space do not fall together.
MOST_GAIN = 4.0
# When so many levels find nothing, finer ones will not either.
MOST_FAILURES = 3


def refined(
    problem: Any,
    solve: Callable,
    sizes: Iterable,
    *,
    tolerance: float,
    seconds: float,
    begun: float | None = None,
    notes: tuple[str, ...] = (),
) -> Solution:
    """Solve on finer and finer levels and estimate the error from how the answer still moves.

    Parameters
    ----------
    problem : Problem
    solve : function of (size, deadline)
        Returns (table, method, n), or raises `OutOfTime`.
    sizes : iterable
        Levels, coarsest first; whatever `solve` understands.
    tolerance : float > 0
        Wanted relative L2 error.
    seconds : float > 0 [s]
        Budget for all levels.
    begun : float, optional
        When the budget began to run (`assay.physics.clock.used`).
    notes : tuple of str
        For the solution.

    Returns
    -------
    Solution

    Notes
    -----
    With d1, d2 the last two changes, the error of the last level is estimated as d2 / (r - 1),
    r = d1 / d2 held between 2 and 4: Richardson's argument with the order that is seen, but never
    much hope.
    """
    begun = used() if begun is None else begun
    clock = time.perf_counter() - (used() - begun)
    deadline = begun + seconds
    points = even_points(problem)
    levels: list[Level] = []
    kept, values, change, status, failure = None, None, np.inf, "not converged", None
    spent, failed = 0.0, 0
    for size in sizes:
        left = deadline - used()
        if kept is not None and (left <= 0 or left < 1.5 * spent):
            status = "out of time"
            break
        start, from_wall = used(), time.perf_counter()
        try:
            table, method, n = solve(size, deadline)
        except OutOfTime:
            status = "out of time"
            break
        except StudyError as error:
            failure, failed = error, failed + 1
            if failed == MOST_FAILURES and kept is None:
                raise
            continue  # a coarse grid may run away where a finer one does not
        spent, wall = used() - start, time.perf_counter() - from_wall
        now = table.at(points)
        if not np.isfinite(now).all():
            continue
        error = np.nan
        if values is not None:
            moved = relative_l2(values, now)
            gain = np.clip(change / moved if moved else MOST_GAIN, 2.0, MOST_GAIN)
            error, change = moved / ((gain if np.isfinite(change) else 2.0) - 1.0), moved
        levels.append(Level(n, wall, float(max(error, 1e-14)) if error == error else error))
        kept, values = (table, method), now
        if error <= tolerance:
            status = "converged"
            break
    if kept is None:
        if failure is not None:
            raise failure
        raise StudyError(
            f"The classical solver found nothing within {seconds:g} s.",
            hint="Give it more seconds, or a smaller box. The problem may be stiff: processes much "
            "faster than the box is long take many or costly steps; leave the fastest out, or ask "
            "for less (`tolerance=`).",
        )
    return Solution(
        problem,
        kept[1],
        time.perf_counter() - clock,
        levels[-1].error,
        status,
        tuple(levels),
        kept[0],
        notes,
    )


def single(problem: Any, solve: Callable, size: Any, *, seconds: float) -> Solution:
    """Solve on one level only; the error is not estimated (NaN)."""
    start = time.perf_counter()
    try:
        table, method, n = solve(size, used() + seconds)
    except OutOfTime:
        raise StudyError(
            f"One level of the classical solver took longer than {seconds:g} s.",
            hint="Give it more seconds, or a lower level.",
        ) from None
    spent = time.perf_counter() - start
    level = Level(n, spent, float("nan"))
    return Solution(problem, method, spent, float("nan"), "single level", (level,), table)


def table_of(
    nodes: tuple, values: np.ndarray, degrees: tuple, by_steps: int | None = None
) -> Table:
    """Return a table with plain NumPy arrays."""
    plain = tuple(np.asarray(n, np.float64) for n in nodes)
    return Table(plain, np.asarray(values), degrees, by_steps)
