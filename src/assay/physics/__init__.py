"""Physics: an equation written once, a network for it, and the solver that it must beat."""

import importlib as _importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # what type checkers and editors see
    from assay.physics.classical import solve_classical as solve_classical
    from assay.physics.conditions import Boundary as Boundary
    from assay.physics.conditions import Face as Face
    from assay.physics.conditions import Initial as Initial
    from assay.physics.conditions import Measured as Measured
    from assay.physics.conditions import Periodic as Periodic
    from assay.physics.conditions import Unknown as Unknown
    from assay.physics.conditions import UnknownField as UnknownField
    from assay.physics.inverse_baseline import LeastSquaresFit as LeastSquaresFit
    from assay.physics.network_intervals import bootstrap_intervals as bootstrap_intervals
    from assay.physics.network_intervals import laplace_intervals as laplace_intervals
    from assay.physics.pinn import PINN as PINN
    from assay.physics.problem import Problem as Problem
    from assay.physics.solution import Solution as Solution
    from assay.physics.study import PhysicsStudy as PhysicsStudy

_LAZY = {
    "Boundary": "conditions",
    "Face": "conditions",
    "Initial": "conditions",
    "LeastSquaresFit": "inverse_baseline",
    "Measured": "conditions",
    "PINN": "pinn",
    "Periodic": "conditions",
    "PhysicsStudy": "study",
    "Problem": "problem",
    "Solution": "solution",
    "Unknown": "conditions",
    "UnknownField": "conditions",
    "bootstrap_intervals": "network_intervals",
    "laplace_intervals": "network_intervals",
    "solve_classical": "classical",
}
__all__ = sorted(_LAZY)


def __getattr__(name):
    if name in _LAZY:
        value = getattr(_importlib.import_module(f"{__name__}.{_LAZY[name]}"), name)
        globals()[name] = value  # later look-ups are free
        return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__():
    return __all__
