r"""Derivatives of a network at many points in one pass: Taylor coefficients, layer by layer.

A layer maps the value and the derivatives of its inputs to those of its outputs: a product with
the weights maps each on its own, so that all are one matrix product, and an activation
:math:`f` gives :math:`f'(z)\, z_i` and :math:`f'(z)\, z_{ij} + f''(z)\, z_i z_j` (Faà di Bruno's
formula up to order 2). Points are columns. The loss of all terms is one such pass, where nested
forward mode (`assay.physics.derivatives`) makes many small products; what does not depend on the
weights (embedded inputs, masks of built-in conditions) is worked out once.
"""

import functools as ft
import itertools
import math
from typing import Any

import jax
import jax.numpy as jnp

from assay.nn import MLP, activation
from assay.physics.ansatz import embed, whole
from assay.physics.derivatives import Orders, derivatives
from assay.physics.hard import mask
from assay.physics.residuals import Shared, scaled_inputs
from assay.train import program

MOST_ORDER = 2
SHARE = 0.25  # terms of fewer points than this share of the equation's join its pass


def supported(terms: tuple) -> bool:
    """Whether the network and all derivatives are such that one pass gives them."""
    system = terms[0].system
    if system.coefficients or system.network.body == "modified":
        return False
    # A condition that compares two points needs two passes.
    if any(getattr(getattr(term, "bound", None), "far", None) is not None for term in terms):
        return False
    return all(sum(orders) <= MOST_ORDER for term in terms for _, orders in term.keys)


def groups_of(terms: tuple, counts: tuple[int, ...]) -> tuple[tuple[int, ...], ...]:
    """Return which terms share a pass: small ones go with the equation, the first."""
    small = [i for i, n in enumerate(counts) if i and n <= SHARE * counts[0]]
    rest = [(i,) for i in range(1, len(terms)) if i not in small]
    return ((0, *small), *rest)


def orders_of(terms: tuple, group: tuple[int, ...], n_variables: int) -> tuple[Orders, ...]:
    """Return the derivatives of a pass, lower ones first; each comes with those it is made of.

    Examples
    --------
    >>> class Term:
    ...     keys = (("u", (1, 0)), ("u", (0, 2)))
    >>> orders_of((Term(),), (0,), 2)
    ((0, 0), (0, 1), (1, 0), (0, 2))
    """
    found = {(0,) * n_variables}
    for i in group:
        for _, orders in terms[i].keys:
            found |= set(itertools.product(*(range(n + 1) for n in orders)))
    return tuple(sorted(found, key=lambda orders: (sum(orders), orders)))


@ft.partial(jax.jit, static_argnames=("terms", "groups"))
def columns_of(terms: tuple, groups: tuple, shared: Shared, places: tuple) -> tuple:
    """Return what the passes need of the points, which no weight changes.

    Parameters
    ----------
    terms : tuple
        Of one system.
    groups : tuple of tuples of int, from `groups_of`
    shared : Shared
    places : tuple of arrays of shape (n, n_variables)
        The points of each term.

    Returns
    -------
    tuple of (inputs, masks)
        For each group: embedded inputs (n_embedded, n_orders * n), and for each field with
        built-in conditions (n_orders, n), else None.
    """
    program._TRACES[0] += 1
    system, made = terms[0].system, []
    for group in groups:
        points = jnp.concatenate([places[i] for i in group])
        orders = orders_of(terms, group, points.shape[1])

        def inputs(point):
            return embed(system.network, scaled_inputs(system, shared.frame, point))

        masks = [
            _at_all(ft.partial(mask, plan, shared.frame), points, orders) if plan.sets else None
            for plan in system.plans
        ]
        series = _at_all(inputs, points, orders)  # (n_orders, n, n_embedded)
        made.append((jnp.moveaxis(series, 2, 0).reshape(series.shape[2], -1), tuple(masks)))
    return tuple(made)


def _at_all(function, points, orders):
    def one(point):
        found = derivatives(function, point, orders)
        return jnp.stack([found[o] for o in orders])

    return jnp.moveaxis(jax.vmap(one)(points), 1, 0)


def rows_together(terms: tuple, params: Any, shared: Shared, items: tuple, columns: tuple):
    """Return the rows (n, k) of each term, before their weights."""
    system = terms[0].system
    counts = tuple(item["x"].shape[0] for item in items)
    network = whole(system.network, params["net"])
    found = [None] * len(terms)
    for group, (inputs, masks) in zip(groups_of(terms, counts), columns, strict=True):
        orders = orders_of(terms, group, items[0]["x"].shape[1])
        fields = _fields(network, shared, orders, inputs, masks)
        first = 0
        for i in group:
            last = first + counts[i]
            values = {
                (name, o): fields[o][system.names.index(name), first:last]
                for name, o in terms[i].keys
            }
            found[i] = _rows(terms[i], params, shared, values, items[i])
            first = last
    return found


def _rows(term, params, shared, values, item):
    def one(values, item):
        lifted = {key: values[key] + item["lift"][k] for k, key in enumerate(term.keys)}
        return term.of_values(lifted, params, shared, item)

    return jax.vmap(one)(values, item)


def _fields(network, shared, orders, inputs, masks):
    """Return all fields without G, by orders: (n_fields, n)."""
    outputs = _through(network.body, orders, inputs)
    fields = {o: part * shared.sizes[:, None] for o, part in zip(orders, outputs, strict=True)}
    for i, one in enumerate(masks):
        if one is not None:
            parts = {o: fields[o][i] for o in orders}
            for o in orders:
                fields[o] = fields[o].at[i].set(_product(o, orders, one, parts))
    return fields


def _product(wanted, orders, one, parts):
    """Return a derivative of mask times network by Leibniz's rule."""
    total = 0.0
    for place, o in enumerate(orders):
        left = tuple(a - b for a, b in zip(wanted, o, strict=True))
        if min(left) >= 0:
            times = math.prod(math.comb(a, b) for a, b in zip(wanted, o, strict=True))
            total = total + times * one[place] * parts[left]
    return total


def _through(body, orders, inputs):
    """Return the outputs of a network, one array (out, n) an order."""
    bend = ft.partial(_bent, activation(body.activation), orders)
    count = len(orders)
    if isinstance(body, MLP):
        streams = jnp.split(inputs, count, axis=1)
        for layer in body.layers[:-1]:
            streams = bend(_mapped(layer, streams))
        return _mapped(body.layers[-1], streams)
    alpha = 1.0 / math.sqrt(len(body.blocks))
    streams = _mapped(body.lift, jnp.split(inputs, count, axis=1))
    for block in body.blocks:
        steps = bend(_mapped(block, streams))
        streams = [h + alpha * step for h, step in zip(streams, steps, strict=True)]
    return _mapped(body.read_out, streams)


def _mapped(layer, streams):
    """Return what a dense layer makes of the values and of their derivatives: one product."""
    parts = jnp.split(layer.weight @ jnp.concatenate(streams, axis=1), len(streams), axis=1)
    if layer.bias is not None:
        parts[0] = parts[0] + layer.bias[:, None]
    return parts


def _bent(function, orders, streams):
    z = dict(zip(orders, streams, strict=True))
    value = streams[0]
    one = jnp.ones_like(value)
    slope = lambda at: jax.jvp(function, (at,), (one,))
    (bent, first), (_, second) = jax.jvp(slope, (value,), (one,))
    made = []
    for o in orders:
        if sum(o) == 0:
            made.append(bent)
        elif sum(o) == 1:
            made.append(first * z[o])
        else:
            a, b = _halves(o)
            made.append(first * z[o] + second * z[a] * z[b])
    return made


def _halves(orders):
    """Return the two first derivatives that a second one is made of."""
    places = [i for i, n in enumerate(orders) for _ in range(n)]
    return tuple(tuple(int(i == p) for i in range(len(orders))) for p in places)
