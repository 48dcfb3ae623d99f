r"""Afterslip on one patch of a fault: the displacement of a station in the year after a quake.

The patch slides at a rate that grows with the exponential of its stress (rate-strengthening
friction), so that a stress step :math:`D` decays as

.. math:: \tau(t) = 2 A \operatorname{artanh}\!\left(\tanh\frac{D}{2A}\, e^{-6 v_0 t / A}\right),
   \qquad u(t) = 0.2\,(D - \tau(t)),

with :math:`A` [MPa] the friction parameter times the normal stress, :math:`v_0` [m/yr] the loading
rate, :math:`t` [yr] and :math:`u` [m].
"""

import dataclasses
import math
from typing import ClassVar

import numpy as np

from assay.problems.problem import Problem

N_EPOCHS = 40
MILLIMETRES = 1000.0
NOISE_MM = 2.0  # of a GPS position, the yardstick of errors
_DAY = 1.0 / 365.25  # yr
_RUNS, _TRAIN, _VALIDATION = 4000, 3200, 400


def epochs() -> np.ndarray:
    """Return the 40 times (40,) [yr] of an output, log-spaced from one day to one year."""
    return np.geomspace(_DAY, 1.0, N_EPOCHS)


def displacement(A, v0, D, t, xp=np):
    """Return the displacement [mm] of the station.

    Parameters
    ----------
    A : array > 0 [MPa]
        Friction parameter times normal stress.
    v0 : array > 0 [m/yr]
        Loading rate.
    D : array > 0 [MPa]
        Stress step.
    t : array >= 0 [yr]
        Time after the quake.
    xp : module, default numpy
        NumPy or ``jax.numpy``.

    Examples
    --------
    >>> round(float(displacement(0.5, 0.08, 2.5, 1.0)), 1) > 100.0
    True
    """
    decayed = xp.tanh(D / (2.0 * A)) * xp.exp(-6.0 * v0 * t / A)
    return MILLIMETRES * 0.2 * (D - 2.0 * A * xp.arctanh(decayed))


def _afterslip(X, xp):
    A, v0, D = xp.exp(X[..., 0:1]), xp.exp(X[..., 1:2]), X[..., 2:3]
    t = xp.asarray(epochs(), dtype=X.dtype)
    return displacement(A, v0, D, t.reshape((1,) * (X.ndim - 1) + (-1,)), xp)


AFTERSLIP = Problem(
    name="Afterslip",
    about="Displacement over the year after a quake, from one patch of a fault.",
    source="Single-patch model with rate-strengthening friction, in closed form",
    inputs=("log_A", "log_v0", "D"),
    input_units=("log MPa", "log m/yr", "MPa"),
    low=(math.log(0.2), math.log(1e-3), 1.0),
    high=(math.log(2.0), 0.0, 5.0),
    outputs=tuple(f"u_{i}" for i in range(N_EPOCHS)),
    output_units=("mm",) * N_EPOCHS,
    function=_afterslip,
)


@dataclasses.dataclass(frozen=True, eq=False)
class AfterslipRuns:
    """The 4,000 runs of the single-patch model.

    Attributes
    ----------
    X : (4000, 3) float64
        log A, log v0 and D, independent and uniform in the box of `AFTERSLIP`.
    Y : (4000, 40) float64 [mm]
        The displacement at `times`.
    times : (40,) float64 [yr]
    train, validation, test : slice
        3,200, 400 and 400 runs, in this order.
    """

    X: np.ndarray
    Y: np.ndarray
    times: np.ndarray
    train: ClassVar[slice] = slice(0, _TRAIN)
    validation: ClassVar[slice] = slice(_TRAIN, _TRAIN + _VALIDATION)
    test: ClassVar[slice] = slice(_TRAIN + _VALIDATION, _RUNS)


def afterslip_runs() -> AfterslipRuns:
    """Return the 4,000 runs, the same ones every time.

    Examples
    --------
    >>> runs = afterslip_runs()
    >>> runs.Y[runs.test].shape
    (400, 40)
    """
    X = AFTERSLIP.sample(_RUNS, 0, kind="random")
    return AfterslipRuns(X, AFTERSLIP(X), epochs())


def afterslip_slice() -> tuple[np.ndarray, np.ndarray]:
    """Return a problem with one input: log v0 (200,) and the growth of the displacement [mm].

    A is 0.5 MPa and D is 2.5 MPa; the growth is from day 30 to one year. It rises to an interior
    maximum and falls again: a patch that is loaded fast has slipped before day 30.

    Examples
    --------
    >>> log_v0, growth = afterslip_slice()
    >>> int(growth.argmax())
    126
    """
    log_v0 = np.linspace(math.log(1e-3), 0.0, 200)
    v0 = np.exp(log_v0)
    return log_v0, displacement(0.5, v0, 2.5, 1.0) - displacement(0.5, v0, 2.5, 30.0 * _DAY)
