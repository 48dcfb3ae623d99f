"""Anomaly: whether a network finds the faults that classical monitoring misses."""

from typing import TYPE_CHECKING

from assay.lazy import lazy_names as _lazy_names

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
__getattr__, __dir__, __all__ = _lazy_names(__name__, _LAZY)
