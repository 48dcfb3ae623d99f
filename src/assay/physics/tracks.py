"""What a march leaves behind: states along the way, and how to read between them."""

import dataclasses

import numpy as np

MOST_TIMES = 2500
# Degree of the spline through the states, and of the polynomial of one step where that fails.
DEGREES = {"DOP853": (7, 7), "LSODA": (5, 7), "Radau": (5, 3)}
# The spline may miss the solver's own polynomials by this many tolerances of a step.
MISS = 100.0
WATCHED = 24  # entries of the state that are looked at
BETWEEN = (0.38, 0.87)  # in shares of a step: on none of the nodes


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
    degree : int
        Of the spline in time that keeps the accuracy of the solver.
    by_steps : bool
        The times are those of single steps, `degree` + 1 for each at `fractions`, ends shared: no
        smooth curve goes through them all.
    """

    times: np.ndarray
    states: np.ndarray
    method: str
    solver: str
    n_steps: int
    degree: int
    by_steps: bool = False


def fractions(degree: int) -> np.ndarray:
    """Return the places within one step, (degree + 1,) from 0 to 1: Chebyshev points."""
    return (1.0 - np.cos(np.pi * np.arange(degree + 1) / degree)) / 2.0


def bezier(values: np.ndarray, degree: int, axis: int) -> np.ndarray:
    """Return the coefficients of B-splines for values at `fractions` of steps, along an axis."""
    from scipy.interpolate import BSpline

    knots = np.repeat([0.0, 1.0], degree + 1)
    back = np.linalg.inv(BSpline(knots, np.eye(degree + 1), degree)(fractions(degree)))
    rows = np.moveaxis(values, axis, 0)
    steps = np.stack([rows[i : len(rows) - degree + i : degree] for i in range(degree + 1)])
    inner = np.tensordot(back[:-1], steps, 1)  # (degree, n_steps, ...)
    flat = np.moveaxis(inner, 0, 1).reshape(-1, *rows.shape[1:])
    return np.moveaxis(np.concatenate([flat, rows[-1:]]), 0, axis)


def track_of(
    solver: str,
    tolerance: float,
    pieces: list,
    states: np.ndarray,
    scale: np.ndarray,
    *,
    cut: bool,
) -> Track:
    """Put the steps of a march together.

    Parameters
    ----------
    solver : str
    tolerance : float
        Of one step.
    pieces : list of dense outputs of SciPy's solvers
        One a step, in order.
    states : array of shape (n_steps + 1, n_state)
    scale : array of shape (n_state,)
        Sizes of the states.
    cut : bool
        Whether the march was interrupted where the equation jumps.

    Notes
    -----
    A spline through all states is smoother and needs fewer of them than the polynomials of single
    steps, but swings where steps change fast: behind a jump of a load it has been wrong by a factor
    of 1e7. It is tried against those polynomials within each step.
    """
    times = np.array([pieces[0].t_old, *(piece.t for piece in pieces)])
    n, (smooth, own) = len(pieces), DEGREES[solver]
    name = f"{solver} at {tolerance:.0e}"
    if not cut:
        if solver == "DOP853":
            count = 4 if n < 399 else 2 if n < 999 else 1
            found = _sampled(pieces, states, np.arange(count) / count)
        else:
            kept = np.arange(n + 1)
            if n > MOST_TIMES:
                kept = np.unique(np.linspace(0, n, MOST_TIMES).astype(int))
            found = times[kept], states[kept]
        size = np.maximum(scale, np.abs(states).max(axis=0))
        if _fits(pieces, *found, smooth, MISS * tolerance * size):
            return _rising(Track(*found, name, solver, n, smooth))
    found = _sampled(pieces, states, fractions(own)[:-1])
    return _rising(Track(*found, name, solver, n, own, by_steps=True))


def _sampled(pieces, states, inside):
    """Return times and states at fractions of each step (0 the first), and at the last end."""
    times, found = [], []
    for piece, state in zip(pieces, states, strict=False):
        at = piece.t_old + inside * (piece.t - piece.t_old)
        times.append(at)
        found.append(state[None])
        if len(at) > 1:
            found.append(piece(at[1:]).T)
    return np.concatenate([*times, [pieces[-1].t]]), np.concatenate([*found, states[-1:]])


def _fits(pieces, times, states, degree, allowed):
    """Whether a spline through the states meets the polynomials of the steps between them."""
    from scipy.interpolate import make_interp_spline

    degree = max(1, min(degree, len(times) - 1 - len(times) % 2))
    some = np.unique(np.linspace(0, states.shape[1] - 1, WATCHED).astype(int))
    if times[0] > times[-1]:
        times, states = times[::-1], states[::-1]
    if not (np.diff(times) > 0).all():
        return False
    spline = make_interp_spline(times, states[:, some], k=degree)
    for share in BETWEEN:
        inside = np.array([piece.t_old + share * (piece.t - piece.t_old) for piece in pieces])
        truth = np.array([piece(at)[some] for piece, at in zip(pieces, inside, strict=True)])
        if not (np.abs(spline(inside) - truth) <= allowed[some]).all():
            return False
    return True


def _rising(track):
    if track.times[0] < track.times[-1]:
        return track
    return dataclasses.replace(track, times=track.times[::-1], states=track.states[::-1])
