"""A05: detectors that reconstruct whatever they are given."""

import dataclasses

import numpy as np
import pytest

from assay.anomaly.checks import IdentityDetector
from assay.anomaly.denoising import DenoisingDetector
from assay.anomaly.row_norm import RowNorm
from assay.checks import NotApplicable
from assay.compress.autoencoder import Autoencoder
from assay.compress.baselines import PCA
from assay.errors import StudyError
from assay.symptoms import copy_errors

CHECK = IdentityDetector()


class Reconstructing:
    """Anything with `reconstruct` as a detector."""

    name = "Reconstructing"

    def __init__(self, model):
        self.model = model

    def fit(self, X):
        self.model.fit(X)
        return self

    def reconstruct(self, X):
        return self.model.reconstruct(X)

    def anomaly_score(self, X):
        return np.mean((X - self.reconstruct(X)) ** 2, axis=1)


class MeanRow:
    def fit(self, X):
        self.mean = X.mean(axis=0)

    def reconstruct(self, X):
        return np.broadcast_to(self.mean, X.shape) + 1e-6 * X


def run(anomaly_view, correlated, model, seed, check=CHECK):
    rng = np.random.default_rng(seed)
    fit, held, test = (correlated(rng, n) for n in (600, 300, 100))
    return check(anomaly_view(fit, held, test, candidate=[model]))


@pytest.mark.parametrize("seed", range(5))
def test_fires_on_an_overcomplete_autoencoder(anomaly_view, correlated, seed):
    network = Autoencoder(
        code_size=12, hidden=(64,), epochs=300, learning_rate=3e-3, random_state=seed
    )
    found = run(anomaly_view, correlated, Reconstructing(network), seed)
    assert found.outcome == "warn"
    assert found.measured < 0.1
    assert "copies what it is given" in found.sentence


@pytest.mark.parametrize("seed", range(5))
def test_silent_on_a_bottleneck(anomaly_view, correlated, seed):
    network = Autoencoder(code_size=2, hidden=(32,), epochs=60, random_state=seed)
    found = run(anomaly_view, correlated, Reconstructing(network), seed)
    assert found.outcome == "pass"
    assert found.measured > 0.3


@pytest.mark.parametrize("seed", range(5))
def test_silent_on_the_denoising_network(anomaly_view, correlated, seed):
    network = DenoisingDetector(hidden=(32,), steps=300, random_state=seed)
    assert run(anomaly_view, correlated, network, seed).outcome == "pass"


@pytest.mark.parametrize("seed", range(5))
def test_fires_on_a_detector_that_answers_with_the_mean(anomaly_view, correlated, seed):
    found = run(anomaly_view, correlated, Reconstructing(MeanRow()), seed)
    assert found.outcome == "warn"
    assert found.measured == pytest.approx(1.0, abs=0.01)
    assert "nothing about how columns belong together" in found.sentence


@pytest.mark.parametrize("k", [1, 3, 5])
def test_noise_error_of_principal_components(k):
    """Uncorrelated unit columns: k of d components leave 1 - k / d of any noise."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 6))
    found = copy_errors(PCA(code_size=k).fit(X).reconstruct, X[:2000], X[2000:])
    assert found.noise == pytest.approx(1 - k / 6, abs=0.03)
    assert found.ratio == pytest.approx(1.0, abs=0.05)


def test_scales_of_columns_do_not_matter():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1000, 6))
    model = PCA(code_size=3).fit(X)
    scale = 10.0 ** np.arange(-3, 3)
    scaled = copy_errors(lambda rows: scale * model.reconstruct(rows / scale), X * scale, X * scale)
    plain = copy_errors(model.reconstruct, X, X)
    assert scaled.noise == pytest.approx(plain.noise, rel=1e-6)


def test_thresholds_are_exact(anomaly_view, correlated):
    model = Reconstructing(PCA(code_size=2))
    noise = run(anomaly_view, correlated, model, 0).measured
    at = dataclasses.replace(CHECK, least_noise_error=noise)
    above = dataclasses.replace(CHECK, least_noise_error=noise * (1 + 1e-9))
    assert run(anomaly_view, correlated, model, 0, at).outcome == "pass"
    assert run(anomaly_view, correlated, model, 0, above).outcome == "warn"
    blind = dataclasses.replace(CHECK, least_ratio=1e9)
    assert run(anomaly_view, correlated, model, 0, blind).outcome == "warn"


def test_not_applicable(anomaly_view, correlated):
    with pytest.raises(NotApplicable, match="by reconstruction"):
        run(anomaly_view, correlated, RowNorm(), 0)
    X = np.random.default_rng(0).normal(size=(100, 1))
    with pytest.raises(NotApplicable, match="one column"):
        CHECK(anomaly_view(X, X, X, candidate=[Reconstructing(MeanRow())]))


def test_rows_from_outside_that_cannot_be_reconstructed(anomaly_view, correlated):
    class OnlyItsOwnRows(MeanRow):
        def reconstruct(self, X):
            raise StudyError("There are scores for the test rows only.")

    model = Reconstructing(OnlyItsOwnRows())
    model.anomaly_score = lambda X: np.linalg.norm(X, axis=1)
    with pytest.raises(NotApplicable, match="test rows only"):
        run(anomaly_view, correlated, model, 0)
