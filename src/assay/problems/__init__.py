"""Problems: inputs with known answers, generated; nothing is downloaded."""

from typing import TYPE_CHECKING

from assay.lazy import lazy_names as _lazy_names

if TYPE_CHECKING:  # what type checkers and editors see
    from assay.problems.afterslip import AFTERSLIP as AFTERSLIP
    from assay.problems.afterslip import afterslip_runs as afterslip_runs
    from assay.problems.afterslip import afterslip_slice as afterslip_slice
    from assay.problems.engineering import BOREHOLE as BOREHOLE
    from assay.problems.engineering import OTL_CIRCUIT as OTL_CIRCUIT
    from assay.problems.engineering import PISTON as PISTON
    from assay.problems.engineering import WING_WEIGHT as WING_WEIGHT
    from assay.problems.ishigami import ISHIGAMI as ISHIGAMI
    from assay.problems.problem import Problem as Problem

_LAZY = {
    "AFTERSLIP": "afterslip",
    "BOREHOLE": "engineering",
    "ISHIGAMI": "ishigami",
    "OTL_CIRCUIT": "engineering",
    "PISTON": "engineering",
    "Problem": "problem",
    "WING_WEIGHT": "engineering",
    "afterslip_runs": "afterslip",
    "afterslip_slice": "afterslip",
}
__getattr__, __dir__, __all__ = _lazy_names(__name__, _LAZY)
