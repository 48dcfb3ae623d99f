"""Problems: inputs with known answers, generated; nothing is downloaded."""

import importlib as _importlib
from typing import TYPE_CHECKING

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
__all__ = sorted(_LAZY)


def __getattr__(name):
    if name in _LAZY:
        value = getattr(_importlib.import_module(f"{__name__}.{_LAZY[name]}"), name)
        globals()[name] = value  # later look-ups are free
        return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__():
    return __all__
