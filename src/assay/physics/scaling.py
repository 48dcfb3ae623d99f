"""Non-dimensionalisation: sizes of fields, lengths, and of the terms of each equation.

Nothing of the problem is rewritten. The network sees the box as [-1, 1] and gives numbers of order
1, and each residual is divided by the size of its largest term, which for an oscillator is the same
as measuring time in units of one over its frequency.
"""

import dataclasses
import functools
from typing import Any

import numpy as np

from assay.errors import StudyError

DRAWS = 200


@dataclasses.dataclass(frozen=True)
class Scales:
    """Sizes, all positive.

    Attributes
    ----------
    fields : dict of str to float [units of the fields]
    lengths : dict of str to float [units of the variables]
        Natural ones: where the highest derivative is as large as the largest lower term; at most
        half the box.
    residuals : tuple of float [units of the equations]
        What each is divided by.
    terms : tuple of dict of str to float
        For each equation the size of each term, as declared: ``{"u_tt": 1.0, "u": 39.5}``; "1" is
        the part without a field.
    conditions : dict of str to float
        By the label of a condition: what it is divided by.
    scaled : bool
        False: all are 1, the raw units.
    """

    fields: dict[str, float]
    lengths: dict[str, float]
    residuals: tuple[float, ...]
    terms: tuple[dict[str, float], ...]
    conditions: dict[str, float]
    scaled: bool = True

    @property
    def terms_after(self) -> tuple[dict[str, float], ...]:
        """The sizes of the terms after scaling: the largest is 1."""
        pairs = zip(self.terms, self.residuals, strict=True)
        return tuple({k: v / size for k, v in terms.items()} for terms, size in pairs)

    def rows(self) -> list[dict[str, Any]]:
        """Return one row a term for the report: equation, term, before, after."""
        return [
            {"equation": i + 1, "term": name, "before": size, "after": size / self.residuals[i]}
            for i, terms in enumerate(self.terms)
            for name, size in terms.items()
        ]


def scales_of(problem, kind: str = "auto", *, seed: int = 0) -> Scales:
    """Work out the sizes of a problem from its declaration and readings.

    Parameters
    ----------
    problem : Problem
    kind : {"auto", "none"}
        "none" keeps the raw units; the terms are listed all the same.
    seed : int
        Of the points where the terms are looked at.

    Raises
    ------
    StudyError
        If a coefficient is not finite in the box.

    Examples
    --------
    >>> from assay.physics import Initial, Problem
    >>> swing = Problem(lambda d: d.u_tt + 100.0 * d.u, {"t": (0.0, 4.0)},
    ...     conditions=(Initial("u", 1.0), Initial("u_t", 0.0)))
    >>> round(scales_of(swing).lengths["t"], 6)  # one over the frequency 10
    0.1
    """
    if kind not in ("auto", "none"):
        raise StudyError(f"`scaling` must be 'auto' or 'none', got {kind!r}.", hint="'auto'")
    return _scales_of(problem, kind, seed)


@functools.lru_cache(maxsize=64)  # a problem does not change, and its equation is compiled for this
def _scales_of(problem, kind, seed):
    rng = np.random.default_rng(seed)
    half = {name: (high - low) / 2 for name, (low, high) in problem.box.items()}
    every = (*problem.faces, *problem.joints)
    fields = _from_conditions(problem, half, rng)
    look = _looker(problem)
    slopes, sources = _slopes(problem, fields, half, rng, look)
    fields = _with_sources(problem, fields, half, slopes, sources)
    slopes, sources = _slopes(problem, fields, half, rng, look)
    terms = _terms(problem, fields, half, slopes, sources)
    lengths = _lengths(problem, fields, half, slopes, terms)
    sizes = tuple(max(found.values(), default=1.0) or 1.0 for found in terms)
    names = {key: problem.space.name(key) for key in problem.keys}
    named = tuple({names.get(k, k): v for k, v in found.items() if v > 0} for found in terms)
    if kind == "none":
        return Scales(
            fields={name: 1.0 for name in problem.fields}, lengths=lengths,
            residuals=(1.0,) * len(sizes), terms=named,
            conditions=dict.fromkeys((face.label for face in every), 1.0), scaled=False,
        )  # fmt: skip
    return Scales(
        fields=fields, lengths=lengths, residuals=sizes, terms=named,
        conditions={f.label: _condition(problem, f, fields, lengths, half) for f in every},
    )  # fmt: skip


def _from_conditions(problem, half, rng):
    """Return the largest value that is prescribed or was read, for each field; 0 for none."""
    found = dict.fromkeys(problem.fields, 0.0)
    for face in problem.faces:
        if face.value is None:
            continue
        field, orders = face.keys[0]
        if field not in found:
            continue
        values = [abs(float(face.value(_place(problem, rng)))) for _ in range(DRAWS)]
        reach = np.prod([half[v] ** n for v, n in zip(problem.box, orders, strict=True)])
        found[field] = max(found[field], float(max(values) * reach))
    for reading in problem.readings:
        field, orders = problem.space.key(reading.name)
        if field in found and not any(orders):
            found[field] = max(found[field], float(np.max(np.abs(reading.values))))
    return found


def _place(problem, rng):
    return {name: rng.uniform(low, high) for name, (low, high) in problem.box.items()}


def _slopes(problem, fields, half, rng, look):
    """Return rms of d(equation)/d(key), (n_equations, n_keys), and of the source, where typical.

    A field of which nothing is known yet counts as 1.
    """
    import jax

    keys = problem.keys
    middle = {
        name: (c.low + c.high) / 2 if c.scale == "linear" else np.sqrt(c.low * c.high)
        for name, c in problem.coefficients.items()
    }
    sizes = np.array([_key_size(problem, key, {**fields, **middle}, half) for key in keys])
    sign = rng.uniform(-1.0, 1.0, (DRAWS, len(keys)))
    plain = [key[0] in middle for key in keys]
    values = np.where(plain, np.abs(sizes), sign * sizes)
    places = {k: np.array([_place(problem, rng)[k] for _ in range(DRAWS)]) for k in problem.box}

    with jax.enable_x64(True):  # noqa: FBT003
        slope, source = look(values, places)
    slope, source = np.asarray(slope), np.asarray(source)
    # A root of a field is undefined at half of the values tried: the others tell its size. Where
    # the equation is undefined in the box itself, the fit names the place.
    fine = np.isfinite(slope).all(axis=(1, 2)) & np.isfinite(source).all(axis=1)
    if not fine.any():
        raise StudyError(
            "The equation is not finite anywhere in the box at fields of ordinary size.",
            hint="Look for a division by zero or a root of a negative number; move the box.",
        )
    slope, source = slope[fine], source[fine]
    return np.sqrt(np.mean(slope**2, axis=0)), np.sqrt(np.mean(source**2, axis=0))


def _looker(problem):
    """Return a compiled function of values and places: slopes of the equation, and its source."""
    import jax
    import jax.numpy as jnp

    keys = problem.keys
    plain = np.array([key[0] in problem.coefficients for key in keys])

    def residual(numbers, place):
        return problem.residual(dict(zip(keys, numbers, strict=True)), place, problem.known)

    def both(numbers, place):
        # Only the fields are set to zero: a coefficient keeps its value.
        empty = jnp.where(plain, numbers, 0.0)
        return jax.jacfwd(residual)(numbers, place), residual(empty, place)

    return jax.jit(jax.vmap(both))


def _key_size(problem, key, fields, lengths):
    field, orders = key
    size = fields[field] or 1.0
    return size / np.prod([lengths[v] ** n for v, n in zip(problem.box, orders, strict=True)])


def _with_sources(problem, fields, half, slopes, sources):
    """Let a source set the size of a field: as large as balances the largest term of it."""
    out = dict(fields)
    for field in problem.fields:
        for i, source in enumerate(sources):
            rates = [
                slopes[i, j] / np.prod([half[v] ** n for v, n in zip(problem.box, o, strict=True)])
                for j, (name, o) in enumerate(problem.keys)
                if name == field
            ]
            if source > 0 and max(rates, default=0.0) > 0:
                out[field] = max(out[field], float(source / max(rates)))
    return {name: size or 1.0 for name, size in out.items()}


def _terms(problem, fields, lengths, slopes, sources):
    found = []
    for i, source in enumerate(sources):
        sizes = {
            key: float(slopes[i, j] * _key_size(problem, key, fields, lengths))
            for j, key in enumerate(problem.keys)
            if key[0] in fields
        }
        found.append(sizes | {"1": float(source)})
    return found


def _lengths(problem, fields, half, slopes, terms):
    """Balance the highest derivative in each variable with the largest term of lower order."""
    lengths = dict(half)
    for place, variable in enumerate(problem.box):
        for sizes in terms:
            orders = {key: key[1][place] for key in sizes if key != "1"}
            top = max(orders.values(), default=0)
            if not top:
                continue
            highest = max(sizes[key] for key, order in orders.items() if order == top)
            lower = max((v for k, v in sizes.items() if orders.get(k, 0) < top), default=0.0)
            if highest > 0 and lower > 0:
                natural = half[variable] * (highest / lower) ** (1.0 / top)
                lengths[variable] = min(lengths[variable], float(natural))
    return lengths


def _condition(problem, face, fields, lengths, half):
    """Return the size of a condition: of its largest term, in natural units of time."""
    reach = {v: lengths[v] if v == problem.time or len(half) == 1 else half[v] for v in half}
    return float(
        max(_key_size(problem, key, fields, reach) for key in face.keys if key[0] in fields)
    )
