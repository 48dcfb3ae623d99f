"""Many outputs through PCA: the algebra, the rule for the modes, and the variance."""

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

import assay
from assay.errors import AssayError, StudyError
from assay.models import load_model, save_model
from assay.surrogate import DeepEnsemble, MLPSurrogate, PCAOutputs
from assay.train.job import Job

T = np.linspace(0.0, 1.0, 40)


def runs(n=150, seed=0, noise=0.0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(0.5, 1.5, (n, 2))
    Y = 100.0 * X[:, :1] * np.exp(-3.0 * X[:, 1:] * T) + 20.0
    return X, Y + noise * rng.normal(size=Y.shape)


@pytest.fixture(scope="module")
def small():
    member = MLPSurrogate(hidden=(32,), steps=1500)
    return PCAOutputs(DeepEnsemble(member, 3), modes=3).fit(*runs())


class Echo(LinearRegression):
    """Knows the coefficients of every run, and claims a known spread."""

    def fit(self, X, y):
        self.known, self.width = y, 0.1 + np.arange(y.shape[1])
        return self

    def predict(self, X, *, return_std=False):
        std = np.tile(self.width, (len(X), 1))
        return (self.known, std) if return_std else self.known


def test_coefficients_are_those_of_the_singular_value_decomposition():
    X, Y = runs()
    model = PCAOutputs(Echo(), modes=5).fit(X, Y)
    u, s, v = np.linalg.svd(Y - Y.mean(axis=0), full_matrices=False)
    np.testing.assert_allclose(model.components_ @ model.components_.T, np.eye(5), atol=1e-12)
    np.testing.assert_allclose(
        np.abs(model.coefficients(Y)), np.abs(u[:, :5] * s[:5]) / model.scale_, atol=1e-10
    )
    assert model.scale_ == pytest.approx((u[:, 0] * s[0]).std())
    np.testing.assert_allclose(model.predict(X), Y.mean(axis=0) + (u[:, :5] * s[:5]) @ v[:5])
    assert model.explained_ == pytest.approx((s[:5] ** 2).sum() / (s**2).sum())


def test_error_of_coefficients_is_error_of_outputs():
    X, Y = runs()
    model = PCAOutputs(LinearRegression(), modes=4).fit(X, Y)
    wrong = model.model_.predict(X) - model.coefficients(Y)
    captured = (model.coefficients(Y) @ model.components_) * model.scale_ + model.mean_
    np.testing.assert_allclose(
        model.scale_**2 * (wrong**2).sum(), ((model.predict(X) - captured) ** 2).sum(), rtol=1e-10
    )


def test_variance_is_that_of_the_model_plus_that_of_the_truncation():
    X, Y = runs(noise=0.5)
    model = PCAOutputs(Echo(), modes=2).fit(X, Y)
    _, std = model.predict(X, return_std=True)
    width = model.model_.width * model.scale_
    expected = (width**2) @ model.components_**2 + model.truncation_variance_
    np.testing.assert_allclose(std**2, np.tile(expected, (len(X), 1)))


def test_truncation_variance_is_what_new_outputs_leave_over():
    X, Y = runs(n=80, noise=2.0)
    model = PCAOutputs(Echo(), modes=6).fit(X, Y)
    _, new = runs(n=4000, seed=1, noise=2.0)
    left = new - model.mean_
    left = left - left @ model.components_.T @ model.components_
    assert model.truncation_rms_ == pytest.approx(np.sqrt(np.mean(left**2)), rel=0.05)
    seen = Y - model.mean_
    seen = seen - seen @ model.components_.T @ model.components_
    assert model.truncation_rms_ > 1.05 * np.sqrt(np.mean(seen**2))  # what was fitted flatters


def test_variance_of_an_ensemble_is_that_of_its_members_outputs(small):
    X, _ = runs(n=20, seed=1)
    members = small.model_.predict_members(X)
    outputs = small.mean_ + small.scale_ * members @ small.components_
    mean, std = small.predict(X, return_std=True)
    np.testing.assert_allclose(mean, outputs.mean(axis=0))
    np.testing.assert_allclose(std**2, outputs.var(axis=0, ddof=1) + small.truncation_variance_)


def test_number_of_modes_follows_the_rule():
    X, Y = runs(n=300)
    count = lambda **given: PCAOutputs(LinearRegression(), **given).fit(X, Y).n_modes_
    _, s, _ = np.linalg.svd(Y - Y.mean(axis=0), full_matrices=False)
    left = np.sqrt(1.0 - np.cumsum(s**2) / (s**2).sum())
    assert count() - np.flatnonzero(left <= 0.001)[0] in (1, 2)  # cross-validated: one more
    assert count(sigma=0.01) > count(sigma=1.0) > count(sigma=100.0) == 1
    assert count(modes=0.99) == np.flatnonzero(left**2 <= 0.01)[0] + 1
    assert count(modes=7) == 7
    noisy = np.random.default_rng(0).normal(size=(300, 70))
    assert PCAOutputs(LinearRegression()).fit(X, noisy).n_modes_ == 50
    fine = PCAOutputs(LinearRegression(), sigma=0.5).fit(X, Y)
    assert fine.truncation_rms_ <= 0.05


def test_one_scale_for_all_coefficients(small):
    _, Y = runs()
    spread = small.coefficients(Y).std(axis=0)
    assert spread[0] == pytest.approx(1.0)
    assert spread[2] < 0.2
    assert all(m.output_scaling == "none" for m in small.model_.members_)
    assert (small.model_.members_[0].output_scaler_.scale == 1.0).all()
    default = PCAOutputs(DeepEnsemble(size=2), modes=1)
    assert default.get_params()["model"].member is None  # the user's object is left alone


def test_learns_a_family_of_curves(small):
    X, Y = runs(seed=1)
    mean, std, valid = small.predict(X, return_std=True, return_valid=True)
    assert mean.shape == std.shape == (150, 40)
    assert valid.shape == (150,)
    assert np.sqrt(np.mean((mean - Y) ** 2)) < 0.05 * Y.std()


def test_validation_runs_reach_the_model():
    X, Y = runs(n=60)
    model = PCAOutputs(MLPSurrogate(hidden=(8,), steps=200), modes=2)
    model.fit(X, Y, validation=runs(n=30, seed=1))
    assert np.isfinite(model.model_.history_["validation"]).all()


def test_one_output_and_constant_outputs():
    X, Y = runs(n=40)
    model = PCAOutputs(LinearRegression()).fit(X, Y[:, 3])
    assert model.predict(X).shape == (40,)
    flat = PCAOutputs(LinearRegression()).fit(X, np.full((40, 5), 3.0))
    np.testing.assert_allclose(flat.predict(X), 3.0)


def test_saved_and_loaded(small, tmp_path):
    X, _ = runs(seed=2)
    loaded = assay.load(small.save(tmp_path / "model"))
    for found, expected in zip(
        loaded.predict(X, return_std=True, return_valid=True),
        small.predict(X, return_std=True, return_valid=True),
        strict=True,
    ):
        np.testing.assert_array_equal(found, expected)
    assert loaded.settings() == small.settings()
    family, config, arrays, _ = load_model(tmp_path / "model")
    for name in ("modes.components", "modes.mean"):
        save_model(
            tmp_path / name, family=family, config=config, arrays=arrays | {name: np.ones((2, 2))}
        )
        with pytest.raises(AssayError):
            assay.load(tmp_path / name)
    with pytest.raises(AssayError, match="cannot be saved"):
        PCAOutputs(LinearRegression()).fit(*runs(n=20)).save(tmp_path / "other")


@pytest.mark.parametrize("modes", [0, 21, 1.5, True, "all"])
def test_modes_are_checked(modes):
    with pytest.raises(StudyError, match="`modes`"):
        PCAOutputs(LinearRegression(), modes=modes).fit(*runs(n=20))


def test_error_bars_need_a_model_that_has_them():
    X, Y = runs(n=40)
    model = PCAOutputs(LinearRegression()).fit(X, Y)
    with pytest.raises(StudyError, match="return_std"):
        model.predict(X, return_std=True)
    for sigma in (-1.0, True, "1"):
        with pytest.raises(StudyError, match="`sigma`"):
            PCAOutputs(LinearRegression(), sigma=sigma).fit(X, Y)


# --- checkpoints ---------------------------------------------------------------------------------


class Killed(Exception):
    """Ends a fit without warning."""


@pytest.mark.parametrize("inner", ["network", "ensemble"])
def test_an_interrupted_fit_goes_on_though_the_modes_come_out_otherwise(
    tmp_path, monkeypatch, inner
):
    X, Y = runs(n=60, noise=0.5)
    member = MLPSurrogate(hidden=(8,), steps=300)
    make = lambda: PCAOutputs(member if inner == "network" else DeepEnsemble(member, 2), modes=3)
    fit = lambda **more: make().fit(X, Y, validation=runs(n=20, seed=1), **more)
    unbroken = fit()
    finish, dispatch, count, svd = Job.finish, Job.dispatch, [0], np.linalg.svd

    def killed(self, *arguments):
        count[0] += 1
        if count[0] == 5:
            raise Killed
        return finish(self, *arguments)

    def counted(self, *arguments):
        count[0] += 1
        return dispatch(self, *arguments)

    if inner == "ensemble":  # ends it in the fifth of six chunks
        with monkeypatch.context() as patch:
            patch.setattr(Job, "finish", killed)
            with pytest.raises(Killed):
                fit(checkpoint=tmp_path / "kept")
    else:
        fit(checkpoint=tmp_path / "kept")
    assert (tmp_path / "kept" / "modes").is_file()
    # Another library of linear algebra, or number of threads: other last bits.
    monkeypatch.setattr(np.linalg, "svd", lambda *a, **k: pytest.fail("it found the modes again"))
    monkeypatch.setattr(Job, "dispatch", counted)
    count[0] = 0
    resumed = fit(checkpoint=tmp_path / "kept")
    assert count[0] <= (4 if inner == "ensemble" else 0)  # of six: at least a member was kept
    monkeypatch.setattr(np.linalg, "svd", svd)
    np.testing.assert_array_equal(resumed.predict(X), unbroken.predict(X))
    np.testing.assert_array_equal(resumed.truncation_variance_, unbroken.truncation_variance_)
    assert resumed.explained_ == unbroken.explained_
    assert (resumed.n_modes_, resumed.n_outputs_) == (3, 40)


def test_modes_of_other_runs_are_refused(tmp_path):
    X, Y = runs(n=30)
    model = PCAOutputs(MLPSurrogate(hidden=(4,), steps=5), modes=2)
    model.fit(X, Y, checkpoint=tmp_path)
    with pytest.raises(StudyError, match="belongs to another fit: Y differ"):
        model.fit(X, Y + 1.0, checkpoint=tmp_path)


def test_a_model_without_checkpoints_keeps_none(tmp_path):
    PCAOutputs(LinearRegression(), modes=2).fit(*runs(n=30), checkpoint=tmp_path / "kept")
    assert not (tmp_path / "kept").exists()
