"""Is a problem posed? What can be said of a declaration before anything is solved or trained."""

import dataclasses
from typing import Any

from assay.errors import StudyError
from assay.physics.direction import fieldless, final_says, runs_away
from assay.physics.posed_values import (
    contradictions,
    corners,
    sizes,
    zero_solution,
)


@dataclasses.dataclass(frozen=True)
class Note:
    """One finding about a declaration.

    Attributes
    ----------
    code : str
        A word that does not change: see `CODES`.
    severity : {"fail", "warn", "info"}
        "fail": the problem has no solution, or more than one, or only zero. "warn": it is probably
        not what was meant. "info": worth knowing.
    sentence : str
    cure : str
    """

    code: str
    severity: str
    sentence: str
    cure: str


CODES = (
    "initial-missing",
    "initial-extra",
    "boundary-missing",
    "boundary-extra",
    "boundary-one-sided",
    "condition-too-high",
    "contradiction",
    "corner",
    "level-open",
    "runs-away",
    "zero-solution",
    "zero-solves-equation",
    "inactive-derivative",
    "units-mixed",
)


def posed(problem: Any, parameters: dict[str, float] | None = None) -> tuple[Note, ...]:
    """Return what is wrong or remarkable with a declaration, without solving it.

    Conditions are counted against the orders of the equation, compared where faces meet, and tried
    against each other; the terms of the equation are sized from the box and the values of the
    conditions and readings.

    Parameters
    ----------
    problem : Problem
    parameters : dict of str to float, optional
        Override the declared ones.

    Returns
    -------
    tuple of Note
        Worst first; empty where nothing is remarkable.

    Examples
    --------
    >>> from assay.physics import Boundary, Problem
    >>> open_ended = Problem(
    ...     lambda d: d.u_xx + d.u, {"x": (0.0, 1.0)}, conditions=(Boundary("u", "x", 1.0, "low"),)
    ... )
    >>> posed(open_ended)[0].code
    'boundary-missing'
    """
    import jax

    values = {**problem.known, **(parameters or {})}
    with jax.enable_x64(True):  # noqa: FBT003
        notes = [*_counted(problem, values), *_too_high(problem), *_level(problem)]
        notes += [Note(*found) for found in fieldless(problem)]
        away = runs_away(problem, values)
        if away is not None:
            notes.append(Note("runs-away", "fail", *away))
        for part in (contradictions, corners, zero_solution, sizes):
            notes += [Note(*found) for found in part(problem, values)]
    rank = {"fail": 0, "warn": 1, "info": 2}
    return tuple(sorted(notes, key=lambda note: rank[note.severity]))


def require_posed(problem: Any) -> None:
    """Require a declaration that can have one solution, before anything is solved or fitted.

    Raises
    ------
    StudyError
        With what is missing, too much, or contradicts itself; `zero-solution` is let through,
        because methods can be compared on it.
    """
    wrong = [n for n in posed(problem) if n.severity == "fail" and n.code != "zero-solution"]
    if wrong:
        raise StudyError(
            "The problem is not posed: " + " ".join(note.sentence for note in wrong),
            hint=" ".join(dict.fromkeys(note.cure for note in wrong)),
        )


def _counted(problem, values):
    """Count conditions against orders, along each variable."""
    for variable in problem.box:
        along = [face for face in problem.faces if face.along == variable and face.keys]
        need = sum(problem.highest(field, variable) for field in problem.fields)
        if variable == problem.time and len(problem.box) > 1:
            yield from _counted_in_time(problem, variable, values)
        elif variable not in problem.periodic:
            yield from _counted_in_space(problem, variable, along, need)


def _counted_in_time(problem, time, values):
    place = problem.space.variables.index(time)
    for field in problem.fields:
        order = problem.highest(field, time)
        ends = {"low": set(), "high": set(), "inside": set()}
        for face in problem.faces:
            if face.along == time:
                ends[face.end] |= {
                    key[1][place]
                    for key in face.keys
                    if key[0] == field and sum(key[1]) == key[1][place]
                }
        said, final = ends["low"], final_says(problem, values, field)
        instead = len(said) + len(final) == order
        for k in range(order):
            name = field + "_" * bool(k) + time * k
            if k not in said and not instead:
                late = " Diffusion cannot be run back from the end." if ends["high"] else ""
                yield Note(
                    "initial-missing",
                    "warn" if problem.readings else "fail",
                    f"The equation has order {order} in {time}, and nothing says {name} at the "
                    f"start ({time} = {problem.box[time][0]:g}): many solutions fit.{late}",
                    f'Add Initial("{name}", ...).',
                )
        if len(said) == order and order and ends["high"]:
            yield Note(
                "boundary-extra",
                "fail",
                f"The start determines {field} at all times, yet there is a condition on it at the "
                f"end ({time} = {problem.box[time][1]:g}): in general nothing fulfils both.",
                "Take the condition at the end of time out, or the start.",
            )
        if not order and said:
            yield Note(
                "initial-extra",
                "fail",
                f"The equation has no derivative of {field} in {time}, yet its start is given.",
                f"Take the initial condition of {field} out, or correct the equation.",
            )


def _counted_in_space(problem, variable, along, need):
    several = len(problem.fields) > 1
    ends = "at the ends of" if len(problem.box) > 1 else "along"
    if len(along) < need:
        yield Note(
            "boundary-missing",
            "warn" if several or problem.readings else "fail",
            f"The equation has order {need} in {variable} and needs as many conditions {ends} "
            f"{variable}; {len(along)} given: many solutions fit.",
            f'Add Boundary("{problem.fields[0]}", "{variable}", ...), or Periodic("{variable}").',
        )
    elif len(along) > need:
        yield Note(
            "boundary-extra",
            "warn" if several else "fail",
            f"The equation has order {need} in {variable} and takes as many conditions {ends} "
            f"{variable}; {len(along)} given: in general none solves them all.",
            "Take one out: " + "; ".join(face.label for face in along) + ".",
        )
    elif need % 2 == 0 and need and len(problem.box) > 1 and not several:
        low = sum(face.end == "low" for face in along)
        high = sum(face.end == "high" for face in along)
        if abs(low - high) > 1:
            yield Note(
                "boundary-one-sided",
                "warn",
                f"All {need} conditions along {variable} stand at one end: small errors of the "
                "data then grow without limit across the box.",
                "Give half of them at the other end.",
            )


def _too_high(problem):
    """Conditions on derivatives that the equation itself determines."""
    for face in problem.faces:
        place = problem.space.variables.index(face.along)
        for key in face.keys:
            highest = problem.highest(key[0], face.along)
            order = key[1][place]
            if order and order >= highest:
                name = problem.space.name(key)
                yield Note(
                    "condition-too-high",
                    "fail",
                    f"{face.label}: the equation has order {highest} in {face.along}, so that "
                    f"it determines {name} there itself.",
                    f"Give a condition on a derivative of order below {highest}.",
                )


def _level(problem):
    """Fields of which only derivatives appear anywhere: fixed up to a constant."""
    seen = [*problem.keys, *(key for face in problem.faces for key in face.keys)]
    for field in problem.fields:
        mine = [key for key in seen if key[0] == field]
        read = any(reading.name == field for reading in problem.readings)
        if mine and all(sum(key[1]) for key in mine) and not read:
            yield Note(
                "level-open",
                "fail",
                f"Only derivatives of {field} appear in the equation and the conditions: any "
                "constant can be added to a solution.",
                f"Give a value of {field} somewhere.",
            )
