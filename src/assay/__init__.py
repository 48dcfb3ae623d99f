"""Assay: find out what a neural network is really worth.

A classical baseline that it must beat, a test part that is opened once, checks for the known
failures, and a verdict with an interval: EARNED, NOT EARNED, UNDECIDED or INVALID.

Everything public is loaded on first use, so that importing this package costs nothing.
"""

from typing import TYPE_CHECKING

from assay.lazy import lazy_names as _lazy_names

if TYPE_CHECKING:  # what type checkers and editors see
    from assay.anomaly import AnomalyStudy as AnomalyStudy
    from assay.checks import Check as Check
    from assay.compress import Autoencoder as Autoencoder
    from assay.compress import CompressStudy as CompressStudy
    from assay.data import Table as Table
    from assay.data import read_table as read_table
    from assay.errors import AssayError as AssayError
    from assay.errors import DataError as DataError
    from assay.errors import ModelError as ModelError
    from assay.errors import StudyError as StudyError
    from assay.models import load as load
    from assay.result import Contender as Contender
    from assay.result import Finding as Finding
    from assay.result import Gain as Gain
    from assay.result import Result as Result

__version__ = "0.1.0"

_LAZY = {
    "AnomalyStudy": "assay.anomaly",
    "AssayError": "assay.errors",
    "Autoencoder": "assay.compress",
    "Check": "assay.checks",
    "CompressStudy": "assay.compress",
    "Contender": "assay.result",
    "DataError": "assay.errors",
    "Finding": "assay.result",
    "Gain": "assay.result",
    "ModelError": "assay.errors",
    "Result": "assay.result",
    "StudyError": "assay.errors",
    "Table": "assay.data",
    "load": "assay.models",
    "read_table": "assay.data",
}
__getattr__, __dir__, __all__ = _lazy_names(__name__, _LAZY, "__version__")
