"""The residual network as an estimator."""

import numpy as np
import pytest

import assay
from assay.errors import StudyError
from assay.surrogate import MLPSurrogate, ResNetSurrogate


def runs(n=200, seed=0):
    X = np.random.default_rng(seed).uniform(size=(n, 3))
    return X, 100.0 + np.sin(4.0 * X[:, 0]) * X[:, 1] + X[:, 2] ** 2


@pytest.fixture(scope="module")
def small():
    return ResNetSurrogate(width=16, depth=3, steps=1500).fit(*runs())


def test_learns_a_smooth_function(small):
    new, truth = runs(seed=1)
    assert small.score(new, truth) > 0.995
    assert small.n_parameters_ == 3 * 16 + 16 + 3 * (16 * 16 + 16) + 16 + 1


def test_depth_24_trains_where_a_plain_network_does_not():
    X, y = runs()
    settings = {
        "activation": "tanh", "initialisation": "lecun", "init_scale": 0.5, "batch": None,
        "steps": 500, "optimiser": "sgd", "learning_rate": 0.1, "schedule": "constant",
    }  # fmt: skip
    plain = MLPSurrogate(hidden=(32,) * 24, **settings).fit(X, y)
    residual = ResNetSurrogate(width=32, depth=23, **settings).fit(X, y)
    assert plain.score(X, y) < 0.05
    assert residual.score(X, y) > 0.8


def test_saved_and_loaded(small, tmp_path):
    X, _ = runs(seed=2)
    loaded = assay.load(small.save(tmp_path / "model"))
    assert type(loaded) is ResNetSurrogate
    np.testing.assert_array_equal(loaded.predict(X), small.predict(X))
    assert loaded.settings() == small.settings()


@pytest.mark.parametrize("settings", [{"width": 0}, {"depth": 0}, {"depth": 2.5}])
def test_sizes_are_checked(settings):
    with pytest.raises(StudyError, match="whole number"):
        ResNetSurrogate(**settings).fit(*runs(n=20))
