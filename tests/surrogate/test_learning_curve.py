"""Learning curves, and how many runs they say it takes."""

from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

from assay.errors import DataError, StudyError
from assay.surrogate import LearningCurve, runs_needed
from assay.surrogate.curves import curve_of_method
from assay.surrogate.inputs import Reading, read_runs
from assay.surrogate.learning_curve import learning_curve
from assay.surrogate.scoring import Yard

SIZES = np.array([100, 200, 400])


def curve(exponent, floor=0.0, *, repeats=1, noise=0.0, seed=0):
    """Return a curve that is 1 with 400 runs."""
    rng = np.random.default_rng(seed)
    mean = (1.0 - floor) * (SIZES / 400.0) ** -float(exponent) + floor
    return LearningCurve(SIZES, mean[:, None] * np.exp(rng.normal(0.0, noise, (3, repeats))))


@pytest.mark.parametrize(("exponent", "floor"), [(0.5, 0.0), (1.0, 0.3), (2.0, 0.0), (0.0, 0.0)])
def test_interval_holds_the_truth(exponent, floor):
    target = 0.75
    within = (target - floor) / (1.0 - floor)
    truth = 400.0 * within ** (-1.0 / exponent) if exponent else np.inf
    inside = 0
    for seed in range(60):
        repeats = 1 + seed % 2
        found = runs_needed(curve(exponent, floor, noise=0.05, repeats=repeats, seed=seed), target)
        inside += found.low <= truth <= found.high
    assert inside >= 54


@pytest.mark.parametrize("exponent", [0.5, 1.0, 2.0])
def test_estimate_of_a_clean_power_law(exponent):
    found = runs_needed(curve(exponent), 0.7)
    assert found.estimate == pytest.approx(400.0 * 0.7 ** (-1.0 / exponent), rel=0.15)
    assert "takes about" in found.sentence


def test_a_flat_curve_is_told():
    found = runs_needed(curve(0.0, repeats=3, noise=0.02), 0.5)
    assert np.isinf(found.high)
    assert "not in reach as the curve runs" in found.sentence


@pytest.mark.parametrize("learns", [True, False])
def test_a_method_that_is_no_better_than_the_mean_has_no_forecast(learns):
    rng = np.random.default_rng(0)
    X = rng.uniform(-1.0, 1.0, (60, 1))
    Y = X + rng.normal(0.0, 0.3, X.shape) if learns else rng.normal(0.0, 1.0, X.shape)
    parts = [_runs(X[part], Y[part]) for part in (slice(40), slice(40, 60))]
    model = LinearRegression().fit(parts[0].X, parts[0].Y)
    errors = model.predict(parts[1].X) - parts[1].Y
    scored = SimpleNamespace(validation_errors=errors, trained=SimpleNamespace(fit_s=0.0))
    yard = Yard.of(parts[0], None, common=False)
    found = curve_of_method(scored, LinearRegression, *parts, yard, seed=0)
    assert ("cannot be said" in found.needed.sentence) == (not learns)
    assert np.isnan(found.needed.estimate) == (not learns)
    assert np.isinf(found.needed.high) or learns


def _runs(X, Y):
    return read_runs(X, Y, Reading())


def test_far_targets_are_not_known():
    found = runs_needed(curve(0.5, repeats=3), 0.1)
    assert np.isinf(found.high)
    assert found.estimate > 4000.0
    assert "more than ten times" in found.sentence
    assert "not known" in found.sentence


def test_a_reached_target():
    found = runs_needed(curve(1.0), 1.5)
    assert found.estimate < 400.0
    assert "is reached" in found.sentence
    assert runs_needed(LearningCurve(SIZES, np.zeros((3, 1))), 1.0).high == 100.0


def test_scatter_widens_the_interval():
    calm = runs_needed(curve(1.0, repeats=3, noise=0.01), 0.8)
    wild = runs_needed(curve(1.0, repeats=3, noise=0.3), 0.8)
    assert calm.high - calm.low < 0.5 * (wild.high - wild.low)


class Counted(LinearRegression):
    sizes: list = []  # noqa: RUF012 (the test reads what all of them did)

    def fit(self, X, y):
        Counted.sizes.append(len(X))
        return super().fit(X, y)


@pytest.fixture
def runs():
    Counted.sizes.clear()
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    Y = X @ rng.normal(size=(3, 2)) * [1.0, 100.0] + rng.normal(size=(80, 2)) * [1.0, 100.0]
    return X[:60], Y[:60], X[60:], Y[60:]


def test_sizes_repeats_and_scale(runs):
    found = learning_curve(Counted, *runs, scale=[1.0, 100.0], repeats=2)
    assert found.sizes.tolist() == [15, 30, 60]
    assert sorted(Counted.sizes) == [15, 15, 30, 30, 60]
    assert np.isnan(found.rms[2]).tolist() == [False, True]
    X, Y, X_val, Y_val = runs
    error = (LinearRegression().fit(X, Y).predict(X_val) - Y_val) / [1.0, 100.0]
    assert found.rms[2, 0] == pytest.approx(np.sqrt(np.mean(error**2)))
    assert found.mean.shape == (3,)


def test_a_known_error_saves_the_largest_fit(runs):
    found = learning_curve(Counted, *runs, scale=1.0, sizes=[20, 60], known=0.25)
    assert Counted.sizes == [20]
    assert found.rms[1, 0] == 0.25


def test_wrong_use_is_told(runs):
    with pytest.raises(DataError, match="scale"):
        learning_curve(Counted, *runs, scale=0.0)
    with pytest.raises(StudyError, match="sizes"):
        learning_curve(Counted, *runs, scale=1.0, sizes=[30, 61])
    with pytest.raises(StudyError, match="two sizes"):
        runs_needed(LearningCurve(np.array([10]), np.ones((1, 1))), 0.5)
    with pytest.raises(StudyError, match="target"):
        runs_needed(curve(1.0), 0.0)
