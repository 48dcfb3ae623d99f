"""From data to inputs, through a surrogate and with the surrogate's error counted."""

import dataclasses
from typing import Any

import numpy as np

from assay.data import as_matrix
from assay.errors import DataError, StudyError
from assay.surrogate.error_covariance import ErrorCovariance, SpreadCovariance
from assay.surrogate.error_terms import FixedError, SpreadError, local_error
from assay.surrogate.input_priors import BoxedPrior, boxed_prior, check_box, training_box
from assay.surrogate.local_errors import LocalErrors
from assay.surrogate.nuts import DEPTH, Draws, Target, sample
from assay.surrogate.population import coordinates
from assay.surrogate.posterior import Posterior, chain_findings
from assay.surrogate.traced import as_function

EDGE = 0.02  # share of the box's width that counts as its edge
PILED = 0.10  # share of the draws there from which they pile up
FEW_INSIDE = 0.95  # share of the draws in the validity domain
MISFIT = 0.01  # predictive p-value, and its distance from 1
SILENT = 0.1  # distance of posterior and prior [share of the draws] that is none
AVERAGED = 200  # draws over which a covariance that varies is averaged


@dataclasses.dataclass(frozen=True, eq=False)
class Prepared:
    """A checked question.

    Attributes
    ----------
    target : Target
    prior : BoxedPrior
    covariance : (k, k) float64 [units of the outputs squared]
        Of the data, with that of the surrogate where it is the same for all inputs.
    local : LocalErrors or None
        That of the surrogate where it is not.
    findings : tuple of str
        What can be said before any draw.
    """

    target: Target
    prior: BoxedPrior
    covariance: np.ndarray
    local: LocalErrors | None
    findings: tuple[str, ...]


def invert(
    surrogate: Any,
    data,
    noise,
    *,
    prior=None,
    model_error=None,
    bounds=None,
    names=None,
    observed=None,
    chains: int = 4,
    warmup: int = 500,
    draws: int = 3000,
    seed: int = 0,
) -> Posterior:
    r"""Return the posterior of the inputs, given data, by NUTS [1]_ through the surrogate.

    .. math:: p(x \mid d) \propto p(x)\,
       N\!\left(d;\ f(x) + b,\ C_d + C_p(x)\right), \qquad x \text{ in the training box},

    with the surrogate f, its bias b and its error covariance :math:`C_p` [2]_. In float64,
    whatever the setting of JAX; chains run side by side; another data vector of the same size
    needs no compiling.

    Parameters
    ----------
    surrogate : estimator
        Fitted or loaded, of a kind that `as_function` knows.
    data : array of shape (k,) [units of the outputs]
    noise : float, (k,) array or (k, k) array
        Standard deviation(s) [units of the outputs] of the data, or their covariance :math:`C_d`.
    prior : sequence of Uniform, Normal, LogUniform or None, optional
        One per input, [units of the inputs]; None is uniform in the box. All are cut off at the
        training box.
    model_error : ErrorCovariance, SpreadCovariance, (m, m) array or None, default None
        :math:`C_p` of all outputs; see `held_out_covariance`, `cross_error_covariance` and
        `spread_covariance`. Without, the surrogate counts as exact.
    bounds : array of shape (d, 2), optional [units of the inputs]
        Where inputs without a prior are uniform; the training box, for a surrogate that does not
        know it.
    names : sequence of str, optional
        Of the inputs.
    observed : array of k indices, optional
        Outputs that the data belong to; all of them, if not given.
    chains, warmup, draws : int
        At least 2, 50 and 50; draws are those of each chain after its warm-up. 3,000, since curved
        ridges, where one input makes up for another, are walked along slowly.
    seed : int
        Of the chains.

    Raises
    ------
    DataError, StudyError
        If arrays do not fit together, a covariance is not one, most of a prior lies outside the
        training box, or numpyro is not installed.
    sklearn.exceptions.NotFittedError
        If the surrogate is not fitted.

    References
    ----------
    .. [1] M. D. Hoffman, A. Gelman, The No-U-Turn sampler, JMLR 15 (2014) 1593-1623.
    .. [2] A. Tarantola, Inverse Problem Theory, SIAM 2005, sec. 1.5.

    Examples
    --------
    >>> from assay.surrogate.response_surface import ResponseSurface
    >>> X = np.random.default_rng(0).random((40, 1))
    >>> surface = ResponseSurface(degree=1).fit(X, 3.0 * X[:, 0])
    >>> found = invert(surface, [1.5], 0.1, names=["depth"])
    >>> bool(abs(found.summary.mean[0] - 0.5) < 0.01)
    True
    """
    _check_counts(chains, warmup, draws)
    ready = prepare(
        surrogate, data, noise, prior=prior, model_error=model_error, bounds=bounds, names=names,
        observed=observed,
    )  # fmt: skip
    found = sample(
        ready.target, coordinates(ready.target, seed=seed), chains=chains, warmup=warmup,
        draws=draws, depth=DEPTH, seed=seed,
    )  # fmt: skip
    return _posterior(surrogate, ready, found)


def prepare(
    surrogate: Any,
    data,
    noise,
    *,
    prior=None,
    model_error=None,
    bounds=None,
    names=None,
    observed=None,
) -> Prepared:
    """Check a question and put it together for the sampler; parameters as in `invert`."""
    function = as_function(surrogate)
    m = surrogate.n_outputs_
    box = training_box(surrogate)
    if box is None and bounds is None:
        raise StudyError(
            f"The training box of this {type(surrogate).__name__} is not known.",
            hint="Give `bounds`: [[low, high], ...] of the runs it learned from.",
        )
    box = check_box(bounds) if box is None else box
    cut = boxed_prior(prior, box, bounds=bounds, names=names)
    observed = _observed(observed, m)
    data = _data(data, len(observed))
    covariance = noise_covariance(noise, len(observed))
    bias, local, findings = np.zeros(len(observed)), None, list(cut.findings)
    if model_error is None:
        error = FixedError(_whitening(covariance))
        findings.append(
            "The surrogate counts as exact: intervals are too narrow where its error matters. "
            "Give `model_error`, e.g. held_out_covariance(surrogate, X, Y)."
        )
    elif isinstance(model_error, SpreadCovariance):
        if not function.has_spread:
            function.moments(box.mean(axis=1))  # says what is missing
        error = SpreadError(covariance, np.float64(model_error.factor))
    else:
        whole, mean = _model_error(model_error, m)
        bias, local = mean[observed], getattr(model_error, "local", None)
        if local is None:
            covariance = covariance + whole[np.ix_(observed, observed)]
            error = FixedError(_whitening(covariance))
        else:
            error = local_error(local, covariance, observed, _whitening)
    target = Target(
        function=function, data=data, bias=bias, error=error, observed=observed, ends=cut.ends,
        priors=cut.priors,
    )  # fmt: skip
    return Prepared(target, cut, covariance, local, tuple(findings))


def noise_covariance(noise, k: int) -> np.ndarray:
    """Return the covariance (k, k) of data with standard deviation(s) or a covariance `noise`.

    Examples
    --------
    >>> noise_covariance([1.0, 2.0], 2).tolist()
    [[1.0, 0.0], [0.0, 4.0]]
    """
    noise = numbers(noise, "noise", "the standard deviation of the data")
    if noise.ndim == 2:
        return _covariance(noise, k, "noise")
    if noise.shape not in ((), (k,)) or not (np.isfinite(noise).all() and (noise > 0.0).all()):
        raise DataError(
            f"`noise` must be a positive standard deviation, {k} of them, or a covariance "
            f"({k}, {k}), got shape {noise.shape}"
            + (f" with a smallest value of {noise.min():g}." if noise.size else "."),
            hint="Give the standard deviation of the data in the units of the outputs.",
        )
    return np.diag(np.broadcast_to(noise**2, (k,)))


def numbers(given, name: str, what: str) -> np.ndarray:
    """Return `given` as float64, or say that yes, no and texts are no numbers.

    Examples
    --------
    >>> numbers([1, 2], "noise", "the standard deviation of the data")
    array([1., 2.])
    """
    try:
        # In a list, True would silently become 1.0.
        array = given if isinstance(given, np.ndarray) else np.asarray(given, dtype=object)
        if array.dtype != bool and not any(isinstance(one, bool | np.bool_) for one in array.flat):
            return array.astype(np.float64)
    except (TypeError, ValueError):
        pass
    raise DataError(
        f"`{name}` must be numbers, got {given!r:.60}.",
        hint=f"Give {what} in the units of the outputs.",
    )


def _covariance(matrix, k, name):
    matrix = as_matrix(matrix, name=name, n_columns=k)
    size = np.abs(matrix).max()
    if matrix.shape != (k, k) or np.abs(matrix - matrix.T).max() > 1e-8 * size:
        raise DataError(
            f"`{name}` must be a symmetric covariance of shape ({k}, {k}), got {matrix.shape}.",
            hint="Check the order of rows and columns.",
        )
    if np.linalg.eigvalsh(matrix).min() < -1e-9 * size:
        raise DataError(
            f"`{name}` is no covariance: a combination of outputs has a negative variance.",
            hint="Check its entries; standard deviations go in as a vector.",
        )
    return matrix


def _whitening(covariance):
    try:
        factor = np.linalg.cholesky(covariance)
    except np.linalg.LinAlgError:
        raise DataError(
            "The covariance of the data is singular: some combination of them has no noise.",
            hint="Add the variance of what was left out, e.g. of rounding, to its diagonal.",
        ) from None
    from scipy.linalg import solve_triangular

    return solve_triangular(factor, np.eye(len(factor)), lower=True)


def _model_error(given, m):
    if isinstance(given, ErrorCovariance):
        if len(given.bias) != m:
            raise DataError(
                f"`model_error` must be of the surrogate's {m} outputs, got {len(given.bias)}.",
                hint="Learn it from runs of the same outputs.",
            )
        return given.covariance, given.bias
    given = numbers(given, "model_error", "a covariance, or held_out_covariance(surrogate, X, Y),")
    if given.shape != (m, m):
        raise DataError(
            f"`model_error` must be an ErrorCovariance, a SpreadCovariance or an array ({m}, {m}), "
            f"got shape {given.shape}.",
            hint="held_out_covariance(surrogate, X, Y) learns one from held-out runs.",
        )
    return _covariance(given, m, "model_error"), np.zeros(m)


def _observed(observed, m):
    if observed is None:
        return np.arange(m)
    index = np.asarray(observed)
    whole = index.ndim == 1 and np.issubdtype(index.dtype, np.integer) and index.size
    if not whole or index.min() < 0 or index.max() >= m or len(set(index.tolist())) < index.size:
        raise DataError(
            f"`observed` must be different whole numbers from 0 to {m - 1}, got {observed!r}.",
            hint="Give the indices of the outputs that the data belong to, in their order.",
        )
    return index


def _data(data, k):
    data = numbers(data, "data", "the observed outputs")
    if data.shape != (k,) or not np.isfinite(data).all():
        raise DataError(
            f"`data` must be {k} finite values, one per observed output, got shape {data.shape}"
            + ("." if data.shape != (k,) else f" with {(~np.isfinite(data)).sum()} that are not."),
            hint="Name the outputs that were measured with `observed`.",
        )
    return data


def _check_counts(chains, warmup, draws):
    for name, value, fewest in (
        ("chains", chains, 2),
        ("warmup", warmup, 50),
        ("draws", draws, 50),
    ):
        if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < fewest:
            raise StudyError(
                f"`{name}` must be a whole number of at least {fewest}, got {value!r}.",
                hint="4 chains, 500 steps of warm-up and 3,000 draws are usual.",
            )


def _posterior(surrogate, ready, found: Draws):
    from scipy.stats import chi2

    samples, target, prior = found.inputs, ready.target, ready.prior
    hits = int((found.steps >= 2**DEPTH - 1).sum())
    divergences = int(found.diverging.sum())
    # Given the inputs, replicated data have a chi-square of as many degrees as there are data.
    predictive = float(chi2.sf(found.chi_square, len(target.data)).mean())
    inside = _inside(surrogate, samples.reshape(-1, samples.shape[2]))
    findings = [*ready.findings, *chain_findings(samples, prior.names, divergences, hits)]
    findings += _piled(samples, prior)
    if predictive < MISFIT:
        findings.append(
            f"The data lie far from everything that the surrogate can say (chi-square "
            f"{np.median(found.chi_square):.4g} for {len(target.data)} data): the noise is "
            "understated, or the model lacks something."
        )
    findings += _silent(samples, prior)
    if predictive > 1.0 - MISFIT:
        findings.append(
            f"The data lie closer to the surrogate than noise and its error allow (chi-square "
            f"{np.median(found.chi_square):.4g} for {len(target.data)} data): one of the two is "
            "overstated, and intervals are too wide."
        )
    if inside < FEW_INSIDE:
        findings.append(
            f"{100.0 * (1.0 - inside):.0f} % of the draws lie outside the surrogate's validity "
            "domain. Check them with the true model, see check_runs."
        )
    return Posterior(
        samples=samples, names=prior.names, box=prior.box, prior=prior.quantiles, data=target.data,
        observed=target.observed, bias=target.bias, covariance=_covariance_of(ready, samples),
        chi_square=found.chi_square, divergences=divergences, depth_hits=hits,
        acceptance=float(found.acceptance.mean()), predictive=predictive, inside=inside,
        findings=tuple(findings), surrogate=surrogate,
    )  # fmt: skip


def _covariance_of(ready, samples):
    """Return the covariance (k, k) of data and surrogate, averaged over draws if it varies."""
    if ready.local is None:
        return ready.covariance
    flat = samples.reshape(-1, samples.shape[2])
    some = flat[:: max(1, len(flat) // AVERAGED)]
    observed = ready.target.observed
    return ready.covariance + ready.local.at(some).mean(axis=0)[np.ix_(observed, observed)]


def _inside(surrogate, flat):
    domain = getattr(surrogate, "domain_", None)
    return float("nan") if domain is None else float(domain.inside(flat).mean())


def _silent(samples, prior):
    """Return a sentence on inputs whose posterior is the prior."""
    flat = samples.reshape(-1, samples.shape[2])
    shares = np.linspace(0.0, 1.0, len(prior.quantiles))
    said = []
    for j, name in enumerate(prior.names):
        # Under the prior these are uniform: the largest distance is Kolmogorov's.
        drawn = np.sort(np.interp(flat[:, j], prior.quantiles[:, j], shares))
        if np.abs(drawn - np.linspace(0.0, 1.0, len(drawn))).max() < SILENT:
            said.append(name)
    if not said:
        return []
    return [
        f"The data say nothing about {', '.join(said)}: the posterior is the prior. Either the "
        "outputs do not depend on it, or noise and the surrogate's error hide what they say."
    ]


def _piled(samples, prior):
    """Return sentences on ends of the training box where draws pile up."""
    said = []
    flat = samples.reshape(-1, samples.shape[2])
    width = prior.box[:, 1] - prior.box[:, 0]
    for j, name in enumerate(prior.names):
        for side, word in ((0, "lower"), (1, "upper")):
            share = float((np.abs(flat[:, j] - prior.box[j, side]) < EDGE * width[j]).mean())
            if prior.at_box[j, side] and share > PILED:
                said.append(
                    f"The posterior of {name} piles up at the {word} end of the training box: "
                    f"{100.0 * share:.0f} % of the draws lie in the outermost "
                    f"{100.0 * EDGE:.0f} %. The data may ask for values beyond it: run the "
                    "simulator there."
                )
    return said
