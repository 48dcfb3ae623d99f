"""Dense layers. Modules work on one row; batch them with ``jax.vmap`` or `assay.train.predict`."""

import itertools

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from assay.errors import StudyError
from assay.nn.activations import activation as _activation

MAX_LAYERS = 1000  # far beyond use; a model file that asks for a million must not get them


class Linear(eqx.Module):
    """An affine map of one row, ``weight @ x + bias``.

    Parameters
    ----------
    in_size, out_size : int
        Sizes, at least 1.
    use_bias : bool
        Whether there is a bias.

    Notes
    -----
    The weights are zero until `assay.nn.initialise` draws them: training does so itself.

    Examples
    --------
    >>> Linear(3, 2)(np.ones(3)).shape
    (2,)
    """

    weight: jax.Array
    bias: jax.Array | None

    def __init__(self, in_size: int, out_size: int, *, use_bias: bool = True):
        _check_sizes((in_size, out_size))
        self.weight = _zeros((out_size, in_size))
        self.bias = _zeros((out_size,)) if use_bias else None

    def __call__(self, x):
        """Map one row (in_size,) to (out_size,), or n columns (in_size, n) to (out_size, n)."""
        y = jnp.dot(self.weight, x)
        if self.bias is None:
            return y
        return y + (self.bias if x.ndim == 1 else self.bias[:, None])


class MLP(eqx.Module):
    """A multilayer perceptron on one row.

    Parameters
    ----------
    in_size, out_size : int
        Sizes of a row of input and of output, at least 1.
    hidden : tuple of int
        Widths of the hidden layers; empty for a single affine map.
    activation : str
        Name of the activation after every hidden layer, see `assay.nn.ACTIVATIONS`.
    final : str
        Name of the activation after the last layer.

    Raises
    ------
    StudyError
        If a size is below 1 or an activation is unknown.

    Examples
    --------
    >>> MLP(4, 2, hidden=(8, 8), activation="tanh")(np.ones(4)).shape
    (2,)
    """

    layers: tuple[Linear, ...]
    activation: str = eqx.field(static=True)
    final: str = eqx.field(static=True)

    def __init__(
        self,
        in_size: int,
        out_size: int,
        hidden: tuple[int, ...] = (128,),
        activation: str = "gelu",
        final: str = "identity",
    ):
        sizes = (in_size, *hidden, out_size)
        _check_sizes(sizes)
        _activation(activation), _activation(final)  # unknown names fail here, not while tracing
        self.layers = tuple(Linear(a, b) for a, b in itertools.pairwise(sizes))
        self.activation = activation
        self.final = final

    def __call__(self, x):
        """Map one row (in_size,) to (out_size,), or n columns (in_size, n) to (out_size, n)."""
        between = _activation(self.activation)
        for layer in self.layers[:-1]:
            x = between(layer(x))
        return _activation(self.final)(self.layers[-1](x))


def _zeros(shape):
    # NumPy, not jax.numpy: an eager jax.numpy.zeros compiles a program of its own. A broadcast
    # scalar, so that a size read from a hostile file allocates nothing. The dtype follows JAX's
    # x64 switch, so that a float64 context gives float64 weights.
    return np.broadcast_to(np.zeros((), jax.dtypes.canonicalize_dtype(float)), shape)


def _check_sizes(sizes):
    if len(sizes) > MAX_LAYERS + 1:
        raise StudyError(
            f"A network may have at most {MAX_LAYERS} layers, got {len(sizes) - 1}.",
            hint="Use fewer hidden layers.",
        )
    for size in sizes:
        if isinstance(size, bool) or not isinstance(size, int | np.integer) or size < 1:
            raise StudyError(
                f"A layer needs sizes that are whole numbers of at least 1, got {size!r}.",
                hint="Give the number of columns and the hidden widths as integers, e.g. (128, 8).",
            )
