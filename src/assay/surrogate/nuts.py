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
from assay.surrogate.straight import Straight
from assay.surrogate.traced import Traced

TRIED_STARTS = 64  # draws from the prior that each chain takes the likeliest of
DEPTH = 10  # a trajectory has at most 2^10 - 1 steps
TARGET_ACCEPTANCE = 0.98  # small steps: ridges of posteriors are curved, and their sides steep
FREEDOM = 5.0  # degrees, of the tails of independent draws


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
    """What a run leaves; the leading axis is that of chains.

    Attributes
    ----------
    inputs : (c, n, d) [units of the inputs]
    chi_square : (c, n) [-]
    acceptance : (c, n) [-]
        Of trajectories.
    diverging : (c, n) bool
    steps : (c, n) int
    jumped : (c, n) bool
        Whether the independent draw after the trajectory was taken.
    """

    inputs: np.ndarray
    chi_square: np.ndarray
    acceptance: np.ndarray
    diverging: np.ndarray
    steps: np.ndarray
    jumped: np.ndarray


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
    target: Target, straight: Straight, *, chains: int, warmup: int, draws: int, depth: int,
    seed: int,
) -> Draws:  # fmt: skip
    """Sample a posterior.

    Trajectories run in coordinates in which the posterior is nearly standard normal. After each,
    a draw from a Student distribution there is offered (Metropolis-Hastings), so that chains
    forget where they are wherever the coordinates are good. Both keep the posterior as it is,
    whatever the coordinates.

    Parameters
    ----------
    target : Target
    straight : Straight
        The coordinates.
    chains, warmup, draws : int
        Draws after warm-up.
    depth : int
        Largest depth of a trajectory's tree.
    seed : int
        Of starts and steps.
    """
    require_numpyro()
    d = len(target.priors)
    rng = np.random.default_rng(seed)
    keys = rng.integers(0, 2**32, (chains, 2), dtype=np.uint32)
    unit = np.clip(rng.random((chains, TRIED_STARTS, d)), 1e-3, 1.0 - 1e-3)
    starts = np.log(unit / (1.0 - unit))
    # The sampler mixes dtypes and ranks, whatever the caller's settings are.
    with (
        jax.enable_x64(True),  # noqa: FBT003
        jax.numpy_dtype_promotion("standard"),
        jax.numpy_rank_promotion("allow"),
    ):
        found = _run(target, straight, keys, starts, warmup, draws, depth)
        return Draws(*(np.asarray(part) for part in found))


@eqx.filter_jit
def _run(target, straight, keys, starts, warmup, draws, depth):
    def chain(key, starts):
        key = jax.random.wrap_key_data(key)
        return _chain(target, straight, key, starts, warmup, draws, depth)

    return jax.vmap(chain)(keys, starts)


def _chain(target, straight, key, starts, warmup, draws, depth):
    """Return what one chain leaves, in the order of `Draws`."""
    from numpyro.infer.hmc import hmc

    def potential_of(target, straight):
        def potential(w):
            logits, logs = straight.logits(w)
            return target.potential(logits) - logs

        return potential

    potential = potential_of(target, straight)
    values = jax.vmap(target.potential)(starts)
    start = starts[jnp.argmin(jnp.where(jnp.isfinite(values), values, jnp.inf))]
    # As a generator, so that data and weights are arguments of the compiled program.
    begin, move = hmc(potential_fn_gen=potential_of, algo="NUTS")
    arguments = (target, straight)
    key, own = jax.random.split(key)
    state = begin(
        straight.back(start), warmup, model_args=arguments, rng_key=own, dense_mass=True,
        max_tree_depth=depth, target_accept_prob=TARGET_ACCEPTANCE,
    )  # fmt: skip

    def step(state, key):
        state = move(state, model_args=arguments)
        marks = (state.accept_prob, state.diverging, state.num_steps)
        state, jumped = _jump(potential, state, key)
        return state, (state.z, *marks, jumped)

    # Warm-up in the same loop as the draws: the step is compiled once.
    _, kept = jax.lax.scan(step, state, jax.random.split(key, warmup + draws))
    places, *marks = (part[warmup:] for part in kept)
    inputs = jax.vmap(lambda w: target.place(straight.logits(w)[0]))(places)
    chi_square = jax.vmap(lambda x: target.misfit(x)[0])(inputs)
    return inputs, chi_square, *marks


def _jump(potential, state, key):
    """Offer a draw that does not depend on the present one; return the state and whether taken."""
    d = len(state.z)
    normal, chi, coin = jax.random.split(key, 3)
    scale = jax.random.gamma(chi, 0.5 * FREEDOM) / (0.5 * FREEDOM)
    offered = jax.random.normal(normal, (d,)) / jnp.sqrt(scale)
    height, slope = jax.value_and_grad(potential)(offered)

    def log_density(w):
        return -0.5 * (FREEDOM + d) * jnp.log1p(w @ w / FREEDOM)

    gain = state.potential_energy - height + log_density(state.z) - log_density(offered)
    taken = jnp.log(jax.random.uniform(coin)) < gain  # false where it is no number
    moved = state._replace(z=offered, z_grad=slope, potential_energy=height)
    return jax.tree.map(lambda new, old: jnp.where(taken, new, old), moved, state), taken
