"""Every baseline can be saved without pickles, and predicts the same afterwards."""

import numpy as np
import pytest
from sklearn.base import clone

import assay
from assay.errors import ModelError
from assay.models import load_model, save_model
from assay.surrogate import BASELINES, PCAOutputs
from assay.surrogate.boosting import Boosting
from assay.surrogate.response_surface import ResponseSurface
from assay.surrogate.trees import Trees


def runs(n=40, seed=0, outputs=2):
    X = np.random.default_rng(seed).normal(size=(n, 3))
    Y = np.c_[10.0 + X[:, 0] * X[:, 1], 500.0 * np.sin(X[:, 2])]
    return X, Y if outputs == 2 else Y[:, 0]


def quick(model):
    return clone(model).set_params(**({"starts": 1} if "starts" in model.get_params() else {}))


@pytest.mark.parametrize("outputs", [1, 2])
@pytest.mark.parametrize("model", BASELINES, ids=lambda m: m.name)
def test_saved_and_loaded(model, outputs, tmp_path):
    fitted = quick(model).fit(*runs(outputs=outputs))
    loaded = assay.load(fitted.save(tmp_path / "model"))
    new, _ = runs(200, seed=1)
    assert type(loaded) is type(fitted)
    np.testing.assert_array_equal(loaded.predict(new), fitted.predict(new))
    assert loaded.status_ == fitted.status_
    assert loaded.n_parameters_ == fitted.n_parameters_
    if fitted.name != "Gaussian process":  # which forgets how often it searched
        assert loaded.settings() == fitted.settings()
    assay.load(loaded.save(tmp_path / "again"))


def test_inside_modes(tmp_path):
    fitted = PCAOutputs(Boosting(), modes=2).fit(*runs())
    loaded = assay.load(fitted.save(tmp_path / "model"))
    np.testing.assert_array_equal(loaded.predict(runs()[0]), fitted.predict(runs()[0]))


def test_trees_are_those_of_scikit_learn():
    from sklearn.ensemble import HistGradientBoostingRegressor

    X, y = runs(300, outputs=1)
    grown = HistGradientBoostingRegressor(max_iter=30, min_samples_leaf=3).fit(X, y)
    new = 3.0 * runs(500, seed=2)[0]
    np.testing.assert_allclose(Trees.of(grown).predict(new), grown.predict(new), rtol=1e-13)


@pytest.mark.parametrize(
    ("model", "name", "spoil"),
    [
        (ResponseSurface(), "coefficients", lambda a: a[1:]),
        (ResponseSurface(), "ridge", lambda a: a[1:]),
        (Boosting(), "0.left", np.zeros_like),  # would lead round and round
        (Boosting(), "0.feature", lambda a: a + 99),
        (Boosting(), "1.value", lambda a: a[1:]),
    ],
)
def test_damaged_models_are_refused(model, name, spoil, tmp_path):
    family, config, arrays, _ = load_model(clone(model).fit(*runs()).save(tmp_path / "model"))
    bad = arrays | {name: spoil(arrays[name])}
    with pytest.raises(ModelError):
        assay.load(save_model(tmp_path / "bad", family=family, config=config, arrays=bad))
