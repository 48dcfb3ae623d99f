"""What makes no sense is refused before anything is fitted or opened."""

import numpy as np
import pytest
from sklearn import ensemble

from assay.anomaly import AnomalyStudy
from assay.anomaly.baselines import BASELINES
from assay.errors import StudyError

X = np.random.default_rng(0).normal(size=(60, 2))


def untouched(rows):
    raise AssertionError("the candidate has been called")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("false_alarm_rate", "0.05"),
        ("false_alarm_rate", True),
        ("window", 2.5),
        ("window", "5"),
        ("window", 0),
        ("normal_rows", -5),
        ("normal_rows", 10.5),
        ("baselines", ()),
        ("baselines", BASELINES[0]),
        ("baselines", (type(BASELINES[0]),)),
        ("baselines", (ensemble.IsolationForest(),)),
        ("baselines", "row norm"),
    ],
)
def test_a_choice_that_makes_no_sense_is_refused(name, value):
    with pytest.raises(StudyError) as caught:
        AnomalyStudy(X, candidate=untouched, **{name: value})
    assert name.removesuffix("s") in caught.value.message
    assert caught.value.hint


@pytest.mark.parametrize("step", [0, -1, 1.5])
def test_a_step_must_be_a_number_of_rows(step):
    with pytest.raises(StudyError, match="`step` must be"):
        AnomalyStudy(X, window=5, step=step)


def test_a_step_without_windows_is_not_ignored():
    with pytest.raises(StudyError, match="without `window`"):
        AnomalyStudy(X, step=5)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("seed", -1),
        ("seed", 2**40),
        ("seed", 1.5),
        ("seeds", 0),
        ("seeds", 2.0),
        ("margin", -0.5),  # it would call a loss earned
        ("margin", 1.0),
        ("margin", float("nan")),
    ],
)
def test_a_run_that_makes_no_sense_is_refused_before_the_candidate_is_called(name, value):
    with pytest.raises(StudyError, match=f"`{name}` must be"):
        AnomalyStudy(X, candidate=untouched).run(**{name: value})


def test_a_column_may_be_named_without_a_tuple():
    table = {"pressure": X[:, 0], "flow": X[:, 1]}
    result = AnomalyStudy(
        table, drop="flow", candidate=lambda rows: abs(rows).sum(axis=1), baselines=BASELINES[:1]
    ).run(seeds=1)
    assert [column.name for column in result.data.columns] == ["pressure"]


def test_a_hint_asks_for_no_rate_that_would_be_refused():
    with pytest.raises(StudyError) as caught:
        AnomalyStudy(X[:2], candidate=untouched).run()
    assert "normal rows" in caught.value.hint
    assert "rate" not in caught.value.hint
