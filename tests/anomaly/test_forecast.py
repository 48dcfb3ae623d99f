"""Forecast residuals against an autoregression with known coefficients."""

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

import assay
from assay.anomaly.forecast import ForecastDetector
from assay.data import windows
from assay.errors import ModelError, StudyError
from assay.models import load_model, save_model

W = 6


def series(n, seed, noise=0.1):
    """Return a damped oscillation driven by noise, and a second column that follows it."""
    rng = np.random.default_rng(seed)
    x = np.zeros((n, 2))
    for t in range(2, n):
        x[t, 0] = 1.6 * x[t - 1, 0] - 0.9 * x[t - 2, 0] + noise * rng.normal()
        x[t, 1] = 5.0 + 2.0 * x[t - 1, 0] + noise * rng.normal()
    return x[50:]


def cut(x):
    return windows(x, None, window=W, step=1).X


@pytest.fixture(scope="module")
def fitted():
    return ForecastDetector(window=W, hidden=(32,), epochs=60, learning_rate=3e-3).fit(
        cut(series(2000, 0))
    )


def test_forecast_is_close_to_the_best_possible(fitted):
    x = series(1000, 1)
    rows = cut(x)
    ideal = 1.6 * x[W - 2 : -1, 0] - 0.9 * x[W - 3 : -2, 0]
    error = np.sqrt(np.mean((fitted.forecast(rows) - rows[:, -2:]) ** 2, axis=0))
    assert error == pytest.approx([0.1, 0.1], rel=0.2)  # the noise itself cannot be foreseen
    assert np.corrcoef(fitted.forecast(rows)[:, 0], ideal)[0, 1] > 0.99


def test_normal_windows_score_about_one(fitted):
    assert fitted.anomaly_score(cut(series(1500, 2))).mean() == pytest.approx(1.0, rel=0.2)


def test_a_jump_is_found_that_stays_within_the_range_of_the_series(fitted):
    rows = cut(series(1000, 3))
    off = rows.copy()
    off[:, -2] += np.where(off[:, -2] > 0, -0.6, 0.6)
    labels = np.repeat([0, 1], len(rows))
    both = np.r_[rows, off]
    trained = roc_auc_score(labels, fitted.anomaly_score(both))
    assert trained > 0.97
    assert trained > roc_auc_score(labels, fitted.untrained_score(both)) + 0.05


def test_column_scores_name_the_column_of_the_last_sample(fitted):
    rows = cut(series(300, 4))
    rows[:, -1] += 3.0
    parts = fitted.column_scores(rows)
    assert parts.shape == rows.shape
    assert parts.sum(axis=1) == pytest.approx(fitted.anomaly_score(rows))
    assert (parts.argmax(axis=1) == 2 * W - 1).mean() > 0.95
    assert not parts[:, :-2].any()


def test_far_outside_the_scores_stay_finite_and_high(fitted):
    rows = cut(series(100, 5))
    rows[:, -1] = 1e250
    assert np.isfinite(fitted.anomaly_score(rows)).all()
    assert fitted.anomaly_score(rows).min() > 1e6


def test_few_windows_and_constant_columns():
    x = np.c_[series(60, 0)[:9], np.full(9, 2.0)]
    detector = ForecastDetector(window=4, hidden=(4,), epochs=2).fit(
        windows(x, None, window=4, step=1).X
    )
    assert np.isfinite(detector.anomaly_score(windows(x, None, window=4, step=1).X)).all()


def test_round_trip(fitted, tmp_path):
    rows = cut(series(200, 6))
    fitted.save(tmp_path / "model")
    loaded = assay.load(tmp_path / "model")
    assert np.array_equal(loaded.anomaly_score(rows), fitted.anomaly_score(rows))
    assert np.array_equal(loaded.forecast(rows), fitted.forecast(rows))
    assert loaded.settings() == fitted.settings()
    with pytest.raises(StudyError, match="before training"):
        loaded.untrained_score(rows)


@pytest.mark.parametrize("scale", [np.ones(3), np.zeros(2)])
def test_edited_scales_are_refused(fitted, tmp_path, scale):
    fitted.save(tmp_path / "a")
    family, config, arrays, _ = load_model(tmp_path / "a")
    arrays = arrays | {"error_scale": scale}
    save_model(tmp_path / "b", family=family, config=config, arrays=arrays)
    with pytest.raises(ModelError, match="error scales"):
        assay.load(tmp_path / "b")


@pytest.mark.parametrize("window", [1, 0, 2.5, True, 5])
def test_rows_that_are_no_windows(window):
    with pytest.raises(StudyError, match="windows"):
        ForecastDetector(window=window).fit(cut(series(100, 0)))
