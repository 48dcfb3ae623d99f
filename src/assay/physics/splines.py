"""Coefficients that vary, written with a few numbers: what a classical solver can find."""

import dataclasses
import itertools
import math
from typing import Any

import numpy as np

from assay.errors import StudyError
from assay.physics.conditions import Unknown, UnknownField
from assay.physics.residuals import from_share

NODES = (8, 5)  # along each variable, where a coefficient depends on one or on two


@dataclasses.dataclass(frozen=True)
class Spline:
    r"""A coefficient as a cubic spline with even knots.

    On the declared scale the coefficient is :math:`\sum_i c_i B_i(x)` with uniform cubic
    B-splines, which are positive and add up to 1, so that it stays within the range of its nodes.

    Parameters
    ----------
    name : str
    coefficient : UnknownField
    box : tuple of (low, high)
        Of the variables it depends on, in the order of ``coefficient.of``.

    Examples
    --------
    >>> spline = Spline("k", UnknownField(("x",), 0.0, 2.0), ((0.0, 1.0),))
    >>> spline.names[:2], len(spline.names)
    (('k_node0', 'k_node1'), 8)
    """

    name: str
    coefficient: UnknownField
    box: tuple[tuple[float, float], ...]

    @property
    def shape(self) -> tuple[int, ...]:
        """Nodes along each variable."""
        return (NODES[len(self.box) - 1],) * len(self.box)

    @property
    def names(self) -> tuple[str, ...]:
        """The unknown numbers, in order."""
        return tuple(f"{self.name}_node{i}" for i in range(math.prod(self.shape)))

    @property
    def unknown(self) -> dict[str, Unknown]:
        """The numbers as unknowns, each with the range of the coefficient."""
        c = self.coefficient
        return {name: Unknown(c.low, c.high, scale=c.scale) for name in self.names}

    def basis(self, place: tuple) -> Any:
        """Return the B-splines (n_nodes,) at a place: one number a variable, traced or not."""
        import jax.numpy as jnp

        whole = jnp.ones(1, dtype=float)
        place = [jnp.asarray(at, float) for at in place]
        for at, (low, high), n in zip(place, self.box, self.shape, strict=True):
            t = (at - low) / (high - low) * (n - 3) + 1.0 - jnp.arange(n, dtype=float)
            parts = [
                (-1) ** k * math.comb(4, k) * jnp.maximum(t + 2.0 - k, 0.0) ** 3 for k in range(5)
            ]
            # Far from its node the sum is rounding, and not a number that may act.
            near = jnp.where(jnp.abs(t) < 2.0, sum(parts) / 6.0, 0.0)
            whole = (whole[:, None] * near[None, :]).ravel()
        return whole

    def share(self, place: tuple, nodes: Any) -> Any:
        """Return the share of the range (0 to 1) at a place, from node values (n_nodes,)."""
        import jax.numpy as jnp

        c, nodes = self.coefficient, jnp.asarray(nodes, float)
        if c.scale == "log":
            low, high = math.log(c.low), math.log(c.high)
            shares = (jnp.log(nodes) - low) / (high - low)
        else:
            shares = (nodes - c.low) / (c.high - c.low)
        return self.basis(place) @ shares

    def roughness(self) -> np.ndarray:
        """Return second differences (n_rows, n_nodes) of the nodes, along each variable."""
        rows = []
        index = np.arange(math.prod(self.shape)).reshape(self.shape)
        for axis in range(len(self.shape)):
            moved = np.moveaxis(index, axis, 0)
            for three in zip(moved[:-2].ravel(), moved[1:-1].ravel(), moved[2:].ravel(),
                             strict=True):  # fmt: skip
                row = np.zeros(index.size)
                row[list(three)] = 1.0, -2.0, 1.0
                rows.append(row)
        return np.array(rows)


class _Spelled:
    """What an equation sees: coefficients come from their splines, all else as it is."""

    __slots__ = ("_point", "_space", "_splines")

    def __init__(self, point, space, splines):
        self._point, self._space, self._splines = point, space, splines

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        key = self._space.key(name)
        if key is None or key[0] not in self._splines:
            return getattr(self._point, name)
        return self._value(self._splines[key[0]], key[1])

    def _value(self, spline, orders):
        import jax
        import jax.numpy as jnp

        nodes = jnp.stack([jnp.asarray(getattr(self._point, n), float) for n in spline.names])
        places = [jnp.asarray(getattr(self._point, v), float) for v in spline.coefficient.of]

        def function(*at):
            return from_share(spline.coefficient, spline.share(at, nodes))

        for variable, order in zip(self._space.variables, orders, strict=True):
            if order and variable not in spline.coefficient.of:
                return jnp.zeros(())
            for _ in range(order):
                function = jax.jacfwd(function, spline.coefficient.of.index(variable))
        return function(*places)


def splines_of(problem: Any) -> tuple[Spline, ...]:
    """Return a spline for each coefficient of a problem.

    Raises
    ------
    StudyError
        If one depends on more than two variables.
    """
    made = []
    for name, c in problem.coefficients.items():
        if len(c.of) > len(NODES):
            raise StudyError(
                f"The coefficient {name!r} depends on {len(c.of)} variables; least squares writes "
                "it with nodes along at most two.",
                hint="Let it depend on fewer variables: UnknownField(of=('x',), ...).",
            )
        made.append(Spline(name, c, tuple(problem.box[v] for v in c.of)))
    return tuple(made)


def spelled_out(problem: Any, splines: tuple[Spline, ...]) -> Any:
    """Return the problem with unknown numbers in place of the coefficients.

    Examples
    --------
    >>> from assay.physics import Initial, Problem
    >>> decay = Problem(lambda d: d.u_t + d.k * d.u, {"t": (0.0, 1.0)},
    ...     conditions=(Initial("u", 1.0),), coefficients={"k": UnknownField("t", 0.0, 2.0)})
    >>> len(spelled_out(decay, splines_of(decay)).unknown)
    8
    """
    if not splines:
        return problem
    by_name = {spline.name: spline for spline in splines}
    equations = problem.equation if isinstance(problem.equation, tuple) else (problem.equation,)
    space = problem.space

    def spelled(equation):
        return lambda d: equation(_Spelled(d, space, by_name))

    added = itertools.chain.from_iterable(spline.unknown.items() for spline in splines)
    return problem.replace(
        equation=tuple(spelled(equation) for equation in equations),
        coefficients={},
        units={k: unit for k, unit in problem.units.items() if k not in problem.coefficients},
        parameters={**problem.parameters, **dict(added)},
    )
