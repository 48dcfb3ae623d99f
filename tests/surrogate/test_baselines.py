"""The classical surrogates against scikit-learn, brute force and problems with known answers."""

import json

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import Ridge
from sklearn.neighbors import KNeighborsRegressor
from sklearn.preprocessing import StandardScaler

from assay.errors import DataError, StudyError
from assay.problems import BOREHOLE, OTL_CIRCUIT
from assay.surrogate.baselines import BASELINES
from assay.surrogate.boosting import GRID, Boosting
from assay.surrogate.folds import folds
from assay.surrogate.nearest import NearestRuns
from assay.surrogate.response_surface import RIDGES, MeanOutput, ResponseSurface, ridge_by_loo

each = pytest.mark.parametrize("baseline", BASELINES, ids=lambda b: b.name)


@pytest.fixture(scope="module")
def runs():
    X = OTL_CIRCUIT.sample(60, 0)
    y = OTL_CIRCUIT(X)
    return X, np.hstack([y, 1000.0 - 3.0 * y])


# --- what every entry of the tuple must do --------------------------------------------------


def test_names_differ():
    assert len({b.name for b in BASELINES}) == len(BASELINES)


@each
def test_shapes_units_and_settings(baseline, runs):
    X, Y = runs
    both = clone(baseline).fit(X, Y)
    found = both.predict(X[:7])
    assert found.shape == (7, 2)
    # The second output is the first in other units: so must be what is said of it.
    np.testing.assert_allclose(found[:, 1], 1000.0 - 3.0 * found[:, 0], rtol=1e-6)
    one = clone(baseline).fit(X, Y[:, 0])
    assert one.predict(X[:7]).shape == (7,)
    json.dumps(both.settings(), allow_nan=False)
    assert both.status_.endswith(".")
    assert both.n_parameters_ > 0
    assert not hasattr(baseline, "n_features_in_")


@each
def test_units_of_inputs_do_not_matter(baseline, runs):
    X, Y = runs
    scales = np.array([1e3, 1e-3, 1.0, 10.0, 1e6, 0.1])
    plain = clone(baseline).fit(X, Y[:, 0]).predict(X[:20] * 0.999)
    other = clone(baseline).fit(X * scales, Y[:, 0]).predict(X[:20] * 0.999 * scales)
    np.testing.assert_allclose(other, plain, rtol=1e-4)


@each
def test_same_runs_same_predictions(baseline, runs):
    X, Y = runs
    first, again = (clone(baseline).fit(X, Y[:, 0]).predict(X) for _ in range(2))
    np.testing.assert_array_equal(first, again)


@each
def test_all_but_the_mean_learn(baseline, runs):
    X, Y = runs
    new = OTL_CIRCUIT.sample(300, 9, kind="random")
    truth = OTL_CIRCUIT(new)[:, 0]
    error = np.sqrt(np.mean((clone(baseline).fit(X, Y[:, 0]).predict(new) - truth) ** 2))
    if isinstance(baseline, MeanOutput):
        assert error == pytest.approx(OTL_CIRCUIT.spread, rel=0.1)
    else:
        assert error < 0.75 * OTL_CIRCUIT.spread


@each
def test_bad_input(baseline, runs):
    X, Y = runs
    with pytest.raises(DataError, match="`X` has 1 missing"):
        clone(baseline).fit(np.where(np.arange(6) == 2, np.nan, X[:1]), Y[:1])
    with pytest.raises(DataError, match="one row per row"):
        clone(baseline).fit(X, Y[:-1])
    with pytest.raises(DataError, match="6 columns"):
        clone(baseline).fit(X, Y).predict(X[:, :3])
    with pytest.raises(StudyError, match="at least 2 runs"):
        clone(baseline).fit(X[:1], Y[:1])


# --- response surfaces ------------------------------------------------------------------------


def test_leave_one_out_is_leaving_one_out():
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(12, 4))
    Z -= Z.mean(axis=0)
    y = Z @ rng.normal(size=4) + 0.5 * rng.normal(size=12)
    _, ridge, error = ridge_by_loo(Z, (y - y.mean())[:, None])
    top = np.linalg.svd(Z, compute_uv=False)[0] ** 2
    brute = []
    for value in RIDGES:
        missed = []
        for i in range(12):
            kept = np.arange(12) != i
            model = Ridge(alpha=value * top, solver="svd").fit(Z[kept], y[kept])
            missed.append(y[i] - model.predict(Z[[i]])[0])
        brute.append(np.sqrt(np.mean(np.square(missed))))
    assert ridge[0] == RIDGES[int(np.argmin(brute))]
    assert error[0] == pytest.approx(min(brute), rel=1e-9)


def test_a_quadratic_is_found_exactly():
    rng = np.random.default_rng(1)
    X = rng.uniform([0.0, 100.0, -1.0], [1.0, 900.0, 1.0], (40, 3))
    y = 3.0 + X[:, 0] * X[:, 1] - X[:, 2] ** 2
    np.testing.assert_allclose(ResponseSurface().fit(X, y).predict(X), y, rtol=1e-9)
    assert ResponseSurface(degree=1).fit(X, y).loo_rms_[0] > 1.0


def test_more_terms_than_runs_needs_the_ridge():
    X = BOREHOLE.sample(40, 0)  # 45 terms
    surface = ResponseSurface(bounds=BOREHOLE.bounds).fit(X, BOREHOLE(X))
    assert surface.ridge_[0] > RIDGES[0]
    new = BOREHOLE.sample(500, 7, kind="random")
    error = np.sqrt(np.mean((surface.predict(new) - BOREHOLE(new)) ** 2))
    assert error < 0.35 * BOREHOLE.spread


def test_a_wide_table_gets_squares_only():
    X = np.random.default_rng(0).random((30, 70))
    surface = ResponseSurface().fit(X, X[:, 0])
    assert surface.settings()["terms"] == 141
    assert surface.settings()["products"] is False


def test_degree_three_is_refused(runs):
    with pytest.raises(StudyError, match="1 or 2"):
        ResponseSurface(degree=3).fit(*runs)


# --- neighbours and trees ---------------------------------------------------------------------


def test_nearest_runs_as_scikit_learn(runs):
    X, Y = runs
    model = NearestRuns().fit(X, Y[:, 0])
    weights = (lambda d: 1.0 / d**model.power_) if model.power_ else "uniform"
    scaler = StandardScaler().fit(X)
    theirs = KNeighborsRegressor(model.k_, weights=weights).fit(scaler.transform(X), Y[:, 0])
    new = OTL_CIRCUIT.sample(50, 3)
    np.testing.assert_allclose(model.predict(new), theirs.predict(scaler.transform(new)))


def test_noise_asks_for_more_neighbours():
    X = np.random.default_rng(0).random((200, 1))
    noisy = np.random.default_rng(1).normal(size=200)
    assert NearestRuns().fit(X, X[:, 0]).k_ <= 4
    assert NearestRuns().fit(X, noisy).k_ >= 12


def test_a_run_that_is_there_is_the_answer(runs):
    X, Y = runs
    model = NearestRuns().fit(X, Y)
    model.power_, model.k_ = 2.0, 3
    np.testing.assert_allclose(model.predict(X[:5]), Y[:5], rtol=1e-9)


def test_trees_stop_early_on_noise():
    X = np.random.default_rng(0).random((80, 3))
    noise = np.random.default_rng(1).normal(size=80)
    model = Boosting().fit(X, noise)
    assert model.trees_ < 20
    assert (model.leaves_, model.leaf_rows_) in GRID
    assert model.inner_error_ > 0.9


@pytest.mark.parametrize("n", [2, 3, 17])
def test_folds_hold_each_row_once(n):
    parts = folds(n, 0)
    assert sorted(np.concatenate([held for _, held in parts]).tolist()) == list(range(n))
    assert all(set(fit).isdisjoint(held) for fit, held in parts)
