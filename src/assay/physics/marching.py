"""Marching in time with SciPy: which method, until when, and where its answer is kept."""

import dataclasses
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from assay.errors import StudyError

# Steps of an explicit method are limited by stability to about this over the largest eigenvalue.
EXPLICIT_REACH = 5.0
EXPLICIT_MOST_STEPS = 1500

MOST_TIMES = 2500


class OutOfTime(Exception):
    """The budget in seconds is gone."""


@dataclasses.dataclass(frozen=True, eq=False)
class Track:
    """States along the way.

    Attributes
    ----------
    times : array of shape (n,)
        Rising.
    states : array of shape (n, n_state)
    method : str
        "Radau at 1e-08".
    solver : {"DOP853", "LSODA", "Radau"}
    n_steps : int
    """

    times: np.ndarray
    states: np.ndarray
    method: str
    solver: str
    n_steps: int

    @property
    def degree(self) -> int:
        """Degree of the spline in time that keeps the accuracy of the solver."""
        return 7 if self.solver == "DOP853" else 5


def march(
    slope: Callable,
    start: np.ndarray,
    span: tuple[float, float],
    *,
    tolerance: float,
    scale: np.ndarray,
    deadline: float,
    solver: str,
    options: dict[str, Any] | None = None,
) -> Track:
    """Integrate ``state' = slope(t, state)``.

    Parameters
    ----------
    slope : function of (t, state)
    start : array of shape (n_state,)
    span : (float, float)
        From, to; may fall.
    tolerance : float > 0
        Relative, of one step.
    scale : array of shape (n_state,)
        Sizes against which small values are measured.
    deadline : float
        `time.perf_counter` at which to give up.
    solver : {"DOP853", "LSODA", "Radau"}
    options : dict, optional
        Of SciPy's solver: ``jac``, ``jac_sparsity``, ``lband`` and ``uband``.

    Raises
    ------
    OutOfTime
        At the deadline.
    StudyError
        If the solution runs away: the message says at which time.
    """
    from scipy.integrate import solve_ivp

    def watched(t, state):
        if time.perf_counter() > deadline:
            raise OutOfTime
        return slope(t, state)

    explicit = solver == "DOP853"
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # SciPy's remarks on single steps; the end is checked below
        run = solve_ivp(
            watched,
            span,
            start,
            method=solver,
            rtol=max(tolerance, 3e-14),
            atol=np.maximum(tolerance * 0.1 * scale, 1e-300),
            dense_output=explicit,
            **(options or {}),
        )
    if not run.success or not np.isfinite(run.y).all():
        raise StudyError(
            f"The solver cannot go beyond t = {run.t[-1]:g}: the solution grows without limit, or "
            "the equation has no solution there.",
            hint="Check signs and units; shorten the time.",
        )
    times, states = run.t, run.y.T
    if explicit:
        times = _between(times, 4 if len(times) < 400 else 2 if len(times) < 1000 else 1)
        states = run.sol(times).T
    elif len(times) > MOST_TIMES:
        kept = np.unique(np.linspace(0, len(times) - 1, MOST_TIMES).astype(int))
        times, states = times[kept], states[kept]
    order = slice(None, None, -1) if span[1] < span[0] else slice(None)
    steps = len(run.t) - 1
    return Track(times[order], states[order], f"{solver} at {tolerance:.0e}", solver, steps)


def stiffness(slope: Callable, t: float, state: np.ndarray, scale: np.ndarray) -> tuple:
    """Return the size of the largest eigenvalue of the slope, and how much of it is decay.

    By the power method on differences, so that no Jacobian is needed. The second value is -1 for
    pure decay, 0 for oscillation, 1 for growth.
    """
    rng = np.random.default_rng(0)
    base = slope(t, state)
    step = 1e-6 * float(np.linalg.norm(scale)) or 1e-6
    direction = rng.normal(size=len(state)) * scale
    direction /= np.linalg.norm(direction) or 1.0
    norms, decay = [], 0.0
    for _ in range(30):
        pushed = (slope(t, state + step * direction) - base) / step
        norm = float(np.linalg.norm(pushed))
        if not np.isfinite(norm) or norm == 0.0:
            break
        norms.append(norm)
        decay = float(direction @ pushed) / norm
        direction = pushed / norm
    # In pairs such as (u, u_t) single norms alternate: their geometric mean is the eigenvalue.
    return (float(np.exp(np.mean(np.log(norms[-10:])))) if norms else 0.0), decay


def is_stiff(size: float, length: float) -> bool:
    """Whether an explicit method would be held to small steps by stability alone."""
    return size * length > EXPLICIT_REACH * EXPLICIT_MOST_STEPS


def _between(times, pieces):
    fractions = np.arange(pieces) / pieces
    inner = times[:-1, None] + np.diff(times)[:, None] * fractions
    return np.append(inner.ravel(), times[-1])
