"""The ledger: nothing is lost, nothing is read wrongly, and it says what openings mean."""

import json
import multiprocessing
import os
import sys

import numpy as np
import pytest

from assay import ledger as module
from assay.errors import StudyError
from assay.fingerprint import name_of, row_hashes, sketch_of
from assay.ledger import Ledger, default_path, study_identity


@pytest.fixture
def ledger(tmp_path):
    return Ledger(tmp_path / "runs" / "ledger.jsonl")


def rows(start, stop):
    """What identifies a test part of consecutive rows."""
    hashes = row_hashes(np.arange(float(start), float(stop))[:, None])
    return {"rows_hash": name_of(hashes, 1), "n_rows": len(hashes), "sketch": sketch_of(hashes)}


def opened(ledger, study, **part):
    return ledger.record(study=study, need="anomaly", **part)


def test_record_and_read(ledger):
    assert ledger.entries() == []
    opening = opened(ledger, "a", **rows(0, 10))
    ledger.add_verdict(opening, "undecided")
    (entry,) = ledger.entries()
    assert entry["verdict"] == "undecided"
    assert entry["time"].endswith("+00:00")
    assert entry["sketch"] == rows(0, 10)["sketch"]
    assert ledger.corrupt == 0


def test_first_opening(ledger):
    part = rows(0, 10)
    opening = opened(ledger, "a", **part)
    summary = ledger.summary(**part, study="a", opening=opening)
    assert summary.openings == 1
    assert summary.entries == ()
    assert "first time" in summary.sentence
    assert summary.path == str(ledger.path)


def test_other_studies_make_the_verdict_exploratory(ledger):
    part = rows(0, 10)
    for study in ("a", "b", "b", "c"):
        opened(ledger, study, **part)
    opening = opened(ledger, "mine", **part)
    summary = ledger.summary(**part, study="mine", opening=opening)
    assert summary.openings == 5
    assert "3 other studies" in summary.sentence  # b counts once
    assert "10.0 %" in summary.sentence  # (3 + 1) x 2.5 %
    assert "exploratory" in summary.sentence


def test_the_same_study_again_is_no_new_look(ledger):
    part = rows(0, 10)
    for _ in range(2):
        opened(ledger, "mine", **part)
    opening = opened(ledger, "mine", **part)
    sentence = ledger.summary(**part, study="mine", opening=opening).sentence
    assert "No other study" in sentence
    assert "twice before" in sentence
    assert "exploratory" not in sentence
    opened(ledger, "other", **part)
    sentence = ledger.summary(**part, study="mine", opening=opening).sentence
    assert "1 other study" in sentence
    assert "5.0 %" in sentence
    assert "twice" in sentence


def test_the_chance_never_exceeds_one(ledger):
    part = rows(0, 10)
    for i in range(60):
        opened(ledger, f"study {i}", **part)
    assert "100.0 %" in ledger.summary(**part, study="mine").sentence


@pytest.mark.parametrize(("n", "shift"), [(100, 40), (20_000, 12_000)])
def test_overlapping_rows_are_recognised(ledger, n, shift):
    opened(ledger, "a", **rows(0, n))
    opened(ledger, "elsewhere", **rows(10 * n, 11 * n))
    part = rows(shift, shift + n)
    (entry,) = ledger.earlier(part["rows_hash"], part["sketch"], n_rows=n)
    assert entry["study"] == "a"
    assert entry["rows"] == pytest.approx(n - shift, rel=0 if n <= 256 else 0.4)
    assert f"of the {n} rows" in ledger.summary(**part, study="mine").sentence


def test_disjoint_rows_are_not(ledger):
    opened(ledger, "a", **rows(0, 1000))
    part = rows(1000, 2000)
    assert ledger.earlier(part["rows_hash"], part["sketch"], n_rows=1000) == []
    assert "first time" in ledger.summary(**part, study="mine").sentence


@pytest.mark.parametrize(
    "damage",
    [
        b'{"kind":"opening","id":"x","ti',  # killed while writing
        b"\x00\xff\xfe not JSON",
        b"[1, 2]",
        b'"text"',
        b'{"kind": "opening"}',
        b'{"kind": "other", "id": "1"}',
        b'{"kind":"opening","id":1,"time":1,"study":1,"need":1,"rows_hash":1,"n_rows":"many"}',
        b'{"kind":"opening","id":1,"time":1,"study":1,"need":1,"rows_hash":1,"n_rows":1,'
        b'"sketch":5}',
        b"[" * 100_000,
    ],
)
def test_damaged_lines_are_kept_and_told(ledger, damage):
    part = rows(0, 10)
    opened(ledger, "a", **part)
    with open(ledger.path, "ab") as file:
        file.write(damage)
    opened(ledger, "b", **part)
    assert [entry["study"] for entry in ledger.entries()] == ["a", "b"]
    assert ledger.corrupt == 1
    assert damage in ledger.path.read_bytes()
    assert "1 line of the ledger could not be read" in ledger.summary(**part).sentence


def test_verdict_of_an_unknown_opening_is_ignored(ledger):
    ledger.add_verdict("nobody", "earned")
    assert ledger.entries() == []
    assert ledger.corrupt == 0


def _write(path, writer, count, locking):
    if locking == "lock file":
        sys.modules["fcntl"] = None  # what Windows looks like
    ledger = Ledger(path)
    for i in range(count):
        opening = ledger.record(
            study=f"{writer}-{i}",
            need="anomaly",
            rows_hash="77",
            n_rows=5,
            sketch=tuple(range(256)),
        )
        ledger.add_verdict(opening, "earned")


@pytest.mark.parametrize("locking", ["fcntl", "lock file"])
def test_writers_in_several_processes_lose_nothing(ledger, locking):
    # Not forked: JAX, where another test has loaded it, has threads that a fork would break.
    context = multiprocessing.get_context("spawn")
    writers = [context.Process(target=_write, args=(ledger.path, w, 20, locking)) for w in range(4)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(60)
        assert writer.exitcode == 0
    entries = ledger.entries()
    assert {entry["study"] for entry in entries} == {
        f"{w}-{i}" for w in range(4) for i in range(20)
    }
    assert all(entry["verdict"] == "earned" for entry in entries)
    assert ledger.corrupt == 0
    assert len(ledger.path.read_bytes().splitlines()) == 160
    assert not ledger.path.with_name("ledger.jsonl.lock").exists()


def test_a_lock_left_by_a_killed_writer_is_broken(ledger, monkeypatch):
    monkeypatch.setitem(sys.modules, "fcntl", None)
    lock = ledger.path.with_name("ledger.jsonl.lock")
    lock.parent.mkdir(parents=True)
    lock.write_text("")
    os.utime(lock, (0, 0))
    opened(ledger, "a", **rows(0, 5))
    assert len(ledger.entries()) == 1


def test_a_held_lock_ends_in_an_error_and_not_in_a_hang(tmp_path):
    lock = tmp_path / "ledger.jsonl.lock"
    with (
        module._lock_file(lock),
        pytest.raises(OSError, match="held by another"),
        module._lock_file(lock, patience_s=0.05),
    ):
        pass
    assert not lock.exists()


def test_a_place_that_cannot_be_written_names_the_cure(tmp_path):
    with pytest.raises(StudyError, match="cannot be written") as caught:
        opened(Ledger(tmp_path), "a", **rows(0, 5))
    assert "ASSAY_LEDGER" in caught.value.hint


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_read_only_folder(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(StudyError, match="Permission denied"):
        opened(Ledger(tmp_path / "ledger.jsonl"), "a", **rows(0, 5))
    tmp_path.chmod(0o700)


def test_lines_are_plain_json(ledger):
    opened(ledger, 'a "quoted"\nname', **rows(0, 3))
    (line,) = ledger.path.read_text("utf-8").splitlines()
    assert json.loads(line)["study"] == 'a "quoted"\nname'


def test_default_path(tmp_path, monkeypatch):
    monkeypatch.setenv("ASSAY_LEDGER", str(tmp_path / "mine.jsonl"))
    assert default_path(tmp_path / "runs" / "pump") == tmp_path / "mine.jsonl"
    monkeypatch.delenv("ASSAY_LEDGER")
    assert default_path(tmp_path / "runs" / "pump") == tmp_path / "runs" / "ledger.jsonl"
    assert default_path().name == "ledger.jsonl"


def test_study_identity():
    settings = {"seed": 0, "hidden": [3, 2], "path": os.path.join("a", "b")}
    assert study_identity(settings) == study_identity(dict(reversed(settings.items())))
    assert study_identity(settings) != study_identity({**settings, "seed": 1})
    assert study_identity({"size": np.float64(1.5)})
