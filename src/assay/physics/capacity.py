"""Whether a network can represent a solution: it is told it, and fitted by plain regression."""

from typing import Any

import numpy as np
from sklearn.base import clone

from assay.physics.conditions import Measured
from assay.physics.solution import relative_l2

ROWS = 2000
STEPS, SECONDS = 300, 60.0


def fit_to_reference(network: Any, reference: Any, *, seed: int = 0) -> float:
    """Return the relative L2 error [-] of the same network, fitted to the reference itself.

    The fields at up to 2,000 points are readings of great weight, and the equation counts for next
    to nothing. Inputs, units and built-in conditions stay as they are; precision and optimiser are
    the best there are (double, Gauss-Newton up to 20,000 parameters), since the question is what
    the network can represent, not what was done to it.

    Parameters
    ----------
    network : PINN
        Fitted.
    reference : Reference
    seed : int
        Draws the points.
    """
    problem = network.problem_
    n = len(reference.points)
    rows = np.sort(np.random.default_rng(seed).choice(n, min(ROWS, n), replace=False))
    points, fields = reference.points[rows], reference.fields[rows]
    at = {name: points[:, i] for i, name in enumerate(problem.box)}
    size = float(np.sqrt(np.mean(fields**2))) or 1.0
    readings = tuple(
        Measured(name, at, fields[:, i], sigma=1e-3 * size) for i, name in enumerate(problem.fields)
    )
    told = problem.replace(readings=readings)
    weights = {"residual": 1e-12, "condition": 1.0, "reading": 1e6}
    fitted = clone(network).set_params(
        weights=weights, windows=1, curriculum=None, resample=None, precision="float64",
        optimiser="auto", steps=STEPS, seconds=SECONDS,
    )  # fmt: skip
    fitted.fit(told)
    return relative_l2(fitted.predict(reference.points), reference.fields)
