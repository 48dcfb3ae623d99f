"""The network of a problem: inputs mapped to [-1, 1], embeddings, one output a field."""

import dataclasses

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from assay.errors import StudyError, did_you_mean
from assay.nn import MLP, ResNet, activation, initialise
from assay.nn.features import Fourier, waves
from assay.nn.modified import ModifiedMLP

SMOOTH = ("tanh", "sine", "gelu", "silu", "softplus", "sigmoid")
BODIES = ("mlp", "resnet", "modified")


@dataclasses.dataclass(frozen=True)
class NetworkSpec:
    """What network: compared by value, so that equal ones share a compilation.

    Parameters
    ----------
    inputs : tuple of str
        The variables it sees.
    periodic : tuple of str
        Those of them that enter as sines and cosines of whole periods.
    out : int
    hidden : tuple of int
    activation : str
        Smooth; see `SMOOTH`.
    body : {"mlp", "resnet", "modified"}
        Residual and gated layers need equal widths.
    features : Fourier or None
    harmonics : int
        Sines and cosines of a periodic variable.
    """

    inputs: tuple[str, ...]
    periodic: tuple[str, ...]
    out: int
    hidden: tuple[int, ...]
    activation: str = "tanh"
    body: str = "mlp"
    features: Fourier | None = None
    harmonics: int = 1

    def __post_init__(self):
        require_smooth(self.activation)
        if self.body not in BODIES:
            raise StudyError(
                f"Unknown network {self.body!r}.", hint=did_you_mean(str(self.body), BODIES)
            )
        if self.body != "mlp" and len(set(self.hidden)) != 1:
            raise StudyError(
                f"A {self.body} network needs hidden layers of one width, got {self.hidden!r}.",
                hint="hidden=(32, 32, 32), or body='mlp'.",
            )
        if self.harmonics < 1:
            raise StudyError("`harmonics` must be at least 1.", hint="Leave it out.")

    @property
    def plain(self) -> tuple[str, ...]:
        """The inputs that are not periodic."""
        return tuple(name for name in self.inputs if name not in self.periodic)

    @property
    def n_embedded(self) -> int:
        """How many numbers the first layer sees."""
        count = len(self.plain) + 2 * self.harmonics * len(self.periodic)
        if self.features is not None:
            count += 2 * len(self.features.matrix(self.plain))
        return count


def require_smooth(name: str) -> None:
    """Refuse activations that a differential equation cannot use.

    Raises
    ------
    StudyError
        Says why.
    """
    activation(name)
    if name not in SMOOTH:
        reason = (
            "its second derivative is zero almost everywhere, so that second derivatives drop out "
            "of the equation silently"
            if name == "relu"
            else "it makes the network linear, so that its second derivative is zero"
        )
        raise StudyError(
            f"The activation {name!r} cannot solve a differential equation: {reason}.",
            hint=f"Use a smooth one: {', '.join(SMOOTH)}.",
        )


class Network(eqx.Module):
    """Embedding and body of one network, on one point of scaled inputs.

    A periodic input is scaled to [-1, 1] like the others; its period is the whole of that.
    """

    body: eqx.Module
    spec: NetworkSpec = eqx.field(static=True)

    def __init__(self, spec: NetworkSpec):
        n, widths = spec.n_embedded, spec.hidden
        if spec.body == "mlp":
            self.body = MLP(n, spec.out, widths, spec.activation)
        elif spec.body == "resnet":
            self.body = ResNet(n, spec.out, widths[0], len(widths), spec.activation)
        else:
            self.body = ModifiedMLP(n, spec.out, widths[0], len(widths), spec.activation)
        self.spec = spec

    def __call__(self, scaled):
        """Map scaled inputs (n_inputs,) to (out,)."""
        return self.body(embed(self.spec, scaled))


def embed(spec: NetworkSpec, scaled):
    """Return what the first layer sees of scaled inputs (n_inputs,)."""
    where = {name: scaled[i] for i, name in enumerate(spec.inputs)}
    parts = []
    if spec.plain:
        plain = jnp.stack([where[name] for name in spec.plain])
        parts.append(plain)
        if spec.features is not None:
            parts.append(waves(jnp.asarray(spec.features.matrix(spec.plain), plain.dtype) @ plain))
    k = np.arange(1, spec.harmonics + 1)
    for name in spec.periodic:
        parts.append(waves(jnp.asarray(np.pi * k, scaled.dtype) * where[name]))
    return jnp.concatenate(parts)


def fresh(spec: NetworkSpec, rng: np.random.Generator, *, rule: str = "glorot") -> Network:
    """Return a network with random weights, in JAX's default precision.

    Examples
    --------
    >>> net = fresh(NetworkSpec(("t",), (), 1, (8,)), np.random.default_rng(0))
    >>> net(np.zeros(1, "f4")).shape
    (1,)
    """
    skeleton = eqx.filter_eval_shape(Network, spec)
    return initialise(skeleton, rng, rule=rule)


def arrays_of(network: Network):
    """Return the trainable arrays of a network, the rest left out."""
    return eqx.filter(network, eqx.is_array_like)


def whole(spec: NetworkSpec, arrays) -> Network:
    """Return a network of `spec` with the given arrays."""
    skeleton = eqx.filter_eval_shape(Network, spec)
    _, static = eqx.partition(skeleton, lambda leaf: isinstance(leaf, jax.ShapeDtypeStruct))
    return eqx.combine(arrays, static)
