"""What the user brings to a compress study gets rows of its own."""

import numpy as np
import pytest

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
