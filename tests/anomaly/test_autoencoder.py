"""Reconstruction as a detector: the lab's figures, and what every detector must do."""

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split

import assay
from assay.anomaly.autoencoder import AutoencoderDetector
from assay.errors import StudyError


@pytest.fixture(scope="module")
def curve():
    t = np.random.default_rng(0).uniform(-1.0, 1.0, 400)
    return np.c_[t, t**2, 10.0 * t**3]


@pytest.fixture(scope="module")
def fitted(curve):
    return AutoencoderDetector(
        components=1, hidden=(16,), learning_rate=1e-2, epochs=60
    ).fit(curve[:300])  # fmt: skip


def test_lab_nines_against_the_other_digits():
    X, y = load_digits(return_X_y=True)
    X = (X / 16.0).astype(np.float32)
    train, test, y_train, y_test = train_test_split(X, y, test_size=0.2, stratify=y, random_state=0)
    fit, held = train_test_split(train[y_train <= 8], test_size=0.2, random_state=0)
    normal, nines = test[y_test <= 8], test[y_test == 9]
    assert [len(part) for part in (fit, held, normal, nines)] == [1034, 259, 324, 36]
    found = []
    for seed in range(5):
        detector = AutoencoderDetector(
            components=8, output="sigmoid", scaling="none", epochs=200, schedule="constant",
            validation_fraction=0.0, random_state=seed,
        ).fit(fit)  # fmt: skip
        threshold = np.percentile(detector.anomaly_score(held), 95)
        a, b = detector.anomaly_score(normal), detector.anomaly_score(nines)
        auc = roc_auc_score(np.repeat([0, 1], [len(a), len(b)]), np.r_[a, b])
        found.append((threshold, np.mean(a > threshold), np.mean(b > threshold), auc))
        assert 0.019 <= threshold <= 0.031
        assert 0.015 <= found[-1][1] <= 0.13
        assert 0.87 <= auc <= 0.97
    assert 0.35 <= np.mean(found, axis=0)[2] <= 0.70


def test_score_is_the_mean_squared_error_in_scaled_units(fitted, curve):
    scaler = fitted.scaler_
    apart = (curve - fitted.reconstruct(curve)) / scaler.scale
    assert fitted.anomaly_score(curve) == pytest.approx(
        np.mean(apart**2, axis=1), rel=1e-3, abs=1e-9
    )
    assert fitted.column_scores(curve).sum(axis=1) == pytest.approx(fitted.anomaly_score(curve))


def test_training_makes_the_difference(fitted, curve):
    off = curve[300:] + np.array([0.0, 1.0, 0.0])
    labels = np.repeat([0, 1], 100)
    rows = np.r_[curve[300:], off]
    assert roc_auc_score(labels, fitted.anomaly_score(rows)) > 0.99
    assert roc_auc_score(labels, fitted.untrained_score(rows)) < 0.95


def test_blame_goes_to_the_column_that_is_off(fitted, curve):
    off = curve[300:] + np.array([0.0, 2.0, 0.0])
    assert np.mean(fitted.column_scores(off).argmax(axis=1) == 1) > 0.8


def test_denoising_option_reaches_the_network(curve):
    plain = {"components": 2, "hidden": (8,), "epochs": 5}
    with_noise = AutoencoderDetector(noise=0.5, **plain).fit(curve)
    without = AutoencoderDetector(**plain).fit(curve)
    assert with_noise.settings()["noise"] == 0.5
    assert not np.array_equal(with_noise.anomaly_score(curve), without.anomaly_score(curve))


def test_round_trip(fitted, curve, tmp_path):
    fitted.save(tmp_path / "model")
    loaded = assay.load(tmp_path / "model")
    assert isinstance(loaded, AutoencoderDetector)
    assert np.array_equal(loaded.anomaly_score(curve), fitted.anomaly_score(curve))
    assert loaded.settings() == fitted.settings()
    assert loaded.get_params() == fitted.get_params()
    with pytest.raises(StudyError, match="before training"):
        loaded.untrained_score(curve)
