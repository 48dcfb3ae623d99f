"""Whole compress studies; the candidates that need no training stand in for networks."""

import numpy as np
import pytest

from assay.compress import PCA, CompressStudy
from assay.errors import DataError, StudyError


def curve(rng, n=400):
    """Return rows on a curve that no plane follows, with a little noise."""
    t = rng.uniform(-2.0, 2.0, n)
    return np.c_[t, t**2, np.sin(3 * t)] + 0.01 * rng.normal(size=(n, 3))


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def onto_the_curve(rows):
    """Return for each row the curve's point over its first column."""
    t = rows[:, 0]
    return np.c_[t, t**2, np.sin(3 * t)]


def test_a_method_that_knows_the_curve_earns(rng):
    result = CompressStudy(curve(rng), code_size=1, candidate=onto_the_curve).run(seeds=1)
    assert result.verdict == "earned"
    assert result.gain.against == "PCA"
    assert result.gain.estimate > 0.9
    assert any("could not be checked" in note for note in result.notes)


def test_pca_against_itself_is_not_earned(rng):
    result = CompressStudy(curve(rng), code_size=1, candidate=PCA(code_size=1)).run(seeds=1)
    assert result.verdict != "earned"
    assert result.gain.estimate == pytest.approx(0.0, abs=1e-9)


def test_errors_are_those_of_the_test_rows(rng):
    X, held = curve(rng), curve(rng, 150)
    result = CompressStudy(X, held, code_size=1, candidate=onto_the_curve).run(seeds=1)
    assert {p.name: p.rows for p in result.split.parts} == {
        "fit": 320, "validation": 80, "test": 150,
    }  # fmt: skip
    assert len(result.arrays["row_error"]) == 150
    mse = result.candidate.metrics["mse"]
    assert mse == pytest.approx(result.arrays["row_error"].mean())
    low, high = result.candidate.intervals["mse"]
    assert low < mse < high
    mean_row = result.baselines[-1]
    assert mean_row.metrics["explained"] == pytest.approx(0.0, abs=1e-9)


def test_a_network_on_a_curve(rng):
    result = CompressStudy(curve(rng, 600), code_size=1).run(seeds=1)
    assert result.verdict == "earned"
    assert result.candidate.cost.parameters > 100
    assert "history_train" in result.arrays


def test_the_code_size_comes_from_the_variance(rng):
    plane = rng.normal(size=(300, 2)) @ rng.normal(size=(2, 5)) + 0.01 * rng.normal(size=(300, 5))
    result = CompressStudy(plane, candidate=lambda rows: rows).run(seeds=1)
    assert result.settings["code_size"] == 2


def test_rows_made_elsewhere(rng):
    X, held = curve(rng), curve(rng, 150)
    rows = onto_the_curve(held)
    result = CompressStudy(X, held, code_size=1, candidate=rows).run(seeds=1)
    assert result.verdict == "earned"
    with pytest.raises(StudyError, match=r"must return rows of shape \(150, 3\)"):
        CompressStudy(X, held, code_size=1, candidate=rows[:10]).run(seeds=1)


def test_groups_and_leaks(rng):
    X = curve(rng)
    frame = {"a": X[:, 0], "b": X[:, 1], "c": X[:, 2], "run": np.repeat(np.arange(20), 20)}
    result = CompressStudy(frame, code_size=1, group="run", candidate=onto_the_curve).run(seeds=1)
    assert result.split.unit == "group"
    twice = np.vstack([X, X])
    own_split = CompressStudy(twice, code_size=1, candidate=onto_the_curve).run(seeds=1)
    assert "copies of a row kept together" in own_split.split.rule
    assert own_split.verdict == "earned"
    leaked = CompressStudy(X, X[:100], code_size=1, candidate=onto_the_curve).run(seeds=1)
    assert leaked.verdict == "invalid"


@pytest.mark.parametrize(
    ("data", "options", "message"),
    [
        (np.ones((5, 3)), {}, "at least 20 rows"),
        (np.arange(40.0)[:, None], {}, "at least two columns"),
        (np.random.default_rng(1).normal(size=(50, 3)), {"code_size": 0}, "code_size"),
        (np.random.default_rng(1).normal(size=(50, 3)), {"code_size": 99}, "code_size"),
        (np.random.default_rng(1).normal(size=(50, 3)), {"candidate": 7}, "must be an object"),
        (np.random.default_rng(1).normal(size=(50, 3)), {"group": "g"}, "no column 'g'"),
    ],
)
def test_what_cannot_be_done_is_said(data, options, message):
    with pytest.raises((StudyError, DataError), match=message) as caught:
        CompressStudy(data, **options).run(seeds=1)
    assert caught.value.hint


def test_a_copy_is_no_compression(rng):
    result = CompressStudy(curve(rng), code_size=1, candidate=lambda rows: rows).run(seeds=1)
    assert result.verdict == "invalid"
    assert {f.code: f.outcome for f in result.findings}["C01"] == "fail"


def test_a_misspelt_column_to_leave_out_is_refused(rng):
    X = curve(rng)
    frame = {"a": X[:, 0], "b": X[:, 1], "speed": X[:, 2]}
    with pytest.raises(DataError, match="No source has a column 'sped'") as caught:
        CompressStudy(frame, drop=("sped",))
    assert "speed" in caught.value.hint


def test_a_shuffled_log_is_put_in_order_of_time(rng):
    X = curve(rng)
    times = rng.permutation(400).astype(float)
    frame = {"t": times, "a": X[:, 0], "b": X[:, 1], "c": X[:, 2]}
    result = CompressStudy(frame, code_size=1, time="t", candidate=onto_the_curve).run(seeds=1)
    assert any("order of time" in note for note in result.data.notes)
    held = np.sort(np.argsort(np.argsort(times))[result.arrays["row_number"] - 1])
    assert np.sum(np.diff(held) > 1) < 10  # blocks in time, not in the file


def test_rounding_is_no_gain(rng):
    plane = rng.normal(size=(300, 1)) @ rng.normal(size=(1, 3))
    result = CompressStudy(plane, code_size=1, candidate=PCA(code_size=1)).run(seeds=1)
    assert result.candidate.metrics["mse"] == 0.0
    assert result.gain.estimate == 0.0
    assert result.verdict != "earned"
