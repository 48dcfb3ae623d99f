"""Exercise 12: a heat equation whose ends are left open, and a network that does not mind."""

import functools as ft

import numpy as np
from physics_shared import network, relative, together

from assay.physics import Boundary, Initial, Problem
from assay.physics.known import heat_exact

STEPS, END, GRID = 3000, 0.2, 20


def measure() -> dict[str, dict[str, float]]:
    """Return what is measured for each fact of this exercise."""
    open_ends, closed = together([ft.partial(heat, closed=False), heat])
    error, residual = open_ends
    found = {"residual": residual, "error": error, "error with ends": closed[0]}
    return {"004-s9-heat-illposed": found, "004-ex12-heat": found}


def heat(*, closed=True):
    """Train on u_t = u_xx from sin(pi x); without `closed` nothing is said about the ends.

    Returns the relative error on a grid, and the mean squared residual.
    """
    import jax.numpy as jnp

    start = Initial("u", lambda x: jnp.sin(jnp.pi * x))
    problem = Problem(
        lambda d: d.u_t - d.u_xx,
        {"t": (0.0, END), "x": (0.0, 1.0)},
        conditions=(start, Boundary("u", "x", 0.0)) if closed else (start,),
    )
    net = network(STEPS, points=GRID**2, sampling="even", face_points=GRID).fit(problem)
    axes = np.linspace(0.0, END, 101), np.linspace(0.0, 1.0, 101)
    points = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 2)
    exact = heat_exact(points[:, 0], points[:, 1], 1.0)
    error = relative(net.predict(points)[:, 0], exact)
    # Adam jumps between steps: the residual is that of the weights that are kept.
    kept = np.argmin(net.history_["loss"])
    return error, net.history_["residual"][kept]
