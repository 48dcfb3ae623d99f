"""The denoising detector against closed forms, PCA on real data, and rows far outside."""

import numpy as np
import pytest
from scipy import stats
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.metrics import roc_auc_score
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

import assay
from assay.anomaly.denoising import DenoisingDetector
from assay.anomaly.noise import LEVELS
from assay.errors import AssayError, DataError, ModelError, StudyError
from assay.models import load_model, save_model
from assay.train import trace_count

WORDING = "refused, in other words than scikit-learn's"
EXPECTED = {
    "check_complex_data": WORDING,
    "check_dtype_object": WORDING,
    "check_estimators_empty_data_messages": WORDING,
    "check_estimator_sparse_tag": WORDING,
    "check_estimator_sparse_array": WORDING,
    "check_estimator_sparse_matrix": WORDING,
    "check_fit2d_1sample": WORDING,
}
TABLES = ("12_fault", "31_satimage-2", "38_thyroid", "42_WBC", "44_Wilt", "6_cardio")


def ring(n, seed):
    rng = np.random.default_rng(seed)
    angle = rng.uniform(0.0, 2.0 * np.pi, n)
    return np.c_[np.cos(angle), np.sin(angle)] + 0.05 * rng.normal(size=(n, 2))


@pytest.fixture(scope="module")
def fitted():
    return DenoisingDetector(steps=1500).fit(ring(800, 0))


def pca_q(train, rows):
    scale = StandardScaler().fit(train)
    pca = PCA(0.9, svd_solver="full").fit(scale.transform(train))
    z = scale.transform(rows)
    return np.sum((z - pca.inverse_transform(pca.transform(z))) ** 2, axis=1)


def halves(normal, faults, seed):
    order = np.random.default_rng(seed).permutation(len(normal))
    half = len(normal) // 2
    rows = np.r_[normal[order[half:]], faults]
    labels = np.repeat([0, 1], [len(normal) - half, len(faults)])
    return normal[order[:half]], rows, labels


# --- truth from outside --------------------------------------------------------------------------


def test_on_normal_data_the_correction_is_the_wiener_filter():
    rng = np.random.default_rng(0)
    scale = np.array([3.0, 1.0, 0.3])
    X = scale * rng.normal(size=(20_000, 3))
    detector = DenoisingDetector(scaling="none", steps=1500).fit(X)
    share = detector.level_**2 / (scale**2 + detector.level_**2)
    rows = scale * rng.normal(size=(500, 3))
    expected = rows * (1.0 - share)  # E[x | x + noise] of normal rows, at the basic level
    apart = np.linalg.norm(detector.reconstruct(rows) - expected, axis=1)
    moved = np.linalg.norm(share * rows, axis=1)
    assert np.mean(apart) < 0.2 * np.mean(moved)
    assert detector.history_["train"][-5:].mean() == pytest.approx(1.0, abs=0.05)


def test_on_a_ring_it_beats_everything_linear(fitted):
    rng = np.random.default_rng(1)
    # Not the very middle: there the pulls of the ring cancel, as the docstring says.
    radius = np.r_[rng.uniform(0.2, 0.7, 200), rng.uniform(1.3, 2.0, 200)]
    angle = rng.uniform(0.0, 2.0 * np.pi, 400)
    off = np.c_[radius * np.cos(angle), radius * np.sin(angle)]
    rows, labels = np.r_[ring(400, 2), off], np.repeat([0, 1], 400)
    assert roc_auc_score(labels, fitted.anomaly_score(rows)) > 0.97
    assert roc_auc_score(labels, fitted.untrained_score(rows)) < 0.8


def test_rows_are_pulled_towards_the_ring(fitted):
    inside = 0.6 * ring(200, 3)
    assert np.median(np.linalg.norm(fitted.reconstruct(inside), axis=1)) > 0.7


@pytest.mark.parametrize("factor", [3.0, 30.0, 1e3, 1e6, 1e200])
def test_the_farther_out_the_more_anomalous(fitted, factor):
    near, far = fitted.anomaly_score(ring(100, 4) * factor), None
    far = fitted.anomaly_score(ring(100, 4) * min(factor * 10.0, 1e300))
    assert near.min() > np.quantile(fitted.anomaly_score(ring(400, 5)), 0.99)
    assert (far >= near).all()
    assert np.isfinite(far).all()


def test_scores_average_one_on_the_rows_learnt_from(fitted):
    assert fitted.anomaly_score(ring(800, 0)).mean() == pytest.approx(1.0, abs=1e-3)


def test_basic_level_is_the_strongest_component_left_out():
    X = np.array([4.0, 2.0, 0.5, 0.2]) * np.random.default_rng(0).normal(size=(2000, 4))
    detector = DenoisingDetector(components=2, scaling="none", steps=5).fit(X)
    variances = np.linalg.eigvalsh(np.cov(X.T))[::-1]
    assert detector.level_ == pytest.approx(np.sqrt(variances[2]), rel=1e-3)
    assert detector.settings()["components"] == 2
    assert detector.settings()["levels"] == list(LEVELS)


@pytest.mark.slow
def test_digits_one_against_the_rest_beats_pca_q():
    # 98.2 is the mean of PCA's Q on these splits, 90 % of the variance, half of the normal rows.
    X, y = load_digits(return_X_y=True)
    ours, theirs = [], []
    for digit in range(10):
        for seed in range(5):
            train, rows, labels = halves(X[y == digit], X[y != digit], seed)
            detector = DenoisingDetector(random_state=seed).fit(train)
            ours.append(roc_auc_score(labels, detector.anomaly_score(rows)))
            theirs.append(roc_auc_score(labels, pca_q(train, rows)))
    assert 100.0 * np.mean(theirs) == pytest.approx(98.2, abs=0.1)
    assert 100.0 * np.mean(ours) >= 98.2


@pytest.mark.slow
def test_adbench_tables(shared):
    ours, theirs = [], []
    for name in TABLES:
        with np.load(shared / "adbench" / f"{name}.npz") as file:
            X, y = file["X"].astype(float), file["y"].astype(int)
        train, rows, labels = halves(X[y == 0], X[y == 1], 0)
        ours.append(roc_auc_score(labels, DenoisingDetector().fit(train).anomaly_score(rows)))
        theirs.append(roc_auc_score(labels, pca_q(train, rows)))
    assert np.mean(ours) > np.mean(theirs) + 0.05
    assert min(ours) > 0.7


# --- an estimator like others --------------------------------------------------------------------


@pytest.mark.slow
def test_scikit_learn_conventions():
    check_estimator(
        DenoisingDetector(hidden=(4,), steps=5), expected_failed_checks=EXPECTED, on_skip=None
    )


def test_column_scores_add_up_and_blame_the_right_column():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 1)) + 0.2 * rng.normal(size=(400, 5))
    detector = DenoisingDetector(hidden=(32,), steps=500).fit(X)
    off = X[:50].copy()
    off[:, 3] += 4.0
    parts = detector.column_scores(off)
    assert parts.sum(axis=1) == pytest.approx(detector.anomaly_score(off), rel=1e-3)
    assert np.mean(parts.argmax(axis=1) == 3) > 0.9


def test_same_seed_same_scores_whatever_is_beside_a_row(fitted):
    rows = ring(300, 6)
    again = clone(fitted).fit(ring(800, 0))
    assert np.array_equal(again.anomaly_score(rows), fitted.anomaly_score(rows))
    assert fitted.anomaly_score(rows)[7:8] == pytest.approx(
        fitted.anomaly_score(rows[7:8]), rel=1e-3
    )


def test_units_do_not_matter(fitted):
    factors = np.array([1e4, 1e-3])
    other = clone(fitted).fit(ring(800, 0) * factors)
    rows = ring(100, 7) * 1.3
    same = stats.spearmanr(other.anomaly_score(rows * factors), fitted.anomaly_score(rows))
    assert same.statistic > 0.98


def test_second_fit_compiles_nothing(fitted):
    before = trace_count()
    DenoisingDetector(steps=30, learning_rate=3e-3, random_state=5).fit(ring(700, 8))
    assert trace_count() == before


@pytest.mark.parametrize("shape", [(2, 3), (3, 1), (10, 40), (500, 1), (20, 300)])
def test_odd_shapes(shape):
    X = np.random.default_rng(0).normal(size=shape)
    detector = DenoisingDetector(hidden=(4,), steps=5).fit(X)
    near, far = detector.anomaly_score(np.r_[X[:1], X[:1] + 50.0])
    assert far > near >= 0.0
    assert detector.column_scores(X).shape == shape


def test_constant_columns_and_rows_all_alike():
    X = np.c_[ring(200, 0), np.full(200, 3.0)]
    detector = DenoisingDetector(hidden=(8,), steps=50).fit(X)
    off = X[:1] + np.array([0.0, 0.0, 1.0])
    assert detector.anomaly_score(off)[0] > detector.anomaly_score(X).max()
    alike = DenoisingDetector(hidden=(4,), steps=5).fit(np.ones((30, 3)))
    same, other = alike.anomaly_score([[1.0, 1.0, 1.0], [2.0, 1.0, 1.0]])
    assert np.isfinite(same)
    assert other > same


def test_round_trip(fitted, tmp_path):
    fitted.save(tmp_path / "model")
    loaded = assay.load(tmp_path / "model")
    rows = ring(50, 9) * 1.2
    assert np.array_equal(loaded.anomaly_score(rows), fitted.anomaly_score(rows))
    assert np.array_equal(loaded.column_scores(rows), fitted.column_scores(rows))
    assert loaded.settings() == fitted.settings()
    assert loaded.outside(rows).tolist() == fitted.outside(rows).tolist()
    with pytest.raises(StudyError, match="before training"):
        loaded.untrained_score(rows)


@pytest.mark.parametrize(
    ("name", "array"),
    [
        ("axes", np.ones((2, 3))),
        ("variances", np.array([-1.0, 1.0])),
        ("level", np.array(0.0)),
        ("level_norms", np.ones(3)),
        ("mean", np.ones(5)),
    ],
)
def test_edited_arrays_are_refused(fitted, tmp_path, name, array):
    fitted.save(tmp_path / "a")
    family, config, arrays, _ = load_model(tmp_path / "a")
    save_model(tmp_path / "b", family=family, config=config, arrays=arrays | {name: array})
    with pytest.raises(ModelError):
        assay.load(tmp_path / "b")


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"components": 0}, "components"),
        ({"components": 1.5}, "components"),
        ({"hidden": (0,)}, "at least 1"),
        ({"activation": "gelo"}, "gelu"),
        ({"batch": 0}, "batch"),
        ({"steps": -3}, "steps"),
        ({"learning_rate": -1.0}, "learning_rate"),
    ],
)
def test_parameters_out_of_range(params, message):
    with pytest.raises(AssayError, match=message):
        DenoisingDetector(**{"steps": 5} | params).fit(ring(50, 0))


def test_rows_that_cannot_be_used(fitted):
    with pytest.raises(DataError, match="columns"):
        fitted.anomaly_score(np.ones((2, 3)))
    with pytest.raises(DataError, match="row 0"):
        fitted.anomaly_score([[np.nan, 0.0]])
