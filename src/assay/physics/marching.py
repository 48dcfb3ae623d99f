"""Marching in time with SciPy: which method, until when, and where its answer is kept."""

import itertools
import warnings
from collections.abc import Callable

import numpy as np

from assay.errors import StudyError
from assay.physics.clock import used
from assay.physics.forcing import Stretch, whole
from assay.physics.tracks import Track, track_of

# Steps of an explicit method are limited by stability to about this over the largest eigenvalue.
EXPLICIT_REACH = 5.0
EXPLICIT_MOST_STEPS = 1500
# After so many steps of an explicit method it is asked again whether the equation is stiff.
ASK_AGAIN = (150, 600, 1500, 3000, 6000, 12000, 24000)
EVERY = 8  # evaluations of the slope between two looks at the clock
LARGEST = 1e100  # squares of larger numbers overflow
SMALLEST = 1e-290  # a state that is zero throughout is measured against this


class OutOfTime(Exception):
    """The budget in seconds is gone."""


def march(
    slope: Callable,
    start: np.ndarray,
    span: tuple[float, float],
    *,
    tolerance: float,
    scale: np.ndarray,
    deadline: float,
    choose: Callable,
    stretches: tuple[Stretch, ...] | None = None,
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
        `assay.physics.clock.used` at which to give up.
    choose : function of (t, state)
        Returns the solver that suits the slope there ("DOP853", "LSODA" or "Radau") and options of
        SciPy's: ``jac``, ``jac_sparsity``, ``lband`` and ``uband``. It is asked at the start, and
        again where an explicit march takes many steps: then the march begins anew.
    stretches : tuple of Stretch, optional
        Parts of the span (rising) that are marched one by one, because the equation jumps between.

    Raises
    ------
    OutOfTime
        At the deadline.
    StudyError
        If the solution runs away, or the slope is no number: the message says at which time.
    """
    if not (np.abs(start) <= LARGEST).all():
        raise StudyError(
            f"The start is not finite, or above {LARGEST:g}.",
            hint="Give finite numbers, in units in which they are near 1.",
        )
    if not np.isfinite(slope(span[0], start)).all():
        raise StudyError(
            f"The equation gives no finite rate of change at the start (t = {span[0]:g}).",
            hint="Look for a division by zero, a root or logarithm of a negative number, or a "
            "coefficient that is not finite there; or for a highest derivative that the equation "
            "does not determine, such as a square of it: solve the equation for it by hand.",
        )
    scale = np.maximum(scale, SMALLEST)
    parts = whole((min(span), max(span))) if stretches is None else stretches
    solver, options = choose(span[0], start)
    settings = {
        "rtol": max(tolerance, 3e-14),
        "atol": np.maximum(tolerance * 0.1 * scale, 1e-300),
        "deadline": deadline,
    }
    falls = span[1] < span[0]
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # SciPy's remarks on single steps; ends are checked
        try:
            found = _stepped(slope, start, parts, falls, solver, options, settings, choose)
        except _TurnsStiff as turned:
            solver, options = turned.args
            found = _stepped(slope, start, parts, falls, solver, options, settings, None)
    return track_of(solver, tolerance, *found, scale, cut=len(parts) > 1)


def first_sizes(start: np.ndarray, rates: np.ndarray, length: float) -> np.ndarray:
    """Return sizes (n_state,) of states of which only the start and its rates are known.

    What starts at zero is measured against where its rate leads in a thousandth of the time, and
    against the other states; 1e-3 where nothing says more.
    """
    sizes = np.abs(np.nan_to_num(start))
    led = 1e-3 * np.minimum(np.abs(np.nan_to_num(rates)) * length, LARGEST)
    found = np.where(sizes > 0.0, sizes, np.maximum(led, 1e-3 * sizes.max()))
    return np.where(found > 0.0, found, 1e-3)


class _TurnsStiff(Exception):
    """Another solver suits the equation from here on."""


def _stepped(slope, start, parts, falls, solver, options, settings, choose):
    """Return the dense outputs of all steps, and the states between them (n_steps + 1, n)."""
    deadline, tolerances = settings["deadline"], {k: settings[k] for k in ("rtol", "atol")}
    pieces, states, calls = [], [start], itertools.count()
    for part in parts[:: -1 if falls else 1]:
        ends = (part.begin, part.end)[:: -1 if falls else 1]

        def watched(t, state, part=part):
            if next(calls) % EVERY == 0 and used() > deadline:
                raise OutOfTime
            return slope(min(max(t, part.first), part.last), state)

        stepper = _solver_class(solver)(
            watched, ends[0], states[-1], ends[1], max_step=part.longest, **tolerances, **options
        )
        while stepper.status == "running":
            stepper.step()
            if stepper.status == "failed" or not np.isfinite(stepper.y).all():
                raise StudyError(
                    f"The solver cannot go beyond t = {stepper.t:g}: the solution grows without "
                    "limit, or the equation has no solution there.",
                    hint="Check signs and units; shorten the time.",
                )
            pieces.append(stepper.dense_output())
            states.append(stepper.y.copy())
            if solver == "DOP853" and choose is not None and len(pieces) in ASK_AGAIN:
                other, options_then = choose(stepper.t, stepper.y)
                if other != solver:
                    raise _TurnsStiff(other, options_then)
    return pieces, np.array(states)


def _solver_class(name):
    import scipy.integrate

    return getattr(scipy.integrate, name)


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
