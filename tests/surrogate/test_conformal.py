"""Conformal intervals and the bands that their coverage is held against."""

import numpy as np
import pytest
from scipy import stats
from sklearn.linear_model import LinearRegression

from assay.errors import DataError, StudyError
from assay.surrogate import (
    Coverage,
    GaussianProcess,
    coverage,
    coverage_band,
    cross_errors,
    fit_conformal,
)  # fmt: skip


def test_multiplier_is_the_rank_of_split_conformal():
    errors = np.random.default_rng(0).permutation(np.arange(1.0, 41.0))[:, None]
    # ceil(41 * 0.95) = 39: the second largest of forty
    assert fit_conformal(errors).multiplier.tolist() == [39.0]
    assert fit_conformal(-errors).multiplier.tolist() == [39.0]
    assert fit_conformal(errors[:, 0], level=0.5).multiplier.tolist() == [21.0]
    assert not fit_conformal(errors).scaled


@pytest.mark.parametrize(("n", "bounded"), [(18, False), (19, True)])
def test_too_few_runs_give_no_ends(n, bounded):
    found = fit_conformal(np.ones((n, 2)))
    assert found.bounded is bounded
    assert np.isfinite(found.half_width(3)).all() == bounded


@pytest.mark.parametrize("pooled", [False, True])
def test_coverage_is_the_level_whatever_the_distribution(pooled):
    """Heavy tails, two outputs of different size: exact in the mean over calibrations."""
    rng = np.random.default_rng(1)
    inside = []
    for _ in range(400):
        common = rng.standard_t(2, (60, 1))
        errors = np.c_[common, 10.0 * common + rng.normal(size=(60, 1))]
        found = fit_conformal(errors[:39] / [1.0, 10.0], level=0.9, pooled=pooled)
        assert len(found.multiplier) == (1 if pooled else 2)
        inside.append(np.abs(errors[39:] / [1.0, 10.0]) <= found.half_width(21))
    assert np.mean(inside) == pytest.approx(0.9, abs=0.01)


def test_follows_a_good_spread_and_gives_up_a_bad_one():
    rng = np.random.default_rng(2)
    spread = rng.lognormal(size=(400, 1))
    good = fit_conformal(3.0 * spread * rng.normal(size=(400, 1)), spread)
    assert good.floor[0] < 0.3 * np.median(3.0 * spread)
    width = good.half_width([[0.5], [5.0]])
    assert 7.0 < width[1, 0] / width[0, 0] < 10.5
    assert good.multiplier[0] == pytest.approx(3.0 * 1.96, rel=0.15)
    bad = fit_conformal(rng.normal(size=(400, 1)), spread)
    width = bad.half_width([[0.5], [5.0]])
    assert width[1, 0] / width[0, 0] < 1.2
    assert width[0, 0] == pytest.approx(1.96, rel=0.15)


def test_a_spread_of_nothing_does_not_blow_up():
    rng = np.random.default_rng(3)
    spread = np.where(np.arange(200) < 100, 1e-12, 1.0)[:, None]
    found = fit_conformal(rng.normal(size=(200, 1)), spread)
    assert 1.5 < found.half_width([[0.0]])[0, 0] < 4.0
    assert found.half_width([[1.0]])[0, 0] < 6.0
    still = fit_conformal(np.zeros((50, 1)), np.zeros((50, 1)))
    assert still.half_width([[0.0]])[0, 0] == 0.0


def test_floor_hardly_costs_coverage():
    rng = np.random.default_rng(4)
    inside = []
    for _ in range(500):
        spread = rng.lognormal(size=(59, 1))
        errors = np.sqrt(spread) * rng.standard_t(4, (59, 1))
        found = fit_conformal(errors[:39], spread[:39], level=0.9)
        inside.append(np.abs(errors[39:]) <= found.half_width(spread[39:]))
    assert np.mean(inside) == pytest.approx(0.9, abs=0.012)


def test_wrong_use_is_told():
    with pytest.raises(StudyError, match="number of rows"):
        fit_conformal(np.ones(30), np.ones(30)).half_width(3)
    with pytest.raises(StudyError, match="constant width"):
        fit_conformal(np.ones(30)).half_width(np.ones((3, 1)))
    with pytest.raises(StudyError, match="level"):
        fit_conformal(np.ones(30), level=1.0)
    with pytest.raises(DataError, match="spread"):
        fit_conformal(np.ones(30), -np.ones(30))
    with pytest.raises(DataError, match="errors"):
        fit_conformal([1.0, np.nan])


def test_cross_errors_are_those_of_models_that_did_not_see_the_run():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(23, 2))
    Y = X @ rng.normal(size=(2, 3)) + rng.normal(size=(23, 3))
    errors, spread = cross_errors(LinearRegression, X, Y, folds=23)
    assert spread is None
    design = np.c_[np.ones(23), X]
    hat = design @ np.linalg.solve(design.T @ design, design.T)
    expected = (hat @ Y - Y) / (1.0 - np.diag(hat))[:, None]
    np.testing.assert_allclose(errors, expected, rtol=1e-9)


class Memory(LinearRegression):
    """Knows the outputs of the rows that it was fitted on."""

    def fit(self, X, y):
        self.seen = {tuple(row): value for row, value in zip(X, y, strict=True)}
        return self

    def predict(self, X):
        return np.array([self.seen.get(tuple(row), [99.0]) for row in X])


def test_repeated_runs_stay_in_one_fold():
    X = np.repeat(np.arange(10.0), 3)[:, None]
    errors, _ = cross_errors(Memory, X, np.zeros(30), folds=5)
    np.testing.assert_array_equal(errors, 99.0)
    with pytest.raises(StudyError, match="2 different"):
        cross_errors(Memory, np.ones((5, 1)), np.zeros(5))


def test_cross_errors_bring_the_spread():
    X = np.linspace(0.0, 6.0, 20)[:, None]
    errors, spread = cross_errors(lambda: GaussianProcess(starts=1), X, np.sin(X[:, 0]))
    assert errors.shape == spread.shape == (20, 1)
    assert (spread > 0.0).all()


def test_bands_are_those_of_scipy():
    assert coverage_band(500, None) == tuple(np.array(stats.binom(500, 0.95).interval(0.95)) / 500)
    law = stats.betabinom(500, 96, 5)  # 100 calibration runs leave floor(101 * 0.05) = 5 outside
    assert coverage_band(500, 100) == tuple(np.array(law.interval(0.95)) / 500)
    assert coverage_band(500, 10) == (1.0, 1.0)


def test_band_of_several_studies_is_narrower_and_right():
    rng = np.random.default_rng(6)
    low, high = coverage_band(50, 40, repeats=5)
    one = coverage_band(50, 40)
    assert one[0] < low < 0.95 < high < one[1]
    chance = rng.beta(39, 2, (20000, 5))
    means = rng.binomial(50, chance).mean(axis=1) / 50
    assert 0.94 < np.mean((means > low - 1e-9) & (means < high + 1e-9)) < 0.975


def test_split_conformal_stays_in_its_band():
    """Of true split conformal intervals, about 95 % of the studies are inside."""
    rng = np.random.default_rng(7)
    hits = 0
    for _ in range(500):
        errors = rng.normal(size=300)
        half = fit_conformal(errors[:60]).half_width(240)
        found = coverage(np.abs(errors[60:, None]) <= half, n_calibration=60)
        hits += found.inside
    assert 0.92 < hits / 500 < 0.98


def test_coverage_counts():
    inside = np.ones((40, 5), bool)
    inside[:20, 0] = False
    found = coverage(inside, n_calibration=40)
    assert isinstance(found, Coverage)
    assert found.estimate == 0.9
    assert found.low < found.binomial[0] < 0.95 < found.high
    assert not coverage(np.zeros(40, bool), n_calibration=40).inside
    with pytest.raises(DataError, match="yes and no"):
        coverage(np.ones(3))
    with pytest.raises(StudyError, match="at least one run"):
        coverage_band(0, None)
