"""Whole anomaly studies, with candidates that need no training."""

import json
import warnings

import numpy as np
import pytest

from assay.anomaly import AnomalyStudy
from assay.anomaly.baselines import BASELINES
from assay.anomaly.feeds import blocks_of, feed
from assay.anomaly.figures import time_unit
from assay.anomaly.inputs import Reading
from assay.anomaly.pooled import run_files
from assay.data import read_table
from assay.errors import DataError, StudyError
from assay.report import figures, html

COLUMNS = ("a", "b", "c")


def distance(rows):
    """Score rows by their distance to the origin."""
    return np.linalg.norm(rows, axis=1)


def blind(rows):
    """Score rows by nothing that matters."""
    return np.sin(1e4 * rows[:, 0])


def tables(rng, n=400, n_test=300, faults=60, shift=3.0):
    """Return normal rows, rows to judge and their labels."""
    labels = np.arange(n_test) >= n_test - faults
    test = rng.normal(size=(n_test, 3)) + shift * labels[:, None]
    return rng.normal(size=(n, 3)), test, labels


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def by_code(result):
    return {f.code: f.outcome for f in result.findings}


def test_a_good_and_a_blind_candidate(rng):
    normal, test, labels = tables(rng)
    few = BASELINES[3:5]
    good = AnomalyStudy(normal, test, labels, candidate=distance, baselines=few).run()
    poor = AnomalyStudy(normal, test, labels, candidate=blind, baselines=few).run()
    assert good.candidate.metrics["detection_rate"] > 0.8
    assert good.verdict in ("undecided", "earned")  # as good as the row norm, which it is
    assert poor.verdict == "not_earned"
    assert poor.gain.high < 0
    assert "Use the classical" in poor.sentence


def test_the_threshold_and_the_rates_are_those_of_the_scores(rng):
    normal, test, labels = tables(rng)
    result = AnomalyStudy(normal, test, labels, candidate=distance).run()
    arrays = result.arrays
    assert np.array_equal(arrays["row_score"], distance(test))
    held = np.sort(arrays["calibration_score"])[::-1]
    k = int(0.05 * (len(held) + 1))
    assert arrays["threshold"] == held[k - 1]
    alarms = distance(test) > held[k - 1]
    metrics = result.candidate.metrics
    assert metrics["false_alarm_rate"] == pytest.approx(alarms[~labels].mean())
    assert metrics["detection_rate"] == pytest.approx(alarms[labels].mean())
    assert set(arrays["calibration_score"]) <= set(distance(normal))


def test_the_test_part_changes_nothing_that_was_fitted_or_set(rng):
    normal, test, labels = tables(rng)
    first = AnomalyStudy(normal, test, labels, candidate=distance).run()
    other = AnomalyStudy(normal, 100.0 * test, labels, candidate=distance).run()
    assert first.arrays["threshold"] == other.arrays["threshold"]
    assert [b.settings for b in first.baselines] == [b.settings for b in other.baselines]


def test_without_labels_there_are_alarms_and_no_verdict(rng):
    normal, test, _ = tables(rng)
    result = AnomalyStudy(normal, test, candidate=distance).run()
    assert result.verdict == "undecided"
    assert result.gain is None
    assert "detection_rate" not in result.candidate.metrics
    assert 0.1 < result.candidate.metrics["alarm_rate"] < 0.5


@pytest.mark.parametrize("faults", [0, 300])
def test_labels_of_one_kind_give_no_verdict(rng, faults):
    normal, test, _ = tables(rng)
    labels = np.arange(300) < faults
    result = AnomalyStudy(normal, test, labels, candidate=distance).run()
    assert result.verdict in ("undecided", "invalid")
    assert result.gain is None


def test_one_labelled_table_is_split(rng):
    _, test, labels = tables(rng, n_test=600, faults=100)
    study = AnomalyStudy({**dict(zip(COLUMNS, test.T, strict=True)), "state": labels.astype(int)},
                         labels="state", candidate=distance)  # fmt: skip
    result = study.run()
    parts = {p.name: p.rows for p in result.split.parts}
    assert parts["fit"] + parts["calibration"] == 250
    assert parts["test"] == 350
    assert result.arrays["row_label"].sum() == 100


def test_the_first_rows_are_normal(rng):
    normal, test, labels = tables(rng)
    table = np.vstack([normal, test])
    marked = np.r_[np.zeros(len(normal), bool), labels]
    frame = {**dict(zip(COLUMNS, table.T, strict=True)), "state": marked.astype(int)}
    result = AnomalyStudy(frame, labels="state", normal_rows=400, candidate=distance).run()
    assert {p.name: p.rows for p in result.split.parts}["test"] == 300
    assert np.array_equal(result.arrays["row_label"], labels)


def test_leaked_rows_make_it_invalid(rng):
    normal, test, labels = tables(rng)
    test[:60] = normal[:60]
    result = AnomalyStudy(normal, test, labels, candidate=distance).run()
    assert result.verdict == "invalid"
    assert by_code(result)["A06"] == "fail"


def test_copies_of_a_row_stay_on_one_side(rng):
    rows = rng.normal(size=(600, 3))
    faults = np.arange(600) >= 500
    frame = np.vstack([rows + 3.0 * faults[:, None]] * 2)
    table = {**dict(zip(COLUMNS, frame.T, strict=True)), "state": np.r_[faults, faults].astype(int)}
    result = AnomalyStudy(table, labels="state", candidate=distance).run()
    assert "copies" in result.split.rule
    assert by_code(result)["A06"] == "pass"


def test_a_changed_condition_makes_it_invalid(rng):
    normal, test, labels = tables(rng)
    result = AnomalyStudy(
        normal, test + np.array([4.0, 0.0, 0.0]), labels, candidate=distance
    ).run()
    assert result.verdict == "invalid"
    assert by_code(result)["A03"] == "fail"


def test_series_are_held_out_in_blocks_and_windows_stay_inside_them(rng):
    normal, test, labels = tables(rng, n=1000)
    hours = np.arange("2024-01-01", "2024-03-01", dtype="datetime64[h]")
    frame = {"t": hours[:1000], **dict(zip(COLUMNS, normal.T, strict=True))}
    judged = {"t": hours[1000:1300], **dict(zip(COLUMNS, test.T, strict=True))}
    result = AnomalyStudy(
        frame, judged, labels, time="t", window=5, candidate=distance, baselines=BASELINES[3:4]
    ).run()
    assert result.split.unit == "block"
    assert "blocks" in result.split.rule
    assert len(result.arrays["row_score"]) == 296
    assert result.arrays["row_label"].sum() == 60
    assert result.candidate.metrics["alarms_per_day"] == pytest.approx(24 * 0.05, abs=0.3)


def test_times_that_go_back_are_put_in_order_with_a_note(rng):
    normal, test, labels = tables(rng)
    times = np.arange(400.0)
    times[[100, 101]] = times[[101, 100]]
    frame = {"t": times, **dict(zip(COLUMNS, normal.T, strict=True))}
    judged = {"t": np.arange(400.0, 700.0), **dict(zip(COLUMNS, test.T, strict=True))}
    result = AnomalyStudy(frame, judged, labels, time="t", candidate=distance).run()
    assert any("order of time" in note for note in result.data.notes)


def test_groups_are_held_out_whole(rng):
    normal, test, labels = tables(rng, n=1000)
    machine = np.repeat([f"m{i}" for i in range(20)], 50)
    frame = {"machine": machine, **dict(zip(COLUMNS, normal.T, strict=True))}
    judged = {"machine": np.repeat([f"n{i}" for i in range(10)], 30),
              **dict(zip(COLUMNS, test.T, strict=True))}  # fmt: skip
    result = AnomalyStudy(frame, judged, labels, group="machine", candidate=distance).run()
    assert "groups held out whole" in result.split.rule
    assert result.split.unit == "group"
    assert {p.name: p.rows for p in result.split.parts}["calibration"] % 50 == 0


def test_the_candidate_s_scores_may_come_from_elsewhere(rng, tmp_path):
    normal, test, labels = tables(rng)
    both = np.r_[distance(normal), distance(test)]
    path = tmp_path / "scores.csv"
    path.write_text("score\n" + "\n".join(map(repr, both.tolist())) + "\n")
    from_file = AnomalyStudy(normal, test, labels, candidate=path).run()
    ours = AnomalyStudy(normal, test, labels, candidate=distance).run()
    assert from_file.gain == ours.gain
    assert any("could not be checked" in note for note in from_file.notes)
    assert from_file.model is None


def test_the_ledger_knows_earlier_looks(rng, tmp_path, monkeypatch):
    monkeypatch.delenv("ASSAY_LEDGER")  # beside the runs, as users have it
    normal, test, labels = tables(rng)
    study = AnomalyStudy(normal, test, labels, candidate=distance)
    first = study.run(folder=tmp_path / "one")
    again = study.run(folder=tmp_path / "two")
    other = AnomalyStudy(normal, test, labels, candidate=blind).run(folder=tmp_path / "three")
    assert (first.ledger.openings, again.ledger.openings, other.ledger.openings) == (1, 2, 3)
    assert "first time" in first.ledger.sentence
    assert "no new look" in again.ledger.sentence
    assert "1 other study" in other.ledger.sentence
    lines = (tmp_path / "ledger.jsonl").read_text().splitlines()
    assert [json.loads(line)["kind"] for line in lines] == ["opening", "verdict"] * 3


def test_equal_seeds_give_equal_results(rng):
    normal, test, labels = tables(rng)
    study = AnomalyStudy(normal, test, labels, candidate=distance)
    first, second, third = study.run(3), study.run(3), study.run(4)
    assert first.gain == second.gain
    assert first.arrays["threshold"] != third.arrays["threshold"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"false_alarm_rate": 0.0}, "false_alarm_rate"),
        ({"false_alarm_rate": 0.9}, "false_alarm_rate"),
        ({"false_alarm_rate": 1e-4}, "needs at least 9999"),
        ({"window": 0}, "window"),
        ({"window": 500}, "Windows of 500 rows are too long"),
        ({"baselines": ()}, "at least one baseline"),
        ({"candidate": "denoisng"}, "no candidate 'denoisng'"),
        ({"candidate": "forecast"}, "windows of at least 2"),
        ({"drop": ("nothing",)}, "no column 'nothing'|No source has a column 'nothing'"),
        ({"time": "nothing"}, "no column 'nothing'"),
        ({"normal_rows": 10}, "Normal rows are either"),
        ({"candidate": 7}, "must be an object"),
    ],
)
def test_what_cannot_be_done_is_said(rng, options, message):
    normal, test, labels = tables(rng)
    with pytest.raises((StudyError, DataError), match=message) as caught:
        AnomalyStudy(normal, test, labels, **{"candidate": distance, **options}).run()
    assert caught.value.hint


def test_what_fails_leaves_no_folder(rng, tmp_path):
    normal, test, labels = tables(rng)

    def broken(rows):
        raise RuntimeError("no")

    with pytest.raises(StudyError, match="broken failed: RuntimeError: no"):
        AnomalyStudy(normal, test, labels, candidate=broken).run(folder=tmp_path / "run")
    assert not list(tmp_path.glob("run*"))


def test_nothing_is_warned_about(rng):
    normal, test, labels = tables(rng)
    normal[:, 2] = 1.0  # a constant column
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        AnomalyStudy(normal, test, labels, candidate=distance).run()


def test_calibration_rows_are_counted_and_named_as_what_they_are(rng, tmp_path):
    normal, test, labels = tables(rng)
    files = {name: str(tmp_path / f"{name}.csv") for name in ("normal", "held", "new")}
    for name, rows in (("normal", normal[:300]), ("held", normal[300:]), ("new", test)):
        np.savetxt(files[name], rows, delimiter=",", header="a,b,c", comments="")
    result = AnomalyStudy(
        files["normal"],
        files["new"],
        labels,
        calibration=files["held"],
        candidate=distance,
        baselines=BASELINES[3:4],
    ).run()
    assert [(p.rows, p.source.rsplit("/", 1)[-1]) for p in result.split.parts] == [
        (300, "normal.csv"),
        (100, "held.csv"),
        (300, "new.csv"),
    ]
    assert result.data.rows == 700


def test_several_files_are_told_as_files(rng, tmp_path):
    files = []
    for number in range(2):
        normal, test, labels = tables(rng)
        files.append(tmp_path / f"run{number}.csv")
        rows = np.column_stack([np.r_[normal, test], np.r_[np.zeros(len(normal)), labels]])
        np.savetxt(files[-1], rows, delimiter=",", header="a,b,c,fault", comments="")
    chosen = {"candidate": distance, "false_alarm_rate": 0.05, "scaling": "standard"}
    chosen |= {"components": None, "window": None, "step": None}
    flow = {"seed": 0, "seeds": 1, "margin": 0.0, "folder": None, "progress": None}
    result = run_files(list(map(str, files)), Reading(label="fault"), 400, chosen, flow)
    assert result.split.parts[-1].use.endswith("120 anomalies")  # of both files
    drawn = figures.render(result)
    assert [f.key for f in drawn] == ["operating"]
    assert not any(f.problem for f in drawn)
    page = html.render(result, drawn)
    assert "over files" in page
    assert "over seeds" not in page


@pytest.mark.parametrize(
    ("seconds", "unit"), [(1.0, "s"), (170.0, "s"), (1200.0, "min"), (2e4, "h"), (5e6, "d")]
)
def test_a_record_is_drawn_in_the_unit_a_person_would_choose(seconds, unit):
    assert time_unit(seconds)[0] == unit


def test_the_title_counts_in_words_that_agree():
    rows = np.random.default_rng(1).normal(size=(1500, 1))
    result = AnomalyStudy(rows, rows[:1200] + 0.01, candidate=distance).run()
    assert result.title.endswith("1,200 rows without labels, 1 column")


def test_copies_of_test_rows_are_no_new_evidence(rng):
    normal, test, labels = tables(rng, n=5000, n_test=120, faults=40, shift=1.0)
    few = BASELINES[3:5]

    def gain(times):
        rows, marks = np.repeat(test, times, axis=0), np.repeat(labels, times)
        study = AnomalyStudy(normal, rows, marks, candidate=lambda X: X.max(axis=1), baselines=few)
        return study.run().gain

    once, often = gain(1), gain(10)
    assert often.estimate == pytest.approx(once.estimate)
    assert often.high - often.low > 0.8 * (once.high - once.low)


def test_readings_on_a_coarse_grid_are_rows_of_their_own(rng):
    part = feed(read_table(rng.integers(0, 3, size=(200, 2))), window=None, step=1, what="rows")
    assert len(np.unique(blocks_of(part, None))) == 200
