"""Whether a network solves an equation better than a classical method in the same time."""

import math
import numbers
from typing import Any

from assay.errors import StudyError
from assay.physics.checks import CHECKS
from assay.physics.need_readings import need_for
from assay.physics.problem import Problem
from assay.running import AbstractStudy


class PhysicsStudy(AbstractStudy):
    """Put a physics-informed network to the test against the classical solver.

    Parameters
    ----------
    problem : Problem
        The declaration; both sides read it, without its `exact`. Where something is unknown and no
        `exact` is declared, 40 readings of fields or more are needed for a comparison: a fifth of
        them is held back for it.
    candidate : PINN, object or function, optional
        What is on trial instead of the default `PINN`: an object with ``fit(problem)`` and
        ``predict(points)``, or a function from points (n, n_variables) to fields (n, n_fields).
    tolerance : float [-]
        Relative L2 error at which the classical solver stops refining. Where both sides are below
        it, time decides.
    seconds : float [s]
        Budget of the classical side.
    checks : tuple of checks
    source : str
        Where the declaration is, for the record: ``FILE.py:NAME``.

    Examples
    --------
    >>> from assay.physics.gallery import oscillator
    >>> PhysicsStudy(oscillator()).run(seeds=3).verdict  # doctest: +SKIP
    'not_earned'
    """

    def __init__(
        self,
        problem: Problem,
        *,
        candidate: Any = None,
        tolerance: float = 1e-8,
        seconds: float = 60.0,
        checks: tuple = CHECKS,
        source: str = "",
    ):
        if not isinstance(problem, Problem):
            raise StudyError(
                f"`problem` must be a Problem, got {type(problem).__name__}.",
                hint="Declare it: Problem(equation, box, conditions=...).",
            )
        for name, value, below in (("tolerance", tolerance, 1.0), ("seconds", seconds, math.inf)):
            if not isinstance(value, numbers.Real) or not 0 < value < below:
                raise StudyError(
                    f"`{name}` must be above 0{f' and below {below:g}' if below == 1 else ''}, got "
                    f"{value!r}.",
                    hint="Leave it out: 1e-8 and 60 s.",
                )
        _require_readings(problem)
        if candidate is not None:
            _require_settings(candidate)
        self._need = need_for(
            problem=problem,
            brought=candidate,
            tolerance=tolerance,
            seconds=seconds,
            checks_=CHECKS if checks is None else tuple(checks),
            source=source or problem.name,
        )

    def _need_for(self, seed):
        return self._need


def _require_readings(problem):
    """Require something that unknowns can be found from."""
    sought = (*problem.unknown, *problem.coefficients)
    if sought and not problem.readings:
        raise StudyError(
            f"Nothing was measured from which {', '.join(sought)} could be found.",
            hint='Declare readings=Measured("u", {"t": times}, values, sigma=...), or give the '
            "parameter a number.",
        )


def _require_settings(candidate):
    """Require a network that can be trained, before anything else has taken time."""
    from assay.physics.pinn import PINN
    from assay.physics.settings import require_settings

    if isinstance(candidate, PINN):
        require_settings(candidate)
