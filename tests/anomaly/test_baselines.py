"""The classical detectors against independent computations, closed forms and the lab's figures."""

import numpy as np
import pytest
from scipy import stats
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split
from sklearn.neighbors import NearestNeighbors
from sklearn.preprocessing import StandardScaler

from assay.anomaly.baselines import BASELINES
from assay.anomaly.isolation import IsolationForest
from assay.anomaly.neighbours import KNNDistance
from assay.anomaly.pca_limits import q_limit, t2_limit
from assay.anomaly.pca_monitor import PCAQ, HotellingT2, Mahalanobis, QT2Combined
from assay.anomaly.row_norm import RowNorm
from assay.errors import AssayError, DataError, StudyError

NAMES = [detector.name for detector in BASELINES]
TABLES = ("12_fault", "31_satimage-2", "38_thyroid", "42_WBC", "44_Wilt", "6_cardio")

each = pytest.mark.parametrize("detector", BASELINES, ids=NAMES)


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def correlated(rng, n, d=6):
    mix = rng.normal(size=(d, d))
    return rng.normal(size=(n, d)) @ mix + 5.0


# --- what every entry of the tuple must do --------------------------------------------------


def test_names_differ():
    assert len(set(NAMES)) == len(NAMES)


@each
def test_far_rows_score_higher_than_normal_ones(detector, rng):
    X = correlated(rng, 400)
    fitted = clone(detector).fit(X[:300])
    normal = fitted.anomaly_score(X[300:])
    far = fitted.anomaly_score(X[300:] + 30.0 * rng.normal(size=(100, 6)))
    assert normal.shape == (100,)
    assert normal.dtype == np.float64
    assert roc_auc_score(np.repeat([0, 1], 100), np.r_[normal, far]) > 0.98


@each
def test_same_rows_same_scores_whatever_is_beside_them(detector, rng):
    X = correlated(rng, 300)
    fitted = clone(detector).fit(X)
    again = clone(detector).fit(X)
    whole = fitted.anomaly_score(X)
    np.testing.assert_allclose(again.anomaly_score(X[::-1])[::-1], whole, rtol=1e-9, atol=1e-12)


@each
def test_units_do_not_matter(detector, rng):
    X = correlated(rng, 300)
    factor = np.array([1e-3, 1.0, 1e4, 7.0, 1e-6, 1e6])
    other = (X + 3.0) * factor
    ours = clone(detector).fit(X[:200]).anomaly_score(X[200:])
    theirs = clone(detector).fit(other[:200]).anomaly_score(other[200:])
    # Trees cut at float32 values, where rounding may move a row to the other side.
    assert stats.spearmanr(ours, theirs).statistic > 0.9999


@each
@pytest.mark.parametrize("scaling", ["standard", "none", "unit"])
def test_extreme_shapes(detector, scaling, rng):
    for shape in ((2, 3), (5, 40), (300, 1), (30, 2)):
        X = rng.normal(size=shape)
        fitted = clone(detector).set_params(scaling=scaling).fit(X)
        scores = fitted.anomaly_score(np.vstack([X, 1e6 * np.ones((1, shape[1]))]))
        assert np.isfinite(scores).all()
        if detector.name != "Isolation forest":  # a far row shares the last cut with the outermost
            assert scores[-1] >= scores[:-1].max() - 1e-12


@each
def test_constant_columns_and_repeated_rows(detector, rng):
    X = np.column_stack([rng.normal(size=50), np.full(50, 3.0)])
    assert np.isfinite(clone(detector).fit(X).anomaly_score(X + np.array([0.0, 1.0]))).all()
    same = np.ones((20, 3))
    scores = clone(detector).fit(same).anomaly_score([[1.0, 1.0, 1.0], [1.0, 5.0, 1.0]])
    assert np.isfinite(scores).all()


@each
def test_absurd_readings_stay_the_most_anomalous(detector, rng):
    X = correlated(rng, 200)
    absurd = X[:1].copy()
    absurd[0, 0] = 1e300
    scores = clone(detector).fit(X).anomaly_score(np.vstack([X, absurd]))
    assert np.isfinite(scores).all()
    if detector.name != "Isolation forest":  # it counts cuts, not distances
        assert scores[-1] >= scores[:-1].max()


@each
def test_bad_rows_are_refused(detector, rng):
    X = rng.normal(size=(50, 3))
    fitted = clone(detector).fit(X)
    with pytest.raises(DataError, match="3 columns"):
        fitted.anomaly_score(X[:, :2])
    with pytest.raises(DataError, match="missing or infinite"):
        fitted.anomaly_score([[0.0, np.nan, 1.0]])
    with pytest.raises(AssayError, match="at least 2"):
        clone(detector).fit(X[:1])


@each
def test_settings_are_plain_values(detector, rng):
    import json

    fitted = clone(detector).fit(rng.normal(size=(50, 3)))
    assert json.loads(json.dumps(fitted.settings()))["scaling"] == "standard"
    assert fitted.n_parameters_ > 0


# --- against scikit-learn and NumPy --------------------------------------------------------


def independent_scores(fit, test):
    """Return name -> scores, from scikit-learn's scaler, PCA and neighbours."""
    scaler = StandardScaler().fit(fit)
    A, T = scaler.transform(fit), scaler.transform(test)
    pca = PCA(0.9, svd_solver="full").fit(A)
    codes = pca.transform(T)
    values, vectors = np.linalg.eigh(np.cov(A.T))
    values = np.maximum(values, 1e-3 * values[-1])
    near = NearestNeighbors(n_neighbors=5).fit(A).kneighbors(T)[0]
    return {
        "PCA Q": ((T - pca.inverse_transform(codes)) ** 2).mean(axis=1),
        "PCA T2": (codes**2 / pca.explained_variance_).sum(axis=1),
        "Row norm": np.linalg.norm(T, axis=1),
        "Mahalanobis": ((T @ vectors) ** 2 / values).sum(axis=1),
        "kNN distance (k=5)": near[:, -1],
        "Nearest normal row": near[:, 0],
    }


@pytest.mark.parametrize("table", TABLES)
def test_agrees_with_an_independent_computation_on_real_tables(table, shared):
    loaded = np.load(shared / "adbench" / f"{table}.npz")
    X, y = loaded["X"].astype(float), loaded["y"].astype(bool)
    normal = np.random.default_rng(0).permutation(np.flatnonzero(~y))
    half = len(normal) // 2
    fit, test = X[normal[:half]], np.vstack([X[normal[half:]], X[y]])
    labels = np.repeat([0, 1], [len(normal) - half, y.sum()])
    expected = independent_scores(fit, test)
    for detector in BASELINES:
        if detector.name not in expected:
            continue
        scores = clone(detector).fit(fit).anomaly_score(test)
        # Same law, same order: far inside the 0.5 points that a study promises.
        assert roc_auc_score(labels, scores) == pytest.approx(
            roc_auc_score(labels, expected[detector.name]), abs=1e-4
        ), detector.name
        np.testing.assert_allclose(scores, expected[detector.name], rtol=1e-6, atol=1e-7)


# AUC in % on half of the normal rows, three splits, from a computation made before this library:
# row norm, Q, T2, Mahalanobis, kNN, isolation forest.
QUOTED = {
    "12_fault": (55.1, 72.9, 64.7, 70.9, 80.3, 67.3),
    "31_satimage-2": (97.8, 100.0, 95.1, 99.6, 99.9, 99.3),
    "38_thyroid": (98.1, 70.7, 98.1, 97.6, 98.6, 98.8),
    "42_WBC": (99.1, 78.5, 98.3, 98.4, 99.2, 99.3),
    "44_Wilt": (34.5, 94.8, 31.0, 73.2, 65.3, 52.6),
    "6_cardio": (96.4, 86.8, 95.9, 94.3, 92.9, 95.9),
}


@pytest.mark.parametrize("table", TABLES)
def test_reproduces_quoted_values_on_real_tables(table, shared):
    loaded = np.load(shared / "adbench" / f"{table}.npz")
    X, y = loaded["X"].astype(float), loaded["y"].astype(bool)
    detectors = (RowNorm(), PCAQ(), HotellingT2(), Mahalanobis(), KNNDistance(), IsolationForest())
    reached = []
    for seed in range(3):
        normal = np.flatnonzero(~y)
        np.random.default_rng(seed).shuffle(normal)
        half = len(normal) // 2
        test = np.r_[normal[half:], np.flatnonzero(y)]
        scores = [clone(d).fit(X[normal[:half]]).anomaly_score(X[test]) for d in detectors]
        reached.append([100.0 * roc_auc_score(y[test], s) for s in scores])
    means = np.mean(reached, axis=0)
    np.testing.assert_allclose(means[:5], QUOTED[table][:5], atol=0.1)
    assert means[5] == pytest.approx(QUOTED[table][5], abs=2.5)  # a random method


def test_combined_index_is_the_sum_of_both_in_units_of_their_limits(rng):
    X = correlated(rng, 500)
    q, t2 = PCAQ(components=3).fit(X), HotellingT2(components=3).fit(X)
    both = QT2Combined(components=3).fit(X)
    expected = q.anomaly_score(X) / q.limit_ + t2.anomaly_score(X) / t2.limit_
    np.testing.assert_allclose(both.anomaly_score(X), expected, rtol=1e-10)


def test_mahalanobis_with_fewer_rows_than_columns(rng):
    fit, test = rng.normal(size=(12, 30)), rng.normal(size=(7, 30))
    A = StandardScaler().fit(fit)
    values, vectors = np.linalg.eigh(np.cov(A.transform(fit).T))
    values = np.maximum(values, 1e-3 * values[-1])
    expected = ((A.transform(test) @ vectors) ** 2 / values).sum(axis=1)
    np.testing.assert_allclose(Mahalanobis().fit(fit).anomaly_score(test), expected, rtol=1e-8)


def test_a_copy_of_a_normal_row_has_distance_zero(rng):
    X = 1e3 + rng.normal(size=(2000, 20))
    assert KNNDistance(k=1, scaling="none").fit(X).anomaly_score(X).max() == 0.0


def test_reference_rows_are_limited_and_the_choice_recorded(rng):
    X = rng.normal(size=(500, 3))
    knn = KNNDistance(max_reference=100, seed=3).fit(X)
    assert knn.settings()["reference_rows"] == 100
    assert knn.settings()["offered_rows"] == 500
    same = KNNDistance(max_reference=100, seed=3).fit(X)
    other = KNNDistance(max_reference=100, seed=4).fit(X)
    assert np.array_equal(knn.anomaly_score(X), same.anomaly_score(X))
    assert not np.array_equal(knn.anomaly_score(X), other.anomaly_score(X))


def test_wrong_components_are_refused(rng):
    with pytest.raises(StudyError, match="`components` must be"):
        PCAQ(components=1.5).fit(rng.normal(size=(20, 3)))


# --- Gaussian limits -----------------------------------------------------------------------


def test_q_limit_of_equal_variances_is_nearly_chi_squared():
    for m in (5, 20, 100):
        for level in (0.9, 0.95, 0.99):
            assert q_limit(np.full(m, 2.0), level) == pytest.approx(
                2.0 * stats.chi2.ppf(level, m), rel=0.01
            )


def test_limits_hold_on_gaussian_rows(rng):
    X = correlated(rng, 20_000, d=8)
    fit, test = X[:10_000], X[10_000:]
    for detector in (PCAQ(components=3), HotellingT2(components=3)):
        fitted = detector.fit(fit)
        assert np.mean(fitted.anomaly_score(test) > fitted.limit_) == pytest.approx(0.05, abs=0.01)


def test_limits_at_the_edges():
    assert q_limit([], 0.95) == 0.0
    assert q_limit([0.0, 0.0], 0.95) == 0.0
    assert t2_limit(3, 3, 0.95) == pytest.approx(stats.chi2.ppf(0.95, 3))
    # One dominating variance makes h0 negative-going: Box's approximation, still above the mean.
    spiked = np.r_[1.0, np.full(500, 0.004)]
    assert q_limit(spiked, 0.95) > spiked.sum()


# --- the figures quoted for digits, 9 being the anomaly -------------------------------------


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    parts = train_test_split(X / 16.0, y, test_size=0.2, random_state=0, stratify=y)
    train, test, y_train, y_test = parts
    fit, held_out = train_test_split(train[y_train != 9], test_size=0.2, random_state=0)
    return fit, held_out, test, y_test == 9


def operating(detector, digits):
    fit, held_out, test, labels = digits
    detector.fit(fit)
    threshold = np.percentile(detector.anomaly_score(held_out), 95)
    scores = detector.anomaly_score(test)
    alarms = scores > threshold
    auc = roc_auc_score(labels, scores)
    return threshold, alarms[~labels].mean(), alarms[labels].mean(), auc


def test_pca_q_on_digits(digits):
    threshold, false, found, auc = operating(PCAQ(components=8, scaling="none"), digits)
    assert threshold == pytest.approx(0.0395, abs=5e-5)
    assert false == pytest.approx(0.077, abs=5e-4)
    assert found == pytest.approx(0.222, abs=5e-4)
    assert auc == pytest.approx(0.791, abs=6e-4)


def test_nearest_normal_image_on_digits(digits):
    _, false, found, auc = operating(KNNDistance(k=1, scaling="none"), digits)
    assert auc == pytest.approx(0.968, abs=5e-4)
    assert found == pytest.approx(0.75, abs=5e-4)
    assert false == pytest.approx(0.049, abs=5e-4)
