"""C03: how training ended; the rule is that of A09."""

import numpy as np
import pytest

from assay.checks import NotApplicable
from assay.compress.autoencoder import Autoencoder
from assay.compress.baselines import PCA
from assay.compress.checks import TrainingNotConverged
from assay.train import FitStatus

CHECK = TrainingNotConverged()


def run(compress_view, correlated, seed, **options):
    X = correlated(np.random.default_rng(seed), 500)
    network = Autoencoder(code_size=2, hidden=(32,), random_state=seed, **options).fit(X[:300])
    return CHECK(compress_view(X[:300], X[300:400], X[400:], [network]))


@pytest.mark.parametrize("seed", range(5))
def test_warns_on_too_few_steps(compress_view, correlated, seed):
    found = run(compress_view, correlated, seed, epochs=80, learning_rate=1e-4)
    assert found.outcome == "warn"
    assert "its one run: over the second half of the steps the loss fell" in found.sentence


@pytest.mark.parametrize("seed", range(5))
def test_fails_on_a_breakdown(compress_view, correlated, seed):
    found = run(compress_view, correlated, seed, epochs=4, learning_rate=1e18)
    assert found.outcome == "fail"
    assert found.severity == "fail"


@pytest.mark.parametrize("seed", range(5))
def test_silent_on_enough_steps(compress_view, correlated, seed):
    assert run(compress_view, correlated, seed, epochs=400).outcome == "pass"


def test_interrupted_counts_as_unfinished(compress_view, Given):
    X = np.random.default_rng(0).normal(size=(60, 3))
    network = Given(status_=FitStatus.INTERRUPTED.sentence, reconstruct=lambda rows: rows)
    assert CHECK(compress_view(X, X, X, [network])).outcome == "warn"


def test_not_applicable(compress_view):
    X = np.random.default_rng(0).normal(size=(60, 3))
    with pytest.raises(NotApplicable, match="says nothing"):
        CHECK(compress_view(X, X, X, [PCA(code_size=1).fit(X)]))
