"""Studies of several files: files are the units, and the worst finding speaks for all."""

import numpy as np
import pytest

from assay.anomaly.pooled import pool, short_names
from assay.errors import StudyError
from assay.result import (
    Contender,
    Cost,
    DataSummary,
    Finding,
    Gain,
    LedgerSummary,
    Part,
    Result,
    SplitSummary,
)


def contender(name, loss):
    metrics = {"loss": loss, "false_alarm_rate": 0.05, "detection_rate": 1.05 - loss}
    return Contender(name, metrics, Cost(1.0, 2.0, 10))


def study(ours, theirs, *, outcome="pass", openings=1, names=("Q", "T2")):
    return Result(
        need="anomaly",
        title="one file",
        verdict="undecided",
        sentence="",
        gain=Gain(0.0, -1.0, 1.0, against=names[0]),
        gains=(),
        candidate=contender("network", ours),
        baselines=tuple(contender(n, x) for n, x in zip(names, theirs, strict=True)),
        metrics=(),
        findings=(Finding("A01", "shift", outcome, "fail", 0.1, 0.2, "said", fix=("do",)),),
        split=SplitSummary((Part("fit", 100, "x", "fitted"), Part("test", 50, "x", "judged")), "r"),
        data=DataSummary(("x.csv",), 150, ()),
        ledger=LedgerSummary("ledger", "hash", openings, (), ""),
        settings={"need": "anomaly"},
        versions={},
        started="2026-01-01T00:00:00+00:00",
        seconds=2.0,
    )


def several(ours, theirs, **extra):
    return tuple(
        (f"f{i}", study(a, b, **extra)) for i, (a, b) in enumerate(zip(ours, theirs, strict=True))
    )


def test_the_gain_is_the_ratio_of_mean_losses_over_files():
    rng = np.random.default_rng(0)
    theirs = rng.uniform(0.4, 0.6, size=(12, 2))
    ours = 0.5 * theirs.min(axis=1)
    whole = pool(several(ours, theirs))
    best = theirs.mean(axis=0).min()
    assert whole.gain.estimate == pytest.approx(1 - ours.mean() / best)
    assert whole.gain.against == ("Q", "T2")[int(theirs.mean(axis=0).argmin())]
    assert whole.verdict == "earned"


def test_no_gain_is_not_earned():
    rng = np.random.default_rng(1)
    theirs = rng.uniform(0.2, 0.8, size=(12, 2))
    whole = pool(several(theirs[:, 0] * rng.uniform(0.8, 1.25, 12), theirs))
    assert whole.verdict in ("undecided", "not_earned")


def test_metrics_are_means_over_files_with_their_spread():
    ours = np.array([0.1, 0.2, 0.6])
    whole = pool(several(ours, np.full((3, 2), 0.5)))
    assert whole.candidate.metrics["loss"] == pytest.approx(ours.mean())
    assert whole.candidate.spread["loss"] == pytest.approx(ours.std(ddof=1))
    assert [p.rows for p in whole.split.parts] == [300, 150]
    assert whole.split.unit == "file"
    assert len(whole.tables[0].rows) == 3
    assert [name for name, _ in whole.studies] == ["f0", "f1", "f2"]


def test_one_failed_check_makes_the_whole_invalid():
    theirs = np.random.default_rng(0).uniform(0.4, 0.6, size=(12, 2))
    results = list(several(0.3 * theirs.min(axis=1), theirs))
    assert pool(tuple(results)).verdict == "earned"
    results[2] = ("f2", study(0.1, (0.5, 0.5), outcome="fail"))
    whole = pool(tuple(results))
    assert whole.verdict == "invalid"
    assert "1 of 12 files" in whole.findings[0].sentence
    assert "f2" in whole.findings[0].sentence


def test_the_ledger_of_the_most_opened_file_is_shown():
    results = (*several([0.1], [(0.5, 0.5)]), ("g", study(0.1, (0.5, 0.5), openings=7)))
    assert pool(results).ledger.openings == 7


def test_one_file_is_no_pool_and_methods_must_agree():
    with pytest.raises(StudyError, match="at least two files"):
        pool(several([0.1], [(0.5, 0.5)]))
    other = ("g", study(0.1, (0.5, 0.5), names=("Q", "kNN")))
    with pytest.raises(StudyError, match="different methods"):
        pool((*several([0.1], [(0.5, 0.5)]), other))


def test_every_file_gets_a_name_of_its_own():
    assert short_names(["a/x.csv", "b/x.csv", "x-2.csv", "c/x.csv"]) == ["x", "x-2", "x-2-2", "x-3"]
