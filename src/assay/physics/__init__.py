"""Physics: an equation written once, a network for it, and the solver that it must beat."""

from typing import TYPE_CHECKING

from assay.lazy import lazy_names as _lazy_names

if TYPE_CHECKING:  # what type checkers and editors see
    from assay.physics.classical import solve_classical as solve_classical
    from assay.physics.coefficient_fit import CoefficientFit as CoefficientFit
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
    "CoefficientFit": "coefficient_fit",
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
__getattr__, __dir__, __all__ = _lazy_names(__name__, _LAZY)
