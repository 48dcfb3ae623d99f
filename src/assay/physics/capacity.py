"""Whether a network can represent a solution: it is told it, and fitted by plain regression."""

from typing import Any

import numpy as np
from sklearn.base import clone

from assay.physics.conditions import Measured
from assay.physics.solution import relative_l2
from assay.train.descent import Stop

ROWS = 2000
STEPS, SECONDS = 300, 60.0
POINTS = 20  # of the equation, which does not count here
FLAT = 0.9  # the loss over a fifth of the steps: no more to be had


def loss_fall(history: dict[str, Any]) -> float:
    """Return the loss in the last fifth of the steps over that in the fifth before (medians).

    1 where there are too few steps to tell.

    Examples
    --------
    >>> round(loss_fall({"loss": 0.99 ** np.arange(1000)}), 3)
    0.134
    """
    loss = np.asarray(history["loss"], np.float64)
    fifth = max(1, len(loss) // 5)
    before, last = loss[-2 * fifth : -fifth], loss[-fifth:]
    return float(np.median(last) / max(np.median(before), 1e-300)) if len(before) else 1.0


def fit_to_reference(network: Any, reference: Any, *, seed: int = 0) -> tuple[float, bool]:
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

    Returns
    -------
    error : float [-]
    ended : bool
        Whether more steps would have changed little.
    """
    problem = network.problem_
    n = len(reference.points)
    rows = np.sort(np.random.default_rng(seed).choice(n, min(ROWS, n), replace=False))
    points, fields = reference.points[rows], reference.fields[rows]
    at = {name: points[:, i] for i, name in enumerate(problem.box)}
    sizes = np.sqrt(np.mean(fields**2, axis=0))
    sizes = np.where(sizes > 0, sizes, float(np.sqrt(np.mean(sizes**2))) or 1.0)
    readings = tuple(
        Measured(name, at, fields[:, i], sigma=1e-3 * float(sizes[i]))
        for i, name in enumerate(problem.fields)
    )
    told = problem.replace(readings=readings)
    weights = {"residual": 1e-12, "condition": 1.0, "reading": 1e6}
    fitted = clone(network).set_params(
        weights=weights, windows=1, curriculum=None, resample=None, precision="float64",
        optimiser="auto", steps=STEPS, seconds=SECONDS, points=POINTS,
    )  # fmt: skip
    fitted.fit(told)
    error = relative_l2(fitted.predict(reference.points), reference.fields)
    return error, fitted.stop_ is not Stop.SECONDS and loss_fall(fitted.history_) >= FLAT
