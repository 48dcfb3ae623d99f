"""Windows in time, each from the end of the last, and the values of a curriculum."""

import dataclasses
import functools as ft
import itertools

import jax
import numpy as np

from assay.errors import StudyError
from assay.physics.fitting import Setup, cast, frame_of
from assay.physics.pieces import Piece
from assay.physics.residuals import lift_at, values_at
from assay.physics.tables import coefficients, grid


def windows_of(setup: Setup, count: int) -> list[tuple[float, float]]:
    """Return the ranges of time of equal windows.

    Raises
    ------
    StudyError
        If the problem cannot be marched.
    """
    problem = setup.system.problem
    if isinstance(count, bool) or not isinstance(count, int | np.integer) or count < 1:
        raise StudyError(
            f"`windows` must be a whole number of at least 1, got {count!r}.", hint="Leave it out."
        )
    if count == 1:
        return [(np.nan, np.nan)]
    if problem.time is None:
        raise StudyError("Windows in time need a time.", hint="windows=1")
    if problem.readings or problem.unknown or problem.coefficients:
        raise StudyError(
            "Windows cannot be used with readings or unknowns, which all windows share.",
            hint="windows=1",
        )
    if any(f.along == problem.time and (f.name is None or f.end != "low") for f in problem.faces):
        raise StudyError(
            "Windows need a problem whose conditions in time are all at its start.",
            hint="windows=1",
        )
    edges = np.linspace(*problem.box[problem.time], count + 1)
    return list(itertools.pairwise(edges.tolist()))


def window(setup: Setup, low: float, high: float, before: Piece | None) -> Setup:
    """Return the setup of one window; it starts where the window before ends."""
    problem = setup.system.problem
    if problem.time is None or np.isnan(low):
        return setup
    tables = {} if before is None else handed_on(before)
    box = problem.box | {problem.time: (low, high)}
    shared = dataclasses.replace(setup.shared, frame=frame_of(box, setup.scales, tables))
    return dataclasses.replace(setup, shared=shared)


def handed_on(piece: Piece) -> dict[str, np.ndarray]:
    """Return tables of the initial conditions for the next window: the end of this one."""
    system, shared = piece.setup.system, piece.setup.shared
    problem, frame = system.problem, shared.frame
    place = list(problem.box).index(problem.time)
    others = [i for i in range(len(problem.box)) if i != place]
    unit = grid(len(others))
    points = np.empty((len(unit), len(problem.box)))
    points[:, others] = frame.low[others] + (unit + 1) / 2 * (frame.high - frame.low)[others]
    points[:, place] = frame.high[place]
    initial = [face for face in problem.faces if face.along == problem.time]
    keys = tuple(dict.fromkeys(face.keys[0] for face in initial))
    values = np.asarray(key_values(piece, points, keys), np.float64)
    return {
        face.label: coefficients(values[:, keys.index(face.keys[0])], len(others))
        for face in initial
    }


def key_values(piece: Piece, points: np.ndarray, keys: tuple):
    """Return the derivatives `keys` of a network at points (n, n_variables): (n, n_keys)."""
    setup = piece.setup
    return _key_values(setup.system, keys, piece.params, cast(setup.shared), cast(points))


@ft.partial(jax.jit, static_argnames=("system", "keys"))
def _key_values(system, keys, params, shared, points):
    lifts = lift_at(system, shared, points, keys)

    def one(point, part):
        found = values_at(system, params, shared, {"x": point, "lift": part}, keys)
        return jax.numpy.stack([found[key] for key in keys])

    return jax.vmap(one)(points, lifts)


def with_known(setup: Setup, values: dict[str, float]) -> Setup:
    """Return the setup with other values of known parameters: nothing compiles again."""
    known = setup.shared.known | {name: np.array(float(v)) for name, v in values.items()}
    return dataclasses.replace(setup, shared=dataclasses.replace(setup.shared, known=known))


def lessons(problem, curriculum: dict | None) -> list[dict[str, float]]:
    """Return the values of the known parameters of each lesson; the problem's own come last.

    Raises
    ------
    StudyError
        For a parameter that is not known, or lists of different lengths.
    """
    if not curriculum:
        return [{}]
    lengths = {name: len(tuple(values)) for name, values in curriculum.items()}
    for name in curriculum:
        if name not in problem.parameters or name in problem.unknown:
            raise StudyError(
                f"A curriculum in {name!r}, which is no known parameter of the problem.",
                hint="Known: " + ", ".join(sorted(set(problem.parameters) - set(problem.unknown))),
            )
    if len(set(lengths.values())) != 1 or not next(iter(lengths.values())):
        raise StudyError(
            f"The lists of a curriculum must have one length, got {lengths}.",
            hint="{'beta': (5.0, 15.0, 30.0)}",
        )
    own = {name: problem.known[name] for name in curriculum}
    made = [
        {name: float(values[i]) for name, values in curriculum.items()}
        for i in range(next(iter(lengths.values())))
    ]
    return made if made[-1] == own else [*made, own]
