"""The declaration: an equation, a box, conditions, readings. Network and solver both read it."""

import dataclasses
import functools
import inspect
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from assay.errors import StudyError, did_you_mean
from assay.physics.conditions import Measured, Unknown, UnknownField
from assay.physics.faces import faces_of, joints_of
from assay.physics.given import checked_units, is_number, named_table, plain_name, plain_names
from assay.physics.space import Key, Point, Space, canonical
from assay.physics.tracing import require_effect, seen_by

_FIELD_EXAMPLE = "{'k': UnknownField('x', 0.1, 1.0)}"


@dataclasses.dataclass(frozen=True, eq=False)
class Problem:
    """An ordinary or partial differential equation with its conditions and readings.

    The equation is a function of the *values* at a point and never sees a network, so that the
    same declaration drives the network and the classical solver.

    Parameters
    ----------
    equation : function, or tuple of functions
        ``equation(d)`` returns what shall be zero: one number for each field (a tuple for several).
        ``d.u``, ``d.u_t``, ``d.u_xx``, ``d.x``, ``d.nu`` are scalars; functions are `jax.numpy`'s.
    box : dict of str to (low, high) [units of the variables]
        One to three variables.
    fields : str or tuple of str
    conditions : tuple
        `Initial`, `Boundary`, `Face` and `Periodic`.
    parameters : dict of str to float or Unknown
        Known numbers, and those to be found.
    coefficients : dict of str to UnknownField
        Coefficients that vary and are to be found.
    readings : tuple of Measured
    exact : function, optional
        Of the variables by name; returns the field (a tuple for several), with `numpy` functions.
        Where it is known, errors are against it, and no method sees it.
    units : dict of str to str
        Of variables, fields and parameters, for the report.
    time : str or None
        Which variable is time; ``"t"`` where there is one.
    name : str
        For the report.

    Attributes
    ----------
    space : Space
    keys : tuple of Key
        The derivatives that the equation contains.
    faces : tuple of Bound
        All conditions in one form; `periodic` holds the periodic variables.
    joints : tuple of Bound
        What makes the fields periodic, for networks that are not so by construction.

    Raises
    ------
    StudyError
        If the declaration cannot be right; says where, and what would be.

    Examples
    --------
    >>> from assay.physics.conditions import Initial
    >>> decay = Problem(
    ...     lambda d: d.u_t + d.k * d.u, {"t": (0.0, 2.0)}, conditions=(Initial("u", 1.0),),
    ...     parameters={"k": 3.0},
    ... )
    >>> float(decay.residual({("u", (0,)): 1.0, ("u", (1,)): -3.0}, {"t": 0.5}, decay.known)[0])
    0.0
    """

    equation: Callable | tuple[Callable, ...]
    box: dict[str, tuple[float, float]]
    fields: str | tuple[str, ...] = ("u",)
    conditions: tuple[Any, ...] = ()
    parameters: dict[str, Any] = dataclasses.field(default_factory=dict)
    coefficients: dict[str, UnknownField] = dataclasses.field(default_factory=dict)
    readings: tuple[Measured, ...] = ()
    exact: Callable | None = None
    units: dict[str, str] = dataclasses.field(default_factory=dict)
    time: str | None = "t"
    name: str = "equation"

    def __post_init__(self):
        put = functools.partial(object.__setattr__, self)
        put("fields", plain_names(self.fields, "`fields`"))
        _require_named(self)
        put("conditions", _tuple(self.conditions))
        put("readings", _tuple(self.readings))
        put("box", _checked_box(self.box))
        for part, example in (("parameters", "{'k': 3.0}"), ("coefficients", _FIELD_EXAMPLE)):
            put(part, named_table(getattr(self, part), f"`{part}`", example))
        _require_kinds(self)
        names = (*self.fields, *self.coefficients)
        put("space", Space(tuple(self.box), names, tuple(self.parameters)))
        put("units", checked_units(self.units, (*self.box, *names, *self.parameters)))
        put("time", self.time if self.time is None else plain_name(self.time, "`time`"))
        if self.time not in self.box:
            if self.time not in (None, "t"):
                raise StudyError(
                    f"`time` is {self.time!r}, which is no variable of the box.",
                    hint=did_you_mean(str(self.time), self.box),
                )
            put("time", None)
        equations = self.equation if isinstance(self.equation, tuple) else (self.equation,)
        seen, count = seen_by(equations, self.space, "the equation")
        put("n_equations", count)
        put("keys", canonical(key for key in seen if not isinstance(key, str)))
        faces, periodic = faces_of(self)
        put("faces", faces)
        put("periodic", periodic)
        put("joints", joints_of(self))
        _require_whole(self)
        _require_readings(self)
        require_effect(self)

    @property
    def known(self) -> dict[str, float]:
        """The parameters: known ones at their value, unknown ones where the search starts."""
        return {
            name: float(p.start if isinstance(p, Unknown) else p)
            for name, p in self.parameters.items()
        }

    @property
    def unknown(self) -> dict[str, Unknown]:
        """The parameters to be found."""
        return {name: p for name, p in self.parameters.items() if isinstance(p, Unknown)}

    @property
    def order_in_time(self) -> dict[str, int]:
        """The highest derivative in time of each field; 0 where there is no time."""
        return {field: self.highest(field, self.time) for field in self.fields}

    def highest(self, field: str, variable: str | None) -> int:
        """Return the highest derivative of a field in a variable that the equation contains."""
        if variable is None:
            return 0
        place = self.space.variables.index(variable)
        return max((orders[place] for name, orders in self.keys if name == field), default=0)

    def residual(self, derivatives: dict[Key, Any], place: dict, parameters: dict) -> Any:
        """Return the residual of each equation at one point: shape (n_equations,).

        Parameters
        ----------
        derivatives : dict of Key to scalar
            At least those in `keys`.
        place : dict of str to scalar
            The variables.
        parameters : dict of str to scalar
        """
        import jax.numpy as jnp

        point = Point(self.space, derivatives, {**place, **parameters})
        equations = self.equation if isinstance(self.equation, tuple) else (self.equation,)
        found = []
        for equation in equations:
            value = equation(point)
            found += list(value) if isinstance(value, tuple | list) else [value]
        return jnp.stack([jnp.asarray(value, dtype=jnp.result_type(float)) for value in found])

    def exact_at(self, points: np.ndarray) -> np.ndarray:
        """Return the exact fields (n, n_fields) at points (n, n_variables), in float64."""
        if self.exact is None:
            raise StudyError("This problem has no exact solution.", hint="Declare it: exact=...")
        takes = inspect.signature(self.exact).parameters
        names = [name for name in takes if name in self.box]
        for name, argument in takes.items():
            if name not in self.box and argument.default is argument.empty:
                raise StudyError(
                    f"The exact solution is a function of {name!r}, which is no variable.",
                    hint=did_you_mean(name, self.box),
                )
        # Copies: what the function does to its arguments must not move the points.
        columns = {
            name: np.array(points[:, i], np.float64) for i, name in enumerate(self.space.variables)
        }
        try:
            value = self.exact(**{name: columns[name] for name in names})
        except Exception as error:
            raise StudyError(
                f"The exact solution fails: {type(error).__name__}: {error}.",
                hint=_EXACT_HINT,
            ) from error
        values = value if isinstance(value, tuple) else (value,)
        if len(values) != len(self.fields):
            raise StudyError(
                f"The exact solution returns {len(values)} field(s); {len(self.fields)} are "
                f"needed: {', '.join(self.fields)}.",
                hint=_EXACT_HINT,
            )
        rows = [
            _exact_row(name, v, len(points)) for name, v in zip(self.fields, values, strict=True)
        ]
        return np.stack(rows, axis=1)

    def replace(self, **changes: Any) -> "Problem":
        """Return the problem with some of its parts changed."""
        return dataclasses.replace(self, **changes)


_EXACT_HINT = (
    "It is called with one array for each variable that it takes, and returns an array of the same "
    "length, or a tuple of such arrays, one a field."
)


def _exact_row(name, value, n):
    """Return what an exact solution gave for one field, as n numbers."""
    try:
        given = np.asarray(value)
        if np.iscomplexobj(given) or np.ma.is_masked(value):
            raise TypeError("complex or masked numbers")
        return np.broadcast_to(np.asarray(given, np.float64), n)
    except (TypeError, ValueError) as error:
        raise StudyError(
            f"The exact solution gives no {n} real numbers for {name}, but an object of type "
            f"{type(value).__name__} and shape {np.shape(value) if _plain(value) else 'unknown'}.",
            hint=_EXACT_HINT,
        ) from error


def _plain(value):
    return isinstance(value, np.ndarray | float | int | complex)


def _tuple(value):
    return tuple(value) if isinstance(value, list | tuple) else (value,)


def _require_named(problem):
    if not isinstance(problem.name, str):
        raise StudyError(f"`name` must be a text, got {problem.name!r}.", hint="name='cooling'")
    if problem.exact is not None and not callable(problem.exact):
        raise StudyError(
            f"`exact` must be a function of the variables, got {problem.exact!r}.",
            hint="exact=lambda t, x: ..., with numpy functions.",
        )


def _checked_box(box):
    if not isinstance(box, dict) or not box:
        raise StudyError("`box` must be a dictionary of ranges.", hint="{'t': (0.0, 1.0)}")
    box, checked = named_table(box, "`box`", "{'t': (0.0, 1.0)}"), {}
    for name, ends in box.items():
        pair = tuple(ends) if isinstance(ends, list | tuple | np.ndarray) else ()
        fine = len(pair) == 2 and all(is_number(end) for end in pair)
        low, high = map(float, pair) if fine else (math.nan, math.nan)
        if not low < high:
            raise StudyError(
                f"The range of {name!r} must rise from one number to another, got {ends!r}.",
                hint="Give (low, high), both finite.",
            )
        if not math.isfinite(high - low):
            raise StudyError(
                f"The range of {name!r} is too wide for a computer's numbers: {low:g} to {high:g}.",
                hint="Use a larger unit.",
            )
        checked[name] = (low, high)
    return checked


def _require_kinds(problem):
    for name, value in problem.parameters.items():
        if isinstance(value, Unknown):
            continue
        if not is_number(value):
            raise StudyError(
                f"The parameter {name!r} must be a finite number or Unknown, got {value!r}.",
                hint="A coefficient that varies in space goes into the equation, or into "
                "`coefficients`.",
            )
    for name, value in problem.coefficients.items():
        if not isinstance(value, UnknownField):
            raise StudyError(
                f"The coefficient {name!r} must be an UnknownField, got {value!r}.",
                hint="A known number goes into `parameters`, a known function into the equation.",
            )
        for variable in value.of:
            if variable not in problem.box:
                raise StudyError(
                    f"The coefficient {name!r} depends on {variable!r}, which is no variable.",
                    hint=did_you_mean(variable, problem.box),
                )


def _require_whole(problem):
    """Require one equation a field, and each field in some equation."""
    if problem.n_equations != len(problem.fields):
        raise StudyError(
            f"{len(problem.fields)} fields need as many equations, got {problem.n_equations}.",
            hint="Return a tuple with one residual for each field.",
        )
    present = {field for field, _ in problem.keys}
    for field in (*problem.fields, *problem.coefficients):
        if field not in present:
            raise StudyError(
                f"The equation does not contain the field {field!r}: any function would solve it.",
                hint=f"Use d.{field} or a derivative of it in the equation.",
            )


def _require_readings(problem):
    for reading in problem.readings:
        if not isinstance(reading, Measured):
            raise StudyError(
                f"Readings must be Measured(...), got {reading!r}.",
                hint='Measured("u", {"t": times}, values, sigma)',
            )
        if problem.space.key(reading.name) is None:
            raise StudyError(
                f"Readings are of {reading.name!r}, which is no field.", hint='For example "u".'
            )
        for name in reading.at:
            if name not in problem.box:
                raise StudyError(
                    f"Readings of {reading.name} say at which {name!r}, which is no variable.",
                    hint=did_you_mean(str(name), problem.box),
                )
        for name in problem.box:
            if name not in reading.at:
                raise StudyError(
                    f"Readings of {reading.name} do not say at which {name!r}.",
                    hint=f"Measured(..., at={{{name!r}: array, ...}})",
                )
            low, high = problem.box[name]
            slack = 1e-9 * (high - low)
            outside = (reading.at[name] < low - slack) | (reading.at[name] > high + slack)
            if outside.any():
                row = int(np.argmax(outside))
                raise StudyError(
                    f"Reading {row} of {reading.name} is at {name} = {reading.at[name][row]:g}, "
                    f"outside the box ({low:g} to {high:g}).",
                    hint="Enlarge the box, or take the reading out; look at its units.",
                )
