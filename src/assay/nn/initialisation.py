"""Initial weights, drawn on the host.

Drawing them with JAX costs seconds of compilation for a network of four layers; NumPy fills a
description of the shapes in milliseconds, and the numbers do not depend on the device.
"""

import math
from typing import Any, Literal

import equinox as eqx
import jax
import numpy as np

from assay.errors import StudyError, did_you_mean

Rule = Literal["torch", "glorot", "he", "lecun", "orthogonal"]
RULES = ("torch", "glorot", "he", "lecun", "orthogonal")


def initialise(
    skeleton: Any, rng: np.random.Generator, *, rule: Rule = "torch", scale: float = 1.0
) -> Any:
    r"""Fill the shapes of a network with random weights.

    A leaf of two or more dimensions is a weight of shape (out, in, ...), with
    :math:`n_\mathrm{in}` the product of all sizes but the first:

    ============  ==================================================== =====================
    rule          weight                                               bias beside it
    ============  ==================================================== =====================
    "torch"       uniform in :math:`\pm 1/\sqrt{n_\mathrm{in}}`        the same
    "glorot"      uniform, variance :math:`2/(n_in+n_out)` [1]_        zero
    "he"          normal, variance :math:`2/n_\mathrm{in}` [2]_        zero
    "lecun"       normal, variance :math:`1/n_\mathrm{in}` [3]_        zero
    "orthogonal"  rows or columns orthonormal [4]_                     zero
    ============  ==================================================== =====================

    A one-dimensional leaf called ``weight`` (the gain of a normalisation) becomes one, anything
    else that is not a bias beside a weight becomes zero.

    Parameters
    ----------
    skeleton : pytree
        A module whose arrays may be plain arrays or ``jax.ShapeDtypeStruct``.
    rng : numpy.random.Generator
    rule : {"torch", "glorot", "he", "lecun", "orthogonal"}
    scale : float
        Multiplies the weights, not the biases; positive.

    Returns
    -------
    pytree
        The same tree with NumPy arrays of the skeleton's shapes and dtypes.

    Raises
    ------
    StudyError
        If the rule is unknown or the scale not positive and finite.

    References
    ----------
    .. [1] Glorot and Bengio, Understanding the difficulty of training deep feedforward neural
       networks, 2010, eq. (16).
    .. [2] He et al., Delving deep into rectifiers, 2015, eq. (10).
    .. [3] LeCun et al., Efficient backprop, 1998, eq. (16).
    .. [4] Saxe et al., Exact solutions to the nonlinear dynamics of learning in deep linear
       neural networks, 2014.

    Examples
    --------
    >>> from assay.nn import MLP
    >>> net = initialise(MLP(4, 1, hidden=(8,)), np.random.default_rng(0), rule="torch")
    >>> bool(abs(net.layers[0].weight).max() <= 0.5)
    True
    """
    if rule not in RULES:
        raise StudyError(f"Unknown initialisation {rule!r}.", hint=did_you_mean(rule, RULES))
    if not 0.0 < scale < math.inf:
        raise StudyError(
            f"`scale` of the initial weights must be positive and finite, got {scale!r}.",
            hint="1 leaves the rule as it is.",
        )
    leaves, structure = jax.tree_util.tree_flatten_with_path(skeleton)
    # The bias of a layer needs the fan-in of the weight beside it: same path but for the last key.
    fans = {path[:-1]: _fan_in(leaf) for path, leaf in leaves if _is_shaped(leaf, at_least=2)}
    filled = []
    for path, leaf in leaves:
        if not _is_shaped(leaf):
            filled.append(leaf)
        elif len(leaf.shape) >= 2:
            filled.append((scale * _weight(leaf.shape, rng, rule)).astype(leaf.dtype))
        elif rule == "torch" and path[:-1] in fans and _name(path) == "bias":
            bound = 1.0 / math.sqrt(max(fans[path[:-1]], 1))
            filled.append(rng.uniform(-bound, bound, leaf.shape).astype(leaf.dtype))
        else:
            value = 1 if _name(path) == "weight" else 0
            filled.append(np.full(leaf.shape, value, leaf.dtype))
    return jax.tree_util.tree_unflatten(structure, filled)


def n_parameters(model: Any) -> int:
    """Return the number of trainable numbers of `model`.

    Examples
    --------
    >>> from assay.nn import MLP
    >>> n_parameters(MLP(4, 1, hidden=(8,)))
    49
    """
    return sum(math.prod(leaf.shape) for leaf in jax.tree.leaves(model) if _is_shaped(leaf))


def is_parameter(leaf: Any) -> bool:
    """Whether `leaf` is a floating-point array or the description of one: what training changes."""
    return _is_shaped(leaf) and jax.dtypes.issubdtype(leaf.dtype, np.floating)


def _is_shaped(leaf, at_least=0):
    described = eqx.is_array_like(leaf) or isinstance(leaf, jax.ShapeDtypeStruct)
    return described and hasattr(leaf, "shape") and len(leaf.shape) >= at_least


def _name(path):
    return getattr(path[-1], "name", "") if path else ""


def _fan_in(leaf):
    return math.prod(leaf.shape[1:])


def _weight(shape, rng, rule):
    n_in, n_out = math.prod(shape[1:]), shape[0] * math.prod(shape[2:])
    if rule == "torch":
        bound = 1.0 / math.sqrt(max(n_in, 1))
        return rng.uniform(-bound, bound, shape)
    if rule == "glorot":
        bound = math.sqrt(6.0 / max(n_in + n_out, 1))
        return rng.uniform(-bound, bound, shape)
    if rule == "he":
        return rng.normal(0.0, math.sqrt(2.0 / max(n_in, 1)), shape)
    if rule == "lecun":
        return rng.normal(0.0, math.sqrt(1.0 / max(n_in, 1)), shape)
    return _orthogonal(shape, rng)


def _orthogonal(shape, rng):
    rows, columns = shape[0], math.prod(shape[1:])
    tall = rng.normal(size=(max(rows, columns), min(rows, columns)))
    q, r = np.linalg.qr(tall)
    # Signs of the diagonal make the draw uniform over orthogonal matrices (Mezzadri 2007, sec. 5).
    q = q * np.where(np.diag(r) < 0, -1.0, 1.0)
    return (q if rows >= columns else q.T).reshape(shape)
