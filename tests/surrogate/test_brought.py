"""What users bring to a surrogate study is copied, checked, and never trusted with our arrays."""

import numpy as np
import pytest

from assay.errors import DataError, StudyError
from assay.surrogate.brought import bring, is_predictions
from assay.surrogate.mlp import MLPSurrogate
from assay.surrogate.spread import has_spread, predict_with_spread

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(30, 2)), RNG.normal(size=(30, 3))


class Vandal:
    """Writes into what it gets, and counts its fits."""

    fits = 0

    def fit(self, X, Y):
        self.fits += 1
        self.shape_ = np.shape(Y)
        X[:], Y[:] = 0.0, 0.0

    def predict(self, X):
        X[:] = 7.0
        return np.ones((len(X), *self.shape_[1:]))


def test_an_object_is_copied_and_gets_arrays_of_its_own():
    mine, x, y = Vandal(), X.copy(), Y.copy()
    method = bring(mine)
    for seed in (0, 1):
        method.make(seed).fit(x, y).predict(x)
    assert mine.fits == 0
    np.testing.assert_array_equal(x, X)
    np.testing.assert_array_equal(y, Y)
    assert method.name == "Vandal"


def test_one_output_comes_as_scikit_learn_has_it():
    model = bring(Vandal()).make(0).fit(X, Y[:, :1])
    assert model.brought.shape_ == (30,)
    assert model.predict(X).shape == (30, 1)


def test_a_scikit_learn_process_brings_its_spread():
    from sklearn.gaussian_process import GaussianProcessRegressor

    theirs = GaussianProcessRegressor(alpha=1e-3, optimizer=None)
    model = bring(theirs).make(0).fit(X, Y[:, :1])
    mean, std = predict_with_spread(model, X[:4])
    wanted = theirs.fit(X, Y[:, 0]).predict(X[:4], return_std=True)
    np.testing.assert_allclose(mean[:, 0], wanted[0])
    np.testing.assert_allclose(std[:, 0], wanted[1])


def test_what_tells_no_spread_has_none():
    assert not has_spread(bring(Vandal()).make(0))
    assert not has_spread(bring(lambda X: X).make(0))


def test_an_estimator_of_ours_stays_what_it_is():
    method = bring(MLPSurrogate(random_state=5))
    assert isinstance(method.make(3), MLPSurrogate)
    assert method.make(3).random_state == 3


def test_a_function_is_called_and_its_unknowns_are_told():
    def simulator(X):
        return X.sum(axis=1)

    method = bring(simulator)
    model = method.make(0).fit(X, Y[:, :1])
    np.testing.assert_array_equal(model.predict(X)[:, 0], X.sum(axis=1))
    assert method.name == "simulator"
    assert model.unchecked
    assert model.refits is False


@pytest.mark.parametrize(
    ("values", "said"),
    [
        (lambda X: X[:-1, 0], r"\(29,\)"),
        (lambda X: X, r"shape \(30, 1\) or \(30,\), got \(30, 2\)"),
        (lambda X: np.full(len(X), np.nan), "missing or infinite"),
        (lambda X: ["a"] * len(X), "numeric"),
        (lambda X: X @ np.ones(9), "failed: ValueError"),
        (lambda X: None, "shape"),
    ],
)
def test_what_a_function_may_not_return(values, said):
    model = bring(values).make(0).fit(X, Y[:, :1])
    with pytest.raises((StudyError, DataError), match=said):
        model.predict(X)


class OneOutput(Vandal):
    def fit(self, X, Y):
        if np.ndim(Y) > 1:
            raise ValueError("y should be a 1d array")


class Negative(Vandal):
    def predict(self, X, return_std=False):
        both = np.ones((len(X), 3)), -np.ones((len(X), 3))
        return both if return_std else both[0]


class Uncopied(Vandal):
    def __deepcopy__(self, memo):
        raise TypeError("no")


def test_objects_that_fail_say_how():
    with pytest.raises(StudyError, match="1d array") as caught:
        bring(OneOutput()).make(0).fit(X, Y)
    assert "MultiOutputRegressor" in caught.value.hint
    with pytest.raises(StudyError, match="negative standard deviation"):
        predict_with_spread(bring(Negative()).make(0).fit(X, Y), X)
    with pytest.raises(StudyError, match="cannot be copied"):
        bring(Uncopied()).make(0)


@pytest.mark.parametrize("candidate", [3, Vandal, {"a": 1}, type("NoPredict", (), {"fit": 1})()])
def test_what_cannot_be_brought(candidate):
    with pytest.raises(StudyError):
        bring(candidate)


def test_a_misspelt_network_is_no_file():
    with pytest.raises(StudyError, match="no candidate 'mpl'") as caught:
        bring("mpl")
    assert "'mlp'" in caught.value.hint


@pytest.mark.parametrize("kind", ["array", "list", "csv", "frame"])
def test_predictions_are_taken_as_they_are(kind, tmp_path):
    import polars as pl

    path = tmp_path / "theirs.csv"
    np.savetxt(path, Y, delimiter=",", header="u,v,w", comments="")
    given = {"array": Y, "list": Y.tolist(), "csv": path, "frame": pl.DataFrame(Y)}[kind]
    assert is_predictions(given)
    model = bring(given).make(0).fit(X, Y)
    np.testing.assert_allclose(model.predict(X), Y)
    assert model.only_test
    assert model.unchecked
    with pytest.raises(StudyError, match=r"\(29, 3\)"):
        model.predict(X[:-1])


def test_predictions_with_holes_are_refused(tmp_path):
    holed = Y.copy()
    holed[4, 1] = np.nan
    with pytest.raises(DataError, match="every test run"):
        bring(holed).make(0)
    with pytest.raises(DataError, match="does not exist"):
        bring(tmp_path / "absent.csv").make(0)


def test_what_foreign_code_says_stays_on_one_line():
    def broken(X):
        raise RuntimeError("first\x1b[31m\nsecond")

    with pytest.raises(StudyError) as caught:
        bring(broken).make(0).fit(X, Y).predict(X)
    assert str(caught.value).isprintable()
    assert "RuntimeError: first\\x1b[31m second." in str(caught.value)


def test_predictions_beyond_all_squares_are_refused_with_their_row():
    values = Y.copy()
    values[7, 1] = -1e200
    with pytest.raises(StudyError, match=r"-1e\+200 in row 7"):
        bring(lambda X: values).make(0).fit(X, Y).predict(X)


@pytest.mark.parametrize("wrong", [np.ones((29, 3)), np.ones((30, 2)), "absent.csv"])
def test_predictions_that_do_not_fit_are_refused_before_the_study_runs(wrong):
    from assay.surrogate.study import SurrogateStudy

    with pytest.raises((StudyError, DataError)):
        SurrogateStudy(X, Y, test=(X, Y), candidate=wrong)
