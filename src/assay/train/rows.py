"""A least-squares problem as terms: functions of one item, mapped over many.

The loss is the sum of the squares of all rows. A row knows one item only (a point, a reading), so
that its gradient in the parameters costs one backward pass of one item, and all of them are one
vectorised call; differentiating the whole vector of rows would cost a pass over all items for each.
"""

import dataclasses
import functools as ft
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree

from assay.train import program

BLOCK_BYTES = 256 * 1024**2  # of a block of the Jacobian; larger ones are added up in blocks


@dataclasses.dataclass(frozen=True)
class RowData:
    """What the terms are evaluated on.

    Attributes
    ----------
    items : tuple of pytrees
        One a term; all arrays of it have the items as leading axis.
    weights : tuple of arrays of shape (n_items,)
        Multiply the rows (not their squares).
    shared : pytree
        Given to every row, such as the values of known parameters.
    columns : pytree, optional
        What ``together`` needs, see `row_blocks`.
    """

    items: tuple
    weights: tuple
    shared: Any = ()
    columns: Any = None


jax.tree_util.register_dataclass(RowData, ["items", "weights", "shared", "columns"], [])

# A term: term(params, shared, item) -> (k,) rows. It is static, so it must compare by value: a
# module-level function, or a frozen dataclass with __call__.
Term = Callable[[Any, Any, Any], jax.Array]


def row_blocks(terms: tuple[Term, ...], params, data: RowData) -> tuple[jax.Array, ...]:
    """Return the weighted rows of each term, (n_items, k).

    Where the data have columns, ``terms[0].together(terms, params, shared, items, columns)``
    gives the rows of all terms at once: the same numbers, faster.
    """
    if data.columns is not None:
        found = terms[0].together(terms, params, data.shared, data.items, data.columns)
    else:
        found = [
            jax.vmap(ft.partial(term, params, data.shared))(items)
            for term, items in zip(terms, data.items, strict=True)
        ]
    return tuple(rows * weight[:, None] for rows, weight in zip(found, data.weights, strict=True))


def row_vector(terms: tuple[Term, ...], params, data: RowData) -> jax.Array:
    """Return all weighted rows as one vector."""
    return jnp.concatenate([rows.ravel() for rows in row_blocks(terms, params, data)])


def squares(terms: tuple[Term, ...], params, data: RowData) -> jax.Array:
    """Return the sum of squares of each term, (n_terms,); their sum is the loss."""
    return sums(row_blocks(terms, params, data))


def sums(found: tuple) -> jax.Array:
    """Return the sum of squares of each of `row_blocks`."""
    return jnp.stack([jnp.sum(rows**2) for rows in found])


def slopes(term: Term, unravel: Callable, theta, shared, items, weight) -> jax.Array:
    """Return the transposed Jacobian (n_parameters, n_items * k) of a term's weighted rows."""

    def of_one(item, w):
        return jax.jacrev(lambda flat: term(unravel(flat), shared, item) * w)(theta).T

    return jax.vmap(of_one, out_axes=1)(items, weight).reshape(theta.size, -1)


def jacobian(terms: tuple[Term, ...], unravel: Callable, theta, data: RowData) -> jax.Array:
    """Return the transposed Jacobian (n_parameters, n_rows) of all weighted rows."""
    parts = zip(terms, data.items, data.weights, strict=True)
    return jnp.concatenate(
        [slopes(term, unravel, theta, data.shared, items, w) for term, items, w in parts], axis=1
    )


def gram(rows: jax.Array, halvings: int = 2) -> jax.Array:
    """Return A A^T of an array (n, m), computing the half on and above the diagonal only.

    Measured at 921 x 2,000 in float64, milliseconds of a core: A A^T 43, halved twice 27, and
    J^T J of a Jacobian (2000, 921) 89: the product runs along the memory only when transposed.
    """
    half = rows.shape[0] // 2
    if not halvings or half < 32:
        return rows @ rows.T
    upper, lower = rows[:half], rows[half:]
    mixed = upper @ lower.T
    first, last = gram(upper, halvings - 1), gram(lower, halvings - 1)
    return jnp.block([[first, mixed], [mixed.T, last]])


def normal(
    terms: tuple[Term, ...], unravel: Callable, theta, data: RowData, found: tuple, *, block: int
):
    """Return J^T J (p, p) and J^T r (p,), adding up blocks of at most `block` items.

    `found` is what `row_blocks` returned: the rows r, which are not computed again.
    """
    p = theta.size

    def add(carry, term, items, weight, rows):
        jac = slopes(term, unravel, theta, data.shared, items, weight)
        return carry[0] + gram(jac), carry[1] + jac @ rows.ravel()

    carry = (jnp.zeros((p, p), theta.dtype), jnp.zeros(p, theta.dtype))
    for term, items, weight, rows in zip(terms, data.items, data.weights, found, strict=True):
        n = weight.shape[0]
        if n <= block:
            carry = add(carry, term, items, weight, rows)
            continue
        # The last block is filled up with repeated items of weight 0.
        count = -(-n // block)
        places = jnp.minimum(jnp.arange(count * block), n - 1).reshape(count, block)
        keep = (jnp.arange(count * block) < n).reshape(count, block)

        def step(carry, part, term=term, items=items, weight=weight, rows=rows):
            index, kept = part
            some = jax.tree.map(lambda leaf: leaf[index], items)
            return add(carry, term, some, jnp.where(kept, weight[index], 0), rows[index]), None

        carry, _ = jax.lax.scan(step, carry, (places, keep))
    return carry


def n_rows(terms: tuple[Term, ...], params, data: RowData) -> int:
    """Return how many rows there are, without computing them."""
    leaves, form = jax.tree.flatten((params, data))
    shapes = tuple(jax.ShapeDtypeStruct(np.shape(a), np.result_type(a)) for a in leaves)
    return _n_rows(terms, form, shapes, bool(jax.config.jax_enable_x64))


@ft.lru_cache(maxsize=256)  # following the terms takes as long as some steps
def _n_rows(terms, form, shapes, x64):
    del x64  # part of the key only
    params, data = jax.tree.unflatten(form, shapes)
    return int(jax.eval_shape(ft.partial(row_vector, terms), params, data).size)


def block_items(n_parameters: int, itemsize: int) -> int:
    """Return how many items fit a block of the Jacobian."""
    return max(1, BLOCK_BYTES // max(1, n_parameters * itemsize))


@ft.partial(jax.jit, static_argnames="terms")
def term_squares(terms, params, data):
    """Return `squares`, compiled."""
    program._TRACES[0] += 1
    return squares(terms, params, data)


@ft.partial(jax.jit, static_argnames="terms")
def all_rows(terms, params, data):
    """Return `row_blocks`, compiled."""
    program._TRACES[0] += 1
    return row_blocks(terms, params, data)


@ft.partial(jax.jit, static_argnames=("terms", "block"))
def normal_matrix(terms, params, data, block):
    """Return (J^T J, J^T r), compiled."""
    program._TRACES[0] += 1
    theta, unravel = ravel_pytree(params)
    return normal(terms, unravel, theta, data, row_blocks(terms, params, data), block=block)


@ft.partial(jax.jit, static_argnames="terms")
def slope_norms(terms, params, data):
    """Return the length of the gradient of each term's sum of squares, (n_terms,)."""
    program._TRACES[0] += 1
    theta, unravel = ravel_pytree(params)
    slopes_of = jax.jacrev(lambda flat: squares(terms, unravel(flat), data))(theta)
    return jnp.linalg.norm(slopes_of, axis=1)


def even_weights(n: int, weight: float = 1.0) -> np.ndarray:
    """Return row weights (n,) that make the sum of squares `weight` times the mean square."""
    return np.full(n, np.sqrt(weight / n))
