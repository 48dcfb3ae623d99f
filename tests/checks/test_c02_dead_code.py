"""C02: numbers of the code that do not move."""

import dataclasses

import numpy as np
import pytest

from assay.checks import NotApplicable
from assay.compress.autoencoder import Autoencoder
from assay.compress.baselines import PCA
from assay.compress.brought import BroughtFunction, BroughtObject
from assay.compress.checks import DeadCode

CHECK = DeadCode()


class Coder:
    """PCA with scaled codes."""

    def __init__(self, scale):
        self.pca, self.scale = PCA(code_size=len(scale)), np.array(scale)

    def fit(self, X):
        self.pca.fit(X)

    def transform(self, X):
        return self.pca.transform(X) * self.scale

    def reconstruct(self, X):
        return self.pca.reconstruct(X)


def run(compress_view, seed, *models, check=CHECK):
    rng = np.random.default_rng(seed)
    fit, held, test = (rng.normal(size=(n, 6)) for n in (300, 300, 100))
    for model in models:
        model.fit(fit)
    return check(compress_view(fit, held, test, models))


@pytest.mark.parametrize("seed", range(5))
def test_counts_the_dead_in_the_worst_run(compress_view, seed):
    found = run(compress_view, seed, Coder([1, 1, 1]), Coder([1, 0, 1e-3]))
    assert found.outcome == "warn"
    assert found.measured == 2
    assert "2 of 3 numbers of the code do not move (2, 3), in the worst of 2 runs" in found.sentence
    assert "a code of 1 numbers" in found.fix[0]


@pytest.mark.parametrize("seed", range(5))
def test_fires_on_a_network_with_dead_units(compress_view, seed):
    """A code layer whose second unit lost its weights."""
    network = Autoencoder(code_size=2, hidden=(32,), epochs=20, random_state=seed)

    class Dead(Coder):
        def __init__(self):
            self.pca, self.scale = network, np.array([1.0, 0.0])

    assert run(compress_view, seed, Dead()).outcome == "warn"


@pytest.mark.parametrize("seed", range(5))
def test_silent_on_a_healthy_network(compress_view, correlated, seed):
    rng = np.random.default_rng(seed)
    fit, held, test = (correlated(rng, n) for n in (600, 300, 100))
    network = Autoencoder(code_size=2, hidden=(32,), epochs=60, random_state=seed).fit(fit)
    found = CHECK(compress_view(fit, held, test, [network]))
    assert found.outcome == "pass"
    assert found.measured == 0


@pytest.mark.parametrize("seed", range(5))
def test_silent_on_components_of_a_steep_spectrum(compress_view, seed):
    """The eighth component with 1 % of the first one's variance is no dead one."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(900, 8)) * np.geomspace(1.0, 0.1, 8)
    pca = PCA(code_size=8, scaling="none").fit(X[:300])
    assert CHECK(compress_view(X[:300], X[300:600], X[600:], [pca])).outcome == "pass"


def test_threshold_is_exact(compress_view):
    model = Coder([1.0, 0.05])
    rng = np.random.default_rng(0)
    fit, held, test = (rng.normal(size=(n, 6)) for n in (300, 300, 100))
    model.fit(fit)
    variance = model.transform(held).var(axis=0)
    share = variance[1] / variance[0]
    view = compress_view(fit, held, test, [model])
    assert dataclasses.replace(CHECK, least_share=share * (1 + 1e-9))(view).outcome == "warn"
    assert dataclasses.replace(CHECK, least_share=share * (1 - 1e-9))(view).outcome == "pass"


def test_all_dead_counts_all(compress_view):
    assert run(compress_view, 0, Coder([0.0, 0.0])).measured == 2


def test_not_applicable(compress_view):
    with pytest.raises(NotApplicable, match="no codes"):
        run(compress_view, 0, BroughtFunction(lambda X: X))

    class OnlyRows:
        def fit(self, X):
            return self

        def reconstruct(self, X):
            return X

    with pytest.raises(NotApplicable, match="no codes"):
        run(compress_view, 0, BroughtObject(OnlyRows()))
