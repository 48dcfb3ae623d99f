"""An evolution equation on points in space: a system of ordinary equations in time."""

import dataclasses
from typing import Any

import numpy as np

from assay.errors import StudyError
from assay.physics.axes import Axis
from assay.physics.end_points import differentiated, filler
from assay.physics.explicit import Unsuited, compiled, for_highest, is_affine, leading_keys

CHUNK = 128


@dataclasses.dataclass(frozen=True, eq=False)
class Layout:
    """Which values are marched, and which follow from the conditions on the faces.

    Attributes
    ----------
    time, spaces : str, tuple of str
    leading : tuple of Key
        The highest time derivative of each field.
    ends : dict of (variable, field) to (int, int)
        How many points at the low and the high end follow from the conditions there.
    faces : dict of variable to tuple of Bound
    closed : tuple of str
        Periodic variables whose ring is closed by conditions, not by the points.
    affine : bool
        Whether one Newton step solves for the highest derivatives.
    """

    time: str
    spaces: tuple[str, ...]
    leading: tuple
    ends: dict
    faces: dict
    closed: tuple[str, ...]
    affine: bool


def layout_of(problem: Any, closed: tuple[str, ...]) -> Layout:
    """Return the layout of an evolution problem.

    Raises
    ------
    StudyError
        For what the method of lines does not take; says what it takes.
    """
    time = problem.time
    spaces = tuple(name for name in problem.box if name != time)
    leading = leading_keys(problem, time)
    if max(max(orders) for _, orders in leading) > 2:
        raise Unsuited(
            "The equation has a third derivative in time.",
            hint="The method of lines takes first and second; write the equation as a system.",
        )
    faces = {name: [] for name in spaces}
    for face in problem.faces:
        if face.along == time:
            if face.end != "low":
                raise Unsuited(
                    f"{face.label} is no initial condition.",
                    hint="An evolution is marched from its start: give Initial conditions only.",
                )
            continue
        if face.end == "inside":
            raise Unsuited(
                f"{face.label} lies inside the box.",
                hint="The method of lines takes conditions on faces; solve two boxes.",
            )
        _require_normal(face, problem)
        faces[face.along].append(face)
    ends = {}
    for name in spaces:
        place = problem.space.variables.index(name)
        for field in problem.fields:
            counted = [0, 0]
            for face in faces[name]:
                if _owner(face, place) == field:
                    counted[face.end == "high"] += 1
            half = problem.highest(field, name) // 2
            ends[name, field] = (half, half) if name in closed else tuple(counted)
    affine = compiled(problem, "affine in time", lambda: is_affine(problem, leading))
    faces = {name: tuple(found) for name, found in faces.items()}
    return Layout(time, spaces, leading, ends, faces, closed, affine)


def _owner(face, place):
    """Return the field that a condition determines at its end: the one most differentiated."""
    return max(face.keys, key=lambda key: key[1][place])[0]


def _require_normal(face, problem):
    place = problem.space.variables.index(face.along)
    for key in face.keys:
        if sum(key[1]) != key[1][place]:
            raise Unsuited(
                f"{face.label} contains {problem.space.name(key)}.",
                hint="The method of lines takes the value and derivatives across a face only.",
            )


class System:
    """The equation on the points of `axes`, with compiled right-hand side.

    State vectors hold, point by point (last variable fastest), each field and its first time
    derivative where the equation is of second order.
    """

    def __init__(self, problem: Any, layout: Layout, axes: tuple[Axis, ...]):
        self.problem, self.layout, self.axes = problem, layout, axes
        self.shape = tuple(len(axis.nodes) for axis in axes)
        self.entries = [
            (field, order) for field, orders in layout.leading for order in range(max(orders))
        ]
        self.free = [self._free(field) for field, _ in self.entries]
        rows = [np.flatnonzero(free.ravel()) for free in self.free]
        place = np.concatenate(rows)
        entry = np.repeat(np.arange(len(rows)), [len(r) for r in rows])
        order = np.lexsort((entry, place))  # point by point, so that differences give a band
        self.place, self.entry = place[order], entry[order]

    @property
    def size(self) -> int:
        """Number of values that are marched."""
        return len(self.place)

    @property
    def band(self) -> int | None:
        """Width of the band of the Jacobian to one side; None where it is no band."""
        if len(self.axes) > 1 or self.axes[0].is_dense or self.layout.closed:
            return None
        return min(self.size - 1, 8 * len(self.entries))

    def _free(self, field):
        free = np.ones(self.shape, bool)
        for i, name in enumerate(self.layout.spaces):
            low, high = self.layout.ends[name, field]
            lines = np.moveaxis(free, i, 0)
            lines[:low] = False
            lines[lines.shape[0] - high :] = False
        return free

    def start(self) -> np.ndarray:
        """Return the state at the start, shape (size,).

        Raises
        ------
        StudyError
            If a start value is missing, or one more is given than the equation can take.
        """
        layout, problem = self.layout, self.problem
        given = {}
        for face in problem.faces:
            if face.along == layout.time:
                place = problem.space.variables.index(layout.time)
                orders = face.keys[0][1]
                if face.name is None or sum(orders) != orders[place]:
                    raise StudyError(
                        f"{face.label} is not of the form: a field or its derivative in time.",
                        hint='Initial("u", lambda x: ...)',
                    )
                given[face.keys[0][0], orders[place]] = face
        state = np.empty(self.size)
        for i, (field, order) in enumerate(self.entries):
            if (field, order) not in given:
                name = field + "_" * bool(order) + layout.time * order
                raise StudyError(
                    f"The start does not say {name} at {layout.time} = "
                    f"{problem.box[layout.time][0]:g}.",
                    hint=f'Initial("{name}", ...)',
                )
            mine = self.entry == i
            state[mine] = self._on_grid(given[field, order])[self.place[mine]]
        extra = sorted(set(given) - set(self.entries))
        if extra:
            raise StudyError(
                f"The start says a derivative in time of {extra[0][0]!r} (order {extra[0][1]}) "
                "that the equation determines itself.",
                hint="Take this condition out.",
            )
        return state

    def start_on_grid(self) -> np.ndarray:
        """Return the declared start of each field on all points: (*shape, n_fields)."""
        faces = {f.name: f for f in self.problem.faces if f.along == self.layout.time}
        found = [self._on_grid(faces[field]).reshape(self.shape) for field in self.problem.fields]
        return np.stack(found, axis=-1)

    def _on_grid(self, face):
        import jax

        grids = np.meshgrid(*[axis.nodes for axis in self.axes], indexing="ij")
        place = {n: g.ravel() for n, g in zip(self.layout.spaces, grids, strict=True)}

        def build():
            return jax.jit(jax.vmap(lambda at: face.value(at) + 0.0 * sum(at.values())))

        return np.asarray(compiled(self.problem, ("start", face.label), build)(place), float)

    def compiled(self) -> tuple:
        """Return jitted (slope, fields): of (t, state, parameters); the second gives the grid."""
        kinds = tuple(axis.kind for axis in self.axes)

        def build():
            import jax

            slope, fields = _programs(self.problem, self.layout, self.entries)
            return jax.jit(slope), jax.jit(jax.vmap(fields, in_axes=(0, 0, None, None)))

        slope, fields = compiled(self.problem, ("lines", kinds, self.layout.closed), build)
        grid = self._grid()
        return (
            lambda t, y, parameters: np.asarray(slope(t, y, parameters, grid)),
            lambda t, y, parameters: _by_chunks(fields, t, y, parameters, grid),
        )

    def _grid(self):
        """Return all arrays that the programs need, on the device once."""
        import jax
        import jax.numpy as jnp

        grid = {
            "nodes": tuple(axis.nodes for axis in self.axes),
            "operators": tuple(axis.operators for axis in self.axes),
            "where": tuple(self.place[self.entry == i] for i in range(len(self.entries))),
            "rows": tuple(np.flatnonzero(self.entry == i) for i in range(len(self.entries))),
            "order": np.argsort(
                np.concatenate([np.flatnonzero(self.entry == i) for i in range(len(self.entries))])
            ),
        }
        return jax.tree.map(jnp.asarray, grid)


def _by_chunks(fields, times, states, parameters, grid):
    """Return fields at many times, in pieces of one size: one compiled program for all."""
    found = []
    for start in range(0, len(times), CHUNK):
        rows = np.minimum(np.arange(start, start + CHUNK), len(times) - 1)
        found.append(np.asarray(fields(times[rows], states[rows], parameters, grid)))
    return np.concatenate(found)[: len(times)]


def _programs(problem, layout, entries):
    """Return slope(t, state, parameters, grid) and fields(t, state, parameters, grid)."""
    import jax
    import jax.numpy as jnp

    space, time_place = problem.space, problem.space.variables.index(layout.time)
    top_of = for_highest(problem, layout.leading, affine=layout.affine)
    needs_rate = any(
        key[1][time_place] and sum(key[1]) > key[1][time_place] for key in problem.keys
    )
    fill = filler(problem, layout)

    def spread(state, grid, order):
        """Put the entries of one order in time onto the grid, zero where they do not reach."""
        shape = tuple(len(nodes) for nodes in grid["nodes"])
        whole = {}
        for i, (field, k) in enumerate(entries):
            if k == order:
                flat = jnp.zeros(np.prod(shape)).at[grid["where"][i]].set(state[grid["rows"][i]])
                whole[field] = flat.reshape(shape)
        return whole

    def fields(t, state, parameters, grid):
        filled = fill(spread(state, grid, 0), t, parameters, grid)
        return jnp.stack([filled[field] for field in problem.fields], axis=-1)

    def slope(t, state, parameters, grid):
        values = {0: fill(spread(state, grid, 0), t, parameters, grid), 1: spread(state, grid, 1)}
        if needs_rate and values[1]:
            still = {f: values[1].get(f, jnp.zeros_like(v)) for f, v in values[0].items()}
            _, values[1] = jax.jvp(
                lambda v, s: fill(v, s, parameters, grid),
                (spread(state, grid, 0), t),
                (still, jnp.ones_like(t)),
            )
        lower = {}
        for key in problem.keys:
            if key in layout.leading:
                continue
            found = values[key[1][time_place]][key[0]]
            for i, name in enumerate(layout.spaces):
                order = key[1][space.variables.index(name)]
                if order:
                    found = differentiated(grid["operators"][i][order], found, i)
            lower[key] = found.ravel()
        grids = jnp.meshgrid(*grid["nodes"], indexing="ij")
        place = {n: g.ravel() for n, g in zip(layout.spaces, grids, strict=True)}
        top = jax.vmap(lambda low, at: top_of(low, {**at, layout.time: t}, parameters))(
            lower, place
        )
        parts = []
        for i, (field, order) in enumerate(entries):
            if (field, order + 1) in entries:
                parts.append(values[order + 1][field].ravel()[grid["where"][i]])
            else:
                parts.append(top[:, problem.fields.index(field)][grid["where"][i]])
        return jnp.concatenate(parts)[grid["order"]]

    return slope, fields
