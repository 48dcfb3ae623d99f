"""Anomaly: whether a network finds the faults that classical monitoring misses."""

import importlib as _importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # what type checkers and editors see
    from assay.anomaly.autoencoder import AutoencoderDetector as AutoencoderDetector
    from assay.anomaly.baselines import BASELINES as BASELINES
    from assay.anomaly.brought import bring as bring
    from assay.anomaly.candidates import CANDIDATES as CANDIDATES
    from assay.anomaly.denoising import DenoisingDetector as DenoisingDetector
    from assay.anomaly.detector import Detector as Detector
    from assay.anomaly.forecast import ForecastDetector as ForecastDetector
    from assay.anomaly.study import AnomalyStudy as AnomalyStudy

    Autoencoder = AutoencoderDetector

_LAZY = {
    "AnomalyStudy": "assay.anomaly.study",
    "Autoencoder": "assay.anomaly.autoencoder:AutoencoderDetector",
    "AutoencoderDetector": "assay.anomaly.autoencoder",
    "BASELINES": "assay.anomaly.baselines",
    "CANDIDATES": "assay.anomaly.candidates",
    "DenoisingDetector": "assay.anomaly.denoising",
    "Detector": "assay.anomaly.detector",
    "ForecastDetector": "assay.anomaly.forecast",
    "bring": "assay.anomaly.brought",
}
__all__ = sorted(_LAZY)


def __getattr__(name):
    if name in _LAZY:
        # "Autoencoder" is the detector here, and the estimator of codes in `assay.compress`.
        module, _, own = _LAZY[name].partition(":")
        value = getattr(_importlib.import_module(module), own or name)
        globals()[name] = value  # later look-ups are free
        return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__():
    return __all__
