"""A multilayer perceptron whose layers are mixed by two gates of the input."""

import equinox as eqx

from assay.nn.activations import activation as _activation
from assay.nn.mlp import Linear, _check_sizes


class ModifiedMLP(eqx.Module):
    r"""Layers between two gates.

    .. math::

        U = \varphi(W_u x + b_u), \quad V = \varphi(W_v x + b_v), \quad
        h_0 = \varphi(W_0 x + b_0), \quad
        z = \varphi(W_l h_{l-1} + b_l), \quad h_l = z \odot U + (1 - z) \odot V

    (Wang, Teng and Perdikaris 2021, eqs. (41)-(45) [1]_.)

    Parameters
    ----------
    in_size, out_size : int
        At least 1.
    width, depth : int
        Size of the states, and number of gated layers, each at least 1.
    activation : str
        See `assay.nn.ACTIVATIONS`.

    References
    ----------
    .. [1] S. Wang, Y. Teng, P. Perdikaris, Understanding and mitigating gradient flow pathologies
       in physics-informed neural networks, SIAM J. Sci. Comput. 43, 2021.

    Examples
    --------
    >>> import numpy as np
    >>> ModifiedMLP(2, 1, width=8, depth=2)(np.ones(2, "f4")).shape
    (1,)
    """

    first_gate: Linear
    second_gate: Linear
    lift: Linear
    layers: tuple[Linear, ...]
    read_out: Linear
    activation: str = eqx.field(static=True)

    def __init__(
        self,
        in_size: int,
        out_size: int,
        width: int = 32,
        depth: int = 3,
        activation: str = "tanh",
    ):
        _check_sizes((width,) * max(1, depth))
        _check_sizes((depth,))
        _activation(activation)  # an unknown name fails here, not while tracing
        self.first_gate = Linear(in_size, width)
        self.second_gate = Linear(in_size, width)
        self.lift = Linear(in_size, width)
        self.layers = tuple(Linear(width, width) for _ in range(depth))
        self.read_out = Linear(width, out_size)
        self.activation = activation

    def __call__(self, x):
        """Map one row of shape (in_size,) to shape (out_size,)."""
        f = _activation(self.activation)
        u, v, h = f(self.first_gate(x)), f(self.second_gate(x)), f(self.lift(x))
        for layer in self.layers:
            z = f(layer(h))
            h = v + z * (u - v)
        return self.read_out(h)
