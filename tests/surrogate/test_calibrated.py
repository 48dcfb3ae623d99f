"""Surrogates with conformal intervals: what they wrap, what they promise, how they are saved."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import assay
from assay.errors import AssayError, ModelError, StudyError
from assay.models import load_model, save_model
from assay.problems import BOREHOLE, ISHIGAMI, OTL_CIRCUIT, PISTON, WING_WEIGHT
from assay.surrogate import (
    CalibratedSurrogate,
    DeepEnsemble,
    GaussianProcess,
    MLPSurrogate,
    PCAOutputs,
    coverage,
    coverage_band,
    cross_errors,
    fit_conformal,
)  # fmt: skip
from assay.surrogate.response_surface import ResponseSurface

T = np.linspace(0.0, 1.0, 20)


def runs(n=60, seed=0, outputs=1):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1.0, 1.0, (n, 2))
    wave = np.sin(3.0 * X[:, 0]) * X[:, 1] + 0.1 * rng.normal(size=n)
    return X, wave if outputs == 1 else np.exp(X[:, :1] * T) * (1.0 + X[:, 1:]) + wave[:, None]


@pytest.fixture(scope="module")
def process():
    return CalibratedSurrogate(GaussianProcess(starts=1)).fit(*runs())


def test_interval_and_deviation(process):
    X, _ = runs(seed=1)
    mean, (low, high), std, valid = process.predict(
        X, return_interval=True, return_std=True, return_valid=True
    )
    np.testing.assert_array_equal(mean, process.model_.predict(X))
    np.testing.assert_allclose(high - mean, process.half_width(X))
    np.testing.assert_allclose(high - low, 2.0 * 1.959964 * std, rtol=1e-5)
    np.testing.assert_array_equal(valid, process.domain_.inside(X))
    assert mean.shape == low.shape == std.shape == valid.shape == (60,)
    assert "60 runs" in process.status_


def test_without_a_spread_the_width_is_constant():
    model = CalibratedSurrogate(ResponseSurface()).fit(*runs())
    assert np.ptp(model.half_width(runs(seed=1)[0])) == 0.0
    with pytest.raises(StudyError, match="no validity domain"):
        model.predict([[0.0, 0.0]], return_valid=True)


def test_covers_noisy_runs():
    inside = []
    for seed in range(8):
        model = CalibratedSurrogate(ResponseSurface()).fit(*runs(100, seed))
        X, y = runs(200, 100 + seed)
        low, high = model.predict(X, return_interval=True)[1]
        inside.append((low <= y) & (y <= high))
    assert 0.93 < np.mean(inside) < 0.98
    assert coverage(inside[0], n_calibration=100).inside


def test_series_through_their_modes(tmp_path):
    X, Y = runs(outputs=20)
    inner = PCAOutputs(GaussianProcess(starts=1), modes=2)
    model = CalibratedSurrogate(inner, folds=3).fit(X, Y)
    assert model.conformal_.scaled
    assert model.conformal_.multiplier.shape == (20,)
    mean, (low, high) = model.predict(X, return_interval=True)
    assert mean.shape == low.shape == high.shape == (60, 20)
    loaded = assay.load(model.save(tmp_path / "m"))
    np.testing.assert_array_equal(loaded.half_width(X), model.half_width(X))


def test_wraps_without_fitting():
    X, y = runs()
    member = MLPSurrogate(hidden=(8,), steps=50)
    fitted = DeepEnsemble(member, 2).fit(X, y)
    new, truth = runs(seed=1)
    mean, std = fitted.predict(new, return_std=True)
    model = CalibratedSurrogate.of(fitted, fit_conformal(mean - truth, std))
    assert model.model_ is fitted
    low, high = model.predict(new, return_interval=True)[1]
    # of the calibration runs themselves ceil(61 * 0.95) = 58 are inside
    assert ((low <= truth + 1e-12) & (truth <= high + 1e-12)).sum() == 58
    with pytest.raises(StudyError, match="has none"):
        CalibratedSurrogate.of(member.fit(X, y), fit_conformal(mean - truth, std))
    with pytest.raises(StudyError, match="2 outputs"):
        CalibratedSurrogate.of(fitted, fit_conformal(np.ones((30, 2))))


def test_too_few_runs_are_told(tmp_path):
    X, y = runs(12)
    model = CalibratedSurrogate(ResponseSurface(degree=1)).fit(X, y)
    assert "too few" in model.status_
    low, high = model.predict(X, return_interval=True)[1]
    assert np.isinf(low).all()
    assert np.isinf(high).all()
    assert np.isinf(assay.load(model.save(tmp_path / "m")).half_width(X)).all()


def test_saved_and_loaded(process, tmp_path):
    X, _ = runs(seed=2)
    loaded = assay.load(process.save(tmp_path / "model"))
    assert type(loaded) is CalibratedSurrogate
    np.testing.assert_array_equal(loaded.predict(X), process.predict(X))
    np.testing.assert_array_equal(loaded.half_width(X), process.half_width(X))
    np.testing.assert_array_equal(loaded.domain_.inside(X), process.domain_.inside(X))
    assert loaded.settings()["calibration_runs"] == 60
    assert loaded.folds == 5


def test_damaged_models_are_refused(process, tmp_path):
    family, config, arrays, _ = load_model(process.save(tmp_path / "model"))
    for name, bad in (
        ("conformal.floor", np.ones(3)),
        ("conformal.multiplier", np.full(1, -2.0)),
        ("conformal.floor", np.full(1, -1.0)),
    ):
        save_model(tmp_path / "bad", family=family, config=config, arrays=arrays | {name: bad})
        with pytest.raises(AssayError):
            assay.load(tmp_path / "bad")


def test_a_foreign_model_is_not_saved(tmp_path):
    from sklearn.linear_model import LinearRegression

    model = CalibratedSurrogate(LinearRegression()).fit(*runs())
    assert np.isfinite(model.half_width([[0.0, 0.0]])).all()
    with pytest.raises(ModelError, match="cannot be saved"):
        model.save(tmp_path / "m")


def test_settings_need_a_fit():
    with pytest.raises(NotFittedError):
        CalibratedSurrogate(ResponseSurface()).settings()


@pytest.mark.parametrize("settings", [{"folds": 1}, {"level": 0.0}])
def test_choices_are_checked(settings):
    with pytest.raises(StudyError):
        CalibratedSurrogate(ResponseSurface(), **settings).fit(*runs())


def test_floor_is_that_of_all_runs():
    """Where a fifth of the runs matters the floor falls; half widths follow, to the factor."""
    X, y = runs(60)
    single = DeepEnsemble(MLPSurrogate(hidden=(8,), steps=300), 2)
    model = CalibratedSurrogate(single).fit(X, y)
    folds = fit_conformal(*cross_errors(lambda: clone(single), X, y))
    np.testing.assert_array_equal(model.conformal_.multiplier, folds.multiplier)
    share = float(model.conformal_.floor[0] / folds.floor[0])
    assert 0.5 <= share < 1.0
    new, _ = runs(seed=1)
    ours, theirs = model.half_width(new), CalibratedSurrogate.of(model.model_, folds)
    assert (share * theirs.half_width(new) < ours + 1e-12).all()
    assert (ours < theirs.half_width(new)).all()


def test_floor_of_a_process_stays(process):
    folds = fit_conformal(*cross_errors(lambda: GaussianProcess(starts=1), *runs()))
    np.testing.assert_array_equal(process.conformal_.floor, folds.floor)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("problem", "n"), [(BOREHOLE, 40), (OTL_CIRCUIT, 100), (PISTON, 100), (WING_WEIGHT, 100),
                       (ISHIGAMI, 200)],
)  # fmt: skip
def test_coverage_of_the_process_on_problems(problem, n):
    """The mean over five designs lies where both kinds of runs let it lie.

    Five problems are looked at, so that each has a fifth of the error of 5 %.
    """
    low, high = coverage_band(1000, n, confidence=0.99, repeats=5)
    assert (
        low <= np.mean([share_inside(GaussianProcess(), problem, n, k) for k in range(5)]) <= high
    )


@pytest.mark.slow
def test_coverage_of_an_ensemble():
    """Without the gain of all runs over four fifths, it is above the band."""
    model = DeepEnsemble(MLPSurrogate(steps=3000), 3)
    low, high = coverage_band(1000, 100, repeats=5)
    assert low <= np.mean([share_inside(model, OTL_CIRCUIT, 100, k) for k in range(5)]) <= high


def share_inside(model, problem, n, design):
    X, new = problem.sample(n, design), problem.sample(1000, 1000 + design, kind="random")
    fitted = CalibratedSurrogate(model).fit(X, problem(X)[:, 0])
    return np.mean(np.abs(fitted.predict(new) - problem(new)[:, 0]) <= fitted.half_width(new))
