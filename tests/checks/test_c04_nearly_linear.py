"""C04: principal components are enough."""

import dataclasses

import numpy as np
import pytest

from assay.checks import NotApplicable
from assay.compress.checks import NearlyLinear

CHECK = NearlyLinear()


class Blend:
    """PCA's reconstruction, with the error scaled down: a gain of known size."""

    def __init__(self, pca, gain):
        self.pca, self.part = pca, np.sqrt(1.0 - gain)

    def reconstruct(self, X):
        return X + self.part * (self.pca.reconstruct(X) - X)


def run(compress_view, correlated, seed, noise, gain, check=CHECK):
    rng = np.random.default_rng(seed)
    fit, held, test = (correlated(rng, n, noise=noise) for n in (300, 100, 200))
    view = compress_view(fit, held, test, [Blend(None, 0.0)][:0])
    candidate = Blend(view.pca, gain)
    errors = np.mean(((test - candidate.reconstruct(test)) / view.scaler.scale) ** 2, axis=1)
    return check(dataclasses.replace(view, candidate_errors=errors[None], candidate=(candidate,)))


@pytest.mark.parametrize("seed", range(5))
def test_fires_on_a_plane(compress_view, correlated, seed):
    found = run(compress_view, correlated, seed, 0.02, 0.5)
    assert found.outcome == "warn"
    assert found.measured > 0.99
    assert "hardly anything is left" in found.sentence


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("gain", [-1.0, 0.0, 0.04])
def test_fires_where_the_network_gains_nothing(compress_view, correlated, seed, gain):
    found = run(compress_view, correlated, seed, 0.5, gain)
    assert found.outcome == "warn"
    assert found.measured == pytest.approx(gain, abs=1e-9)
    assert "PCA does as well" in found.sentence


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("gain", [0.06, 0.5])
def test_silent_where_the_network_gains(compress_view, correlated, seed, gain):
    found = run(compress_view, correlated, seed, 0.5, gain)
    assert found.outcome == "pass"
    assert found.interval[0] <= gain <= found.interval[1]


def test_thresholds_are_exact(compress_view, correlated):
    kept = run(compress_view, correlated, 0, 0.02, 0.5).measured
    above = dataclasses.replace(CHECK, max_explained=kept)
    below = dataclasses.replace(CHECK, max_explained=kept + 1e-9)
    assert run(compress_view, correlated, 0, 0.02, 0.5, above).outcome == "warn"
    assert run(compress_view, correlated, 0, 0.02, 0.5, below).outcome == "pass"
    gain = run(compress_view, correlated, 0, 0.5, 0.2).measured
    at = dataclasses.replace(CHECK, least_gain=gain)
    more = dataclasses.replace(CHECK, least_gain=gain + 1e-9)
    assert run(compress_view, correlated, 0, 0.5, 0.2, at).outcome == "pass"
    assert run(compress_view, correlated, 0, 0.5, 0.2, more).outcome == "warn"


def test_rows_that_do_not_vary(compress_view):
    X = np.random.default_rng(0).normal(size=(50, 4))
    view = compress_view(X, X, np.tile(X.mean(axis=0), (20, 1)), [])
    view = dataclasses.replace(view, floor_errors=np.zeros(20))
    with pytest.raises(NotApplicable, match="do not vary"):
        CHECK(view)
