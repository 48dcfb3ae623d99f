"""Rows, and what belongs to them by position: labels and scores follow rows that are moved."""

import numpy as np
import pandas as pd
import pytest

from assay.anomaly.brought_scores import BroughtScores
from assay.anomaly.feeds import blocks_of, feed
from assay.anomaly.inputs import Reading, gather
from assay.errors import DataError

NORMAL = pd.DataFrame({"a": np.arange(20.0), "stamp": np.arange(20.0)})
VALUES = np.arange(100.0, 108.0)
LABELS = VALUES >= 105


def gathered(normal, test, labels=None, **reading):
    return gather(normal, test, labels, None, Reading(**reading), normal_rows=None, seed=0)


def follow(inputs) -> bool:
    """Whether each label still sits on the row that it was given for."""
    return np.array_equal(inputs.test.labels, inputs.test.X[:, 0] >= 105)


@pytest.mark.parametrize("order", [np.arange(8)[::-1], np.random.default_rng(3).permutation(8)])
def test_labels_follow_rows_that_are_put_in_order_of_time(order):
    test = pd.DataFrame({"a": VALUES, "stamp": np.arange(8.0)}).iloc[order]
    inputs = gathered(NORMAL, test, LABELS[order], time="stamp")
    assert np.all(np.diff(inputs.test.times) > 0)
    assert follow(inputs)


def test_labels_follow_the_rows_of_interleaved_machines():
    test = pd.DataFrame({"a": VALUES, "stamp": np.arange(8.0), "machine": list("ABABABAB")})
    normal = NORMAL.assign(machine="C")
    inputs = gathered(normal, test, LABELS, time="stamp", group="machine")
    assert inputs.test.groups.tolist() == list("AAAABBBB")
    assert follow(inputs)


def test_labels_follow_the_rows_of_several_tables():
    first = pd.DataFrame({"a": VALUES[3:], "stamp": np.arange(5.0)}).iloc[::-1]
    second = pd.DataFrame({"a": VALUES[:3], "stamp": np.arange(3.0)})
    labels = np.concatenate([LABELS[3:][::-1], LABELS[:3]])
    assert follow(gathered(NORMAL, [first, second], labels, time="stamp"))


def test_labels_of_one_source_follow_its_rows():
    test = pd.DataFrame({"a": VALUES, "stamp": np.arange(8.0)}).iloc[::-1]
    assert follow(gathered(test, None, LABELS[::-1], time="stamp"))


def test_labels_of_rows_that_are_set_aside_are_set_aside_too():
    values = VALUES.copy()
    values[[0, 6]] = np.nan
    inputs = gathered(NORMAL[["a"]], pd.DataFrame({"a": values}), LABELS)
    assert inputs.test.n_rows == 6
    assert follow(inputs)


def test_labels_of_the_rows_that_are_used_are_taken_as_they_are():
    values = np.append(VALUES, np.nan)
    assert follow(gathered(NORMAL[["a"]], pd.DataFrame({"a": values}), LABELS))


def test_a_wrong_number_of_labels_is_refused():
    with pytest.raises(DataError, match="must have 8 values"):
        gathered(NORMAL[["a"]], pd.DataFrame({"a": VALUES}), LABELS[:-1])


@pytest.mark.parametrize("by_part", [True, False])
def test_scores_made_elsewhere_follow_rows_that_are_put_in_order_of_time(by_part):
    order = np.random.default_rng(1).permutation(8)
    test = pd.DataFrame({"a": VALUES, "stamp": np.arange(8.0), "state": LABELS * 1}).iloc[order]
    normal = NORMAL.iloc[::-1].assign(state=([0] * 18 + [1] * 2))
    inputs = gathered(normal, test, label="state", time="stamp")
    kept = normal["a"].to_numpy()[:18]  # rows labelled as faults are not among the normal ones
    scores = {"normal": kept, "test": VALUES[order]}
    brought = BroughtScores.beside(
        scores if by_part else np.concatenate([kept, VALUES[order]]), inputs
    )
    np.testing.assert_array_equal(brought.calibration, inputs.normal.X[:, 0])
    np.testing.assert_array_equal(brought.test, inputs.test.X[:, 0])


@pytest.mark.parametrize("kind", [np.asarray, np.ndarray.tolist])
def test_arrays_of_different_width_are_refused(kind):
    normal, test = np.zeros((20, 3)), np.zeros((8, 5))
    with pytest.raises(DataError, match="3 and 5 columns"):
        gathered(kind(normal), kind(test), LABELS)


def test_a_table_with_names_may_hold_more_columns():
    test = pd.DataFrame({"b": VALUES * 2, "a": VALUES})
    assert gathered(NORMAL[["a"]], test, LABELS).test.columns == ("a",)


def wander(n=300):
    """Return a slow series: rows next to each other say nearly the same."""
    steps = np.random.default_rng(5).normal(size=n)
    return pd.DataFrame({"a": np.cumsum(steps), "stamp": np.arange(float(n))})


def seen(test, window=None, **reading):
    inputs = gathered(wander().assign(machine="C"), test, time="stamp", **reading)
    return feed(inputs.test, window=window, step=1, what="rows to judge")


def test_a_log_with_its_newest_row_first_is_the_same_series():
    forward, back = seen(wander()), seen(wander().iloc[::-1])
    np.testing.assert_array_equal(back.X, forward.X)
    np.testing.assert_array_equal(back.rows, forward.rows[::-1])
    np.testing.assert_array_equal(blocks_of(back, None), blocks_of(forward, None))
    assert len(seen(wander().iloc[::-1], window=5)) == 296


def test_machines_in_turn_are_a_series_each():
    turns = wander().assign(machine=["A", "B"] * 150)
    part = seen(turns, group="machine")
    assert len(np.unique(part.runs)) == 2
    assert len(seen(turns, group="machine", window=5)) == 2 * (150 - 4)


def test_held_out_rows_break_a_series_that_was_put_in_order():
    inputs = gathered(wander(), wander().iloc[::-1], time="stamp")
    kept = inputs.test.take(np.r_[0:100, 150:300])
    assert len(np.unique(feed(kept, window=None, step=1, what="rows").runs)) == 2


def test_stacked_tables_stay_apart():
    back, forward = wander(10).iloc[::-1], wander(10)
    inputs = gathered(wander(), [back, forward], time="stamp")
    assert inputs.test.places.tolist() == [*range(10), *range(11, 21)]


# --- labelled spans of time ----------------------------------------------------------------------


def stamped(hours=6, zone=""):
    stamps = [f"2024-01-01 0{hour}:00:00{zone}" for hour in range(hours)]
    return pd.DataFrame({"a": np.arange(float(hours)), "stamp": stamps})


@pytest.mark.parametrize(
    "span",
    [
        ["2024-01-01 02:00", "2024-01-01 03:00:00"],
        ["2024-01-01T02:00:00Z", "2024-01-01T05:30:00+02:00"],
        [np.datetime64("2024-01-01T02:00"), pd.Timestamp("2024-01-01 03:30")],
    ],
)
def test_intervals_are_read_as_the_times_of_tables_are(span):
    inputs = gathered(stamped(zone="Z"), stamped(zone="Z"), time="stamp", intervals=[span])
    assert np.flatnonzero(inputs.test.labels).tolist() == [2, 3]


def test_intervals_of_numbers_fit_times_that_are_numbers():
    inputs = gathered(NORMAL, NORMAL, time="stamp", intervals=[[3, 5.5]])
    assert np.flatnonzero(inputs.test.labels).tolist() == [3, 4, 5]


def test_intervals_by_file_are_those_of_each_file(tmp_path):
    for name in ("one.csv", "two.csv"):
        stamped().to_csv(tmp_path / name, index=False)
    spans = {
        "one.csv": [["2024-01-01 00:00", "2024-01-01 00:30"]],
        "logs/two.csv": [["2024-01-01 05:00", "2024-01-01 06:00"]],
    }
    inputs = gathered(
        stamped(), [tmp_path / "one.csv", tmp_path / "two.csv"], time="stamp", intervals=spans
    )
    assert np.flatnonzero(inputs.test.labels).tolist() == [0, 11]


@pytest.mark.parametrize(
    ("span", "said"),
    [
        (["2024-01-01 03:00", "2024-01-01 02:00"], "ends before it begins"),
        (["yesterday", "2024-01-01"], "pairs of times"),
        ([1, 2], "pairs of times"),
        (["2024-01-01"], "pairs of times"),
    ],
)
def test_intervals_that_cannot_be_meant_are_refused(span, said):
    with pytest.raises(DataError, match=said):
        gathered(stamped(), stamped(), time="stamp", intervals=[span])


# --- calibration ---------------------------------------------------------------------------------


@pytest.mark.parametrize("taken", [slice(None), slice(0, 20)])
def test_calibration_rows_that_were_learnt_from_are_refused(taken):
    rng = np.random.default_rng(0)
    normal, test = rng.normal(size=(200, 3)), rng.normal(size=(50, 3))
    calibration = np.concatenate([normal[taken], rng.normal(size=(100, 3))])
    with pytest.raises(DataError, match="calibration rows are among the normal rows"):
        gather(normal, test, None, calibration, Reading(), normal_rows=None, seed=0)


def test_calibration_rows_of_coarse_readings_may_be_equal_to_others():
    rng = np.random.default_rng(0)
    normal, calibration, test = (rng.integers(0, 8, size=(n, 3)) for n in (200, 100, 50))
    inputs = gather(normal, test, None, calibration, Reading(), normal_rows=None, seed=0)
    assert inputs.calibration.n_rows == 100
