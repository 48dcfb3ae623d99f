"""Many small posteriors at once, by tempered importance sampling from mixtures.

Where a hundred data sets have to be inverted, trajectories that wait for each other cost more than
evaluations of the surrogate in one go.
"""

from typing import NamedTuple

import equinox as eqx
import jax
import numpy as np

from assay.surrogate.nuts import Target
from assay.surrogate.straight import Straight, straightened, unchanged

KERNELS = 60  # of a mixture
SHAPING = 300  # draws that shape the kernels
KEPT = 0.25  # share of the draws that the tempered weights are worth
STAGES = 40
WINDOW = 0.7  # widths of the whole within which draws shape a kernel
LEAST = 1e-4  # of the whole's covariance, added to each kernel's
PILOT = 4096  # draws that coordinates are learned from
FEWEST_PILOT = 400.0  # effective ones
_FREEDOM = 5.0  # degrees of the kernels' tails
_CHUNK = 16_384  # rows of one call


class Weighted(NamedTuple):
    """Draws of each data set with weights.

    Attributes
    ----------
    unit : (k, n, d) [-]
        Shares of the cut priors.
    weights : (k, n) [-], sum 1
    ess : (k,) [-]
        Effective number of draws.
    """

    unit: np.ndarray
    weights: np.ndarray
    ess: np.ndarray


def population(target: Target, data, *, n: int = 1000, final: int = 4000, seed: int = 0):
    """Return weighted draws from the posterior of each data set.

    From the prior to the posterior in stages: the likelihood is raised to the largest power that
    leaves the weights worth a quarter of the draws, and the next draws come from a mixture of
    Student kernels on them [1]_. Weights are exact at each stage; what can go wrong is a peak that
    no draw found, or few effective draws, which `ess` tells.

    Parameters
    ----------
    target : Target
    data : (k, m) array [units of the outputs]
        One data set a row.
    n, final : int
        Draws of a stage, and of the last.
    seed : int

    Returns
    -------
    Weighted

    References
    ----------
    .. [1] O. Cappé, A. Guillin, J.-M. Marin, C. P. Robert, Population Monte Carlo, Journal of
       Computational and Graphical Statistics 13 (2004) 907-929.
    """
    rng, d, k = np.random.default_rng(seed), len(target.priors), len(data)
    unit, proposed = rng.random((k, n, d)), np.zeros((k, n))
    powers, weights = np.zeros(k), np.empty((k, n))
    chunk = min(_CHUNK, k * max(n, final))
    rising = np.arange(k)
    for _ in range(STAGES):
        heights = _log_likelihoods(target, unit[rising], data[rising], chunk)
        for i, height in zip(rising, heights, strict=True):
            powers[i] = _power(height, proposed[i], powers[i])
            weights[i] = _normalised(powers[i] * height - proposed[i])[0]
        rising = np.flatnonzero(powers < 1.0)
        if not len(rising):
            break
        for i in rising:
            unit[i], proposed[i] = _mixture(unit[i], weights[i], n, rng)
    drawn = [_mixture(u, w, final, rng) for u, w in zip(unit, weights, strict=True)]
    unit, proposed = (np.stack(part) for part in zip(*drawn, strict=True))
    heights = _log_likelihoods(target, unit, data, chunk)
    return Weighted(unit, *_normalised(heights - proposed))


def coordinates(target: Target, *, seed: int = 0) -> Straight:
    """Return coordinates in which the posterior of `target` is nearly standard normal.

    From weighted draws; logits themselves where too few of them count, as with many inputs.
    """
    found = population(target, target.data[None], n=PILOT, final=PILOT, seed=seed)
    if found.ess[0] < FEWEST_PILOT:
        return unchanged(len(target.priors))
    rows = np.random.default_rng(seed).choice(PILOT, PILOT, p=found.weights[0])
    unit = np.clip(found.unit[0][rows], 1e-12, 1.0 - 1e-12)
    return straightened(np.log(unit / (1.0 - unit)))


def weighted_quantiles(values, weights, shares) -> np.ndarray:
    """Return the quantiles (q, d) of draws `values` (n, d) with weights (n,).

    Examples
    --------
    >>> weighted_quantiles(np.array([[1.0], [2.0], [3.0]]), np.array([0.25, 0.5, 0.25]), [0.5])
    array([[2.]])
    """
    columns = []
    for column in values.T:
        order = column.argsort()
        middle = np.cumsum(weights[order]) - 0.5 * weights[order]
        columns.append(np.interp(shares, middle, column[order]))
    return np.stack(columns, axis=1)


@eqx.filter_jit
def _heights(target, unit, data):
    from assay.surrogate.input_priors import place

    def one(u, d):
        mine = eqx.tree_at(lambda t: t.data, target, d)
        chi, determinant = mine.misfit(place(target.priors, target.ends, u, jax.numpy))
        return -0.5 * chi - determinant

    return jax.vmap(one)(unit, data)


def _log_likelihoods(target, unit, data, chunk):
    """Return log-likelihoods (k, n), minus infinity outside the unit cube."""
    k, n, d = unit.shape
    inside = ((unit > 0.0) & (unit < 1.0)).all(axis=2).ravel()
    rows = np.clip(unit.reshape(-1, d), 0.0, 1.0)
    owner = np.repeat(np.arange(k), n)
    out = np.full(k * n, -np.inf)
    wanted = np.flatnonzero(inside)
    with (
        jax.enable_x64(True),  # noqa: FBT003
        jax.numpy_dtype_promotion("standard"),
        jax.numpy_rank_promotion("allow"),
    ):
        for first in range(0, len(wanted), chunk):
            some = wanted[first : first + chunk]
            whole = np.resize(some, chunk)  # one size, one program
            found = np.asarray(_heights(target, rows[whole], data[owner[whole]]))[: len(some)]
            out[some] = np.where(np.isfinite(found), found, -np.inf)
    return out.reshape(k, n)


def _normalised(logs):
    top = logs.max(axis=-1, keepdims=True)
    weights = np.exp(logs - np.where(np.isfinite(top), top, 0.0))
    total = weights.sum(axis=-1, keepdims=True)
    weights = np.where(
        total > 0.0, weights / np.where(total > 0.0, total, 1.0), 1.0 / weights.shape[-1]
    )
    return weights, 1.0 / (weights**2).sum(axis=-1)


def _power(heights, proposed, floor):
    """Return the largest power, at most 1, whose weights are worth enough draws."""
    wanted = KEPT * len(heights)
    if _normalised(heights - proposed)[1] >= wanted:
        return 1.0
    low, high = np.log(max(floor, 1e-12)), 0.0
    for _ in range(25):
        middle = 0.5 * (low + high)
        worth = _normalised(np.exp(middle) * heights - proposed)[1]
        low, high = (middle, high) if worth >= wanted else (low, middle)
    # A power never falls, else it might never reach 1.
    return float(min(1.0, max(np.exp(low), 1.05 * floor)))


def _mixture(unit, weights, size, rng):
    """Return draws (size, d) from a mixture on weighted draws, and their log density (size,).

    Each kernel has the covariance of the draws around it: a curved ridge is thin everywhere.
    """
    from scipy.special import gammaln, logsumexp

    n, d = unit.shape
    centres = unit[rng.choice(n, KERNELS, p=weights)]
    mean = weights @ unit
    whole = (unit - mean).T @ ((unit - mean) * weights[:, None])
    whole += 1e-6 * np.diag(np.diag(whole)) + 1e-24 * np.eye(d)
    some = unit[rng.choice(n, SHAPING, p=weights)]
    apart = some - centres[:, None]  # (kernels, draws, d)
    scaled = apart @ np.linalg.inv(np.linalg.cholesky(whole)).T
    near = np.exp(-0.5 * (scaled**2).sum(axis=2) / WINDOW**2)
    near /= near.sum(axis=1, keepdims=True) + 1e-300
    local = (apart * near[:, :, None]).transpose(0, 2, 1) @ apart
    # A kernel on a draw that has no neighbours would have no width.
    factors = np.linalg.cholesky(local + LEAST * whole)
    chosen = rng.integers(0, KERNELS, size)
    step = rng.normal(size=(size, d)) / np.sqrt(rng.chisquare(_FREEDOM, (size, 1)) / _FREEDOM)
    drawn = centres[chosen] + np.einsum("sij,sj->si", factors[chosen], step)
    scaled = (drawn - centres[:, None]) @ np.linalg.inv(factors).transpose(0, 2, 1)
    logs = -0.5 * (_FREEDOM + d) * np.log1p((scaled**2).sum(axis=2) / _FREEDOM)
    logs -= np.log(np.diagonal(factors, axis1=1, axis2=2)).sum(axis=1)[:, None]
    constant = gammaln(0.5 * (_FREEDOM + d)) - gammaln(0.5 * _FREEDOM)
    constant -= 0.5 * d * np.log(_FREEDOM * np.pi) + np.log(KERNELS)
    return drawn, logsumexp(logs, axis=0) + constant
