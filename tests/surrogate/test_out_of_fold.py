"""What the model of all runs has over the models of the folds, against posteriors known exactly."""

import numpy as np
import pytest
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, WhiteKernel
from sklearn.linear_model import BayesianRidge, LinearRegression

from assay.errors import StudyError
from assay.surrogate.out_of_fold import out_of_fold

KERNEL = RBF(0.5)
NOISE = 1e-4


def process():
    """A process that knows its own law, so that its mean is the posterior mean."""
    return GaussianProcessRegressor(KERNEL + WhiteKernel(NOISE), optimizer=None)


def draw(X, seed):
    factor = np.linalg.cholesky(KERNEL(X) + NOISE * np.eye(len(X)))
    return factor @ np.random.default_rng(seed).normal(size=len(X))


def test_share_of_a_posterior_mean_is_that_of_its_variances():
    """The truth is in closed form: variance given all runs over that given four fifths.

    The larger of two estimates counts: on average no more than the gain is found, but half of it.
    """
    found, true = [], []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        X = rng.uniform(size=(40, 3))
        y = draw(X, 100 + seed)
        made = out_of_fold(process, X, y, probes=400)
        new = made.probes[made.inside]
        found.append(made.share_left(process().fit(X, y))[0])
        part = np.mean([process().fit(X[keep], y[keep]).predict(new, return_std=True)[1] ** 2
                        for keep in (np.arange(40) % 5 != k for k in range(5))])  # fmt: skip
        whole = np.mean(process().fit(X, y).predict(new, return_std=True)[1] ** 2)
        true.append(np.sqrt(whole / part))
    assert np.mean(true) < 0.85  # there is something to find
    assert np.mean(true) - 0.02 < np.mean(found) < 0.5 * (1.0 + np.mean(true))


def test_share_of_noise_is_one():
    """Where noise is all there is, a fifth more runs help next to nothing."""
    for seed in range(6):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(150, 3)), rng.normal(size=150)
        made = out_of_fold(BayesianRidge, X, y, probes=400)
        assert 0.97 < made.share_left(BayesianRidge().fit(X, y))[0] <= 1.0


def test_dependent_inputs_are_not_corrected():
    """Inputs drawn one by one leave the line that the runs lie on: nothing is known there."""
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(60, 1)) * np.ones(4) + 1e-3 * rng.normal(size=(60, 4))
    y = np.sin(6.0 * X[:, 0])
    made = out_of_fold(process, X, y, probes=400)
    assert made.inside.mean() < 0.1
    assert made.share_left(process().fit(X, y)).tolist() == [1.0]


@pytest.mark.parametrize("probes", [0, 400])
def test_without_a_spread_or_probes_nothing_is_corrected(probes):
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(40, 2)), rng.normal(size=(40, 2))
    made = out_of_fold(LinearRegression, X, Y, probes=probes)
    assert made.spread is None
    assert made.share_left(LinearRegression().fit(X, Y)).tolist() == [1.0, 1.0]


def test_probes_are_no_runs():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (64, 1)).astype(float)
    X[:2, 0] = 0.0, 1.0
    made = out_of_fold(BayesianRidge, np.c_[X, X], X[:, 0] + rng.normal(size=64), folds=2,
                       groups=np.arange(64), probes=400)  # fmt: skip
    runs = set(map(tuple, np.c_[X, X]))
    assert not runs & set(map(tuple, made.probes))
    with pytest.raises(StudyError, match="2 folds"):
        out_of_fold(BayesianRidge, X, X[:, 0], folds=1)
