"""Training: a specification, the compiled loop around it, and what a fit returns."""

from typing import TYPE_CHECKING

from assay.lazy import lazy_names as _lazy_names

if TYPE_CHECKING:  # what type checkers and editors see
    from assay.train.batches import epochs_to_steps as epochs_to_steps
    from assay.train.cache import enable_compilation_cache as enable_compilation_cache
    from assay.train.engine import fit as fit
    from assay.train.forward import predict as predict
    from assay.train.many import fit_many as fit_many
    from assay.train.outcome import Fit as Fit
    from assay.train.outcome import FitStatus as FitStatus
    from assay.train.outcome import History as History
    from assay.train.program import trace_count as trace_count
    from assay.train.spec import FitSpec as FitSpec
    from assay.train.spec import Hyper as Hyper

_LAZY = {
    "Fit": "outcome",
    "FitSpec": "spec",
    "FitStatus": "outcome",
    "History": "outcome",
    "Hyper": "spec",
    "enable_compilation_cache": "cache",
    "epochs_to_steps": "batches",
    "fit": "engine",
    "fit_many": "many",
    "predict": "forward",
    "trace_count": "program",
}
__getattr__, __dir__, __all__ = _lazy_names(__name__, _LAZY)
