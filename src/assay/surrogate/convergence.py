"""Whether chains have converged: rank-normalised split R-hat and effective sample size."""

import numpy as np


def split_rhat(samples) -> np.ndarray:
    r"""Return the rank-normalised split :math:`\hat R` of each input: (d,) [-]; 1 is converged.

    The larger of that of the values (do chains agree on the place?) and that of their distances
    from the median (do they agree on the width?) [1]_.

    Parameters
    ----------
    samples : (chains, draws, d) array, at least 4 draws

    References
    ----------
    .. [1] A. Vehtari, A. Gelman, D. Simpson, B. Carpenter, P.-C. Bürkner, Rank-normalization,
       folding, and localization: an improved R-hat, Bayesian Analysis 16 (2021) 667-718, sec. 4.

    Examples
    --------
    >>> chains = np.random.default_rng(0).normal(size=(4, 500, 1))
    >>> bool(split_rhat(chains)[0] < 1.01)
    True
    >>> bool(split_rhat(chains + np.arange(4.0)[:, None, None])[0] > 1.3)
    True
    """
    samples = np.asarray(samples, dtype=np.float64)
    folded = np.abs(samples - np.median(samples, axis=(0, 1)))
    return np.maximum(_rhat(_normal_scores(_split(samples))), _rhat(_normal_scores(_split(folded))))


def bulk_ess(samples) -> np.ndarray:
    """Return the effective number of independent draws of each input: (d,) [-].

    From the autocorrelation of the rank-normalised split chains, summed as long as pairs of lags
    are positive and fall [1]_ [2]_.

    Parameters
    ----------
    samples : (chains, draws, d) array, at least 4 draws

    References
    ----------
    .. [1] A. Vehtari et al., Bayesian Analysis 16 (2021) 667-718, sec. 3.2 and 4.
    .. [2] C. J. Geyer, Practical Markov chain Monte Carlo, Statistical Science 7 (1992) 473-483,
       sec. 3.3.

    Examples
    --------
    >>> chains = np.random.default_rng(0).normal(size=(4, 500, 1))
    >>> bool(1500.0 < bulk_ess(chains)[0] < 2500.0)
    True
    """
    scores = _normal_scores(_split(np.asarray(samples, dtype=np.float64)))
    return np.array([_ess(scores[:, :, j]) for j in range(scores.shape[2])])


def _split(samples):
    half = samples.shape[1] // 2
    return np.concatenate([samples[:, :half], samples[:, -half:]])


def _normal_scores(samples):
    """Return the normal scores of the ranks among all draws of an input."""
    from scipy.special import ndtri
    from scipy.stats import rankdata

    chains, n, d = samples.shape
    ranks = rankdata(samples.reshape(-1, d), axis=0)
    return ndtri((ranks - 0.375) / (chains * n + 0.25)).reshape(chains, n, d)


def _rhat(chains):
    n = chains.shape[1]
    within = chains.var(axis=1, ddof=1).mean(axis=0)
    between = n * chains.mean(axis=1).var(axis=0, ddof=1)
    # Draws that never moved have no width to compare with.
    with np.errstate(divide="ignore", invalid="ignore"):
        found = np.sqrt((n - 1) / n + between / within / n)
    return np.where(np.isnan(found), np.inf, found)


def _ess(chains):
    m, n = chains.shape
    apart = chains - chains.mean(axis=1, keepdims=True)
    spectrum = np.fft.rfft(apart, 2 * n, axis=1)
    covariance = np.fft.irfft(np.abs(spectrum) ** 2, 2 * n, axis=1)[:, :n] / n
    within = covariance[:, 0].mean() * n / (n - 1)
    total = within * (n - 1) / n + chains.mean(axis=1).var(ddof=1)
    if not total > 0.0:
        return 1.0
    correlation = 1.0 - (within - covariance.mean(axis=0)) / total
    correlation[0] = 1.0
    pairs = correlation[: n - n % 2].reshape(-1, 2).sum(axis=1)
    negative = np.flatnonzero(pairs <= 0.0)
    pairs = np.minimum.accumulate(pairs[: negative[0]] if len(negative) else pairs)
    # Antithetic chains may have more than independent draws, within reason.
    time = max(2.0 * pairs.sum() - 1.0, 1.0 / np.log10(m * n))
    return float(m * n / time)
