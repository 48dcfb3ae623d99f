r"""Least squares for many numbers that shall vary smoothly: the nodes of a coefficient.

Minimises :math:`|r(c)|^2 + \lambda |D c|^2` over shares :math:`c` of the ranges, with second
differences :math:`D` of the nodes, by Gauss-Newton steps within the ranges. In every step
:math:`\lambda` is the one with the smallest generalised cross-validation score [1]_ of the linear
model, :math:`n |r|^2 / (n - \mathrm{tr} H)^2`.

References
----------
.. [1] G. Golub, M. Heath, G. Wahba, Generalized cross-validation as a method for choosing a good
   ridge parameter, Technometrics 21 (1979) 215-223.
"""

import dataclasses
from typing import Any

import numpy as np

WEAK = 0.1  # precision, in shares of the range, where no reading sees a node
STEPS = 12
STRENGTHS = np.logspace(-8.0, 4.0, 49)  # of the roughness, over the size of the readings' part
CLOSE = 1e-3  # relative change of the objective from which it has converged


@dataclasses.dataclass(frozen=True, eq=False)
class Smooth:
    """What was found.

    Attributes
    ----------
    shares : array of shape (n_unknown,)
    rows : array of shape (n_readings,)
        Solution minus reading over the standard deviation.
    prior : array of shape (n_unknown, n_unknown)
        The part of the normal matrix that smoothness and ranges give.
    freedom : float
        Readings less the numbers that they determine: n - tr H.
    """

    shares: np.ndarray
    rows: np.ndarray
    prior: np.ndarray
    freedom: float


def smooth_fit(misfit: Any, rough: np.ndarray) -> Smooth:
    """Find the unknowns of a misfit, some of which shall vary smoothly.

    Parameters
    ----------
    misfit : Misfit
    rough : array of shape (n_rows, n_unknown)
        Second differences of the nodes, zero for other unknowns.
    """
    here = misfit.start
    rows = misfit.rows(here)
    prior, freedom = WEAK**2 * np.eye(len(here)), float(len(rows))
    for _ in range(STEPS):
        slopes = misfit.jacobian(here, rows)
        prior, freedom = _smoothed(slopes, rows, here, rough)
        moved, new = _shorter(misfit, here, rows, slopes, prior)
        before, after = _cost(rows, here, prior), _cost(new, moved, prior)
        here, rows = moved, new
        if before - after <= CLOSE * before:
            break
    return Smooth(here, rows, prior, freedom)


def _cost(rows, shares, prior):
    off = shares - 0.5
    return float(rows @ rows + off @ prior @ off)


def _smoothed(slopes, rows, here, rough):
    """Return the prior of least cross-validation score, and the degrees of freedom it leaves."""
    n, weak = len(rows), WEAK**2 * np.eye(len(here))
    size = np.trace(slopes.T @ slopes) / max(np.trace(rough.T @ rough), 1e-300)
    target = rows - slopes @ (here - 0.5)  # the linear model at the middle of the ranges
    scores = []
    for strength in STRENGTHS:
        prior = weak + strength * size * rough.T @ rough
        gain = np.linalg.solve(slopes.T @ slopes + prior, slopes.T)
        free = n - float(np.sum(slopes.T * gain))
        left = target - slopes @ (gain @ target)
        scores.append((n * float(left @ left) / max(free, 1e-9) ** 2, strength, free))
    _, strength, free = min(scores)
    return weak + strength * size * rough.T @ rough, free


def _shorter(misfit, here, rows, slopes, prior):
    """Return the shares and rows after the longest step that lowers the objective."""
    from scipy.optimize import lsq_linear

    half = np.linalg.cholesky(prior).T
    matrix = np.concatenate([slopes, half])
    right = -np.concatenate([rows, half @ (here - 0.5)])
    low, high = np.minimum(-here, -1e-12), np.maximum(1.0 - here, 1e-12)
    step = lsq_linear(matrix, right, (low, high)).x
    before, share = _cost(rows, here, prior), 1.0
    for _ in range(6):
        moved = np.clip(here + share * step, 0.0, 1.0)
        new = misfit.rows(moved)
        if _cost(new, moved, prior) < before:
            return moved, new
        share /= 3.0
    return here, rows
