"""The Ishigami function, whose sensitivity indices are known in closed form."""

import math

from assay.problems.problem import Problem

A, B = 7.0, 0.1


def _ishigami(X, xp):
    first, second, third = X[..., 0], X[..., 1], X[..., 2]
    wave = xp.sin(first)
    return (wave + A * xp.sin(second) ** 2 + B * third**4 * wave)[..., None]


def _variances():
    """Return the parts of the variance that belong to x1, x2 and the pair (x1, x3)."""
    one = 0.5 * (1.0 + B * math.pi**4 / 5.0) ** 2
    return one, A**2 / 8.0, B**2 * math.pi**8 * (1.0 / 18.0 - 1.0 / 50.0)


_ONE, _TWO, _PAIR = _variances()
_ALL = _ONE + _TWO + _PAIR

ISHIGAMI = Problem(
    name="Ishigami",
    about="A smooth, strongly non-linear function with an interaction; a = 7, b = 0.1.",
    source="T. Ishigami, T. Homma, ISUMA 1990, 398-403; indices: A. Saltelli et al., Sensitivity "
    "Analysis, Wiley 2000",
    inputs=("x1", "x2", "x3"),
    input_units=("rad", "rad", "rad"),
    low=(-math.pi,) * 3,
    high=(math.pi,) * 3,
    outputs=("y",),
    output_units=("-",),
    function=_ishigami,
    mean=A / 2.0,
    spread=math.sqrt(_ALL),
    sobol_first=(_ONE / _ALL, _TWO / _ALL, 0.0),
    sobol_total=((_ONE + _PAIR) / _ALL, _TWO / _ALL, _PAIR / _ALL),
)
