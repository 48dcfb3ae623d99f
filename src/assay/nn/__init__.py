"""Network parts: Equinox modules whose weights are drawn on the host with NumPy."""

import importlib as _importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # what type checkers and editors see
    from assay.nn.activations import ACTIVATIONS as ACTIVATIONS
    from assay.nn.activations import activation as activation
    from assay.nn.arrays import from_arrays as from_arrays
    from assay.nn.arrays import to_arrays as to_arrays
    from assay.nn.initialisation import RULES as RULES
    from assay.nn.initialisation import initialise as initialise
    from assay.nn.initialisation import n_parameters as n_parameters
    from assay.nn.mlp import MLP as MLP
    from assay.nn.mlp import Linear as Linear
    from assay.nn.neural_ode import ODENet as ODENet
    from assay.nn.resnet import ResNet as ResNet

_LAZY = {
    "ACTIVATIONS": "activations",
    "MLP": "mlp",
    "RULES": "initialisation",
    "Linear": "mlp",
    "ODENet": "neural_ode",
    "ResNet": "resnet",
    "activation": "activations",
    "from_arrays": "arrays",
    "initialise": "initialisation",
    "n_parameters": "initialisation",
    "to_arrays": "arrays",
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
