"""Which columns of a source are inputs, outputs, the group; and what they lie along."""

import dataclasses
import re

import numpy as np

from assay.data.chars import listed
from assay.errors import DataError, StudyError
from assay.surrogate.naming import matching, numbers_in
from assay.surrogate.runs import Reading
from assay.surrogate.sources import Source

_GENERATED = re.compile(r"^(x\d*|column_\d+)$")


def find(source: Source, wanted, what: str, *, missing_ok: bool = False) -> list[int]:
    """Return positions; a variable of many columns counts by its own name too."""
    found: list[int] = []
    for want in wanted:
        if want in source.variables:
            found += source.variables[want]
            continue
        try:
            found += matching(
                (want,), source.raw.names, aliases=source.raw.aliases, what=what,
                source=source.raw.source,
            )  # fmt: skip
        except StudyError:
            if not missing_ok:
                raise
    return list(dict.fromkeys(found))


def group_of(source: Source, reading: Reading, *, missing_ok: bool = False) -> int | None:
    """Return the position of the column that says which runs belong together."""
    if reading.group is None:
        return None
    found = find(source, (reading.group,), "group", missing_ok=missing_ok)
    if len(found) > 1:
        raise StudyError(
            f"The group must be one column, '{reading.group}' fits {len(found)}.",
            hint="Name the column that says which runs belong together.",
        )
    return found[0] if found else None


def require_in_either(first: Source, second: Source, reading: Reading) -> None:
    """Raise StudyError where a column to leave out, or the group, is in neither source."""
    asked = [(name, "column to leave out") for name in reading.drop]
    asked += [(reading.group, "group")] if reading.group is not None else []
    for name, what in asked:
        if not find(second, (name,), what, missing_ok=True):
            find(first, (name,), what)


def require_apart(names, inputs, outputs, drop, group, shown) -> None:
    """Refuse a column with two roles."""
    roles = {"an output": set(outputs), "left out": set(drop), "the group": {group} - {None}}
    if inputs is not None:
        roles["an input"] = set(inputs)
    told = list(roles.items())
    for i, (role, these) in enumerate(told):
        for other, those in told[i + 1 :]:
            both = sorted(these & those)
            if both:
                raise StudyError(
                    f"'{shown}': {listed(names[k] for k in both)} would be {role} and {other}.",
                    hint="Give every column one role; a narrower pattern may be enough.",
                )


def place_of(table, name: str, what: str, shown: str) -> int:
    """Return where a column is in the table; one of text or without values is not there."""
    if name not in table.columns:
        raise DataError(
            f"'{shown}': the {what} '{name}' holds no numbers.",
            hint="Numbers are needed in every input and output; code a category as numbers.",
        )
    return table.columns.index(name)


def coordinate_of(source: Source, outputs: list[int]) -> tuple[np.ndarray | None, str]:
    """Return where the outputs lie along a series, from their variable or from their names."""
    for name, (at, called) in source.coordinates.items():
        if set(outputs) <= set(source.variables.get(name, ())) and len(outputs) > 1:
            first = source.variables[name][0]
            return at[[k - first for k in outputs]], called
    if any(set(outputs) & set(columns) for columns in source.variables.values()):
        return None, ""
    found = numbers_in([source.raw.names[k] for k in outputs])
    units = {source.raw.units[k] for k in outputs}
    return found if found is not None and len(units) == 1 else (None, "")


def called_y(source: Source) -> Source:
    """Give outputs that came without names (x0, x1, ...) names of their own."""
    raw = source.raw
    if source.variables or not all(_GENERATED.match(name) for name in raw.names):
        return source
    names = ("y",) if len(raw.names) == 1 else tuple(f"y{k}" for k in range(len(raw.names)))
    return dataclasses.replace(source, raw=dataclasses.replace(raw, names=names, aliases=names))


def repeated_keys(first: Source, second: Source, sides) -> list[int]:
    """Return the columns of the second source that repeat the first: keys, and no outputs."""
    found = []
    for k, name in enumerate(second.raw.names):
        if name not in first.raw.names or k in sides[1][1] or k == sides[1][2]:
            continue
        chosen = sides[1][0]
        if chosen is not None and k not in chosen:
            continue
        j = first.raw.names.index(name)
        (a,), (b,) = first.raw.read([j]), second.raw.read([k])
        if a.equals(b, null_equal=True):
            found.append(k)
            continue
        raise DataError(
            f"'{first.raw.source}' and '{second.raw.source}' both have a column '{name}', with "
            "different values: the rows do not belong together, or two things share a name.",
            hint="Put the runs in the same order, or give the output another name.",
        )
    return found
