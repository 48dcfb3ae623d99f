"""The no-U-turn sampler on the inputs of a surrogate: one program for all data sets of one size.

Sampling runs over logits of the shares of the cut priors: every prior is uniform there, and no step
can leave the training box.
"""

from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from assay.errors import StudyError
from assay.surrogate.input_priors import place
from assay.surrogate.traced import Traced

TRIED_STARTS = 64  # draws from the prior that each chain takes the likeliest of
DEPTH = 10  # a trajectory has at most 2^10 - 1 steps
TARGET_ACCEPTANCE = 0.9  # smaller steps than the usual 0.8: ridges of posteriors are curved


class Target(eqx.Module):
    """What is sampled: the misfit of the data, in a prior.

    Attributes
    ----------
    function : Traced
        The surrogate.
    data : (k,) [units of the outputs]
    bias : (k,)
        Added to the surrogate's outputs.
    error : FixedError, SpreadError or LocalError
        Covariance of the data, with that of the surrogate.
    observed : (k,) int
        Outputs that the data belong to.
    priors : tuple
    ends : (d, 2)
        Of the cut priors, as in `BoxedPrior`.
    """

    function: Traced
    data: Any
    bias: Any
    error: eqx.Module
    observed: Any
    ends: Any
    priors: tuple = eqx.field(static=True)

    def place(self, u):
        """Return the input (d,) [its units] at logits `u` (d,)."""
        return place(self.priors, self.ends, jax.nn.sigmoid(u), jnp)

    def misfit(self, x):
        """Return chi-square [-] and half the log determinant that goes with it, at `x` (d,)."""
        return self.error.misfit(self.function, self.observed, self.data - self.bias, x)

    def potential(self, u):
        """Return minus the log posterior density of logits `u` (d,), up to a constant."""
        chi, determinant = self.misfit(self.place(u))
        slope = jax.nn.log_sigmoid(u) + jax.nn.log_sigmoid(-u)
        return 0.5 * chi + determinant - slope.sum()


class Draws(NamedTuple):
    """What a run leaves; leading axes are data sets and chains.

    Attributes
    ----------
    inputs : (k, c, n, d) [units of the inputs]
    chi_square : (k, c, n) [-]
    acceptance : (k, c, n) [-]
    diverging : (k, c, n) bool
    steps : (k, c, n) int
    """

    inputs: np.ndarray
    chi_square: np.ndarray
    acceptance: np.ndarray
    diverging: np.ndarray
    steps: np.ndarray


def require_numpyro() -> None:
    """Raise StudyError where the sampler is not installed."""
    try:
        import numpyro  # noqa: F401
    except ImportError:
        raise StudyError(
            "Inversion needs numpyro, which is not installed.",
            hint='Install it with: pip install "assay[inversion]"',
        ) from None


def sample(
    target: Target, data, *, chains: int, warmup: int, draws: int, depth: int, seed: int
) -> Draws:
    """Sample the posterior of each data set.

    Parameters
    ----------
    target : Target
    data : (k, m) array
        One data set a row; they replace that of the target. All are sampled side by side.
    chains, warmup, draws : int
        Per data set; draws after warm-up.
    depth : int
        Largest depth of a trajectory's tree.
    seed : int
        Of starts and steps.
    """
    require_numpyro()
    d = len(target.priors)
    rng = np.random.default_rng(seed)
    shape = (len(data), chains)
    keys = rng.integers(0, 2**32, (*shape, 2), dtype=np.uint32)
    unit = np.clip(rng.random((*shape, TRIED_STARTS, d)), 1e-3, 1.0 - 1e-3)
    starts = np.log(unit / (1.0 - unit))
    # The sampler mixes dtypes and ranks, whatever the caller's settings are.
    with (
        jax.enable_x64(True),  # noqa: FBT003
        jax.numpy_dtype_promotion("standard"),
        jax.numpy_rank_promotion("allow"),
    ):
        found = _run(target, np.asarray(data, np.float64), keys, starts, warmup, draws, depth)
        return Draws(*(np.asarray(part) for part in found))


@eqx.filter_jit
def _run(target, data, keys, starts, warmup, draws, depth):
    def chain(data, key, starts):
        mine = eqx.tree_at(lambda t: t.data, target, data)
        return _chain(mine, jax.random.wrap_key_data(key), starts, warmup, draws, depth)

    chains = jax.vmap(chain, in_axes=(None, 0, 0))
    return jax.vmap(chains)(data, keys, starts)


def _chain(target, key, starts, warmup, draws, depth):
    """Return inputs, chi-square, acceptance, divergence and steps of one chain's draws."""
    from numpyro.infer.hmc import hmc

    values = jax.vmap(target.potential)(starts)
    start = starts[jnp.argmin(jnp.where(jnp.isfinite(values), values, jnp.inf))]
    # As a generator, so that data and weights are arguments of the compiled program.
    begin, move = hmc(potential_fn_gen=lambda t: t.potential, algo="NUTS")
    state = begin(
        start, warmup, model_args=(target,), rng_key=key, dense_mass=True, max_tree_depth=depth,
        target_accept_prob=TARGET_ACCEPTANCE,
    )  # fmt: skip

    def step(state, _):
        state = move(state, model_args=(target,))
        kept = (state.z, state.accept_prob, state.diverging, state.num_steps)
        return state, kept

    # Warm-up in the same loop as the draws: the step is compiled once.
    _, kept = jax.lax.scan(step, state, None, length=warmup + draws)
    logits, acceptance, diverging, steps = (part[warmup:] for part in kept)
    inputs = jax.vmap(target.place)(logits)
    chi_square = jax.vmap(lambda x: target.misfit(x)[0])(inputs)
    return inputs, chi_square, acceptance, diverging, steps
