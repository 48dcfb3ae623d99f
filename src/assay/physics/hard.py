r"""Conditions that hold by construction, worked out from the declaration.

A field is written :math:`u = G + M\,N` with the network :math:`N`, a function :math:`M` that
vanishes on the faces and a function :math:`G` that meets the conditions (Lagaris, Likas and
Fotiadis 1998 [1]_). Along one variable :math:`G` is Hermite's interpolant of the values on its two
faces; several variables are taken one after the other, each correcting what is left:
:math:`G \leftarrow G + P_v(g_v - G)`, which is the boolean sum of the interpolants.

References
----------
.. [1] I. E. Lagaris, A. Likas, D. I. Fotiadis, Artificial neural networks for solving ordinary and
   partial differential equations, IEEE Trans. Neural Netw. 9, 1998, eq. (2).
"""

import dataclasses
import math

import jax
import jax.numpy as jnp
import numpy as np

from assay.physics.derivatives import derivatives
from assay.physics.faces import Bound
from assay.physics.tables import table_value


@dataclasses.dataclass(frozen=True)
class FaceSet:
    """The conditions of one field along one variable.

    Attributes
    ----------
    place : int
        Which variable.
    low, high : tuple of Bound
        Values of orders 0, 1, ... on each face, without a gap.
    saturating : bool
        Whether the distance from the low face levels off after a natural time, as it should in
        time: ``t**2 N`` would ask for a network of very different sizes early and late.
    """

    place: int
    low: tuple[Bound, ...]
    high: tuple[Bound, ...]
    saturating: bool

    @property
    def bounds(self) -> tuple[tuple[Bound, int, int], ...]:
        """(condition, end 0 or 1, order) of each."""
        ends = ((self.low, 0), (self.high, 1))
        return tuple((b, end, order) for side, end in ends for order, b in enumerate(side))


@dataclasses.dataclass(frozen=True)
class FieldPlan:
    """What is built into one field; empty `sets` for nothing."""

    field: str
    variables: tuple[str, ...]
    sets: tuple[FaceSet, ...] = ()


@dataclasses.dataclass(frozen=True)
class Frame:
    """The box as arrays, and how fast the saturating distances level off: all traced.

    Attributes
    ----------
    low, high : arrays of shape (n_variables,)
    pace : array of shape (n_variables,)
        Natural length over the length of the box.
    tables : dict of str to arrays
        Values of conditions as tables, by label; they stand before the declared functions.
    """

    low: jax.Array
    high: jax.Array
    pace: jax.Array
    tables: dict


jax.tree_util.register_dataclass(Frame, ["low", "high", "pace", "tables"], [])


def lift(plan: FieldPlan, frame: Frame, point):
    """Return G, the part of a field that meets its conditions, at one point."""
    return _lifted(plan, plan.sets, frame, point)


def mask(plan: FieldPlan, frame: Frame, point):
    """Return M, what multiplies the network, at one point."""
    product = jnp.ones((), point.dtype)
    for one in plan.sets:
        s = _along(one, frame, point)
        p, q = len(one.low), len(one.high)
        if one.saturating:
            pace = frame.pace[one.place]
            # 1 at the far end: in raw units, where the pace is long, it is (t / t_end)^p.
            product = product * (jnp.tanh(s / pace) / jnp.tanh(1.0 / pace)) ** p
        else:
            # Its largest value, p^p q^q / (p + q)^(p + q), becomes 1.
            top = p**p * q**q / (p + q) ** (p + q)
            product = product * s**p * (1 - s) ** q / top
    return product


def _along(one, frame, point):
    low, high = frame.low[one.place], frame.high[one.place]
    return (point[one.place] - low) / (high - low)


def _lifted(plan, sets, frame, point):
    if not sets:
        return jnp.zeros((), point.dtype)
    *before, one = sets
    total = _lifted(plan, before, frame, point)
    length = frame.high[one.place] - frame.low[one.place]
    basis = _basis(one, frame, _along(one, frame, point))
    for part, (bound, end, order) in zip(basis, one.bounds, strict=True):
        edge = frame.high if end else frame.low
        on_face = point.at[one.place].set(edge[one.place])
        left = _left_over(plan, before, frame, on_face, one, bound, order)
        total = total + part * length**order * left
    return total


def _left_over(plan, before, frame, on_face, one, bound, order):
    """Return a condition's value minus what the lift so far has there."""
    value = value_of(bound, plan.variables, frame, on_face)
    if not before:
        return value
    orders = tuple(order if i == one.place else 0 for i in range(len(plan.variables)))
    known = derivatives(lambda at: _lifted(plan, before, frame, at), on_face, [orders])
    return value - known[orders]


def value_of(bound: Bound, variables: tuple[str, ...], frame: Frame, point):
    """Return the value that a condition prescribes at a point of its face."""
    if bound.label in frame.tables:
        places = [i for i, name in enumerate(variables) if name != bound.along]
        scaled = [
            2 * (point[i] - frame.low[i]) / (frame.high[i] - frame.low[i]) - 1 for i in places
        ]
        return table_value(frame.tables[bound.label], scaled)
    place = {name: point[i] for i, name in enumerate(variables)}
    return jnp.asarray(bound.value(place), point.dtype)


def _basis(one, frame, s):
    """Return the functions of s in [0, 1] that carry each value of `one.bounds`."""
    p, q = len(one.low), len(one.high)
    if one.saturating:
        pace = frame.pace[one.place]
        distance = pace * jnp.tanh(s / pace)
        return [distance**order / math.factorial(order) for order in range(p)]
    powers = jnp.stack([s**k for k in range(p + q)])
    return list(jnp.asarray(hermite(p, q), s.dtype) @ powers)


def hermite(p: int, q: int) -> np.ndarray:
    """Return polynomials (p + q, p + q coefficients) on [0, 1], lowest power first.

    The first p carry the derivatives of orders 0 to p - 1 at 0, the others those at 1.

    Examples
    --------
    >>> hermite(1, 1).tolist()
    [[1.0, -1.0], [0.0, 1.0]]
    """
    rows = []
    for end, count in ((0.0, p), (1.0, q)):
        for order in range(count):
            rows.append(
                [
                    math.perm(k, order) * (end ** (k - order) if k > order else 1.0)
                    if k >= order
                    else 0.0
                    for k in range(p + q)
                ]
            )
    return np.linalg.inv(np.array(rows, float)).T + 0.0
