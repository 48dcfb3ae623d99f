"""Marching in time with SciPy: which method, until when, and where its answer is kept."""

import dataclasses
import time
from collections.abc import Callable

import numpy as np

from assay.errors import StudyError

# Steps of an explicit method are limited by stability to about this over the largest eigenvalue.
EXPLICIT_REACH = 5.0
EXPLICIT_MOST_STEPS = 1500


class OutOfTime(Exception):
    """The budget in seconds is gone."""


@dataclasses.dataclass(frozen=True, eq=False)
class Track:
    """States along the way: times (n,), rising; states (n, n_state); which method was used."""

    times: np.ndarray
    states: np.ndarray
    method: str
    n_steps: int


def march(
    slope: Callable,
    jacobian: Callable,
    start: np.ndarray,
    span: tuple[float, float],
    *,
    tolerance: float,
    scale: np.ndarray,
    deadline: float,
    stiff: bool | None = None,
) -> Track:
    """Integrate ``state' = slope(t, state)``.

    Parameters
    ----------
    slope, jacobian : function of (t, state)
        The second returns an array or a sparse matrix (n_state, n_state).
    start : array of shape (n_state,)
    span : (float, float)
        From, to; may fall.
    tolerance : float > 0
        Relative, of one step.
    scale : array of shape (n_state,)
        Sizes against which small values are measured.
    deadline : float
        `time.perf_counter` at which to give up.
    stiff : bool, optional
        By default found from the eigenvalues at the start.

    Raises
    ------
    OutOfTime
        At the deadline.
    StudyError
        If the solution runs away: the message says at which time.
    """
    from scipy.integrate import solve_ivp

    if stiff is None:
        stiff = is_stiff(jacobian(span[0], start), abs(span[1] - span[0]))

    def watched(t, state):
        if time.perf_counter() > deadline:
            raise OutOfTime
        return slope(t, state)

    options = {"jac": jacobian} if stiff else {}
    with np.errstate(all="ignore"):
        run = solve_ivp(
            watched,
            span,
            start,
            method="Radau" if stiff else "DOP853",
            rtol=max(tolerance, 3e-14),
            atol=np.maximum(tolerance * 0.1 * scale, 1e-300),
            dense_output=not stiff,
            **options,
        )
    if not run.success or not np.isfinite(run.y).all():
        raise StudyError(
            f"The solver cannot go beyond t = {run.t[-1]:g}: the solution grows without limit, or "
            "the equation has no solution there.",
            hint="Check signs and units; shorten the time.",
        )
    times = run.t
    if not stiff:
        pieces = 4 if len(times) < 400 else 2 if len(times) < 1000 else 1
        times = _between(times, pieces)
    states = run.y.T if stiff else run.sol(times).T
    order = slice(None, None, -1) if span[1] < span[0] else slice(None)
    name = "Radau" if stiff else "DOP853"
    return Track(times[order], states[order], f"{name} at {tolerance:.0e}", len(run.t) - 1)


def is_stiff(jacobian: object, length: float) -> bool:
    """Whether an explicit method would be held to small steps by stability alone."""
    dense = jacobian.toarray() if hasattr(jacobian, "toarray") else np.asarray(jacobian)
    if not np.isfinite(dense).all():
        return False
    if len(dense) <= 300:
        largest = float(np.abs(np.linalg.eigvals(dense)).max(initial=0.0))
    else:  # a bound: the larger of rows and columns would do, their geometric mean is closer
        rows, columns = np.abs(dense).sum(axis=1).max(), np.abs(dense).sum(axis=0).max()
        largest = float(np.sqrt(rows * columns)) / 2
    return largest * length > EXPLICIT_REACH * EXPLICIT_MOST_STEPS


def _between(times, pieces):
    fractions = np.arange(pieces) / pieces
    inner = times[:-1, None] + np.diff(times)[:, None] * fractions
    return np.append(inner.ravel(), times[-1])
