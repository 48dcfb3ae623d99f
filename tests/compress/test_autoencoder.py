"""The autoencoder against closed forms, PCA's eigenvectors and the lab's figures."""

import numpy as np
import pytest
from scipy.linalg import subspace_angles
from scipy.special import softmax
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.utils.estimator_checks import check_estimator

import assay
from assay.compress.autoencoder import Autoencoder
from assay.compress.baselines import PCA
from assay.errors import AssayError, DataError, ModelError, StudyError
from assay.models import load_model, save_model
from assay.train import trace_count

LAB = {
    "hidden": (128,), "output": "sigmoid", "scaling": "none", "epochs": 200, "batch": 64,
    "schedule": "constant", "validation_fraction": 0.0,
}  # fmt: skip

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


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return train_test_split(X / 16.0, y, test_size=0.2, stratify=y, random_state=0)


@pytest.fixture(scope="module")
def curve():
    t = np.random.default_rng(0).uniform(-1.0, 1.0, 300)
    return np.c_[t, t**2, 100.0 + 5.0 * t**3]


@pytest.fixture(scope="module")
def small(curve):
    return Autoencoder(code_size=1, hidden=(16,), epochs=40, learning_rate=1e-2).fit(curve)


# --- the lab -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("size", "low", "high"), [(2, 0.032, 0.039), (8, 0.0100, 0.0125)])
def test_lab_reconstruction(digits, size, low, high):
    train, test, *_ = digits
    model = Autoencoder(code_size=size, **LAB).fit(train)
    error = np.mean((model.reconstruct(test) - test) ** 2)
    assert low <= error <= high
    assert error == pytest.approx(-model.score(test), rel=1e-5)
    assert -PCA(code_size=size, scaling="none").fit(train).score(test) > 1.3 * error


def test_lab_parameters(digits):
    model = Autoencoder(code_size=2, **LAB | {"epochs": 1}).fit(digits[0])
    assert model.n_parameters_ == 64 * 128 + 128 + 128 * 2 + 2 + 2 * 128 + 128 + 128 * 64 + 64


# --- linear networks -----------------------------------------------------------------------------


@pytest.mark.parametrize("size", [2, 8])
def test_linear_finds_the_subspace_of_pca(digits, size):
    train = digits[0]
    model = Autoencoder(
        code_size=size, linear=True, epochs=4000, batch=2048, learning_rate=3e-3,
        validation_fraction=0.0,
    ).fit(train)  # fmt: skip
    standard = model.scaler_.forward(train, dtype=np.float64)
    eigenvectors = np.linalg.eigh(np.cov(standard.T))[1][:, ::-1][:, :size]
    found = model.scaler_.forward(model.reconstruct(train), dtype=np.float64)
    axes = np.linalg.svd(found - found.mean(axis=0), full_matrices=False)[2][:size]
    assert np.degrees(subspace_angles(axes.T, eigenvectors).max()) <= 1.0
    left = np.linalg.eigvalsh(np.cov(standard.T, bias=True))[::-1][size:].sum() / 64
    assert -model.score(train) == pytest.approx(left, rel=1e-3)


def test_float64_reaches_the_closed_form_to_many_digits(curve):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(200, 4)) @ rng.normal(size=(4, 4))
    model = Autoencoder(
        code_size=2, linear=True, precision="float64", epochs=3000, batch=200, learning_rate=1e-2,
        validation_fraction=0.0,
    ).fit(X)  # fmt: skip
    assert model.score(X) == pytest.approx(PCA(code_size=2).fit(X).score(X), rel=1e-9)
    assert model.model_.encoder.layers[0].weight.dtype == np.float64


def test_overcomplete_linear_network_copies(digits):
    train, test, *_ = digits
    model = Autoencoder(
        code_size=64, linear=True, scaling="none", epochs=200, schedule="constant",
        validation_fraction=0.0,
    ).fit(train)  # fmt: skip
    assert -model.score(test) < 1e-4
    # Noise is no digit, and yet it comes back, where the training pixels varied.
    moving = train.std(axis=0) > 0.05
    noise = np.where(moving, np.random.default_rng(0).uniform(size=test.shape), train.mean(axis=0))
    assert model.squared_errors(noise)[:, moving].mean() < 0.02 * noise[:, moving].var()


# --- denoising -----------------------------------------------------------------------------------


def test_correction_of_a_denoiser_follows_the_score_of_the_density():
    rng = np.random.default_rng(0)
    centres, spread, sigma = np.array([[-2.0, 0.0], [2.0, 1.0], [0.0, -2.0]]), 0.5, 0.5
    rows = centres[rng.integers(0, 3, 2000)] + spread * rng.normal(size=(2000, 2))
    model = Autoencoder(
        code_size=32, hidden=(64,), scaling="none", noise=sigma, learning_rate=3e-3, epochs=60,
        validation_fraction=0.0,
    ).fit(rows)  # fmt: skip
    variance = spread**2 + sigma**2
    noisy = centres[rng.integers(0, 3, 1000)] + np.sqrt(variance) * rng.normal(size=(1000, 2))
    apart = centres[None] - noisy[:, None]
    weight = softmax(-(apart**2).sum(axis=2) / (2.0 * variance), axis=1)
    score = np.einsum("nk,nkd->nd", weight, apart) / variance  # gradient of the log density
    moved = model.reconstruct(noisy) - noisy
    assert np.corrcoef(moved.ravel(), sigma**2 * score.ravel())[0, 1] > 0.95
    assert np.sum(moved * score) / np.sum(score**2) == pytest.approx(sigma**2, rel=0.1)


def test_masking_restores_missing_values(curve):
    rng = np.random.default_rng(0)
    common = rng.normal(size=(600, 1))
    X = common + 0.1 * rng.normal(size=(600, 6))
    settings = {"code_size": 6, "hidden": (32,), "epochs": 60, "learning_rate": 3e-3}
    plain = Autoencoder(**settings).fit(X)
    masked = Autoencoder(noise=0.3, noise_kind="mask", **settings).fit(X)
    broken = X.copy()
    broken[:, 0] = plain.scaler_.centre[0]  # 0 once it is scaled: what a masked value looks like

    def error(model):
        return np.mean((model.reconstruct(broken)[:, 0] - X[:, 0]) ** 2)

    assert error(masked) < 0.5 * error(plain)


# --- an estimator like others --------------------------------------------------------------------


@pytest.mark.slow
def test_scikit_learn_conventions():
    check_estimator(
        Autoencoder(code_size=1, hidden=(4,), epochs=2), expected_failed_checks=EXPECTED,
        on_skip=None,
    )  # fmt: skip


def test_shapes_and_attributes(small, curve):
    assert small.transform(curve).shape == (300, 1)
    assert small.inverse_transform(small.transform(curve)) == pytest.approx(
        small.reconstruct(curve), rel=1e-5
    )
    assert small.errors(curve) == pytest.approx(small.squared_errors(curve).mean(axis=1))
    assert small.settings()["code_size"] == 1
    assert set(small.history_) == {"step", "train", "validation"}
    assert small.history_["train"][-1] < small.history_["train"][0]
    assert "Training" in small.status_


def test_training_matters(small, curve):
    assert small.untrained_.score(curve) < 3.0 * small.score(curve)
    assert small.untrained_.status_ == "Not trained."


def test_same_seed_same_network_and_another_seed_another(small, curve):
    again = Autoencoder(**small.get_params()).fit(curve)
    other = Autoencoder(**small.get_params() | {"random_state": 1}).fit(curve)
    assert np.array_equal(again.reconstruct(curve), small.reconstruct(curve))
    assert not np.array_equal(other.reconstruct(curve), small.reconstruct(curve))


def test_second_fit_compiles_nothing(small, curve):
    before = trace_count()
    params = small.get_params() | {"learning_rate": 3e-3, "random_state": 2, "epochs": 7}
    Autoencoder(**params).fit(curve[:290])
    assert trace_count() == before


def test_units_do_not_matter(small, curve):
    factors = np.array([1e3, 1.0, 1e-6])
    scaled = Autoencoder(**small.get_params()).fit(curve * factors)
    assert scaled.reconstruct(curve * factors) / factors == pytest.approx(
        small.reconstruct(curve), rel=1e-3, abs=1e-3
    )


def test_float64_context_of_the_caller_changes_nothing(small, curve):
    import jax

    with jax.enable_x64(True):
        again = Autoencoder(**small.get_params()).fit(curve)
        assert np.array_equal(again.reconstruct(curve), small.reconstruct(curve))


@pytest.mark.parametrize("rows", [2, 3, 30])
def test_few_rows(rows):
    X = np.random.default_rng(0).normal(size=(rows, 5))
    model = Autoencoder(hidden=(4,), epochs=3).fit(X)
    assert np.isfinite(model.score(X))
    assert 1 <= model.code_size_ <= 4


def test_constant_columns_and_huge_values(curve):
    X = np.c_[curve, np.full(300, 7.0)]
    model = Autoencoder(code_size=1, hidden=(4,), epochs=3).fit(X)
    assert model.reconstruct(X)[:, 3] == pytest.approx(7.0, abs=3.0)
    far = model.errors(np.array([[1e300, 0.0, 0.0, 7.0], [0.0, 0.0, 100.0, 7.0]]))
    assert np.isfinite(far).all()
    assert far[0] > far[1]


def test_outside_says_which_rows_leave_the_training_range(small, curve):
    rows = np.array([curve[0], curve.max(axis=0) + np.array([0.0, 1e-6, 0.0])])
    assert small.outside(rows).tolist() == [False, True]
    assert np.array_equal(small.training_range_, [curve.min(axis=0), curve.max(axis=0)])


def test_code_size_as_a_share_follows_pca(digits):
    X = digits[0][:200]
    share = Autoencoder(code_size=0.8, hidden=(4,), epochs=1).fit(X).code_size_
    assert share == PCA(code_size=0.8).fit(X).code_size_


# --- saving --------------------------------------------------------------------------------------


def test_round_trip(small, curve, tmp_path):
    small.save(tmp_path / "model")
    loaded = assay.load(tmp_path / "model")
    assert np.array_equal(loaded.reconstruct(curve), small.reconstruct(curve))
    assert loaded.get_params() == small.get_params()
    assert loaded.settings() == small.settings()
    assert loaded.status_ == small.status_
    assert loaded.n_parameters_ == small.n_parameters_
    assert np.array_equal(loaded.outside(curve + 0.1), small.outside(curve + 0.1))
    assert loaded.untrained_ is None


@pytest.mark.parametrize(
    "change",
    [
        {"code_size": 10**9},
        {"code_size": True},
        {"status": 3},
        {"scaler": {}},
        {"params": {}},
        {"params": {"hidden": [10**12]}},
        {"params": {"nonsense": 1}},
    ],
)
def test_edited_description_is_refused(small, tmp_path, change):
    small.save(tmp_path / "a")
    family, config, arrays, _ = load_model(tmp_path / "a")
    save_model(tmp_path / "b", family=family, config=config | change, arrays=arrays)
    with pytest.raises(ModelError):
        assay.load(tmp_path / "b")


# --- refusals ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"code_size": 0}, "code_size"),
        ({"code_size": 1.5}, "code_size"),
        ({"code_size": True}, "code_size"),
        ({"output": "softmax"}, "output"),
        ({"output": "sigmoid"}, "sigmoid output reaches 0 to 1"),
        ({"activation": "gelo"}, "gelu"),
        ({"noise": -1.0}, "noise"),
        ({"noise": 1.0, "noise_kind": "mask"}, "noise"),
        ({"noise_kind": "salt"}, "noise_kind"),
        ({"epochs": 0}, "epochs"),
        ({"batch": 0}, "at least 1"),
        ({"validation_fraction": 0.9}, "validation_fraction"),
        ({"learning_rate": 0.0}, "learning_rate"),
        ({"precision": "float16"}, "precision"),
        ({"hidden": (0,)}, "at least 1"),
        ({"scaling": "robust"}, "standard"),
    ],
)
def test_parameters_out_of_range(curve, params, message):
    with pytest.raises(AssayError, match=message):
        Autoencoder(**{"code_size": 1, "epochs": 1} | params).fit(curve)


def test_rows_that_cannot_be_used(small, curve):
    with pytest.raises(StudyError, match="at least 2 rows"):
        Autoencoder().fit(curve[:1])
    with pytest.raises(DataError, match="columns"):
        small.transform(curve[:, :2])
    with pytest.raises(DataError, match="row 1"):
        small.errors([[0.0, 0.0, 0.0], [0.0, np.nan, 0.0]])


def test_divergence_is_said_and_the_weights_stay_finite(curve):
    model = Autoencoder(
        code_size=1, hidden=(8,), learning_rate=1e30, epochs=30, activation="relu",
        validation_fraction=0.0,
    ).fit(curve)  # fmt: skip
    assert "broke down" in model.status_
    assert np.isfinite(model.score(curve))
