"""The work that all sides of a benchmark do."""

import os

# An autoencoder on the digits.
COLUMNS, HIDDEN, CODE = 64, 128, 8
BATCH, RATE, EPOCHS, ROWS = 64, 1e-3, 200, 1437

# A surrogate of a smooth function: three inputs, four outputs, all runs in every step.
RUNS, INPUTS, OUTPUTS, WIDTH, LAYERS = 800, 3, 4, 64, 3
SURROGATE_STEPS, SURROGATE_RATE = 16_000, 3e-3


def pin(threads: int) -> None:
    """Keep this process to so many cores, before any library counts them."""
    for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ[name] = str(threads)
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:threads])


def images():
    """Return 1,437 images of 64 grey values in [0, 1] as float32."""
    from sklearn.datasets import load_digits

    return (load_digits().data[:ROWS] / 16.0).astype("float32")


def runs():
    """Return inputs (800, 3) and outputs (800, 4) of a smooth function, scaled, as float32."""
    import numpy as np

    rng = np.random.default_rng(0)
    x = rng.uniform(-1.7, 1.7, (RUNS, INPUTS))
    y = np.tanh(x @ rng.normal(size=(INPUTS, 16)) + rng.normal(size=16)) @ rng.normal(
        size=(16, OUTPUTS)
    )
    y = (y - y.mean(axis=0)) / y.std(axis=0)
    return x.astype("float32"), y.astype("float32")


# The damped oscillator in units of 1/w0, and viscous Burgers: what physics is measured on.
DAMPING, PERIODS, OSCILLATOR_POINTS = 0.1, 2.0, 200
PHYSICS_WIDTH, PHYSICS_LAYERS, PHYSICS_RATE = 32, 3, 1e-3


def oscillation(s):
    """Return the exact displacement at times `s` in units of 1/w0."""
    import numpy as np

    w = np.sqrt(1.0 - DAMPING**2)
    return np.exp(-DAMPING * s) * (np.cos(w * s) + DAMPING / w * np.sin(w * s))


def burgers(t, x, nodes=100):
    """Return the exact solution for viscosity 0.01/pi and u0 = -sin(pi x), by Cole and Hopf."""
    import numpy as np

    nu = 0.01 / np.pi
    z, w = np.polynomial.hermite.hermgauss(nodes)
    y = x[:, None] - np.sqrt(4.0 * nu * np.maximum(t, 1e-12))[:, None] * z
    f = np.exp(-(np.cos(np.pi * y) - 1.0) / (2.0 * np.pi * nu) - 1.0 / (np.pi * nu))
    return -np.sum(w * np.sin(np.pi * y) * f, axis=1) / np.sum(w * f, axis=1)


def burgers_grid():
    """Return points (t, x) of a 100 x 256 grid, and the exact solution there."""
    import numpy as np

    t, x = np.meshgrid(np.linspace(0.0, 1.0, 101)[1:], np.linspace(-1.0, 1.0, 256), indexing="ij")
    t, x = t.ravel(), x.ravel()
    return np.stack([t, x], axis=1), burgers(t, x)
