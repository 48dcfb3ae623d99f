"""What a Gaussian process sees of an output: itself, its square root or its logarithm.

An output that is a product of effects, each a function of few inputs, is nearly a sum of them on a
logarithmic scale, which is much easier to learn. Likelihoods on different scales compare once the
change of the volume element is counted.
"""

import dataclasses
from collections.abc import Callable

import numpy as np


@dataclasses.dataclass(frozen=True)
class Transform:
    """A scale for outputs.

    Attributes
    ----------
    name : str
    forward : callable
        From outputs to the scale.
    log_slope : callable
        Log of its derivative.
    moments : callable
        From mean and variance on the scale, those of the output if the scale is normal.
    positive : bool
        Only for outputs above nought.
    """

    name: str
    forward: Callable
    log_slope: Callable
    moments: Callable
    positive: bool


def _same(Y):
    return Y


def _no_slope(Y):
    return np.zeros_like(Y)


def _same_moments(mean, variance):
    return mean, variance


def _root_slope(Y):
    return -np.log(2.0) - 0.5 * np.log(Y)


def _root_moments(mean, variance):
    return mean**2 + variance, 4.0 * mean**2 * variance + 2.0 * variance**2


def _log_slope(Y):
    return -np.log(Y)


def _log_moments(mean, variance):
    # Far outside the runs the exponential overflows; a huge finite number says the same.
    centre = np.exp(np.minimum(mean + 0.5 * variance, 300.0))
    return centre, centre**2 * np.expm1(np.minimum(variance, 100.0))


TRANSFORMS = (
    Transform("identity", _same, _no_slope, _same_moments, positive=False),
    Transform("sqrt", np.sqrt, _root_slope, _root_moments, positive=True),
    Transform("log", np.log, _log_slope, _log_moments, positive=True),
)
NAMES = tuple(t.name for t in TRANSFORMS)


def transform_named(name: str) -> Transform:
    """Return the transform of that name."""
    return TRANSFORMS[NAMES.index(name)]


def possible(Y) -> tuple[Transform, ...]:
    """Return the transforms that outputs `Y` (n, m) allow.

    Examples
    --------
    >>> [t.name for t in possible(np.array([[1.0], [2.0]]))]
    ['identity', 'sqrt', 'log']
    >>> [t.name for t in possible(np.array([[0.0], [2.0]]))]
    ['identity']
    """
    above = bool((Y > 0.0).all())
    return tuple(t for t in TRANSFORMS if above or not t.positive)
