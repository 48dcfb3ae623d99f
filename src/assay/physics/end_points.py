"""Values at the ends of a grid, from the conditions on the faces there."""

from collections.abc import Callable
from typing import Any

from assay.physics.explicit import solved
from assay.physics.space import Point

# Conditions that are not linear, such as radiation, take several steps of Newton's method.
FACE_NEWTON_STEPS = 8


def differentiated(operator: Any, values: Any, axis: int) -> Any:
    """Return values (a grid) differentiated along an axis, by matrix or stencil."""
    import jax.numpy as jnp

    lines = jnp.moveaxis(values, axis, -1)
    if isinstance(operator, tuple):
        index, weights = operator
        found = jnp.sum(lines[..., index] * weights, axis=-1)
    else:
        found = lines @ operator.T
    return jnp.moveaxis(found, -1, axis)


def filler(problem: Any, layout: Any) -> Callable:
    """Return a function that sets the points at the ends from the conditions on the faces.

    It takes (fields on the grid, t, parameters, arrays of the grid) and returns the fields.
    """

    def fill(whole, t, parameters, grid):
        for i, name in enumerate(layout.spaces):
            if any(sum(layout.ends[name, field]) for field in problem.fields):
                whole = _filled_along(problem, layout, whole, t, parameters, grid, i)
        return whole

    return fill


def _filled_along(problem, layout, whole, t, parameters, grid, axis):
    import jax
    import jax.numpy as jnp

    name = layout.spaces[axis]
    others = [n for n in layout.spaces if n != name]
    place_of = problem.space.variables.index(name)
    operators = grid["operators"][axis]
    count = len(grid["nodes"][axis])
    lines = {f: jnp.moveaxis(v, axis, -1).reshape(-1, count) for f, v in whole.items()}
    across = [grid["nodes"][layout.spaces.index(n)] for n in others]
    places = {
        n: g.ravel() for n, g in zip(others, jnp.meshgrid(*across, indexing="ij"), strict=True)
    }
    slots = [
        (field, row)
        for field in problem.fields
        for low, high in (layout.ends[name, field],)
        for row in (*range(low), *range(count - high, count))
    ]

    def derivative(line, key, end):
        operator, order = operators[key[1][place_of]], key[1][place_of]
        row = 0 if end == "low" else count - 1
        if order == 0:
            return line[key[0]][row]
        if isinstance(operator, tuple):
            return line[key[0]][operator[0][row]] @ operator[1][row]
        return operator[row] @ line[key[0]]

    def mismatch(ends, line, at):
        line = dict(line)
        for value, (field, row) in zip(ends, slots, strict=True):
            line[field] = line[field].at[row].set(value)
        found = []
        if name in layout.closed:
            for field in problem.fields:
                for order in range(2 * layout.ends[name, field][0]):
                    orders = [0] * len(problem.box)
                    orders[place_of] = order
                    key = (field, tuple(orders))
                    found.append(derivative(line, key, "low") - derivative(line, key, "high"))
        for face in layout.faces[name]:
            known = {key: derivative(line, key, face.end) for key in face.keys}
            numbers = {**at, layout.time: t, name: face.at, **parameters}
            found.append(face.equation(Point(problem.space, known, numbers)))
        return jnp.stack([jnp.asarray(f, float) for f in found]), line

    values_only = name not in layout.closed and all(
        face.name is not None and not any(face.keys[0][1]) for face in layout.faces[name]
    )

    def one(line, at):
        if values_only:
            line = dict(line)
            for face in layout.faces[name]:
                row = 0 if face.end == "low" else count - 1
                value = face.value({**at, layout.time: t})
                line[face.name] = line[face.name].at[row].set(value)
            return line
        ends = jnp.zeros(len(slots))
        plain = all(face.name is not None for face in layout.faces[name])
        for _ in range(1 if plain else FACE_NEWTON_STEPS):
            slope = jax.jacfwd(lambda e: mismatch(e, line, at)[0])(ends)
            ends = ends - solved(slope, mismatch(ends, line, at)[0])
        return mismatch(ends, line, at)[1]

    if others:
        lines = jax.vmap(one)(lines, places)
    else:
        lines = {f: v[None] for f, v in one({f: v[0] for f, v in lines.items()}, {}).items()}
    shape = tuple(len(n) for k, n in enumerate(grid["nodes"]) if k != axis)
    return {f: jnp.moveaxis(v.reshape(*shape, count), -1, axis) for f, v in lines.items()}
