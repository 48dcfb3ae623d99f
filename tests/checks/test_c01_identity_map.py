"""C01: networks that copy rows past their code."""

import dataclasses

import numpy as np
import pytest

from assay.checks import NotApplicable
from assay.compress.autoencoder import Autoencoder
from assay.compress.baselines import PCA
from assay.compress.brought import BroughtFunction, BroughtRows
from assay.compress.checks import IdentityMap

CHECK = IdentityMap()


def run(compress_view, correlated, model, seed, code_size, check=CHECK):
    rng = np.random.default_rng(seed)
    fit, held, test = (correlated(rng, n) for n in (600, 300, 100))
    if hasattr(model, "fit"):
        model.fit(fit)
    return check(compress_view(fit, held, test, [model], code_size=code_size))


@pytest.mark.parametrize("seed", range(5))
def test_fires_on_an_overcomplete_network(compress_view, correlated, seed):
    network = Autoencoder(
        code_size=12, hidden=(64,), epochs=300, learning_rate=3e-3, random_state=seed
    )
    found = run(compress_view, correlated, network, seed, 12)
    assert found.outcome == "warn"
    assert found.measured < 0.1
    assert "12 numbers is not smaller than the 6 columns" in found.sentence


@pytest.mark.parametrize("seed", range(5))
def test_silent_on_a_bottleneck(compress_view, correlated, seed):
    network = Autoencoder(code_size=2, hidden=(32,), epochs=60, random_state=seed)
    found = run(compress_view, correlated, network, seed, 2)
    assert found.outcome == "pass"
    assert found.measured > 0.5


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("k", [1, 2, 3, 5])
def test_silent_on_principal_components(compress_view, correlated, seed, k):
    assert run(compress_view, correlated, PCA(code_size=k), seed, k).outcome == "pass"


@pytest.mark.parametrize("seed", range(5))
def test_fires_on_a_connection_around_the_code(compress_view, correlated, seed):
    found = run(compress_view, correlated, BroughtFunction(lambda X: 0.9 * X), seed, 2)
    assert found.outcome == "fail"
    assert "past its code" in found.sentence


@pytest.mark.parametrize("seed", range(5))
def test_a_suspicion_is_a_warning(compress_view, correlated, seed):
    """It keeps half of every deviation past its code: odd, and no certain copy."""
    found = run(compress_view, correlated, BroughtFunction(lambda X: 0.5 * X), seed, 2)
    assert found.outcome == "warn"


def test_threshold_is_exact(compress_view, correlated):
    model = PCA(code_size=2)
    noise = run(compress_view, correlated, model, 0, 2).measured
    at = dataclasses.replace(CHECK, least_noise_error=noise / (1 - 2 / 6))
    above = dataclasses.replace(CHECK, least_noise_error=noise / (1 - 2 / 6) * (1 + 1e-9))
    assert run(compress_view, correlated, model, 0, 2, at).outcome == "pass"
    assert run(compress_view, correlated, model, 0, 2, above).outcome == "warn"


def test_finished_rows_cannot_be_checked(compress_view, correlated):
    rows = BroughtRows(np.zeros((100, 6)))
    with pytest.raises(NotApplicable, match="finished rows"):
        run(compress_view, correlated, rows, 0, 2)
    assert run(compress_view, correlated, rows, 0, 6).outcome == "warn"
