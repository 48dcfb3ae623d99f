"""What the labs on network surrogates share: two afterslip problems, and the chapter's networks."""

import dataclasses
import functools as ft

import numpy as np

from assay.nn import MLP
from assay.problems import AFTERSLIP, afterslip_runs, afterslip_slice
from assay.surrogate import DeepEnsemble, MLPSurrogate
from assay.train import FitSpec, predict
from assay.train.losses import squared_error

N_MODES = 10
STARTS = 5  # seeds of the initial weights, where a quoted number depends on them


@dataclasses.dataclass(frozen=True, eq=False)
class Slice:
    """The problem with one input.

    Attributes
    ----------
    log_v0, x, y : (200,)
        The input, the same on [-1, 1], and the growth of the displacement [mm].
    """

    log_v0: np.ndarray
    x: np.ndarray
    y: np.ndarray

    @property
    def mean(self):
        """Mean of the outputs [mm]."""
        return self.y.mean()

    @property
    def spread(self):
        """Standard deviation of the outputs [mm]."""
        return self.y.std()

    @property
    def scaled(self):
        """The outputs about their mean, over their spread."""
        return (self.y - self.mean) / self.spread


@ft.cache
def the_slice() -> Slice:
    """Return the slice: 200 values of log v0 on a grid."""
    log_v0, y = afterslip_slice()
    x = 2.0 * (log_v0 - log_v0[0]) / (log_v0[-1] - log_v0[0]) - 1.0
    return Slice(log_v0, x, y)


@ft.cache
def patch():
    """Return the 4,000 runs with three inputs and forty outputs."""
    return afterslip_runs()


def mlp(hidden, steps, **other) -> MLPSurrogate:
    """Return a tanh network as the chapter trains it: Adam on all runs, float64, no decay."""
    chosen = {
        "activation": "tanh", "batch": None, "steps": steps, "weight_decay": 0.0,
        "initialisation": "lecun", "precision": "float64",
    }  # fmt: skip
    return MLPSurrogate(hidden=hidden, **(chosen | other))


def patch_mlp(steps, hidden=(64, 64, 64), **other) -> MLPSurrogate:
    """Return a network for the patch: inputs scaled to [0, 1] by the known box."""
    return mlp(hidden, steps, **({"input_scaling": "unit", "bounds": AFTERSLIP.bounds} | other))


def slice_members(hidden, x, y, *, size=STARTS, **other) -> list[MLPSurrogate]:
    """Train networks on the slice that differ in their initial weights, with one compilation."""
    member = mlp(hidden, 4000, input_scaling="none", learning_rate=1e-2, **other)
    return DeepEnsemble(member, size=size).fit(x[:, None], y).members_


def spec(build_args, *, build=MLP, loss=squared_error, **other) -> FitSpec:
    """Return what `assay.train.fit` compiles for a network that sees all rows in every step."""
    return FitSpec(
        build=build, build_args=build_args, loss=loss, batch=2**31 - 1, init="lecun", **other
    )


@dataclasses.dataclass(frozen=True, eq=False)
class Modes:
    """Principal components of the outputs of some runs; `scale` is that of the first [mm]."""

    mean: np.ndarray
    axes: np.ndarray
    scale: float

    @classmethod
    def of(cls, Y, n_modes=N_MODES):
        """Return the leading modes of outputs (n, m)."""
        mean = Y.mean(axis=0)
        _, sizes, axes = np.linalg.svd(Y - mean, full_matrices=False)
        return cls(mean, axes[:n_modes], float(sizes[0] / np.sqrt(len(Y))))

    def coefficients(self, Y):
        """Return the coefficients (n, K) [mm]."""
        return (Y - self.mean) @ self.axes.T

    def outputs(self, coefficients):
        """Return the outputs (n, m) [mm] of coefficients [mm]."""
        return self.mean + coefficients @ self.axes


def rms(error) -> float:
    """Return the root mean square."""
    return float(np.sqrt(np.mean(np.square(error))))


def run_errors(error):
    """Return the root mean square of each run (n,), over its outputs."""
    return np.sqrt(np.mean(np.square(error), axis=1))


def float64():
    """Return the context in which JAX computes in float64."""
    import jax

    return jax.enable_x64(True)  # noqa: FBT003


def in_float64(model, x):
    """Return what a network says, in float64."""
    with float64():
        return predict(model, x)


def layer_gradients(layers_of, model, x, y):
    """Return the Frobenius norm of the loss gradient of the weight of each layer.

    `layers_of` maps a model to its layers; the loss is the mean squared error.
    """
    import jax

    with float64():
        gradient = _gradient()(jax.tree.map(np.asarray, model), x, y)
        return np.array([float(np.linalg.norm(one.weight)) for one in layers_of(gradient)])


@ft.cache
def _gradient():
    """Return the gradient of the mean squared error: compiled once for each kind of network."""
    import jax
    import jax.numpy as jnp

    def loss(model, x, y):
        return jnp.mean((jax.vmap(model)(x) - y) ** 2)

    return jax.jit(jax.grad(loss))
