"""Surrogate: whether a network in place of an expensive model beats the Gaussian process."""

import importlib as _importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # what type checkers and editors see
    from assay.surrogate.bands import Coverage as Coverage
    from assay.surrogate.bands import coverage as coverage
    from assay.surrogate.bands import coverage_band as coverage_band
    from assay.surrogate.baselines import BASELINES as BASELINES
    from assay.surrogate.calibrated import CalibratedSurrogate as CalibratedSurrogate
    from assay.surrogate.conformal import Conformal as Conformal
    from assay.surrogate.conformal import cross_errors as cross_errors
    from assay.surrogate.conformal import fit_conformal as fit_conformal
    from assay.surrogate.domain import Domain as Domain
    from assay.surrogate.ensemble import DeepEnsemble as DeepEnsemble
    from assay.surrogate.gp import GaussianProcess as GaussianProcess
    from assay.surrogate.learning_curve import LearningCurve as LearningCurve
    from assay.surrogate.learning_curve import RunsNeeded as RunsNeeded
    from assay.surrogate.learning_curve import runs_needed as runs_needed
    from assay.surrogate.mlp import MLPSurrogate as MLPSurrogate
    from assay.surrogate.neural_ode import NeuralODE as NeuralODE
    from assay.surrogate.outputs import PCAOutputs as PCAOutputs
    from assay.surrogate.prior import weight_decay_of as weight_decay_of
    from assay.surrogate.resnet import ResNetSurrogate as ResNetSurrogate
    from assay.surrogate.study import SurrogateStudy as SurrogateStudy

_LAZY = {
    "BASELINES": "baselines",
    "CalibratedSurrogate": "calibrated",
    "Conformal": "conformal",
    "Coverage": "bands",
    "DeepEnsemble": "ensemble",
    "Domain": "domain",
    "GaussianProcess": "gp",
    "LearningCurve": "learning_curve",
    "MLPSurrogate": "mlp",
    "NeuralODE": "neural_ode",
    "PCAOutputs": "outputs",
    "ResNetSurrogate": "resnet",
    "RunsNeeded": "learning_curve",
    "SurrogateStudy": "study",
    "coverage": "bands",
    "coverage_band": "bands",
    "cross_errors": "conformal",
    "fit_conformal": "conformal",
    "runs_needed": "learning_curve",
    "weight_decay_of": "prior",
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
