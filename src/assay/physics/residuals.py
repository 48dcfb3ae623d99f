"""The rows of a fit: equation, conditions, readings, each at one point."""

import dataclasses
import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from assay.physics.ansatz import NetworkSpec, whole
from assay.physics.conditions import Unknown, UnknownField
from assay.physics.derivatives import at_point
from assay.physics.faces import Bound
from assay.physics.hard import FieldPlan, Frame, lift, mask
from assay.physics.problem import Problem
from assay.physics.space import Key, Point


@dataclasses.dataclass(frozen=True)
class System:
    """A problem and the networks for it: static, compared by value (the problem by identity)."""

    problem: Problem
    network: NetworkSpec
    coefficients: tuple[tuple[str, NetworkSpec], ...]
    plans: tuple[FieldPlan, ...]
    scaled: bool = True

    @property
    def names(self) -> tuple[str, ...]:
        """Fields, then coefficients, as `functions` returns them."""
        return (*self.problem.fields, *(name for name, _ in self.coefficients))


@dataclasses.dataclass(frozen=True)
class Shared:
    """What every row is given, all traced.

    Attributes
    ----------
    frame : Frame
    sizes : array of shape (n_fields,)
        What the outputs of the network are multiplied by.
    residuals : array of shape (n_equations,)
        What the residuals are divided by.
    known : dict of str to array
        Values of the known parameters.
    """

    frame: Frame
    sizes: jax.Array
    residuals: jax.Array
    known: dict


jax.tree_util.register_dataclass(Shared, ["frame", "sizes", "residuals", "known"], [])


def scaled_inputs(system: System, frame: Frame, point):
    """Map a point of the box to [-1, 1], or to [0, 1] in raw units."""
    part = (point - frame.low) / (frame.high - frame.low)
    return 2.0 * part - 1.0 if system.scaled else part


def functions(system: System, params: Any, shared: Shared, *, lifted: bool = False):
    """Return a function of a point (n_variables,) that gives all fields and coefficients.

    Parameters
    ----------
    system, params, shared
    lifted : bool
        Whether G, which does not depend on the weights, is part of it; where many points are
        visited again and again its derivatives are computed once, see `lift_at`.
    """
    network = whole(system.network, params["net"])
    extra = [(n, whole(spec, params["coefficients"][n])) for n, spec in system.coefficients]
    variables = system.problem.space.variables

    def at(point):
        x = scaled_inputs(system, shared.frame, point)
        fields = network(x) * shared.sizes
        for i, plan in enumerate(system.plans):
            if plan.sets:
                value = mask(plan, shared.frame, point) * fields[i]
                if lifted:
                    value = value + lift(plan, shared.frame, point)
                fields = fields.at[i].set(value)
        parts = [fields]
        for name, net in extra:
            seen = jnp.stack([x[variables.index(v)] for v in net.spec.inputs])
            parts.append(bounded(system.problem.coefficients[name], net(seen)))
        return jnp.concatenate(parts)

    return at


def bounded(coefficient: UnknownField, raw):
    """Return a value within the range of a coefficient, from what its network says."""
    return from_share(coefficient, jax.nn.sigmoid(raw))


def found_value(unknown: Unknown, raw):
    r"""Return the value of an unknown from any real number: it never leaves the declared range.

    On the declared scale it is :math:`a + (b - a)(1 + \sin\rho)/2`. A logistic curve would do
    the same, but has no way back from its flat ends, which a bad step can reach.
    """
    return from_share(unknown, 0.5 * (1.0 + jnp.sin(raw)))


def found_numbers(unknown: dict[str, Unknown], raw: dict) -> dict[str, float]:
    """Return the values of unknowns as floats; rounding does not take one out of its range."""
    with jax.enable_x64(True):  # noqa: FBT003
        values = {name: float(found_value(u, np.float64(raw[name]))) for name, u in unknown.items()}
    return {name: min(max(values[name], u.low), u.high) for name, u in unknown.items()}


def from_share(unknown: Unknown | UnknownField, share):
    """Return the value at a share (0 to 1) of a range, on the declared scale."""
    if unknown.scale == "log":
        low, high = math.log(unknown.low), math.log(unknown.high)
        return jnp.exp(low + (high - low) * share)
    return unknown.low + (unknown.high - unknown.low) * share


def raw_value(unknown: Unknown, value: float) -> float:
    """Return the raw number of a value of an unknown parameter."""
    low, high = unknown.low, unknown.high
    if unknown.scale == "log":
        low, high, value = math.log(low), math.log(high), math.log(value)
    share = (value - low) / (high - low)
    share = min(max(share, 1e-3), 1 - 1e-3)  # a start on the edge could not move
    return math.asin(2.0 * share - 1.0)


def parameters_of(system: System, params: Any, shared: Shared) -> dict:
    """Return the values of all parameters, known and unknown."""
    values = dict(shared.known)
    for name, raw in params["unknown"].items():
        values[name] = found_value(system.problem.unknown[name], raw)
    return values


def lift_at(system: System, shared: Shared, points, keys: tuple[Key, ...]) -> Any:
    """Return the derivatives of G at points (n, n_variables): array (n, n_keys)."""
    names = system.names

    def one(point):
        def both(at):
            zero = jnp.zeros((), at.dtype)
            made = [lift(p, shared.frame, at) if p.sets else zero for p in system.plans]
            return jnp.stack(made + [zero] * len(system.coefficients))

        found = at_point(both, point, keys, names)
        return jnp.stack([found[key] for key in keys])

    return jax.vmap(one)(points)


def values_at(system: System, params, shared: Shared, item: dict, keys: tuple[Key, ...]) -> dict:
    """Return the values of `keys` at an item: a point ``x`` and the part of G, ``lift``."""
    function = functions(system, params, shared)
    found = at_point(function, item["x"], keys, system.names)
    return {key: found[key] + item["lift"][i] for i, key in enumerate(keys)}


def _place(system, point):
    return {name: point[i] for i, name in enumerate(system.problem.space.variables)}


@dataclasses.dataclass(frozen=True)
class EquationTerm:
    """The residuals of the equations, divided by the sizes of their terms."""

    system: System

    @staticmethod
    def together(terms, params, shared, items, columns):
        """Return the rows of all terms of a system in one pass of the network."""
        from assay.physics.series import rows_together  # it imports this module

        return rows_together(terms, params, shared, items, columns)

    @property
    def keys(self) -> tuple[Key, ...]:
        """The derivatives it needs."""
        return self.system.problem.keys

    def __call__(self, params, shared, item):
        """Return (n_equations,) rows."""
        values = values_at(self.system, params, shared, item, self.keys)
        return self.of_values(values, params, shared, item)

    def of_values(self, values, params, shared, item):
        """Return the same from the values of `keys`."""
        numbers = parameters_of(self.system, params, shared)
        place = _place(self.system, item["x"])
        return self.system.problem.residual(values, place, numbers) / shared.residuals


@dataclasses.dataclass(frozen=True)
class ConditionTerm:
    """A condition at a point of its face, divided by ``item["size"]``.

    With a target in the item, the prescribed value stands there: then the program does not
    contain the function of the condition, and windows share it.
    """

    system: System
    bound: Bound

    @property
    def keys(self) -> tuple[Key, ...]:
        """The derivatives it needs."""
        return self.bound.keys

    def __call__(self, params, shared, item):
        """Return (1,) row."""
        values = values_at(self.system, params, shared, item, self.keys)
        if self.bound.far is not None:
            place = self.system.problem.space.variables.index(self.bound.along)
            there = item | {"x": item["x"].at[place].set(self.bound.far)}
            far = values_at(self.system, params, shared, there, self.keys)
            return ((far[self.keys[0]] - values[self.keys[0]]) / item["size"])[None]
        return self.of_values(values, params, shared, item)

    def of_values(self, values, params, shared, item):
        """Return the same from the values of `keys`, where one point is enough."""
        if self.bound.name is not None:
            return ((values[self.keys[0]] - item["target"]) / item["size"])[None]
        numbers = parameters_of(self.system, params, shared)
        point = Point(
            self.system.problem.space, values, {**_place(self.system, item["x"]), **numbers}
        )
        return (self.bound.equation(point) / item["size"])[None]


@dataclasses.dataclass(frozen=True)
class ReadingTerm:
    """A reading, divided by ``item["size"]``, its standard deviation."""

    system: System
    name: str

    @property
    def keys(self) -> tuple[Key, ...]:
        """The derivative it needs."""
        return (self.system.problem.space.key(self.name),)

    def __call__(self, params, shared, item):
        """Return (1,) row."""
        values = values_at(self.system, params, shared, item, self.keys)
        return self.of_values(values, params, shared, item)

    def of_values(self, values, params, shared, item):
        """Return the same from the values of `keys`."""
        del params, shared
        return ((values[self.keys[0]] - item["target"]) / item["size"])[None]


def n_raw(params: Any) -> int:
    """Return how many numbers are trained."""
    return sum(int(np.size(leaf)) for leaf in jax.tree.leaves(params))
