"""Network parts: Equinox modules whose weights are drawn on the host with NumPy."""

from typing import TYPE_CHECKING

from assay.lazy import lazy_names as _lazy_names

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
__getattr__, __dir__, __all__ = _lazy_names(__name__, _LAZY)
