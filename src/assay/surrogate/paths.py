"""Several functions that a surrogate holds possible: its members, or draws from its process."""

from typing import Any

import numpy as np

from assay.data import as_matrix

FEATURES = 1000  # of the prior's random Fourier series
_CHUNK_VALUES = 4_000_000


def possible_outputs(model: Any, X, *, n: int = 16, seed: int = 0) -> np.ndarray | None:
    """Return outputs (k, rows, m) [units of the outputs] of k possible functions, or None.

    The members of a deep ensemble, or `n` functions drawn from a Gaussian process; also through
    the principal components of many outputs. None for surrogates that know no more than one.

    Parameters
    ----------
    model : estimator
        Fitted.
    X : array of shape (rows, d) [units of the inputs]
    n : int
        Of the functions drawn from a Gaussian process.
    seed : int
        Of the same.
    """
    from assay.surrogate.calibrated import CalibratedSurrogate
    from assay.surrogate.gp import GaussianProcess
    from assay.surrogate.outputs import PCAOutputs

    if isinstance(model, CalibratedSurrogate):
        return possible_outputs(model.model_, X, n=n, seed=seed)
    if isinstance(model, PCAOutputs):
        inner = possible_outputs(model.model_, X, n=n, seed=seed)
        return None if inner is None else model.mean_ + model.scale_ * inner @ model.components_
    if hasattr(model, "predict_members"):
        each = np.asarray(model.predict_members(X))
        return each.reshape(len(each), len(X), -1)
    if isinstance(model, GaussianProcess):
        return sample_paths(model, X, n, seed)
    return None


def sample_paths(gp: Any, X, n: int, seed: int = 0) -> np.ndarray:
    r"""Return `n` functions drawn from a Gaussian process, at many rows at once: (n, rows, m).

    A function drawn from the prior is corrected by what it misses of the runs [1]_:

    .. math:: f(x) + k(x, X)\,(K + g I)^{-1} (y - f(X) - \varepsilon);

    the prior is a random Fourier series of the covariance, whose frequencies are distributed as
    multivariate t with five degrees of freedom.

    Parameters
    ----------
    gp : GaussianProcess
        Fitted.
    X : array of shape (rows, d) [units of the inputs]
    n : int >= 1
    seed : int

    References
    ----------
    .. [1] J. T. Wilson et al., Efficiently sampling functions from Gaussian process posteriors,
       ICML 2020, eq. 9 and sec. 3.

    Examples
    --------
    >>> from assay.surrogate.gp import GaussianProcess
    >>> X = np.linspace(0.0, 6.0, 12)[:, None]
    >>> gp = GaussianProcess(transform="identity", starts=1).fit(X, np.sin(X[:, 0]))
    >>> paths = sample_paths(gp, X, 5)
    >>> paths.shape, bool(paths.std(axis=0).max() < 0.01)
    ((5, 12, 1), True)
    """
    from scipy.linalg import cho_solve

    from assay.surrogate.likelihood import matern52

    X = as_matrix(X, name="X", n_columns=gp.n_features_in_)
    rng, found = np.random.default_rng(seed), gp.posterior_
    rows, d = gp.inputs_.shape
    m = gp.n_outputs_
    heavy = np.sqrt(5.0 / rng.chisquare(5.0, FEATURES))
    omega = rng.normal(size=(d, FEATURES)) * heavy / gp.scaled_lengths_[:, None]
    phase = rng.uniform(0.0, 2.0 * np.pi, FEATURES)
    weights = rng.normal(size=(FEATURES, n * m)) * np.sqrt(2.0 / FEATURES)
    noise = np.sqrt(gp.nugget_) * rng.normal(size=(rows, n * m))
    at_runs = np.cos(gp.inputs_ @ omega + phase) @ weights
    missed = cho_solve((found.factor, True), at_runs + noise)
    sd = np.tile(np.sqrt(found.variance), n)
    known = np.tile(found.weights, (1, n))
    Z = gp.scaler_.forward(X, dtype=np.float64)
    out = np.empty((len(Z), n * m))
    step = max(1, _CHUNK_VALUES // max(rows, FEATURES))
    for first in range(0, len(Z), step):
        part = Z[first : first + step]
        prior = np.cos(part @ omega + phase) @ weights
        across = matern52(part, gp.inputs_, gp.scaled_lengths_)
        out[first : first + step] = sd * (prior - across @ missed) + across @ known
    paths = out.reshape(len(Z), n, m).transpose(1, 0, 2)
    return _original(gp.transform_, gp.centre_ + gp.scale_ * (found.mean + paths))


def _original(transform, values):
    if transform == "sqrt":
        return values**2
    return np.exp(np.minimum(values, 300.0)) if transform == "log" else values
