"""Ordinary equations with all conditions at one end: marched with SciPy."""

from typing import Any

import numpy as np

from assay.errors import StudyError
from assay.physics.clock import used
from assay.physics.explicit import (
    compiled,
    for_highest,
    is_affine,
    leading_keys,
    require_known_coefficients,
)
from assay.physics.forcing import stretches_of
from assay.physics.marching import first_sizes, is_stiff, march
from assay.physics.refining import refined, single, table_of
from assay.physics.solution import Solution

# Tolerances of one step, coarsest first; a level is a place in this row.
STEP_TOLERANCES = (1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-11, 1e-12, 1e-13)


def is_initial_value(problem: Any) -> bool:
    """Whether a problem has one variable, and all its conditions stand at one end of it."""
    ends = {face.end for face in problem.faces}
    return (
        len(problem.box) == 1
        and len(ends) == 1
        and ends <= {"low", "high"}
        and all(face.name is not None for face in problem.faces)
    )


def solve_initial_value(
    problem: Any,
    parameters: dict[str, float],
    *,
    tolerance: float = 1e-6,
    seconds: float = 60.0,
    level: int | None = None,
) -> Solution:
    """Solve an ordinary equation from its start.

    The equation is solved for its highest derivatives (of any order, for several fields) and
    marched with DOP853, or with Radau where it is stiff, at tighter and tighter tolerances of one
    step.

    Parameters
    ----------
    problem : Problem
        Of one variable, conditions at one end.
    parameters : dict of str to float
    tolerance : float > 0 [-]
        Wanted relative L2 error.
    seconds : float > 0 [s]
        Budget.
    level : int, optional
        0 to 9: one solve at a step tolerance of 10 to the power of -4 - level.

    Raises
    ------
    StudyError
        If a start value is missing, or the solution runs away.
    """
    import jax

    begun = used()
    require_known_coefficients(problem)
    with jax.enable_x64(True):  # noqa: FBT003
        slope, jacobian, keys, start, span = _prepared(problem, parameters)
        stretches = stretches_of(problem, next(iter(problem.box)), parameters)
        size = first_sizes(start, slope(span[0], start), abs(span[1] - span[0]))

        def choose(t, state):
            slopes = np.nan_to_num(jacobian(t, state), posinf=0.0, neginf=0.0)
            largest = float(np.abs(np.linalg.eigvals(slopes)).max())
            if is_stiff(largest, abs(span[1] - span[0])):
                return "Radau", {"jac": jacobian}
            return "DOP853", {}

        def solve(step_tolerance, deadline):
            nonlocal size
            track = march(
                slope,
                start,
                span,
                tolerance=step_tolerance,
                scale=size,
                deadline=deadline,
                choose=choose,
                stretches=stretches,
            )
            size = np.abs(track.states).max(axis=0)
            size = np.maximum(size, 1e-12 * size.max())
            places = [keys.index(problem.space.plain(field)) for field in problem.fields]
            table = table_of(
                (track.times,),
                track.states[:, places],
                (track.degree,),
                0 if track.by_steps else None,
            )
            return table, f"{track.method} in {track.n_steps} steps", track.n_steps

        if level is not None:
            return single(problem, solve, step_tolerance_of(level), seconds=seconds)
        return refined(
            problem, solve, STEP_TOLERANCES[1:], tolerance=tolerance, seconds=seconds, begun=begun
        )


def step_tolerance_of(level: int) -> float:
    """Return the tolerance of one step at a level.

    Raises
    ------
    StudyError
        For a level outside the row.
    """
    if not 0 <= level < len(STEP_TOLERANCES):
        raise StudyError(
            f"`level` must lie between 0 and {len(STEP_TOLERANCES) - 1}, got {level}.",
            hint="Higher levels are finer.",
        )
    return STEP_TOLERANCES[level]


def _prepared(problem, parameters):
    """Return slope, jacobian, the keys of the state, the start and the span."""
    import jax

    (variable,) = problem.box
    leading = leading_keys(problem, variable)
    keys = [(field, (k,)) for field, (order,) in leading for k in range(order)]

    def build():
        run = _right_hand_side(problem, variable, leading, keys)
        return jax.jit(run), jax.jit(jax.jacfwd(run, argnums=1))

    slope, jacobian = compiled(problem, "initial value", build)
    low, high = problem.box[variable]
    span = (low, high) if problem.faces[0].end == "low" else (high, low)
    found = {face.keys[0]: float(face.value({})) for face in problem.faces}
    for key in keys:
        if key not in found:
            raise StudyError(
                f"The start does not say {problem.space.name(key)} at {variable} = {span[0]:g}: "
                f"an equation of order {dict(leading)[key[0]][0]} needs it.",
                hint=f'Initial("{problem.space.name(key)}", ...)',
            )
    for key in found:
        if key not in keys:
            raise StudyError(
                f"The start says {problem.space.name(key)}, which the equation determines itself.",
                hint="Take this condition out.",
            )
    start = np.array([found[key] for key in keys])
    return (
        lambda t, y: np.asarray(slope(t, y, parameters)),
        lambda t, y: np.asarray(jacobian(t, y, parameters)),
        keys,
        start,
        span,
    )


def _right_hand_side(problem, variable, leading, keys):
    import jax.numpy as jnp

    top_of = for_highest(problem, leading, affine=is_affine(problem, leading))
    row = {key: i for i, key in enumerate(keys)}

    def run(t, state, parameters):
        lower = {key: state[i] for key, i in row.items()}
        top = top_of(lower, {variable: t}, parameters)
        parts = []
        for field, (order,) in keys:
            above = (field, (order + 1,))
            parts.append(state[row[above]] if above in row else top[problem.fields.index(field)])
        return jnp.stack(parts)

    return run
