"""A damped oscillator as `assay physics` takes it: one declaration, a network and a solver.

assay physics docs/examples/oscillator.py:problem
assay physics docs/examples/oscillator.py:damping
"""

import math

import numpy as np

from assay.physics import Initial, Measured, Problem, Unknown

W0 = 2 * math.pi  # 1 Hz

problem = Problem(
    lambda d: d.u_tt + 2 * d.zeta * d.w0 * d.u_t + d.w0**2 * d.u,
    {"t": (0.0, 2.0)},
    conditions=(Initial("u", 1.0), Initial("u_t", 0.0)),
    parameters={"zeta": 0.1, "w0": W0},
    units={"t": "s", "u": "m", "w0": "rad/s", "zeta": "-"},
    name="damped oscillator",
)


def exact(t, zeta=0.1):
    """Return the displacement, from which readings are made."""
    wd = W0 * math.sqrt(1 - zeta**2)
    return np.exp(-zeta * W0 * t) * (np.cos(wd * t) + zeta * W0 / wd * np.sin(wd * t))


def damping():
    """Return the same oscillator with unknown damping and 60 readings of 2 cm noise.

    No exact solution is declared: a fifth of the readings is held back, and grades the methods.
    """
    rng = np.random.default_rng(0)
    t = np.sort(rng.uniform(0.0, 2.0, 60))
    read = exact(t) + 0.02 * rng.normal(size=60)
    return problem.replace(
        parameters={"zeta": Unknown(0.01, 0.99), "w0": W0},
        readings=(Measured("u", {"t": t}, read, sigma=0.02),),
        name="damped oscillator, damping unknown",
    )
