"""Networks as named arrays and back: what a saved model holds."""

from collections.abc import Callable, Mapping
from typing import Any

import equinox as eqx
import jax
import numpy as np

from assay.errors import ModelError
from assay.nn.initialisation import is_parameter


def to_arrays(model: Any, prefix: str = "") -> dict[str, np.ndarray]:
    """Return the parameters of a network under names such as ``layers.0.weight``.

    Parameters
    ----------
    model : equinox.Module
    prefix : str
        Put before every name.

    Examples
    --------
    >>> from assay.nn import MLP
    >>> sorted(to_arrays(MLP(2, 1, hidden=()), "net."))
    ['net.layers.0.bias', 'net.layers.0.weight']
    """
    leaves, _ = jax.tree_util.tree_flatten_with_path(eqx.filter(model, is_parameter))
    return {prefix + _name(path): np.asarray(leaf) for path, leaf in leaves}


def from_arrays(
    build: Callable, build_args: tuple, arrays: Mapping[str, np.ndarray], prefix: str = ""
) -> Any:
    """Return the network ``build(*build_args)`` with the parameters in `arrays`.

    Nothing is allocated: the shapes are worked out abstractly and compared with the arrays.

    Parameters
    ----------
    build, build_args
        As in `assay.train.FitSpec`.
    arrays : mapping of str to numpy.ndarray
        As from `to_arrays`; names without `prefix` are left alone.
    prefix : str

    Raises
    ------
    ModelError
        If there is no such network, or an array is missing, left over or of another shape or
        dtype.

    Examples
    --------
    >>> from assay.nn import MLP
    >>> arrays = {"layers.0.weight": np.ones((1, 2), "f4"), "layers.0.bias": np.zeros(1, "f4")}
    >>> float(from_arrays(MLP, (2, 1, ()), arrays)(np.ones(2, "f4"))[0])
    2.0
    """
    try:
        skeleton = eqx.filter_eval_shape(build, *build_args)
    except (ValueError, TypeError, MemoryError, OverflowError, RecursionError) as error:
        raise ModelError(
            f"The saved sizes {_short(build_args)} do not describe a network: {_short(error)}.",
            hint="The file is damaged or was edited; save the model again.",
        ) from None
    leaves, structure = jax.tree_util.tree_flatten_with_path(skeleton)
    expected = {prefix + _name(path): leaf for path, leaf in leaves if is_parameter(leaf)}
    given = {name for name in arrays if name.startswith(prefix)}
    if given != set(expected):
        odd = sorted(given ^ set(expected))
        raise ModelError(
            f"The saved weights do not belong to this network: {_short(odd[0])} is "
            f"{'missing' if odd[0] in expected else 'left over'} ({len(odd)} such in all).",
            hint="The folder mixes two models; save the model again.",
        )
    filled = []
    for path, leaf in leaves:
        if not is_parameter(leaf):
            filled.append(leaf)
            continue
        array = arrays[prefix + _name(path)]
        if array.shape != leaf.shape or array.dtype != leaf.dtype:
            raise ModelError(
                f"The saved weight {prefix + _name(path)} must be {leaf.dtype}{leaf.shape}, got "
                f"{array.dtype}{array.shape}.",
                hint="The folder mixes two models; save the model again.",
            )
        filled.append(array)
    return jax.tree_util.tree_unflatten(structure, filled)


def _name(path):
    return ".".join(
        str(getattr(k, "name", getattr(k, "idx", getattr(k, "key", "?")))) for k in path
    )


def _short(value):
    text = str(value).splitlines()[0] if str(value) else type(value).__name__
    return text if len(text) <= 120 else text[:117] + "..."
