"""What the user brings: which way scores point, and what is said when they are no scores."""

import dataclasses
import types

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.covariance import EllipticEnvelope
from sklearn.ensemble import IsolationForest
from sklearn.mixture import GaussianMixture
from sklearn.neighbors import KernelDensity, LocalOutlierFactor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, OneClassSVM

from assay.anomaly.brought import BroughtDetector, bring
from assay.anomaly.brought_scores import BroughtScores
from assay.anomaly.candidates import read_scores
from assay.anomaly.row_norm import RowNorm
from assay.errors import DataError, StudyError

X = np.random.default_rng(0).normal(size=(200, 2))
NEAR_FAR = np.array([[0.0, 0.0], [6.0, -6.0]])


class Plain:
    """Fits nothing; scores by distance."""

    def fit(self, X):
        self.centre_ = X.mean(axis=0)

    def anomaly_score(self, X):
        return np.linalg.norm(X - self.centre_, axis=1)


class Ambiguous:
    def fit(self, X):
        pass

    def decision_function(self, X):
        return -np.linalg.norm(X, axis=1)


def pyod_like(base=object):
    """Return a detector whose class lives in a module called pyod."""

    def decision_function(self, X):
        return np.linalg.norm(X, axis=1)

    def fit(self, X, y=None):
        self.fitted_ = True
        return self

    body = {"fit": fit, "decision_function": decision_function}
    kind = types.new_class("KNN", (base,), exec_body=lambda space: space.update(body))
    kind.__module__ = "pyod.models.knn"
    return kind


# --- which way scores point ----------------------------------------------------------------------


@pytest.mark.parametrize(
    "model",
    [
        Plain(),
        RowNorm(),
        IsolationForest(n_estimators=20, random_state=0),
        LocalOutlierFactor(novelty=True),
        OneClassSVM(),
        EllipticEnvelope(random_state=0),
        GaussianMixture(random_state=0),
        KernelDensity(),
        make_pipeline(StandardScaler(), IsolationForest(n_estimators=20, random_state=0)),
        pyod_like()(),
        make_pipeline(StandardScaler(), pyod_like(BaseEstimator)()),
        lambda rows: np.linalg.norm(rows, axis=1),
    ],
    ids=lambda model: type(model).__name__,
)
def test_far_rows_score_higher(model):
    near, far = bring(model).make(0).fit(X).anomaly_score(NEAR_FAR)
    assert far > near


def test_a_subclass_of_pyod_keeps_its_convention():
    class Own(pyod_like()):
        pass

    near, far = bring(Own()).make(0).fit(X).anomaly_score(NEAR_FAR)
    assert far > near


@pytest.mark.parametrize(
    "model", [Ambiguous(), SVC(), types.SimpleNamespace(fit=1, score_samples=len)]
)
def test_ambiguous_scores_are_refused_with_the_cure(model):
    with pytest.raises(StudyError, match="higher="):
        bring(model)


def test_saying_it_settles_it():
    for settled in (
        bring(Ambiguous(), score="decision_function", higher="normal"),
        bring(Ambiguous(), higher="normal"),
        bring(lambda rows: -np.abs(rows).sum(axis=1), higher="normal"),
    ):
        near, far = settled.make(0).fit(X).anomaly_score(NEAR_FAR)
        assert far > near
    near, far = bring(Ambiguous(), higher="anomalous").make(0).fit(X).anomaly_score(NEAR_FAR)
    assert far < near


def test_direction_must_be_a_known_word():
    for candidate in (Plain(), len):
        with pytest.raises(StudyError, match="'anomalous' or 'normal'"):
            bring(candidate, higher="bigger")


# --- objects -------------------------------------------------------------------------------------


def test_the_users_object_is_not_touched_and_seeds_reach_the_copies():
    forest = IsolationForest(n_estimators=5)
    method = bring(forest)
    a, b = (method.make(seed).fit(X).anomaly_score(X) for seed in (1, 2))
    assert not hasattr(forest, "estimators_")
    assert not np.array_equal(a, b)
    assert np.array_equal(a, method.make(1).fit(X).anomaly_score(X))
    assert method.make(1).settings()["random_state"] == 1
    kept = bring(IsolationForest(n_estimators=5, random_state=7)).make(1)
    assert kept.settings()["random_state"] == 7


def test_it_says_what_could_not_be_checked():
    fitted = types.SimpleNamespace(anomaly_score=lambda X: np.abs(X).sum(axis=1))
    assert "fitted before" in bring(fitted).make(0).fit(X).unchecked[0]
    assert "could not be checked" in bring(lambda rows: rows[:, 0]).make(0).unchecked[0]
    assert bring(Plain()).make(0).unchecked == ()


@pytest.mark.parametrize(
    ("candidate", "message"),
    [
        (Plain, "class Plain"),
        (3, "an object with `fit`"),
        (StandardScaler(), "no score for new rows"),
        (LocalOutlierFactor(), "novelty=True"),
    ],
)
def test_what_cannot_be_brought(candidate, message):
    with pytest.raises(StudyError, match=message):
        bring(candidate)


def test_unknown_score_method():
    with pytest.raises(StudyError, match="no method 'rate'"):
        BroughtDetector(Plain(), score="rate", higher="normal")


# --- what comes back -----------------------------------------------------------------------------


def broken(value):
    return bring(lambda rows: value, name="mine").make(0)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (np.zeros((2, 1)), r"ravel"),
        (np.zeros(3), r"2 scores, one per row, got shape \(3,\)"),
        (0.5, r"shape \(\)"),
        (None, "must give 2"),
        ("high", "must give 2 numbers, got str 'high'"),
        ([[1.0], [1.0, 2.0]], "must give 2 numbers"),
        ([1.0, np.nan], "not a number, first at row 1"),
        ([np.inf, 0.0], "infinite"),
        (np.array([1.0, 2.0j]), "must give 2 numbers"),
    ],
)
def test_wrong_results_name_the_object(value, message):
    with pytest.raises(StudyError, match=message) as caught:
        broken(value).anomaly_score(NEAR_FAR)
    assert "mine" in str(caught.value)


def test_exceptions_in_the_users_code_name_it_and_are_kept_as_the_cause():
    class Bad:
        def fit(self, X):
            raise KeyError("state")

        def anomaly_score(self, X):
            return X.no_such_thing

    with pytest.raises(StudyError, match="`fit` of Bad failed: KeyError") as caught:
        bring(Bad()).make(0).fit(X)
    assert isinstance(caught.value.__cause__, KeyError)
    with pytest.raises(StudyError, match="`anomaly_score` of Bad failed: AttributeError"):
        bring(Bad()).make(0).anomaly_score(X)
    with pytest.raises(StudyError, match="The function f failed: ZeroDivisionError"):
        bring(lambda rows: 1 / 0, name="f").make(0).anomaly_score(X)


def test_an_object_that_cannot_be_copied():
    class Locked(Plain):
        def __deepcopy__(self, memo):
            raise TypeError("cannot pickle a lock")

    with pytest.raises(StudyError, match="cannot be copied"):
        bring(Locked())


# --- scores made elsewhere -----------------------------------------------------------------------


@dataclasses.dataclass
class Part:
    row_numbers: np.ndarray
    source: str


def study(normal=(1, 2, 3, 4), test=(1, 2, 3), same=False, calibration=None):
    a, b = Part(np.array(normal), "a.csv"), Part(np.array(test), "a.csv" if same else "b.csv")
    held = None if calibration is None else Part(np.array(calibration), "c.csv")
    return types.SimpleNamespace(normal=a, test=b, calibration=held)


def test_scores_follow_their_rows():
    brought = bring({"normal": [1, 2, 3, 4], "test": [5, 6, 7]}, inputs=study()).make(0)
    assert brought.scores_of("calibration", np.array([4, 2])).tolist() == [4, 2]
    assert brought.scores_of("test", np.array([1, 2, 3])).tolist() == [5, 6, 7]
    assert "made elsewhere" in brought.unchecked[0]


def test_one_array_for_two_files_is_normal_rows_then_test_rows():
    brought = BroughtScores.beside(np.arange(7.0), study())
    assert brought.calibration.tolist() == [0, 1, 2, 3]
    assert brought.test.tolist() == [4, 5, 6]


def test_one_array_for_one_file_is_in_the_order_of_the_file():
    inputs = study(normal=(2, 5, 9), test=(3, 4, 7), same=True)  # line numbers of the file
    brought = BroughtScores.beside([20.0, 30.0, 40.0, 50.0, 70.0, 90.0], inputs)
    assert brought.calibration.tolist() == [20, 50, 90]
    assert brought.test.tolist() == [30, 40, 70]


def test_lower_may_be_more_anomalous():
    brought = BroughtScores.beside(np.arange(7.0), study(), higher="normal")
    assert brought.test.tolist() == [-4, -5, -6]


def test_calibration_rows_of_their_own():
    inputs = study(calibration=(8, 9))
    brought = BroughtScores.beside({"calibration": [1.0, 2.0], "test": [3.0, 4.0, 5.0]}, inputs)
    assert brought.scores_of("calibration", np.array([8, 9])).tolist() == [1, 2]


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        ({"test": [1, 2, 3]}, "'normal' and 'test'"),
        ({"normal": [1, 2, 3, 4]}, "'normal' and 'test'"),
        ({"normal": [1, 2], "test": [1, 2, 3]}, "must give 4 scores"),
        ({"normal": [1, 2, 3, np.nan], "test": [1, 2, 3]}, "first at row 3"),
        (np.zeros(6), r"4 normal and 3 to judge\) must give 7"),
        (np.zeros((7, 1)), "ravel"),
    ],
)
def test_scores_that_do_not_fit(scores, message):
    with pytest.raises(StudyError, match=message):
        bring(scores, inputs=study())


def test_rows_without_a_score_or_with_two():
    brought = BroughtScores.beside(np.arange(7.0), study())
    with pytest.raises(StudyError, match="no score for row 9"):
        brought.scores_of("test", np.array([9]))
    with pytest.raises(StudyError, match="repeat"):
        BroughtScores.beside(np.arange(7.0), study(test=(1, 2, 3), same=True))


def test_scores_need_the_rows_of_a_study():
    with pytest.raises(StudyError, match="rows that they belong to"):
        bring([1.0, 2.0])


@pytest.mark.parametrize("missing", ["nan", "inf", ""])
def test_a_row_without_a_score_is_named(tmp_path, missing):
    scores = [f"{i},1" for i in range(20)]
    scores[7] = f"{missing},1"
    path = tmp_path / "scores.csv"
    path.write_text("score,other\n" + "\n".join(scores), "utf-8")
    with pytest.raises(DataError, match="no score in row 9") as caught:  # counting the header
        read_scores(path)
    assert "finite score" in caught.value.hint


# --- what is handed over stays as it was ---------------------------------------------------------


class Destroys:
    """Writes into whatever it is given."""

    def fit(self, X):
        X[:] = 0.0

    def anomaly_score(self, X):
        X[:] = 7.0
        return X[:, 0]


def destroy(rows):
    rows[:] = 7.0
    return rows[:, 0]


@pytest.mark.parametrize("candidate", [Destroys(), destroy])
def test_rows_of_the_study_are_not_written_into(candidate):
    rows = X.copy()
    brought = bring(candidate).make(0).fit(rows)
    brought.anomaly_score(rows)
    np.testing.assert_array_equal(rows, X)
