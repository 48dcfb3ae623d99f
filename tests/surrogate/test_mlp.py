"""The multilayer perceptron against closed forms, in the units of the user, and its refusals."""

import subprocess
import sys

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.utils.estimator_checks import check_estimator

import assay
from assay.errors import AssayError, DataError, ModelError, StudyError
from assay.models import load_model, save_model
from assay.surrogate import (
    DeepEnsemble,
    GaussianProcess,
    MLPSurrogate,
    NeuralODE,
    PCAOutputs,
    ResNetSurrogate,
    as_function,
    invert,
    weight_decay_of,
)
from assay.surrogate.boosting import Boosting
from assay.surrogate.nearest import NearestRuns
from assay.surrogate.response_surface import MeanOutput, ResponseSurface
from assay.train import trace_count
from assay.train.job import Job

# The boundary of `assay.data` words its refusals for engineers, not as scikit-learn's check_array.
WORDING = "refused, in other words than scikit-learn's"
EXPECTED = {
    "check_n_features_in_after_fitting": WORDING,
    "check_complex_data": WORDING,
    "check_dtype_object": WORDING,
    "check_estimators_empty_data_messages": WORDING,
    "check_estimator_sparse_tag": WORDING,
    "check_estimator_sparse_array": WORDING,
    "check_estimator_sparse_matrix": WORDING,
    "check_fit2d_predict1d": WORDING,
}
# A single affine map with all runs in every step: what training must find is known exactly.
AFFINE = {"hidden": (), "batch": None, "precision": "float64", "steps": 4000, "weight_decay": 0.0}


def runs(n=200, seed=0, noise=0.0):
    rng = np.random.default_rng(seed)
    X = rng.uniform([0.0, 10.0, -1.0], [1.0, 30.0, 1.0], (n, 3))
    Y = np.c_[np.sin(3 * X[:, 0]) * X[:, 1], 500.0 + 5.0 * X[:, 2] ** 2]
    return X, Y + noise * rng.normal(size=Y.shape)


@pytest.fixture(scope="module")
def small():
    return MLPSurrogate(hidden=(16,), steps=500).fit(*runs())


# --- closed forms --------------------------------------------------------------------------------


@pytest.mark.parametrize(("optimiser", "rate"), [("adam", 3e-2), ("momentum", 3e-2), ("sgd", 3e-1)])
def test_affine_map_is_least_squares(optimiser, rate):
    X, Y = runs(noise=1.0)
    model = MLPSurrogate(**AFFINE, optimiser=optimiser, learning_rate=rate).fit(X, Y)
    A = np.c_[np.ones(len(X)), X]
    expected = A @ np.linalg.lstsq(A, Y, rcond=None)[0]
    np.testing.assert_allclose(model.predict(X), expected, rtol=1e-6)


def test_prior_gives_the_posterior_mean_of_bayesian_linear_regression():
    X, Y = runs(n=60, noise=1.0)
    y, noise, prior = Y[:, 0], 4.0, 0.3
    model = MLPSurrogate(**AFFINE, learning_rate=3e-2, prior_sd=prior, noise_sd=noise).fit(X, y)
    # Bishop 2006, eq. (3.53) and (3.54), in scaled units; the bias has the prior too.
    A = np.c_[np.ones(len(X)), (X - X.mean(axis=0)) / X.std(axis=0)]
    t, beta = (y - y.mean()) / y.std(), (y.std() / noise) ** 2
    mean = np.linalg.solve(np.eye(4) / prior**2 + beta * A.T @ A, beta * A.T @ t)
    np.testing.assert_allclose(model.predict(X), y.mean() + y.std() * (A @ mean), rtol=1e-6)
    loose = MLPSurrogate(**AFFINE, learning_rate=3e-2).fit(X, y)
    assert np.abs(loose.predict(X) - model.predict(X)).max() > 0.3  # the prior shrinks


def test_default_weight_decay_is_a_prior_whose_weight_falls_with_the_runs():
    X, Y = runs(n=50)
    model = MLPSurrogate(hidden=(2,), steps=1).fit(X, Y)
    assert model.weight_decay_ == pytest.approx(2.0 * 0.05**2 / (50 * 2))
    assert model.settings()["weight_decay"] == model.weight_decay_
    assert MLPSurrogate(hidden=(2,), steps=1, weight_decay=0).fit(X, Y).weight_decay_ == 0.0


CHOOSING = {"hidden": (32, 32), "steps": 1000}


def noisy(seed, n=60):
    """A few runs of a smooth function whose noise is as large as its spread."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1.0, 1.0, (n, 2))
    truth = np.sin(2.0 * X[:, 0]) + X[:, 1]
    return X, truth, truth + rng.normal(size=n)


@pytest.fixture(scope="module")
def chosen():
    """Errors against the truth of the chosen decay, of none and of the largest, per seed."""
    found = []
    for seed in range(4):
        X, _, y = noisy(seed)
        new, truth, _ = noisy(100 + seed, 1000)
        models = [
            MLPSurrogate(**CHOOSING, weight_decay=decay, random_state=seed).fit(X, y)
            for decay in ("validation", 0.0, 50.0 / 60)
        ]
        found.append([np.sqrt(np.mean((m.predict(new) - truth) ** 2)) for m in models])
    return np.array(found)


def test_decay_chosen_on_held_out_runs_beats_none_and_too_much(chosen):
    validated, none, much = chosen.T
    assert (validated < 0.8 * none).all()
    assert (validated < 0.8 * much).all()


def test_decay_is_chosen_with_one_program_and_told(tmp_path):
    X, _, y = noisy(0)
    settings = {"hidden": (31,), "steps": 300, "batch": 16}
    before = trace_count()
    model = MLPSurrogate(**settings, weight_decay="validation").fit(X, y)
    assert trace_count() == before + 1  # 30 networks of the folds, and the last
    found = model.decay_search_
    assert found.folds == 5
    assert model.weight_decay_ == found.strengths[np.argmin(found.errors)] / 60
    assert found.sentence in model.status_
    assert model.settings()["weight_decay"] == model.weight_decay_
    plain = MLPSurrogate(**settings, weight_decay=model.weight_decay_).fit(X, y)
    np.testing.assert_array_equal(plain.predict(X), model.predict(X))
    loaded = assay.load(model.save(tmp_path / "m"))
    assert loaded.settings() == model.settings()
    assert loaded.decay_search_ == found


def test_decay_is_chosen_on_the_runs_of_early_stopping():
    X, _, y = noisy(0)
    settings = {"hidden": (32,), "steps": 600, "patience": 3}
    model = MLPSurrogate(**settings, weight_decay="validation", validation_fraction=0.25).fit(X, y)
    assert model.decay_search_.folds == 0
    error = model.history_["validation"].min()
    assert error == pytest.approx(min(model.decay_search_.errors), rel=1e-6)
    new, truth, _ = noisy(50)
    given = MLPSurrogate(**settings, weight_decay="validation").fit(X, y, validation=(new, truth))
    assert min(given.decay_search_.errors) == pytest.approx(given.history_["validation"].min())


def test_more_runs_need_fewer_folds():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 1))
    settings = {"hidden": (4,), "steps": 10, "weight_decay": "validation"}
    assert MLPSurrogate(**settings).fit(X, X[:, 0]).decay_search_.folds == 2
    with pytest.raises(StudyError, match="at least 10 runs, got 9"):
        MLPSurrogate(**settings).fit(X[:9], X[:9, 0])


def test_weight_decay_follows_the_formula():
    assert weight_decay_of(0.5, noise_sd=0.2, n_rows=40, n_outputs=2) == pytest.approx(0.004)
    with pytest.raises(StudyError, match="prior_sd"):
        weight_decay_of(0.0, noise_sd=1.0, n_rows=10)


# --- what it learns ------------------------------------------------------------------------------


def test_learns_a_smooth_function():
    X, Y = runs()
    model = MLPSurrogate(steps=3000).fit(X, Y)
    new, truth = runs(seed=1)
    error = np.sqrt(np.mean((model.predict(new) - truth) ** 2, axis=0)) / truth.std(axis=0)
    assert (error < 0.03).all()


def test_units_of_inputs_and_outputs_do_not_matter():
    X, Y = runs()
    settings = {"hidden": (16,), "steps": 300, "precision": "float64"}
    one = MLPSurrogate(**settings).fit(X, Y).predict(X)
    other = MLPSurrogate(**settings).fit(X * 1e6 - 4e7, Y * 1e-5 + 3.0).predict(X * 1e6 - 4e7)
    np.testing.assert_allclose((other - 3.0) * 1e5, one, rtol=1e-6)


def test_unscaled_large_outputs_are_not_learned():
    X, Y = runs()
    y = 1e5 * Y[:, 0]
    settings = {"steps": 300, "batch": None, "learning_rate": 1e-2}
    scaled = MLPSurrogate(**settings).fit(X, y).score(X, y)
    assert scaled > 0.9
    assert MLPSurrogate(**settings, output_scaling="none").fit(X, y).score(X, y) < 0.0


def test_common_scale_keeps_relative_sizes():
    X, Y = runs()
    scaler = MLPSurrogate(hidden=(4,), steps=1, output_scaling="common").fit(X, Y).output_scaler_
    assert scaler.scale[0] == scaler.scale[1] == pytest.approx(np.sqrt(Y.var(axis=0).mean()))


def test_bounds_scale_the_inputs_and_are_the_box():
    X, Y = runs()
    bounds = [[0.0, 2.0], [10.0, 30.0], [-1.0, 1.0]]
    model = MLPSurrogate(hidden=(4,), steps=1, bounds=bounds, input_scaling="unit").fit(X, Y)
    np.testing.assert_allclose(model.scaler_.forward([[2.0, 10.0, 0.0]]), [[1.0, 0.0, 0.5]])
    assert model.domain_.parts([[2.0, 20.0, 0.0]])["box"].all()
    standard = MLPSurrogate(hidden=(4,), steps=1, bounds=bounds).fit(X, Y)
    dense = np.random.default_rng(0).uniform(0.0, 2.0, 10**5)
    rows = standard.scaler_.forward(np.c_[dense, dense, dense])[:, 0]
    assert rows.std() == pytest.approx(1.0, abs=0.01)


def test_early_stopping_keeps_the_best_on_held_out_runs():
    X, Y = runs(n=60, noise=8.0)
    settings = {"hidden": (64, 64), "steps": 3000, "batch": None}
    new, truth = runs(n=1000, seed=3)
    last = MLPSurrogate(**settings).fit(X, Y[:, 0])
    held = MLPSurrogate(**settings, validation_fraction=0.25, patience=5).fit(X, Y[:, 0])
    assert "stopped early" in held.status_
    assert held.steps_ < 3000
    assert np.isfinite(held.history_["validation"]).all()
    error = [np.mean((m.predict(new) - truth[:, 0]) ** 2) for m in (last, held)]
    assert error[1] < 0.8 * error[0]


def test_validation_runs_of_the_user():
    X, Y = runs()
    new, truth = runs(seed=1)
    model = MLPSurrogate(hidden=(16,), steps=400).fit(X, Y, validation=(new, truth))
    scaled = model.output_scaler_.forward(model.predict(new)) - model.output_scaler_.forward(truth)
    assert np.mean(scaled**2) == pytest.approx(model.history_["validation"].min(), rel=1e-3)
    with pytest.raises(DataError, match="validation runs must have 3 inputs"):
        MLPSurrogate().fit(X, Y, validation=(new[:, :2], truth))


# --- shapes, seeds, compilation ------------------------------------------------------------------


def test_shape_of_y_comes_back():
    X, Y = runs(n=30)
    settings = {"hidden": (4,), "steps": 2}
    assert MLPSurrogate(**settings).fit(X, Y[:, 0]).predict(X).shape == (30,)
    assert MLPSurrogate(**settings).fit(X, Y[:, :1]).predict(X).shape == (30, 1)
    assert MLPSurrogate(**settings).fit(X, Y).predict(X).shape == (30, 2)


def test_equal_seeds_give_equal_bits(small):
    X, Y = runs()
    again = MLPSurrogate(hidden=(16,), steps=500).fit(X, Y)
    np.testing.assert_array_equal(again.predict(X), small.predict(X))
    other = MLPSurrogate(hidden=(16,), steps=500, random_state=1).fit(X, Y)
    assert np.abs(other.predict(X) - small.predict(X)).max() > 0


def test_numbers_do_not_compile_again(small):
    X, Y = runs(n=180, seed=5)
    before = trace_count()
    MLPSurrogate(
        hidden=(16,), steps=700, learning_rate=1e-4, weight_decay=1e-3, random_state=9
    ).fit(X, Y)
    assert trace_count() == before


def test_steps_and_epochs():
    X, Y = runs(n=200)
    assert MLPSurrogate(hidden=(2,), epochs=3).fit(X, Y).steps_ == 12
    assert MLPSurrogate(hidden=(2,), epochs=3, batch=None).fit(X, Y).steps_ == 3
    assert MLPSurrogate(hidden=(2,)).fit(X, Y).steps_ == 10_000


def test_initial_scale_and_untrained(small):
    X, Y = runs()
    large = MLPSurrogate(hidden=(16,), steps=1, init_scale=3.0).fit(X, Y).untrained_
    weight = small.untrained_.model_.layers[0].weight
    np.testing.assert_allclose(large.model_.layers[0].weight, 3.0 * weight, rtol=1e-6)
    assert small.untrained_.score(X, Y) < 0.2 < small.score(X, Y)


def test_parameters_are_counted(small):
    assert small.n_parameters_ == 3 * 16 + 16 + 16 * 2 + 2


def test_float64_in_and_out_of_a_float32_world():
    X, Y = runs(n=30)
    model = MLPSurrogate(hidden=(4,), steps=2, precision="float64").fit(X, Y)
    assert model.model_.layers[0].weight.dtype == np.float64
    assert MLPSurrogate(hidden=(4,), steps=2).fit(X, Y).model_.layers[0].weight.dtype == np.float32


# --- checkpoints ---------------------------------------------------------------------------------


class Stopped(Exception):
    """Ends a fit at a chunk of its own choosing, as a kill would."""


def stop_at(monkeypatch, chunk):
    """Let fits end without warning at the start of that chunk; return the count of chunks."""
    dispatch, count = Job.dispatch, [0]

    def counted(self, *arguments):
        count[0] += 1
        if count[0] == chunk:
            raise Stopped
        return dispatch(self, *arguments)

    monkeypatch.setattr(Job, "dispatch", counted)
    return count


@pytest.mark.parametrize("chunk", [20, 62])  # of 60 in the search for the decay and 2 more
def test_a_search_for_the_decay_goes_on_where_it_stopped(tmp_path, monkeypatch, chunk):
    X, _, y = noisy(0)
    make = lambda: MLPSurrogate(hidden=(8,), steps=200, weight_decay="validation")
    unbroken = make().fit(X, y)
    with monkeypatch.context() as patch:
        stop_at(patch, chunk)
        with pytest.raises(Stopped):
            make().fit(X, y, checkpoint=tmp_path / "kept")
    assert (tmp_path / "kept.decays").is_dir()
    count = stop_at(monkeypatch, -1)
    resumed = make().fit(X, y, checkpoint=tmp_path / "kept")
    assert count[0] <= 62 - chunk + 6  # of networks that were under way, up to a chunk each
    np.testing.assert_array_equal(resumed.predict(X), unbroken.predict(X))
    assert resumed.decay_search_ == unbroken.decay_search_


# --- saved ---------------------------------------------------------------------------------------


def test_saved_model_predicts_the_same_in_a_fresh_process(small, tmp_path):
    X, _ = runs(seed=2)
    X[0] *= 2.0
    np.save(tmp_path / "x.npy", X)
    small.save(tmp_path / "model")
    code = (
        "import assay, numpy as np; m = assay.load('model'); "
        "y, ok = m.predict(np.load('x.npy'), return_valid=True); "
        "np.savez('y.npz', y=y, ok=ok)"
    )
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=True)
    found = np.load(tmp_path / "y.npz")
    expected, valid = small.predict(X, return_valid=True)
    np.testing.assert_array_equal(found["y"], expected)
    np.testing.assert_array_equal(found["ok"], valid)
    assert not valid[0]
    loaded = assay.load(tmp_path / "model")
    assert loaded.settings() == small.settings()
    assert loaded.status_ == small.status_
    np.testing.assert_array_equal(loaded.history_["train"], small.history_["train"])


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("params", {"hidden": [10**9]}),
        ("params", {"nonsense": 1}),
        ("params", {"hidden": [16], "optimiser": "magic"}),
        ("domain", {"limit": "far", "spread": None}),
        ("steps", -1),
        ("decay_search", {"strengths": [1.0], "errors": [], "folds": 5}),
        ("decay_search", {"errors": "none"}),
        ("scaler", {}),
        ("status", 3),
    ],
)
def test_damaged_models_are_refused(small, tmp_path, key, value):
    small.save(tmp_path / "a")
    family, config, arrays, _ = load_model(tmp_path / "a")
    save_model(tmp_path / "b", family=family, config=config | {key: value}, arrays=arrays)
    with pytest.raises(AssayError) as caught:
        assay.load(tmp_path / "b")
    assert isinstance(caught.value, ModelError | StudyError)


# --- refusals ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"optimiser": "adamm"}, "Did you mean 'adam'"),
        ({"output_scaling": "each"}, "output_scaling"),
        ({"precision": "float16"}, "precision"),
        ({"steps": 10, "epochs": 2}, "not both"),
        ({"steps": 0}, "steps"),
        ({"batch": 1.5}, "batch"),
        ({"validation_fraction": 0.9}, "validation_fraction"),
        ({"prior_sd": 1.0}, "noise_sd"),
        ({"prior_sd": 1.0, "noise_sd": 1.0, "weight_decay": 0.1}, "takes the place"),
        ({"weight_decay": True}, "`weight_decay` must be a number"),
        ({"learning_rate": "fast"}, "`learning_rate` must be a number"),
        ({"init_scale": True}, "`init_scale` must be a number"),
        ({"validation_fraction": None}, "`validation_fraction` must be a number"),
        ({"prior_sd": True, "noise_sd": 1.0}, "`prior_sd` must be a number"),
        ({"weight_decay": "auto"}, "'validation'"),
        ({"prior_sd": 1.0, "noise_sd": 1.0, "weight_decay": "validation"}, "takes the place"),
        ({"initialisation": "xavier"}, "initialisation"),
        ({"init_scale": -1.0}, "scale"),
        ({"activation": "tan"}, "activation"),
    ],
)
def test_choices_are_checked(settings, words):
    with pytest.raises(StudyError, match=words):
        MLPSurrogate(**settings).fit(*runs(n=20))


def test_runs_are_checked():
    X, Y = runs(n=20)
    with pytest.raises(DataError, match="one row per row"):
        MLPSurrogate().fit(X, Y[:-1])
    Y[3, 1] = np.nan
    with pytest.raises(DataError, match="row 3"):
        MLPSurrogate().fit(X, Y)
    with pytest.raises(StudyError, match="at least 2 runs"):
        MLPSurrogate().fit(X[:1], Y[:1])
    with pytest.raises(DataError, match="bounds"):
        MLPSurrogate(bounds=[[0, 1]]).fit(*runs(n=20))
    with pytest.raises(DataError, match="lower end below"):
        MLPSurrogate(bounds=[[0, 1], [3, 3], [0, 1]]).fit(*runs(n=20))


def test_constant_outputs_and_inputs():
    X = np.c_[np.linspace(0.0, 1.0, 20), np.full(20, 7.0)]
    model = MLPSurrogate(hidden=(4,), steps=200).fit(X, np.full(20, 42.0))
    np.testing.assert_allclose(model.predict(X), 42.0, atol=0.5)


def unfitted():
    network = MLPSurrogate()
    single = (network, ResNetSurrogate(), NeuralODE(), DeepEnsemble(), GaussianProcess())
    plain = (MeanOutput(), ResponseSurface(), NearestRuns(), Boosting())
    return (*single, *plain, PCAOutputs(network), PCAOutputs(DeepEnsemble()))


@pytest.mark.parametrize("model", unfitted(), ids=repr)
def test_what_was_not_fitted_says_so(model, tmp_path):
    X, Y = runs(n=5)
    calls = {
        "predict": lambda: model.predict(X),
        "score": lambda: model.score(X, Y),
        "save": lambda: model.save(tmp_path / "model"),
    }
    if hasattr(model, "coefficients"):
        calls["coefficients"] = lambda: model.coefficients(Y)
    if not isinstance(model, MeanOutput):  # it has none
        calls["settings"] = lambda: model.settings()
    if not isinstance(model, MeanOutput | NearestRuns | Boosting):
        calls["as_function"] = lambda: as_function(model)
        calls["invert"] = lambda: invert(model, Y[0], 1.0)
    for call in calls.values():
        with pytest.raises(NotFittedError):
            call()


def test_scikit_learn_conventions():
    done = check_estimator(
        MLPSurrogate(hidden=(16,), steps=600, learning_rate=1e-2),
        expected_failed_checks=EXPECTED, on_skip=None, on_fail=None,
    )  # fmt: skip
    failed = {one["check_name"] for one in done if one["status"] == "failed"}
    assert not failed, failed
    assert len(done) > 30
