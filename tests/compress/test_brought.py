"""What the user brings to a compress study gets rows of its own."""

import numpy as np
import pytest
from sklearn import decomposition

from assay.compress import CompressStudy
from assay.compress.brought import bring
from assay.errors import StudyError

X = np.random.default_rng(0).normal(size=(60, 3))


class Destroys:
    """Writes into whatever it is given."""

    def fit(self, X):
        X[:] = 0.0

    def reconstruct(self, X):
        X[:] = 7.0
        return X


def destroy(rows):
    rows[:] = 7.0
    return rows


@pytest.mark.parametrize("candidate", [Destroys(), destroy])
def test_rows_of_the_study_are_not_written_into(candidate):
    rows = X.copy()
    brought = bring(candidate, size=1, scaling="standard").make(0).fit(rows)
    brought.reconstruct(rows)
    np.testing.assert_array_equal(rows, X)


@pytest.mark.parametrize("size", [0, 2.5, "2", 12])
def test_a_code_size_must_be_a_whole_number_in_reach(size):
    with pytest.raises(StudyError, match="`code_size` must be"):
        CompressStudy(X, code_size=size, candidate=lambda rows: rows).run(seeds=1)


def test_one_row_is_refused_before_its_variance_is_sought():
    with pytest.raises(StudyError, match="at least 20 rows, got 1"):
        CompressStudy(X[:1]).run()


def test_a_larger_code_than_that_of_the_baseline_is_refused():
    with pytest.raises(StudyError, match="have 2 numbers, PCA's have 1") as caught:
        CompressStudy(X, code_size=1, candidate=decomposition.PCA(2)).run(seeds=1)
    assert "--code-size 2" in caught.value.hint
    smaller = CompressStudy(X, code_size=2, candidate=decomposition.PCA(1)).run(seeds=1)
    assert smaller.verdict != "earned"


def test_the_test_rows_themselves_are_no_reconstruction(tmp_path):
    np.savetxt(tmp_path / "test.csv", X, delimiter=",", header="x0,x1,x2", comments="")
    study = CompressStudy(
        X + 1.0, tmp_path / "test.csv", code_size=1, candidate=tmp_path / "test.csv"
    )
    with pytest.raises(StudyError, match="are the test rows themselves"):
        study.run(seeds=1)


def test_states_may_come_back_without_a_loss():
    states = (np.random.default_rng(1).random((60, 3)) < 0.5) * 1.0
    result = CompressStudy(states, states[::-1], code_size=1, candidate=states[::-1]).run(seeds=1)
    assert next(iter(result.candidate.metrics.values())) == 0.0


def test_copies_of_test_rows_are_no_new_evidence():
    rng = np.random.default_rng(2)
    fit, test = rng.normal(size=(200, 3)), rng.normal(size=(30, 3))

    def result(times):
        rows = np.repeat(test, times, axis=0)
        return CompressStudy(fit, rows, code_size=1, candidate=lambda X: 0.1 * X).run(seeds=1)

    once, often = result(1), result(20)
    assert often.gain.estimate == pytest.approx(once.gain.estimate)
    assert often.gain.high - often.gain.low > 0.8 * (once.gain.high - once.gain.low)
    (low, high), (low_often, high_often) = (r.candidate.intervals["mse"] for r in (once, often))
    assert high_often - low_often > 0.8 * (high - low)
