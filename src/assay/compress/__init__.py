"""Compress: whether an autoencoder beats principal components with a code of the same size."""

from typing import TYPE_CHECKING

from assay.lazy import lazy_names as _lazy_names

if TYPE_CHECKING:  # what type checkers and editors see
    from assay.compress.autoencoder import Autoencoder as Autoencoder
    from assay.compress.baselines import PCA as PCA
    from assay.compress.baselines import MeanRow as MeanRow
    from assay.compress.study import CompressStudy as CompressStudy

_LAZY = {
    "Autoencoder": "autoencoder",
    "CompressStudy": "study",
    "MeanRow": "baselines",
    "PCA": "baselines",
}
__getattr__, __dir__, __all__ = _lazy_names(__name__, _LAZY)
