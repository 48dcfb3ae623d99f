"""Surrogate: whether a network in place of an expensive model beats the Gaussian process."""

from typing import TYPE_CHECKING

from assay.lazy import lazy_names as _lazy_names

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
    from assay.surrogate.error_covariance import ErrorCovariance as ErrorCovariance
    from assay.surrogate.error_covariance import SpreadCovariance as SpreadCovariance
    from assay.surrogate.error_covariance import cross_error_covariance as cross_error_covariance
    from assay.surrogate.error_covariance import held_out_covariance as held_out_covariance
    from assay.surrogate.error_covariance import spread_covariance as spread_covariance
    from assay.surrogate.gp import GaussianProcess as GaussianProcess
    from assay.surrogate.input_priors import LogUniform as LogUniform
    from assay.surrogate.input_priors import Normal as Normal
    from assay.surrogate.input_priors import Uniform as Uniform
    from assay.surrogate.inversion import invert as invert
    from assay.surrogate.inversion_coverage import coverage_study as coverage_study
    from assay.surrogate.learning_curve import LearningCurve as LearningCurve
    from assay.surrogate.learning_curve import RunsNeeded as RunsNeeded
    from assay.surrogate.learning_curve import runs_needed as runs_needed
    from assay.surrogate.mlp import MLPSurrogate as MLPSurrogate
    from assay.surrogate.neural_ode import NeuralODE as NeuralODE
    from assay.surrogate.outputs import PCAOutputs as PCAOutputs
    from assay.surrogate.posterior import Posterior as Posterior
    from assay.surrogate.prior import weight_decay_of as weight_decay_of
    from assay.surrogate.resnet import ResNetSurrogate as ResNetSurrogate
    from assay.surrogate.sobol import sobol_indices as sobol_indices
    from assay.surrogate.study import SurrogateStudy as SurrogateStudy
    from assay.surrogate.traced import as_function as as_function

_LAZY = {
    "BASELINES": "baselines",
    "CalibratedSurrogate": "calibrated",
    "Conformal": "conformal",
    "Coverage": "bands",
    "DeepEnsemble": "ensemble",
    "Domain": "domain",
    "ErrorCovariance": "error_covariance",
    "GaussianProcess": "gp",
    "LearningCurve": "learning_curve",
    "LogUniform": "input_priors",
    "MLPSurrogate": "mlp",
    "NeuralODE": "neural_ode",
    "Normal": "input_priors",
    "PCAOutputs": "outputs",
    "Posterior": "posterior",
    "ResNetSurrogate": "resnet",
    "RunsNeeded": "learning_curve",
    "SpreadCovariance": "error_covariance",
    "SurrogateStudy": "study",
    "Uniform": "input_priors",
    "as_function": "traced",
    "coverage": "bands",
    "coverage_band": "bands",
    "coverage_study": "inversion_coverage",
    "cross_error_covariance": "error_covariance",
    "cross_errors": "conformal",
    "fit_conformal": "conformal",
    "held_out_covariance": "error_covariance",
    "invert": "inversion",
    "runs_needed": "learning_curve",
    "sobol_indices": "sobol",
    "spread_covariance": "error_covariance",
    "weight_decay_of": "prior",
}
__getattr__, __dir__, __all__ = _lazy_names(__name__, _LAZY)
