"""Problems with unknown parameters and readings of the true solution, made with a seed."""

import numpy as np

from assay.errors import StudyError
from assay.physics.conditions import Boundary, Initial, Measured, Unknown
from assay.physics.known import BURGERS_VISCOSITY, burgers_exact, oscillator_exact
from assay.physics.problem import Problem

OSCILLATOR_TRUTH = {"zeta": 0.1}
LORENZ_TRUTH = {"sigma": 10.0, "rho": 15.0, "beta": 8.0 / 3.0}
BURGERS_TRUTH = {"lambda1": 1.0, "lambda2": BURGERS_VISCOSITY}


def oscillator_inverse(seed: int = 0, *, noise: float = 0.02, n: int = 12) -> Problem:
    """Return the damped oscillator with unknown damping ratio and a few noisy readings.

    Parameters
    ----------
    seed : int
        Of the times (uniform in 0 to 2 s) and the noise.
    noise : float >= 0 [m]
        Standard deviation of a reading.
    n : int >= 1
        Readings.

    Examples
    --------
    >>> oscillator_inverse(seed=3).unknown["zeta"].start
    0.5
    """
    rng = _generator(noise, n, seed)
    t = np.sort(rng.uniform(0.0, 2.0, n))
    values = oscillator_exact(t) + noise * rng.normal(size=n)
    return Problem(
        lambda d: d.u_tt + 2.0 * d.zeta * d.w0 * d.u_t + d.w0**2 * d.u,
        {"t": (0.0, 2.0)},
        conditions=(Initial("u", 1.0), Initial("u_t", 0.0)),
        parameters={"zeta": Unknown(0.01, 0.99, start=0.5), "w0": 2.0 * np.pi},
        readings=(Measured("u", {"t": t}, values, noise or None),),
        exact=lambda t: oscillator_exact(t),
        units={"t": "s", "u": "m", "w0": "rad/s", "zeta": "-"},
        name="damped oscillator, zeta unknown",
    )


def lorenz_inverse(seed: int = 0, *, noise: float = 0.0, n: int = 25) -> Problem:
    """Return the Lorenz system with three unknown parameters, read at even times.

    Start (-8, 7, 27), t from 0 to 3, sigma = 10, rho = 15, beta = 8/3, as in the DeepXDE examples.

    Parameters
    ----------
    seed : int
    noise : float >= 0
        Standard deviation of a reading, in the units of the fields (which reach about 27).
    n : int >= 1
        Times at which all three fields are read.
    """
    rng = _generator(noise, n, seed)
    t = np.linspace(0.0, 3.0, n + 1)[1:]
    fields = _lorenz(t) + noise * rng.normal(size=(n, 3))
    readings = [
        Measured(name, {"t": t}, fields[:, i], noise or None) for i, name in enumerate("xyz")
    ]
    unknown = Unknown(0.5, 60.0, start=5.0)
    return Problem(
        lambda d: (
            d.x_t - d.sigma * (d.y - d.x),
            d.y_t - d.x * (d.rho - d.z) + d.y,
            d.z_t - d.x * d.y + d.beta * d.z,
        ),
        {"t": (0.0, 3.0)},
        fields=("x", "y", "z"),
        conditions=(Initial("x", -8.0), Initial("y", 7.0), Initial("z", 27.0)),
        parameters={"sigma": unknown, "rho": unknown, "beta": unknown},
        readings=tuple(readings),
        exact=lambda t: tuple(_lorenz(t).T),
        name="Lorenz, three unknown parameters",
    )


def burgers_inverse(seed: int = 0, *, noise: float = 0.0, n: int = 2000) -> Problem:
    """Return Burgers with unknown strength of convection and viscosity, read at scattered places.

    Parameters
    ----------
    seed : int
        Of the places (uniform in the box) and the noise.
    noise : float >= 0 [-]
        Relative to the standard deviation of the readings: 0.01 is the usual 1 %.
    n : int >= 1
        Readings.

    References
    ----------
    .. [1] M. Raissi, P. Perdikaris, G. E. Karniadakis, Physics-informed neural networks, Journal
       of Computational Physics 378 (2019) 686-707, section 4.
    """
    import jax.numpy as jnp

    rng = _generator(noise, n, seed)
    t, x = rng.uniform(0.0, 1.0, n), rng.uniform(-1.0, 1.0, n)
    values = burgers_exact(t, x)
    sigma = float(noise * values.std())
    values = values + sigma * rng.normal(size=n)
    return Problem(
        lambda d: d.u_t + d.lambda1 * d.u * d.u_x - d.lambda2 * d.u_xx,
        {"t": (0.0, 1.0), "x": (-1.0, 1.0)},
        conditions=(Initial("u", lambda x: -jnp.sin(jnp.pi * x)), Boundary("u", "x", 0.0)),
        parameters={
            "lambda1": Unknown(0.1, 10.0, start=2.0),
            "lambda2": Unknown(1e-4, 0.1, start=0.02),
        },
        readings=(Measured("u", {"t": t, "x": x}, values, sigma or None),),
        exact=lambda t, x: burgers_exact(t, x),
        name="Burgers, two unknown parameters",
    )


INVERSE = (oscillator_inverse, lorenz_inverse, burgers_inverse)


def _lorenz(t):
    """Return (n, 3) states at times, by DOP853 at a tolerance of 1e-12."""
    from scipy.integrate import solve_ivp

    sigma, rho, beta = LORENZ_TRUTH.values()

    def slope(_, state):
        x, y, z = state
        return sigma * (y - x), x * (rho - z) - y, x * y - beta * z

    run = solve_ivp(
        slope, (0.0, 3.0), (-8.0, 7.0, 27.0), "DOP853", rtol=1e-12, atol=1e-12, dense_output=True
    )
    return run.sol(np.asarray(t, float)).T


def _generator(noise, n, seed):
    if not noise >= 0 or n < 1:
        raise StudyError(
            f"Readings need `noise` of at least 0 and `n` of at least 1, got {noise!r} and {n!r}.",
            hint="For example noise=0.02, n=12.",
        )
    return np.random.default_rng(seed)
