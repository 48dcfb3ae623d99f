"""The names of a problem: variables, fields and parameters, and what ``u_xx`` means."""

import dataclasses
import itertools
import unicodedata
from collections.abc import Iterable

from assay.errors import StudyError, did_you_mean

# A derivative: the field, and how often it is taken in each variable of the space, in their order.
Key = tuple[str, tuple[int, ...]]

MOST_VARIABLES = 3
HIGHEST_ORDER = 6
LONGEST_TAIL = 200  # letters after the underscore that are looked at


@dataclasses.dataclass(frozen=True)
class Space:
    """Which names a problem has.

    Attributes
    ----------
    variables : tuple of str
        Independent variables, in the order of the box.
    fields : tuple of str
        Dependent ones, unknown coefficient fields last.
    parameters : tuple of str

    Examples
    --------
    >>> Space(("t", "x"), ("u",), ("nu",)).key("u_xx")
    ('u', (0, 2))
    """

    variables: tuple[str, ...]
    fields: tuple[str, ...]
    parameters: tuple[str, ...] = ()

    def __post_init__(self):
        names = [*self.variables, *self.fields, *self.parameters]
        for name in names:
            if not isinstance(name, str) or not name.isidentifier() or name.startswith("_"):
                raise StudyError(
                    f"A name of the problem must be a Python identifier, got {name!r}.",
                    hint="Use names such as x, t, u, nu.",
                )
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise StudyError(
                f"The name {twice[0]!r} stands for two things in this problem.",
                hint="Variables, fields and parameters need names of their own.",
            )
        for name in (*self.variables, *self.fields):
            if "_" in name:
                raise StudyError(
                    f"The name {name!r} has an underscore, which marks derivatives.",
                    hint="Rename it; u_x is the derivative of u in x.",
                )
        if not 1 <= len(self.variables) <= MOST_VARIABLES:
            raise StudyError(
                f"A problem has one to {MOST_VARIABLES} variables, got {len(self.variables)}.",
                hint="Give the box as {'t': (0.0, 1.0), 'x': (-1.0, 1.0)}.",
            )
        if not self.fields:
            raise StudyError("A problem needs at least one field.", hint='fields=("u",)')
        self._require_readable()
        for name in self.parameters:
            if self._parsed(name) is not None:
                raise StudyError(
                    f"The parameter {name!r} reads as a derivative.", hint="Rename the parameter."
                )

    def key(self, name: str) -> Key | None:
        """Return the key of a field or derivative, None for a variable or parameter.

        Raises
        ------
        StudyError
            For a name that the problem does not have; says which it has.
        """
        name = unicodedata.normalize("NFKC", name)  # as Python does with d.name
        if name in self.variables or name in self.parameters:
            return None
        key = self._parsed(name)
        if key is None:
            known = [*self.fields, *self.variables, *self.parameters]
            known += [f"{f}_{v}" for f in self.fields for v in self.variables]
            raise StudyError(
                f"The problem has no {name!r}. {did_you_mean(name, known)}",
                hint="Fields, derivatives such as u_x and u_xt, variables and parameters: "
                + ", ".join(known)
                + ".",
            )
        if sum(key[1]) > HIGHEST_ORDER:
            raise StudyError(
                f"{name} is a derivative of order {sum(key[1])}; at most {HIGHEST_ORDER} is taken.",
                hint="Write the equation as a system with a field for a lower derivative.",
            )
        return key

    def name(self, key: Key) -> str:
        """Return how a derivative is written: ``u_xx``."""
        field, orders = key
        tail = "".join(v * n for v, n in zip(self.variables, orders, strict=True))
        return f"{field}_{tail}" if tail else field

    def plain(self, field: str) -> Key:
        """Return the key of a field itself."""
        return field, (0,) * len(self.variables)

    def _parsed(self, name: str) -> Key | None:
        field, _, tail = name.partition("_")
        if field not in self.fields or (name.endswith("_") or ("_" in name and not tail)):
            return None
        orders = self._orders(tail) if len(tail) <= LONGEST_TAIL else None
        return None if orders is None else (field, orders)

    def _orders(self, tail: str) -> tuple[int, ...] | None:
        """Return how often each variable is in the tail of a derivative, None if it is none."""
        if not tail:
            return (0,) * len(self.variables)
        for place, variable in enumerate(self.variables):
            if tail.startswith(variable):
                rest = self._orders(tail[len(variable) :])
                if rest is not None:
                    return tuple(n + (i == place) for i, n in enumerate(rest))
        return None

    def _require_readable(self):
        """Require that no derivative can be read in two ways, as u_tt with variables t and tt."""
        if len({len(name) for name in self.variables}) <= 1:
            return
        seen: dict[str, tuple] = {}
        for n in range(1, HIGHEST_ORDER + 1):
            for parts in itertools.product(self.variables, repeat=n):
                tail, read = "".join(parts), tuple(sorted(parts))
                if seen.setdefault(tail, read) != read:
                    raise StudyError(
                        f"With variables {', '.join(self.variables)} a derivative such as "
                        f"{self.fields[0]}_{tail} can be read in two ways.",
                        hint="Rename a variable; names of one letter are never ambiguous.",
                    )


class Point:
    """What an equation sees: the values of fields, derivatives, variables and parameters.

    All are scalars, so that nothing can broadcast. ``d.u_xt`` and ``d.u_tx`` are the same.
    """

    __slots__ = ("_derivatives", "_numbers", "_seen", "_space")

    def __init__(self, space: Space, derivatives: dict, numbers: dict, seen: set | None = None):
        self._space, self._derivatives = space, derivatives
        self._numbers, self._seen = numbers, seen

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        key = self._space.key(name)
        if self._seen is not None:
            self._seen.add(name if key is None else key)
        if key is None:
            return self._numbers[name]
        if key not in self._derivatives:
            if self._seen is None:
                raise StudyError(
                    f"{name} was not in the equation when the problem was declared.",
                    hint="The terms of an equation must not depend on the values.",
                )
            self._derivatives[key] = self._numbers[""]
        return self._derivatives[key]


def canonical(keys: Iterable[Key]) -> tuple[Key, ...]:
    """Return derivatives in one order: by field as given, then by order."""
    return tuple(sorted(set(keys), key=lambda key: (key[0], sum(key[1]), key[1])))
