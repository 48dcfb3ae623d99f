"""All conditions of a problem in one form: an equation on a face of the box."""

import dataclasses
import numbers
from collections.abc import Callable
from typing import Any

from assay.errors import StudyError, did_you_mean
from assay.physics.conditions import Boundary, Face, Initial, Periodic, arguments
from assay.physics.given import is_number
from assay.physics.space import Key, canonical
from assay.physics.tracing import seen_by


@dataclasses.dataclass(frozen=True, eq=False)
class Bound:
    """One condition on one face.

    Attributes
    ----------
    label : str
        For the report: ``u at t = 0``.
    kind : {"initial", "boundary"}
    along : str
    at : float
        The face is ``along = at``.
    end : {"low", "high", "inside"}
    equation : function of a Point, zero where the condition holds
    keys : tuple of Key
        The derivatives in it.
    name : str or None
        Where the condition is ``name = value``: the name.
    value : function of a dictionary of variables, or None
        And its value, a scalar.
    far : float, optional
        The derivative is the same on the face ``along = far``: `equation` is not used.
    """

    label: str
    kind: str
    along: str
    at: float
    end: str
    equation: Callable
    keys: tuple[Key, ...]
    name: str | None = None
    value: Callable | None = None
    far: float | None = None


def faces_of(problem) -> tuple[tuple[Bound, ...], tuple[str, ...]]:
    """Return the conditions of a problem in one form, and its periodic variables.

    Raises
    ------
    StudyError
        For a condition outside the box, of an unknown kind, said twice, or in conflict with
        another on its face.
    """
    faces, periodic = [], []
    for condition in problem.conditions:
        if isinstance(condition, Periodic):
            _require_variable(condition.along, problem)
            if condition.along == problem.time:
                raise StudyError(
                    "A condition makes time periodic.",
                    hint="Give initial conditions, or declare the problem with time=None.",
                )
            periodic.append(condition.along)
        elif isinstance(condition, Initial):
            faces.append(_initial(condition, problem))
        elif isinstance(condition, Boundary | Face):
            faces += _boundary(condition, problem)
        else:
            raise StudyError(
                f"A condition must be Initial, Boundary, Face or Periodic, got {condition!r}.",
                hint='For example Initial("u", 1.0) or Boundary("u", "x", 0.0).',
            )
    faces = _told_apart(faces)
    for face in faces:
        if face.along in periodic:
            raise StudyError(
                f"{face.label}: {face.along} is periodic and has no ends.",
                hint="Take this condition or the periodic one out.",
            )
    said = [face.label for face in faces]
    twice = sorted({label for label in said if said.count(label) > 1 and not label.endswith(")")})
    if twice:
        raise StudyError(
            f"The condition for {twice[0]} is given twice.", hint="Take one of them out."
        )
    return tuple(faces), tuple(dict.fromkeys(periodic))


def _told_apart(faces):
    """Return the conditions with equations on one face numbered, so that no two labels are one."""
    made, said = [], set()
    for face in faces:
        label, number = face.label, 1
        while face.name is None and label in said:
            number += 1
            label = f"{face.label[: face.label.rindex('(')]}(number {number})"
        said.add(label)
        made.append(dataclasses.replace(face, label=label))
    return made


def joints_of(problem) -> tuple[Bound, ...]:
    """Return what makes the fields periodic, as conditions: values and slopes of both ends agree.

    They are used where conditions are terms of the loss; elsewhere networks are periodic.
    """
    made, variables = [], problem.space.variables
    for along in problem.periodic:
        low, high = problem.box[along]
        for field in problem.fields:
            for order in range(max(problem.highest(field, along), 1)):
                key = (field, tuple(order if name == along else 0 for name in variables))
                label = f"{problem.space.name(key)} at both ends of {along}"
                made.append(
                    Bound(
                        label, "boundary", along, low, "low", _seen_from_one_end, (key,), far=high
                    )
                )
    return tuple(made)


def _seen_from_one_end(d):
    """Return zero: whether both ends agree cannot be seen from one."""
    del d
    return 0.0


def _initial(condition, problem):
    if problem.time is None:
        raise StudyError(
            f"An initial condition for {condition.name!r}, but the problem has no time.",
            hint="Name the time variable t, or say time='...'; or use Boundary.",
        )
    low = problem.box[problem.time][0]
    return _named(condition.name, condition.value, "initial", problem.time, low, "low", problem)


def _boundary(condition, problem):
    along = condition.along
    _require_variable(along, problem)
    low, high = problem.box[along]
    ends = {"low": (("low", low),), "high": (("high", high),)}
    ends["both"] = (*ends["low"], *ends["high"])
    side = condition.side
    if isinstance(side, numbers.Real) and not isinstance(side, bool):
        slack = 1e-9 * (high - low)
        if not low - slack <= side <= high + slack:
            raise StudyError(
                f"A condition at {along} = {side:g} lies outside the box ({low:g} to {high:g}).",
                hint="Move it into the box, or enlarge the box; look at the units.",
            )
        name = "low" if side <= low + slack else "high" if side >= high - slack else "inside"
        # On the end itself: two conditions a rounding apart are two for one face.
        places = ((name, {"low": low, "high": high}.get(name, float(side))),)
    elif isinstance(side, str) and side in ends:
        places = ends[side]
    else:
        raise StudyError(
            f"`side` must be 'both', 'low', 'high' or a number, got {side!r}.",
            hint=did_you_mean(str(side), ends),
        )
    made = []
    for end, at in places:
        if isinstance(condition, Face):
            seen, count = seen_by((condition.equation,), problem.space, f"the face {along}={at:g}")
            if count != 1:
                raise StudyError(f"A Face has one equation, got {count}.", hint="Use several.")
            keys = canonical(k for k in seen if not isinstance(k, str))
            label = f"equation at {along} = {at:g} (number {len(made) + 1})"
            made.append(Bound(label, "boundary", along, at, end, condition.equation, keys))
        else:
            kind = "initial" if along == problem.time and end == "low" else "boundary"
            name, value = condition.name, condition.value
            made.append(_named(name, value, kind, along, at, end, problem))
    return made


def _named(name: str, value: Any, kind, along, at, end, problem) -> Bound:
    key = problem.space.key(name)
    label = f"{name} at {along} = {at:g}"
    if key is None:
        raise StudyError(f"A condition is for {name!r}, which is no field.", hint='Use "u".')
    others = tuple(v for v in problem.space.variables if v != along)
    if callable(value):
        names = arguments(value, others, label)

        def at_place(place):
            return value(**{n: place[n] for n in names})

    elif is_number(value):

        def at_place(place):
            return float(value)

    else:
        raise StudyError(
            f"The value of {label} must be a number or a function, got {value!r}.",
            hint="A function takes the other variables by name: lambda x: ...",
        )

    def equation(d):
        return getattr(d, name) - at_place({v: getattr(d, v) for v in others})

    seen_by((equation,), problem.space, label)
    return Bound(label, kind, along, at, end, equation, (key,), name, at_place)


def _require_variable(along, problem):
    if along not in problem.box:
        raise StudyError(
            f"A condition is along {along!r}, which is no variable of the box.",
            hint=did_you_mean(str(along), problem.box),
        )
