"""A residual network on one row: each block adds a small step to what it was given."""

import math

import equinox as eqx

from assay.errors import StudyError
from assay.nn.activations import activation as _activation
from assay.nn.mlp import MAX_LAYERS, Linear


class ResNet(eqx.Module):
    r"""A linear lift, residual blocks and a linear read-out.

    .. math::

        h_0 = W_\mathrm{in} x + b_\mathrm{in}, \quad
        h_{l+1} = h_l + \alpha\,\varphi(W_l h_l + b_l), \quad
        y = W_\mathrm{out} h_L + b_\mathrm{out}

    The identity of each block carries signal and gradient past it [1]_; with
    :math:`\alpha = 1/\sqrt{L}` their size does not grow with the depth :math:`L` [2]_.

    Parameters
    ----------
    in_size, out_size : int
        Sizes of a row of input and of output, at least 1.
    width : int
        Size of the states between, at least 1.
    depth : int
        Number of blocks :math:`L`, at least 1.
    activation : str
        Name of :math:`\varphi`, see `assay.nn.ACTIVATIONS`.

    Raises
    ------
    StudyError
        If a size or the depth is below 1, or the activation is unknown.

    References
    ----------
    .. [1] K. He et al., Identity mappings in deep residual networks, 2016, eq. (4).
    .. [2] S. Hayou et al., Stable ResNet, AISTATS 2021, sec. 3: uniform scaling.

    Examples
    --------
    >>> import numpy as np
    >>> ResNet(4, 2, width=8, depth=3)(np.ones(4, "f4")).shape
    (2,)
    """

    lift: Linear
    blocks: tuple[Linear, ...]
    read_out: Linear
    activation: str = eqx.field(static=True)

    def __init__(
        self,
        in_size: int,
        out_size: int,
        width: int = 64,
        depth: int = 8,
        activation: str = "tanh",
    ):
        if isinstance(depth, bool) or not isinstance(depth, int) or not 1 <= depth <= MAX_LAYERS:
            raise StudyError(
                f"`depth` of a ResNet must be a whole number from 1 to {MAX_LAYERS}, got "
                f"{depth!r}.",
                hint="8 blocks are a good start.",
            )
        _activation(activation)  # an unknown name fails here, not while tracing
        self.lift = Linear(in_size, width)
        self.blocks = tuple(Linear(width, width) for _ in range(depth))
        self.read_out = Linear(width, out_size)
        self.activation = activation

    def __call__(self, x):
        """Map one row (in_size,) to (out_size,), or n columns (in_size, n) to (out_size, n)."""
        f = _activation(self.activation)
        alpha = 1.0 / math.sqrt(len(self.blocks))
        h = self.lift(x)
        for block in self.blocks:
            h = h + alpha * f(block(h))
        return self.read_out(h)
