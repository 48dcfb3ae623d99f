import numpy as np
import pytest
from numpy.lib.stride_tricks import sliding_window_view

from assay.data import profile, windows
from assay.errors import DataError

SECOND = np.timedelta64(1, "s")
START = np.datetime64("2024-01-01T00:00:00", "us")


def test_without_breaks_it_is_the_sliding_window_of_numpy():
    X = np.random.default_rng(0).normal(size=(50, 3))
    cut = windows(X, None, window=7, step=2)
    peer = sliding_window_view(X, 7, axis=0)[::2].transpose(0, 2, 1).reshape(-1, 21)
    np.testing.assert_array_equal(cut.X, peer)
    assert cut.last.tolist() == list(range(6, 50, 2))
    assert cut.notes == ("1 row of 50 in no window.",)


def test_no_window_reaches_over_a_gap():
    times = START + np.r_[0:10, 15:25] * SECOND
    cut = windows(np.arange(20.0)[:, None], times, window=4, step=1)
    assert len(cut.X) == 14
    assert np.all(np.diff(cut.X, axis=1) == 1)
    for row in cut.X:
        assert not (row.min() < 10 <= row.max())
    assert cut.times.tolist() == times[cut.last].tolist()
    assert "1 gap in time" in cut.notes[0]
    assert cut.index.tolist() == [[0, 7], [7, 14]]


@pytest.mark.parametrize(("step", "breaks"), [(1.4, False), (1.6, True)])
def test_the_limit_is_one_and_a_half_median_steps(step, breaks):
    times = np.r_[np.arange(10.0), 9 + step + np.arange(10.0)]
    cut = windows(np.arange(20.0)[:, None], times, window=5, step=1)
    assert len(cut.X) == (12 if breaks else 16)


def test_equal_stamps_do_not_break_and_backward_ones_do():
    times = np.r_[0.0, 1, 1, 2, 3, 4, 0, 1, 2, 3]
    cut = windows(np.arange(10.0)[:, None], times, window=3, step=1)
    assert cut.last.tolist() == [2, 3, 4, 5, 8, 9]


def test_groups_stay_apart_even_when_mixed():
    groups = np.array(["b", "a"] * 10)
    X = np.arange(20.0)[:, None]
    cut = windows(X, None, window=4, step=1, groups=groups)
    assert len(cut.X) == 14
    assert np.all(np.diff(cut.X, axis=1) == 2)
    assert cut.groups.tolist() == groups[cut.last].tolist()


def test_each_group_has_its_own_step():
    groups = np.repeat(["slow", "fast"], 10)
    times = np.r_[np.arange(10) * 60.0, np.arange(10) * 1.0]
    cut = windows(np.arange(20.0)[:, None], times, window=5, step=1, groups=groups)
    assert len(cut.X) == 12


def test_any_flag_in_a_window():
    flags = np.zeros(12, bool)
    flags[5] = True
    cut = windows(np.arange(12.0)[:, None], None, window=3, step=1)
    expected = [bool(flags[k : k + 3].any()) for k in range(10)]
    assert cut.any(flags).tolist() == expected
    with pytest.raises(DataError, match="`flags`"):
        cut.any(flags[:5])


def test_window_of_one_row():
    X = np.arange(6.0).reshape(3, 2)
    np.testing.assert_array_equal(windows(X, None, window=1, step=1).X, X)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"window": 50}, "No window of 50 rows fits: the longest run without a break has 10"),
        ({"window": 0}, "`window` must be a whole number"),
        ({"window": 2.5}, "`window` must be a whole number"),
        ({"step": 0}, "`step` must be"),
        ({"gap": 1.0}, "`gap` must be above 1"),
        ({"times": [1.0, 2.0]}, "Equal numbers of rows"),
        ({"times": np.full(10, np.nan)}, "`times` has 10 missing"),
        ({"times": np.array(["x"] * 10)}, "`times` must be"),
        ({"groups": ["a"]}, "Equal numbers of rows"),
    ],
)
def test_refusals(options, message):
    options = {"window": 2, "step": 1, "times": None} | options
    with pytest.raises(DataError, match=message):
        windows(np.ones((10, 1)), options.pop("times"), **options)


def test_profile_counts():
    rng = np.random.default_rng(0)
    t = rng.normal(size=(400, 2))
    X = np.column_stack([t @ rng.normal(size=(2, 6)), np.ones(400)])
    X = np.vstack([X, X[:10], X[:10]])
    found = profile(X)
    assert (found["rows"], found["columns"], found["duplicates"]) == (420, 7, 20)
    assert found["constant"] == [6]
    assert found["dimension_99"] == 2


def test_profile_dimension_is_that_of_scikit_learn():
    from sklearn.decomposition import PCA

    rng = np.random.default_rng(1)
    X = rng.normal(size=(300, 20)) @ rng.normal(size=(20, 20)) * rng.uniform(1, 100, 20)
    share = np.cumsum(PCA().fit((X - X.mean(0)) / X.std(0)).explained_variance_ratio_)
    found = profile(X)
    assert found["dimension_90"] == int(np.searchsorted(share, 0.90)) + 1
    assert found["dimension_99"] == int(np.searchsorted(share, 0.99)) + 1


def test_profile_of_odd_shapes():
    assert profile(np.ones((1, 3)))["dimension_99"] == 0
    assert profile(np.ones((30, 3)))["near_constant"] == []
    wide = np.random.default_rng(0).normal(size=(20, 10_000))
    assert profile(wide)["dimension_99"] <= 19
    tall = np.random.default_rng(0).normal(size=(50_000, 2))
    assert profile(tall)["rows_used"] <= 20_000
    stuck = np.zeros((5000, 1))
    stuck[7] = 1
    assert profile(stuck)["near_constant"] == [0]


def test_zero_has_one_sign_in_duplicates():
    assert profile(np.array([[0.0, 1.0], [-0.0, 1.0], [2.0, 3.0]]))["duplicates"] == 1
