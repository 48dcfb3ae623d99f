"""What a network does to numbers: how far its outputs can reach, and what survives its layers."""

import dataclasses
import functools as ft
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from assay.nn import MLP, ResNet
from assay.nn.activations import activation as _activation

# Sizes that an activation cannot pass, whatever its argument.
BOUNDED = ("tanh", "sigmoid", "sine")
# A unit is taken for saturated where its slope is below this share of the largest slope.
FLAT = 0.1


def known(model: Any) -> bool:
    """Whether the layers of a network are those of `MLP` or `ResNet`, so that they can be read."""
    return isinstance(model, MLP | ResNet)


def reach(model: Any, x, moved: float) -> np.ndarray:
    r"""Return what outputs (m,) a network can have, at most, once every weight has moved.

    With :math:`|\varphi(z)| \le |z|` (or 1, or as the activation has it) and every weight of size
    at most :math:`|w_0| + S`, the mean size of an output over the rows is at most that of the same
    network made of these sizes, fed with the mean sizes of the inputs: all its maps are
    non-negative, increasing and concave.

    Parameters
    ----------
    model : MLP or ResNet
        With the weights before training.
    x : array of shape (d,) [scaled]
        Mean size of each input over the rows.
    moved : float >= 0
        :math:`S`: how far any weight can have come.

    Examples
    --------
    >>> from assay.nn import MLP
    >>> reach(MLP(2, 1, (10,), "tanh"), np.ones(2), 100.0).tolist()  # 10 units of size 1, a bias
    [1100.0]
    """
    lift, between, last = _layers(model)
    limit = _limit(model.activation)

    def affine(layer, h):
        weight = np.abs(np.asarray(layer.weight, float)) + moved
        bias = 0.0 if layer.bias is None else np.abs(np.asarray(layer.bias, float)) + moved
        return weight @ h + bias

    h = np.asarray(x, float)
    if isinstance(model, ResNet):
        h = affine(lift, h)
        for block in between:
            h = h + limit(affine(block, h)) / np.sqrt(len(between))
        return affine(last, h)
    for layer in between:
        h = limit(affine(layer, h))
    return affine(last, h)


def _limit(name):
    """Return the function that bounds the size of an activation by that of its argument."""
    if name in ("tanh", "sine"):
        return lambda z: np.minimum(z, 1.0)
    if name == "sigmoid":
        return lambda z: np.minimum(0.5 + 0.25 * z, 1.0)
    if name == "softplus":
        return lambda z: z + np.log(2.0)
    return lambda z: z


def least_movement(model: Any, x, sizes, most: float = 1e30) -> float:
    """Return how far weights must move at least before outputs can have these mean sizes (m,)."""
    sizes = np.asarray(sizes, float)
    if (reach(model, x, 0.0) >= sizes).all():
        return 0.0
    low, high = 0.0, 1.0
    while (reach(model, x, high) < sizes).any():
        low, high = high, 2.0 * high
        if high > most:
            return most
    for _ in range(60):
        middle = 0.5 * (low + high)
        enough = (reach(model, x, middle) >= sizes).all()
        low, high = (low, middle) if enough else (middle, high)
    return high


@dataclasses.dataclass(frozen=True, eq=False)
class Signal:
    """What survives the hidden layers of a network, on given rows.

    Attributes
    ----------
    forward : (L,) array [-]
        Standard deviation over the rows of each hidden layer's output, root mean square over units.
    backward : (L,) array [-]
        Root mean square of the derivative of the loss by each hidden layer's output.
    saturated : float [-]
        Share of activations with hardly a slope; with activations that are flat on one side only,
        of units that are so on all rows.
    """

    forward: np.ndarray
    backward: np.ndarray
    saturated: float

    @property
    def forward_ratio(self) -> float:
        """Last over first hidden layer."""
        return float(self.forward[-1] / max(self.forward[0], 1e-300))

    @property
    def backward_ratio(self) -> float:
        """First over last hidden layer: the way that gradients go."""
        return float(self.backward[0] / max(self.backward[-1], 1e-300))


def signal(model: Any, x, y) -> Signal:
    """Send scaled rows `x` (n, d) with scaled targets `y` (n, k) through an `MLP` or `ResNet`."""
    model = jax.tree.map(lambda leaf: np.asarray(leaf, np.float64), model)
    with jax.enable_x64(True):  # noqa: FBT003
        states, slopes, gradients = _through(model, np.asarray(x, float), np.asarray(y, float))
        states, slopes, gradients = jax.device_get((states, slopes, gradients))
    forward = np.array([np.sqrt(np.mean(np.var(h, axis=0))) for h in states])
    backward = np.array([np.sqrt(np.mean(g**2)) for g in gradients])
    flat = [np.abs(s) < FLAT * _steepest(model.activation) for s in slopes]
    if model.activation in ("identity", "sine"):
        saturated = 0.0
    elif model.activation in BOUNDED:
        saturated = float(np.mean([f.mean() for f in flat]))
    else:
        saturated = float(np.mean([f.all(axis=0).mean() for f in flat]))
    return Signal(forward, backward, saturated)


def _steepest(name):
    return 0.25 if name == "sigmoid" else 1.0


def _layers(model):
    if isinstance(model, ResNet):
        return model.lift, model.blocks, model.read_out
    return None, model.layers[:-1], model.layers[-1]


@eqx.filter_jit
def _through(model, x, y):
    """Return (hidden outputs, slopes of the activations, derivatives by the hidden outputs)."""
    f = _activation(model.activation)
    lift, between, last = _layers(model)
    residual = isinstance(model, ResNet)
    widths = [layer.weight.shape[0] for layer in between]

    def affine(layer, h):
        z = h @ layer.weight.T
        return z if layer.bias is None else z + layer.bias[None, :]

    def run(nudges):
        h = affine(lift, x) if residual else x
        states, before = [], []
        for layer, nudge in zip(between, nudges, strict=True):
            z = affine(layer, h)
            h = (h + f(z) / np.sqrt(len(between)) if residual else f(z)) + nudge
            states.append(h)
            before.append(z)
        return jnp.sum((affine(last, h) - y) ** 2), (states, before)

    nudges = [jnp.zeros((x.shape[0], width), x.dtype) for width in widths]
    gradients, (states, before) = jax.grad(run, has_aux=True)(nudges)
    slope = ft.partial(jnp.vectorize, signature="()->()")(jax.grad(f))
    return states, [slope(z) for z in before], gradients
