"""The work that all sides of the benchmark do: an autoencoder on the digits."""

import os

COLUMNS, HIDDEN, CODE = 64, 128, 8
BATCH, RATE, EPOCHS, ROWS = 64, 1e-3, 200, 1437


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
