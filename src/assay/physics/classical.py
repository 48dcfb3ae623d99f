"""The classical solution of a declared problem: the right method is picked from the declaration."""

import math
from typing import Any

from assay.errors import StudyError, did_you_mean
from assay.physics.clock import used
from assay.physics.explicit import Unsuited
from assay.physics.lines import is_evolution, solve_lines
from assay.physics.ode import is_initial_value, solve_initial_value
from assay.physics.solution import Solution
from assay.physics.stationary import solve_stationary

LONGEST = 1e100


def solve_classical(
    problem: Any,
    parameters: dict[str, float] | None = None,
    *,
    tolerance: float = 1e-6,
    seconds: float = 60.0,
    level: int | None = None,
) -> Solution:
    """Solve a problem with a classical method, refined until its own error estimate is small.

    Parameters
    ----------
    problem : Problem
    parameters : dict of str to float, optional
        Override the declared ones. Unknown parameters left out are taken where their search starts.
    tolerance : float, 1e-12 to 0.1 [-]
        Relative L2 error to be reached.
    seconds : float > 0 [s]
        Budget; what was reached in it is returned, with its status.
    level : int >= 0, optional
        One solve on one level instead of a refinement, for curves of error against time.

    Returns
    -------
    Solution

    Raises
    ------
    StudyError
        If a parameter or option makes no sense, or the problem is outside what the methods can do.

    Examples
    --------
    >>> from assay.physics.gallery import oscillator
    >>> solution = solve_classical(oscillator(), tolerance=1e-8)
    >>> solution.status, bool(solution.error < 1e-8)
    ('converged', True)
    """
    values = checked_parameters(problem, parameters)
    if not 1e-12 <= tolerance <= 0.1:
        raise StudyError(
            f"`tolerance` must lie between 1e-12 and 0.1, got {tolerance!r}.",
            hint="It is the relative L2 error to be reached; 1e-6 is usual.",
        )
    if not seconds > 0:
        raise StudyError(f"`seconds` must be above 0, got {seconds!r}.", hint="60 is usual.")
    for name, ends in problem.box.items():
        if not max(map(abs, ends)) <= LONGEST or ends[1] - ends[0] < 1.0 / LONGEST:
            raise StudyError(
                f"The range of {name!r} ({ends[0]:g} to {ends[1]:g}) is too large or too small to "
                "be computed with.",
                hint="Give it in units in which it is near 1.",
            )
    options = {"tolerance": tolerance, "seconds": seconds, "level": level}
    if is_initial_value(problem):
        return solve_initial_value(problem, values, **options)
    if not is_evolution(problem):
        return solve_stationary(problem, values, **options)
    if level is None and _is_high(problem):
        begun = used()
        try:
            whole = solve_stationary(problem, values, **{**options, "seconds": seconds / 3})
        except StudyError:
            whole = None
        if whole is not None and whole.trusted:
            return whole
        options["seconds"] = max(seconds - (used() - begun), seconds / 3)
    try:
        return solve_lines(problem, values, **options)
    except Unsuited:  # such as a derivative in time in a condition: all of time at once
        return solve_stationary(problem, values, **options)


def _is_high(problem):
    """Whether space is differentiated so often that marching needs very small steps."""
    return any(
        problem.highest(field, name) > 2
        for field in problem.fields
        for name in problem.box
        if name != problem.time
    )


def checked_parameters(problem: Any, parameters: dict[str, float] | None) -> dict[str, float]:
    """Return all parameters of a problem as floats, with some overridden.

    Raises
    ------
    StudyError
        For a name that the problem does not have, or a value that is not finite.
    """
    values = problem.known
    for name, value in (parameters or {}).items():
        if name not in values:
            raise StudyError(
                f"The problem has no parameter {name!r}.", hint=did_you_mean(name, values)
            )
        values[name] = float(value)
        if not math.isfinite(values[name]):
            raise StudyError(
                f"The parameter {name!r} must be finite, got {value!r}.",
                hint="Give a number.",
            )
    return values
