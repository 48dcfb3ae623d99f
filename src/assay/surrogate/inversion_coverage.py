"""Whether credible intervals hold: inversions of made-up data whose true inputs are known."""

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np

from assay.data import as_matrix
from assay.errors import DataError, StudyError
from assay.surrogate.bands import Coverage, coverage
from assay.surrogate.inversion import Prepared, prepare
from assay.surrogate.population import population, weighted_quantiles

LEVELS = (0.5, 0.95)
_FEW = 100.0  # effective draws, below which an interval is too rough to count


@dataclasses.dataclass(frozen=True, eq=False)
class Variant:
    """Intervals of one way to count the surrogate's error.

    Attributes
    ----------
    name : str
    inside : (levels, n, d) bool
        Whether the true inputs lay inside the central credible intervals.
    shares : tuple of tuple of Coverage
        ``shares[i][j]``: level i, input j, with the binomial band.
    pooled : tuple of Coverage
        Over all inputs, a level each; the band is that of one input, and so rather too wide.
    width : (d,) float64 [units of the inputs]
        Median width of the 95 % intervals.
    unsettled : float [-]
        Share of the inversions with fewer than 100 effective draws.
    """

    name: str
    inside: np.ndarray
    shares: tuple[tuple[Coverage, ...], ...]
    pooled: tuple[Coverage, ...]
    width: np.ndarray
    unsettled: float


@dataclasses.dataclass(frozen=True, eq=False)
class CoverageStudy:
    """How often the true inputs lay inside, without and with the surrogate's error.

    Attributes
    ----------
    names : tuple of str
    truths : (n, d) float64 [units of the inputs]
    without, with_error : Variant
    """

    names: tuple[str, ...]
    truths: np.ndarray
    without: Variant
    with_error: Variant

    def __str__(self):
        lines = [f"{len(self.truths)} inversions of made-up data; share of true inputs inside"]
        head = "  ".join(f"{100.0 * level:.0f} % (band)".rjust(20) for level in LEVELS)
        lines.append(f"{'':<34}{head}  {'95 % width':>11}")
        for variant in (self.without, self.with_error):
            for j, name in enumerate(self.names):
                cells = "  ".join(_cell(shares[j]) for shares in variant.shares)
                lines.append(f"{variant.name:<20}{name:<14}{cells}  {variant.width[j]:11.3g}")
        for variant in (self.without, self.with_error):
            if variant.unsettled > 0.05:
                lines.append(
                    f"! {variant.name}: in {100.0 * variant.unsettled:.0f} % of the inversions "
                    "there were too few effective draws: do not trust its shares"
                )
        return "\n".join(lines)


def coverage_study(
    surrogate: Any,
    simulator: Callable[[np.ndarray], np.ndarray],
    noise,
    *,
    model_error,
    prior=None,
    bounds=None,
    names=None,
    observed=None,
    n: int = 100,
    seed: int = 0,
) -> CoverageStudy:
    """Invert made-up data of the true model, and count how often the truth lies inside.

    True inputs come from the prior, data from the simulator and the noise: then credible intervals
    hold on average exactly if the surrogate does [1]_. All inversions go side by
    side, by importance sampling (see `population`), which suits up to about six inputs.

    Parameters
    ----------
    surrogate : estimator
        As in `invert`.
    simulator : callable
        The true model: ``simulator(X)`` maps (n, d) to (n, m) [units of inputs and outputs].
        For one that is expensive: a function that looks up held-out runs will not do, since
        inputs must come from the prior; give one that runs it.
    noise : float, (k,) or (k, k) array
        As in `invert`.
    model_error : ErrorCovariance, SpreadCovariance or (m, m) array
        The surrogate's error; the study compares with and without it.
    prior, bounds, names, observed
        As in `invert`.
    n : int >= 20, default 100
        Inversions, and runs of the simulator.
    seed : int
        Of truths, noise and draws.

    References
    ----------
    .. [1] S. Talts et al., Validating Bayesian inference algorithms with simulation-based
       calibration, arXiv:1804.06788, sec. 3.
    """
    if isinstance(n, bool) or not isinstance(n, int | np.integer) or n < 20:
        raise StudyError(
            f"`n` must be a whole number of at least 20, got {n!r}.",
            hint="With 100 inversions the band of 95 % is 4 % wide to either side.",
        )
    first = np.zeros(surrogate.n_outputs_ if observed is None else len(observed))
    asked = {"prior": prior, "bounds": bounds, "names": names, "observed": observed}
    plain = prepare(surrogate, first, noise, model_error=None, **asked)
    full = prepare(surrogate, first, noise, model_error=model_error, **asked)
    truths = plain.prior.sample(n, seed)
    outputs = as_matrix(np.asarray(simulator(truths)).reshape(n, -1), name="simulator(X)")
    if outputs.shape[1] != surrogate.n_outputs_:
        raise DataError(
            f"The simulator must return the surrogate's {surrogate.n_outputs_} outputs, got "
            f"{outputs.shape[1]}.",
            hint="Let it return an array (n, m), all outputs in the order of the training runs.",
        )
    factor = np.linalg.cholesky(plain.covariance)
    noises = np.random.default_rng(seed + 1).normal(size=(n, len(factor))) @ factor.T
    data = outputs[:, plain.target.observed] + noises
    settings = (truths, data, seed)
    return CoverageStudy(
        plain.prior.names, truths, _variant("without its error", plain, *settings),
        _variant("with its error", full, *settings),
    )  # fmt: skip


def _variant(name, ready: Prepared, truths, data, seed):
    found = population(ready.target, data, seed=seed)
    tails = [end for level in LEVELS for end in (0.5 - level / 2.0, 0.5 + level / 2.0)]
    ends = np.array(
        [
            weighted_quantiles(ready.prior.place(np.clip(unit, 0.0, 1.0)), weights, tails)
            for unit, weights in zip(found.unit, found.weights, strict=True)
        ]
    )
    low, high = ends[:, 0::2], ends[:, 1::2]
    inside = ((low <= truths[:, None]) & (truths[:, None] <= high)).transpose(1, 0, 2)
    shares = tuple(
        tuple(coverage(column, level=level) for column in part.T)
        for part, level in zip(inside, LEVELS, strict=True)
    )
    pooled = tuple(coverage(part, level=level) for part, level in zip(inside, LEVELS, strict=True))
    width = np.median(high[:, -1] - low[:, -1], axis=0)
    return Variant(name, inside, shares, pooled, width, float(np.mean(found.ess < _FEW)))


def _cell(found):
    low, high = found.binomial
    return f"{100 * found.estimate:5.1f} ({100 * low:.0f} to {100 * high:.0f})".rjust(20)
