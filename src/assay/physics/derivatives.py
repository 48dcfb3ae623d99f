"""Derivatives of a network at a point, by nested forward mode."""

from collections.abc import Callable, Iterable

import jax
import numpy as np

from assay.physics.space import Key

Orders = tuple[int, ...]


def derivatives(function: Callable, point, wanted: Iterable[Orders]) -> dict[Orders, jax.Array]:
    r"""Return derivatives of a function of one point.

    One variable after the other is differentiated by forward mode, and lower orders are shared:
    a pass in :math:`x` over what gives :math:`u, u_x` gives :math:`u_x, u_{xx}`.

    Parameters
    ----------
    function : function of an array of shape (n_variables,)
        Returns an array of any shape.
    point : array of shape (n_variables,)
    wanted : iterable of tuples of int
        How often each is differentiated in each variable; ``(0, 2)`` is the second derivative in
        the second variable.

    Returns
    -------
    dict
        The wanted ones, and those passed on the way.

    Examples
    --------
    >>> import jax.numpy as jnp
    >>> found = derivatives(lambda p: p[0] ** 3 * p[1], jnp.array([2.0, 5.0]), [(2, 1)])
    >>> float(found[2, 1])
    12.0
    """
    wanted = tuple(wanted)
    n = point.shape[0]
    passes = lambda at: {(0,) * n: function(at)}
    for place in range(n):
        unit = np.eye(n, dtype=point.dtype)[place]
        for _ in range(max((orders[place] for orders in wanted), default=0)):
            passes = _one_more(passes, place, unit, wanted)
    return passes(point)


def _one_more(passes, place, unit, wanted):
    def further(at):
        known, slope = jax.jvp(passes, (at,), (unit,))
        new = dict(known)
        for orders, value in slope.items():
            raised = (*orders[:place], orders[place] + 1, *orders[place + 1 :])
            if raised not in new and any(_leads_to(raised, goal, place) for goal in wanted):
                new[raised] = value
        return new

    return further


def _leads_to(orders, goal, place):
    return orders[:place] == goal[:place] and orders[place] <= goal[place]


def at_point(function: Callable, point, keys: Iterable[Key], fields: tuple[str, ...]) -> dict:
    """Return the values of `keys` (field and orders) of a function that returns all fields.

    Parameters
    ----------
    function : function of (n_variables,), returns (n_fields,)
    point : array of shape (n_variables,)
    keys : iterable of Key
    fields : tuple of str
        The order of the fields in what the function returns.
    """
    keys = tuple(keys)
    found = derivatives(function, point, {orders for _, orders in keys})
    return {(field, orders): found[orders][fields.index(field)] for field, orders in keys}
