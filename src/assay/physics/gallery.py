"""Problems with known answers, each as it is used in the literature.

Every function returns the same problem each time, so that what was compiled for it is reused.
"""

import functools

import numpy as np

from assay.physics.conditions import Boundary, Initial, Periodic
from assay.physics.known import (
    BURGERS_VISCOSITY,
    burgers_exact,
    heat_exact,
    oscillator_exact,
    reaction_exact,
    wave_exact,
)
from assay.physics.problem import Problem


@functools.cache
def oscillator() -> Problem:
    """Return a mass on a spring with damping, released from rest at 1; 1 Hz, zeta = 0.1."""
    return Problem(
        lambda d: d.u_tt + 2.0 * d.zeta * d.w0 * d.u_t + d.w0**2 * d.u,
        {"t": (0.0, 2.0)},
        conditions=(Initial("u", 1.0), Initial("u_t", 0.0)),
        parameters={"zeta": 0.1, "w0": 2.0 * np.pi},
        exact=lambda t: oscillator_exact(t),
        units={"t": "s", "u": "m", "w0": "rad/s", "zeta": "-"},
        name="damped oscillator",
    )


def _heat(diffusivity, name):
    import jax.numpy as jnp

    return Problem(
        lambda d: d.u_t - d.a * d.u_xx,
        {"t": (0.0, 1.0), "x": (0.0, 1.0)},
        conditions=(Initial("u", lambda x: jnp.sin(jnp.pi * x)), Boundary("u", "x", 0.0)),
        parameters={"a": diffusivity},
        exact=lambda t, x: heat_exact(t, x, diffusivity),
        name=name,
    )


@functools.cache
def heat() -> Problem:
    """Return u_t = 0.25 u_xx from sin(pi x): the heat equation of Mueller and Zeinhofer (2023)."""
    return _heat(0.25, "heat, 0.25")


@functools.cache
def heat_fast() -> Problem:
    """Return u_t = 0.4 u_xx from sin(pi x): the heat equation of the DeepXDE examples."""
    return _heat(0.4, "heat, 0.4")


@functools.cache
def burgers() -> Problem:
    """Return viscous Burgers, 0.01/pi: a front of width 0.01 steepens at x = 0.

    Basdevant and others (1986); Raissi, Perdikaris and Karniadakis (2019).
    """
    import jax.numpy as jnp

    return Problem(
        lambda d: d.u_t + d.u * d.u_x - d.nu * d.u_xx,
        {"t": (0.0, 1.0), "x": (-1.0, 1.0)},
        conditions=(Initial("u", lambda x: -jnp.sin(jnp.pi * x)), Boundary("u", "x", 0.0)),
        parameters={"nu": BURGERS_VISCOSITY},
        exact=lambda t, x: burgers_exact(t, x),
        name="viscous Burgers",
    )


@functools.cache
def convection(beta: float = 30.0) -> Problem:
    """Return u_t + beta u_x = 0 on a ring, from sin(x): Krishnapriyan and others (2021)."""
    import jax.numpy as jnp

    return Problem(
        lambda d: d.u_t + d.beta * d.u_x,
        {"t": (0.0, 1.0), "x": (0.0, 2.0 * np.pi)},
        conditions=(Initial("u", lambda x: jnp.sin(x)), Periodic("x")),
        parameters={"beta": beta},
        exact=lambda t, x: np.sin(x - beta * t),
        name=f"convection, beta = {beta:g}",
    )


@functools.cache
def reaction(rate: float = 5.0) -> Problem:
    """Return u_t = rate u (1 - u) on a ring, from a bell: Krishnapriyan and others (2021)."""
    import jax.numpy as jnp

    def bell(x):
        return jnp.exp(-((x - jnp.pi) ** 2) / (2.0 * (jnp.pi / 4.0) ** 2))

    return Problem(
        lambda d: d.u_t - d.rho * d.u * (1.0 - d.u),
        {"t": (0.0, 1.0), "x": (0.0, 2.0 * np.pi)},
        conditions=(Initial("u", bell), Periodic("x")),
        parameters={"rho": rate},
        exact=lambda t, x: reaction_exact(t, x, rate),
        name=f"reaction, rho = {rate:g}",
    )


@functools.cache
def wave() -> Problem:
    """Return u_tt = 4 u_xx with fixed ends, two standing waves (the wave problem of NTK papers)."""
    import jax.numpy as jnp

    def shape(x):
        return jnp.sin(jnp.pi * x) + 0.5 * jnp.sin(3.0 * jnp.pi * x)

    return Problem(
        lambda d: d.u_tt - d.c**2 * d.u_xx,
        {"t": (0.0, 1.0), "x": (0.0, 1.0)},
        conditions=(Initial("u", shape), Initial("u_t", 0.0), Boundary("u", "x", 0.0)),
        parameters={"c": 2.0},
        exact=wave_exact,
        name="wave",
    )


@functools.cache
def poisson() -> Problem:
    """Return u_xx + u_yy = -2 pi^2 sin(pi x) sin(pi y) on the unit square, zero on its edge."""
    import jax.numpy as jnp

    def equation(d):
        load = 2.0 * jnp.pi**2 * jnp.sin(jnp.pi * d.x) * jnp.sin(jnp.pi * d.y)
        return d.u_xx + d.u_yy + load

    return Problem(
        equation,
        {"x": (0.0, 1.0), "y": (0.0, 1.0)},
        conditions=(Boundary("u", "x", 0.0), Boundary("u", "y", 0.0)),
        exact=lambda x, y: np.sin(np.pi * x) * np.sin(np.pi * y),
        name="Poisson",
    )


@functools.cache
def helmholtz() -> Problem:
    """Return u_xx + u_yy + u = q with solution sin(pi x) sin(4 pi y) on [-1, 1]^2.

    Wang, Teng and Perdikaris (2021), with wave number 1.
    """
    import jax.numpy as jnp

    def equation(d):
        known = jnp.sin(jnp.pi * d.x) * jnp.sin(4.0 * jnp.pi * d.y)
        return d.u_xx + d.u_yy + d.k**2 * d.u - (d.k**2 - 17.0 * jnp.pi**2) * known

    return Problem(
        equation,
        {"x": (-1.0, 1.0), "y": (-1.0, 1.0)},
        conditions=(Boundary("u", "x", 0.0), Boundary("u", "y", 0.0)),
        parameters={"k": 1.0},
        exact=lambda x, y: np.sin(np.pi * x) * np.sin(4 * np.pi * y),
        name="Helmholtz",
    )


@functools.cache
def allen_cahn_wang() -> Problem:
    """Return u_t = 1e-4 u_xx - 5 (u^3 - u) on a ring, from x^2 cos(pi x).

    Raissi and others (2019), Wang, Sankaran and Perdikaris (2022). The start has a kink where the
    ring closes. No closed form: the reference is the classical solver's.
    """
    import jax.numpy as jnp

    return Problem(
        lambda d: d.u_t - d.a * d.u_xx + 5.0 * d.u**3 - 5.0 * d.u,
        {"t": (0.0, 1.0), "x": (-1.0, 1.0)},
        conditions=(Initial("u", lambda x: x**2 * jnp.cos(jnp.pi * x)), Periodic("x")),
        parameters={"a": 1e-4},
        name="Allen-Cahn, 1e-4, periodic",
    )


@functools.cache
def allen_cahn_deepxde() -> Problem:
    """Return u_t = 0.001 u_xx + 5 (u - u^3), -1 at both ends, from x^2 cos(pi x).

    The Allen-Cahn problem of the DeepXDE examples: not that of Wang. No closed form.
    """
    import jax.numpy as jnp

    return Problem(
        lambda d: d.u_t - d.a * d.u_xx - 5.0 * (d.u - d.u**3),
        {"t": (0.0, 1.0), "x": (-1.0, 1.0)},
        conditions=(
            Initial("u", lambda x: x**2 * jnp.cos(jnp.pi * x)),
            Boundary("u", "x", -1.0),
        ),
        parameters={"a": 1e-3},
        name="Allen-Cahn, 0.001, fixed ends",
    )


# The forward problems. Each name is what a user types.
PROBLEMS = (
    oscillator,
    heat,
    heat_fast,
    burgers,
    convection,
    reaction,
    wave,
    poisson,
    helmholtz,
    allen_cahn_wang,
    allen_cahn_deepxde,
)
