"""Views built by hand: what a check sees, without running a study."""

import numpy as np
import pytest

from assay.anomaly.feeds import Feed
from assay.anomaly.threshold import conformal_threshold
from assay.anomaly.view import AnomalyView, Judged
from assay.compress.baselines import PCA
from assay.compress.view import CompressView
from assay.data import Scaler

SEEDS = range(5)


def feed_of(X, labels=None, times=None, groups=None):
    X = np.asarray(X, dtype=float)
    return Feed(X, np.arange(1, len(X) + 1), labels, None, times, groups)


def judge(estimator, fit, calibration, test, rate=0.05, name=None, series=None):
    """Fit (where it can), score and set the threshold, as a study does."""
    if hasattr(estimator, "fit"):
        estimator.fit(fit)
    score = estimator.anomaly_score if hasattr(estimator, "anomaly_score") else estimator
    held = np.asarray(score(calibration), dtype=float)
    threshold = conformal_threshold(held, rate, series=series)
    name = name or getattr(estimator, "name", type(estimator).__name__)
    return Judged(name, estimator, held, np.asarray(score(test), dtype=float), threshold)


def anomaly_view(
    fit,
    calibration,
    test,
    labels=None,
    *,
    candidate,
    baselines=(),
    rate=0.05,
    columns=None,
    blocks=None,
    times=None,
    groups=None,
    series=None,
    seed=0,
):
    def judged(e):
        if isinstance(e, Judged):
            return e
        return judge(e, fit, calibration, test, rate=rate, series=series)

    return AnomalyView(
        fit=feed_of(fit),
        calibration=feed_of(calibration),
        test=feed_of(test, labels, times, groups),
        columns=columns or tuple(f"c{i}" for i in range(np.shape(fit)[1])),
        candidate=tuple(map(judged, candidate)),
        baselines=tuple(map(judged, baselines)),
        false_alarm_rate=rate,
        blocks=np.arange(len(test)) if blocks is None else blocks,
        seed=seed,
    )


def compress_view(fit, validation, test, candidate, *, code_size=2, seed=0):
    scaler = Scaler.fit(fit)
    pca = PCA(code_size=code_size).fit(fit)

    def errors(rows):
        return np.mean(((test - rows) / scaler.scale) ** 2, axis=1)

    return CompressView(
        fit=fit,
        validation=validation,
        test=test,
        scaler=scaler,
        code_size=code_size,
        candidate=tuple(candidate),
        candidate_errors=np.array([errors(c.reconstruct(test)) for c in candidate]),
        pca=pca,
        pca_errors=errors(pca.reconstruct(test)),
        floor_errors=errors(fit.mean(axis=0)),
        seed=seed,
    )


class Given:
    """An estimator with the attributes that a test gives it."""

    def __init__(self, **attributes):
        self.__dict__.update(attributes)

    def anomaly_score(self, X):
        return np.linalg.norm(X, axis=1)


@pytest.fixture(name="anomaly_view", scope="session")
def _anomaly_view():
    return anomaly_view


@pytest.fixture(name="compress_view", scope="session")
def _compress_view():
    return compress_view


@pytest.fixture(name="judge", scope="session")
def _judge():
    return judge


@pytest.fixture(name="Given", scope="session")
def _given():
    return Given


def correlated(rng, n, d=6, k=2, noise=0.2, mixing=None):
    """Return rows on a plane of `k` dimensions with noise about it."""
    A = np.random.default_rng(99).normal(size=(k, d)) if mixing is None else mixing
    return rng.normal(size=(n, k)) @ A + noise * rng.normal(size=(n, d))


@pytest.fixture(name="correlated", scope="session")
def _correlated():
    return correlated
