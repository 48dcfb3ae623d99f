"""What holds besides the equation: at the start, on the boundary, where something was measured."""

import dataclasses
import inspect
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from assay.errors import DataError, StudyError
from assay.physics.given import is_number, named_table, plain_name, plain_names, real_numbers


@dataclasses.dataclass(frozen=True)
class Initial:
    """The value of a field (or of a derivative in time) at the start of time.

    Parameters
    ----------
    name : str
        ``"u"`` or, for equations of second order, ``"u_t"``.
    value : float or function
        A number, or a function of the other variables by name, ``lambda x: jnp.sin(x)``: scalars
        in, a scalar out, written with `jax.numpy`.

    Examples
    --------
    >>> Initial("u", 1.0).name
    'u'
    """

    name: str
    value: Any = 0.0

    def __post_init__(self):
        _name(self, "name", "What an initial condition is for")


@dataclasses.dataclass(frozen=True)
class Boundary:
    """The value of a field (Dirichlet) or of a derivative (Neumann) on a face of the box.

    Parameters
    ----------
    name : str
        ``"u"``, or a derivative such as ``"u_x"``.
    along : str
        The variable that is fixed on the face.
    value : float or function
        A number, or a function of the other variables by name.
    side : {"both", "low", "high"} or float
        Which end of the variable; or a place inside the box.

    Examples
    --------
    >>> Boundary("u_x", "x", 0.0, side="high").side
    'high'
    """

    name: str
    along: str
    value: Any = 0.0
    side: Any = "both"

    def __post_init__(self):
        _name(self, "name", "What a boundary condition is for")
        _name(self, "along", "The variable of a boundary condition")


@dataclasses.dataclass(frozen=True)
class Periodic:
    """The fields, and their derivatives across, are equal at both ends of a variable.

    Networks are periodic by construction, or by terms of the loss with ``conditions="soft"``.
    """

    along: str

    def __post_init__(self):
        _name(self, "along", "A periodic variable")


@dataclasses.dataclass(frozen=True)
class Face:
    """Any equation on a face: ``Face(lambda d: d.u_x + 3.0 * d.u, "x", side="high")`` (Robin)."""

    equation: Callable
    along: str
    side: Any = "both"

    def __post_init__(self):
        _name(self, "along", "The variable of a face")


@dataclasses.dataclass(frozen=True, eq=False)
class Measured:
    """Readings of a field.

    Parameters
    ----------
    name : str
        The field (or derivative) that was measured.
    at : dict of str to array of shape (n,)
        Where: one array a variable of the problem.
    values : array of shape (n,) [unit of the field]
        Kept as a copy.
    sigma : float > 0 [unit of the field], optional
        Standard deviation of the noise; without it the noise is estimated from the misfit.

    Raises
    ------
    DataError
        For anything but real, finite numbers, one at each place.

    Examples
    --------
    >>> Measured("u", {"t": [0.5, 1.0]}, [0.2, 0.1], sigma=0.01).values.tolist()
    [0.2, 0.1]
    """

    name: str
    at: dict[str, Any]
    values: Any
    sigma: float | None = None

    def __post_init__(self):
        _name(self, "name", "What was measured")
        of = f"Readings of {self.name}"
        values = real_numbers(self.values, f"{of}: 'values'")
        at = named_table(self.at, f"{of}: `at`", "{'t': times}")
        at = {name: real_numbers(places, f"{of}: {name!r}") for name, places in at.items()}
        for name, array in {"values": values, **at}.items():
            if array.ndim != 1 or len(array) != len(values) or not len(array):
                raise DataError(
                    f"Readings of {self.name}: {name!r} has shape {array.shape}; one number for "
                    f"each of the {values.size} readings is needed.",
                    hint="Pass flat arrays of equal length, one for each variable.",
                )
            if not np.isfinite(array).all():
                row = int(np.argmax(~np.isfinite(array)))
                raise DataError(
                    f"Readings of {self.name}: {name!r} is not finite at reading {row}.",
                    hint="Take missing readings out.",
                )
        sigma = self.sigma
        if sigma is not None and not (is_number(sigma) and sigma > 0):
            raise DataError(
                f"Readings of {self.name}: `sigma` must be above 0, got {sigma!r}.",
                hint="Give the standard deviation of one reading, or leave it out.",
            )
        for array in (values, *at.values()):
            array.setflags(write=False)  # two methods get the same readings
        object.__setattr__(self, "values", values)
        object.__setattr__(self, "at", at)


@dataclasses.dataclass(frozen=True)
class Unknown:
    """A parameter to be found: its range before anything was measured, and where to start.

    Parameters
    ----------
    low, high : float
        The true value lies between them.
    start : float, optional
        By default the middle (the geometric one with ``scale="log"``).
    scale : {"log", "linear"}
        How it is searched; "log" needs ``low > 0``.

    Examples
    --------
    >>> Unknown(0.01, 1.0).start
    0.1
    """

    low: float
    high: float
    start: float | None = None
    scale: str = "log"

    def __post_init__(self):
        if self.scale not in ("log", "linear"):
            raise StudyError(
                f"The scale of an unknown must be 'log' or 'linear', got {self.scale!r}.",
                hint="'log' for what is positive and known to a factor only.",
            )
        for part in ("low", "high", *(() if self.start is None else ("start",))):
            if not is_number(getattr(self, part)):
                raise StudyError(
                    f"`{part}` of an unknown must be a finite number, got {getattr(self, part)!r}.",
                    hint="Unknown(0.01, 1.0): the range that holds the true value.",
                )
        if not self.low < self.high:
            raise StudyError(
                f"The range of an unknown must rise, got {self.low!r} to {self.high!r}.",
                hint="Give low < high, both finite.",
            )
        if self.scale == "log" and self.low <= 0:
            raise StudyError(
                f"An unknown on a log scale must be positive, its range starts at {self.low!r}.",
                hint="Raise `low`, or use scale='linear'.",
            )
        if self.start is None:
            object.__setattr__(self, "start", self._middle())
        if not self.low <= self.start <= self.high:
            raise StudyError(
                f"An unknown starts at {self.start!r}, outside {self.low!r} to {self.high!r}.",
                hint="Start inside the range.",
            )

    def _middle(self):
        """Return the middle of the range, also where a product or a sum of its ends overflows."""
        low, high = float(self.low), float(self.high)
        if self.scale == "linear":
            middle = (low + high) / 2
            return middle if math.isfinite(middle) else low / 2 + high / 2
        middle = math.sqrt(low * high)
        return middle if 0 < middle < math.inf else math.sqrt(low) * math.sqrt(high)


@dataclasses.dataclass(frozen=True)
class UnknownField:
    """A coefficient that varies and is to be found, as a function of some variables.

    Parameters
    ----------
    of : tuple of str
        The variables it depends on.
    low, high : float
        Range of its values.
    scale : {"log", "linear"}
    """

    of: tuple[str, ...]
    low: float
    high: float
    scale: str = "linear"

    def __post_init__(self):
        object.__setattr__(self, "of", plain_names(self.of, "`of` of an UnknownField"))
        if not self.of or len(set(self.of)) < len(self.of):
            raise StudyError(
                f"`of` of an UnknownField must name each of its variables once, got {self.of!r}.",
                hint="UnknownField('x', 0.1, 1.0); a coefficient that does not vary is an Unknown.",
            )
        Unknown(self.low, self.high, scale=self.scale)


def arguments(value: Callable, allowed: tuple[str, ...], what: str) -> tuple[str, ...]:
    """Return the variables that a function takes, or say which it must not."""
    try:
        names = tuple(inspect.signature(value).parameters)
    except (TypeError, ValueError) as error:
        raise StudyError(
            f"The value of {what} is a function that does not say what it takes: {value!r}.",
            hint="Wrap it: lambda x: f(x).",
        ) from error
    for name in names:
        if name not in allowed:
            raise StudyError(
                f"The value of {what} is a function of {name!r}; it may depend on "
                f"{', '.join(allowed) or 'nothing'}.",
                hint="Name its arguments like the variables: lambda x: ...",
            )
    return names


def _name(condition, part, what):
    object.__setattr__(condition, part, plain_name(getattr(condition, part), what))
