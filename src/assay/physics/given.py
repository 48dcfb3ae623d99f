"""What a declaration was given, read strictly: names, tables and numbers."""

import math
import numbers
import unicodedata
from typing import Any

import numpy as np

from assay.errors import DataError, StudyError, did_you_mean


def plain_name(name: Any, what: str) -> str:
    r"""Return a name as Python spells it in ``d.name``.

    Python writes the micro sign of a keyboard as the Greek letter, and so must the declaration.

    Raises
    ------
    StudyError
        If it is not text.

    Examples
    --------
    >>> plain_name("\N{MICRO SIGN}", "A parameter") == "\N{GREEK SMALL LETTER MU}"
    True
    """
    if not isinstance(name, str):
        raise StudyError(f"{what} must be named by a text, got {name!r}.", hint="For example 'u'.")
    return unicodedata.normalize("NFKC", name)


def plain_names(names: Any, what: str) -> tuple[str, ...]:
    """Return one name or several as a tuple.

    Raises
    ------
    StudyError
        If they are neither a text nor several.
    """
    if isinstance(names, str):
        names = (names,)
    if not isinstance(names, list | tuple):
        raise StudyError(
            f"{what} must be a name or a tuple of names, got {names!r}.", hint="('u', 'v')"
        )
    return tuple(plain_name(name, what) for name in names)


def named_table(table: Any, what: str, example: str) -> dict[str, Any]:
    """Return a dictionary with plain names.

    Raises
    ------
    StudyError
        If it is none, or two of its names are one to Python.
    """
    if not isinstance(table, dict):
        raise StudyError(
            f"{what} must be a dictionary by name, got {_short(table)}.",
            hint=f"For example {example}.",
        )
    found = {}
    for name, value in table.items():
        plain = name if not isinstance(name, str) else plain_name(name, what)
        if plain in found:
            raise StudyError(f"{what} has {name!r} twice.", hint="Python writes both alike.")
        found[plain] = value
    return found


def checked_units(units: Any, names: tuple[str, ...]) -> dict[str, str]:
    """Return the units by name.

    Raises
    ------
    StudyError
        For a unit of what is not there, or one that is no text.
    """
    units = named_table(units, "`units`", "{'t': 's', 'u': 'm'}")
    for name, unit in units.items():
        if name not in names:
            raise StudyError(
                f"`units` has {name!r}, which is no variable, field or parameter.",
                hint=did_you_mean(str(name), names),
            )
        if not isinstance(unit, str):
            raise StudyError(f"The unit of {name!r} must be a text, got {unit!r}.", hint="'m/s'")
    return units


def is_number(value: Any) -> bool:
    """Return whether a value is one real, finite number; True and False are none."""
    if isinstance(value, bool | np.bool_):
        return False
    try:
        if not isinstance(value, numbers.Real):
            array = np.asarray(value)
            if array.shape or array.dtype.kind not in "iuf":
                return False
        return math.isfinite(value)
    except (TypeError, ValueError, OverflowError):
        return False


def real_numbers(values: Any, what: str) -> np.ndarray:
    """Return numbers as an own array of float64, of the shape they have.

    Raises
    ------
    DataError
        For anything that has no such array: texts, dates, complex numbers, masked places, rows of
        different lengths.

    Examples
    --------
    >>> real_numbers([1, 2], "Readings").tolist()
    [1.0, 2.0]
    """
    hidden = np.ma.getmaskarray(values) if np.ma.isMaskedArray(values) else None
    if hidden is not None and hidden.any():
        row = int(np.argmax(hidden.ravel()))
        raise DataError(
            f"{what}: reading {row} is masked, and must be a number.",
            hint="Take missing readings out: keep = ~values.mask.",
        )
    try:
        raw = np.asarray(values)
        kind, array = raw.dtype.kind, None
        if kind in "biuf" or (kind == "O" and not any(isinstance(v, str) for v in raw.ravel())):
            array = np.array(raw, np.float64)
    except (TypeError, ValueError, OverflowError):
        array = None
    if array is None:
        raise DataError(
            f"{what} must be real numbers, got {_short(values)}.",
            hint="Pass a flat array of floats; split complex readings into two fields.",
        )
    return array


def _short(value):
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."
