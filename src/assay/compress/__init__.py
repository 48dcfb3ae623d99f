"""Compress: whether an autoencoder beats principal components with a code of the same size."""

import importlib as _importlib
from typing import TYPE_CHECKING

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
__all__ = sorted(_LAZY)


def __getattr__(name):
    if name in _LAZY:
        value = getattr(_importlib.import_module(f"{__name__}.{_LAZY[name]}"), name)
        globals()[name] = value  # later look-ups are free
        return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__():
    return __all__
