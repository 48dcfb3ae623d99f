"""A study that was killed, or stopped and its problem edited, is run by the same command again."""

import json
import os
import re
import signal
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

from assay.errors import StudyError
from assay.physics import PINN, journal
from assay.physics.command import run
from assay.physics.gallery import oscillator
from assay.train import checkpoint

SCRIPT = Path(__file__).with_name("killed_study.py")
DECAY = """
from assay.physics import Initial, Problem

problem = Problem(lambda d: d.u_t + {rate} * d.u, {{"t": (0.0, 1.0)}},
                  conditions=(Initial("u", 1.0),))
"""
SMALL = {"hidden": [8], "steps": 15, "points": 20, "seeds": 1, "tolerance": 1e-6}


@pytest.fixture(autouse=True)
def _ledger(tmp_path, monkeypatch):
    monkeypatch.setenv("ASSAY_LEDGER", str(tmp_path / "ledger.jsonl"))


def process(ending, n, folder):
    """Run the command in a process of its own that is killed at a moment; return how it ended."""
    typed = ["physics", "gallery:oscillator", "--seeds", "2", "--json", "--out", str(folder)]
    return subprocess.run(
        [sys.executable, str(SCRIPT), ending, str(n), *typed],
        capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False, env=os.environ,
    )  # fmt: skip


def errors(told):
    """Return the error of each seed."""
    (table,) = (t for t in told["tables"] if t["title"] == "Error and time")
    found = [row[2] for row in table["rows"] if row[0].startswith("network")]
    assert len(found) == 2
    return found


@pytest.mark.slow
def test_a_killed_command_goes_on_and_ends_as_if_nothing_had_been(tmp_path):
    straight = json.loads(process("none", 0, tmp_path / "straight").stdout)
    ending = "-1.training"  # the second training; the first one is whole
    killed = process(ending, 5, tmp_path / "killed")
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    assert killed.stdout == ""
    assert not (tmp_path / "killed").exists()
    assert len(list((tmp_path / "killed.partial").rglob("*.training"))) == 2
    again = process("none", 0, tmp_path / "killed")
    done = [int(n) for n in re.findall(r"\.training: (\d+) done", again.stderr)]
    assert len(done) == 2  # both trainings found what they had done
    assert done[0] > done[1]
    assert "afresh" not in again.stderr
    told = json.loads(again.stdout)
    assert errors(told) == errors(straight)
    assert told["candidate"]["status"] == straight["candidate"]["status"]
    assert (tmp_path / "killed" / "report.html").is_file()
    assert not (tmp_path / "killed.partial").exists()


def stopped(path, out, monkeypatch):
    """Run a study until its training has been written twice, and press Ctrl-C."""
    left, save = [2], checkpoint.save

    def counted(*given):
        save(*given)
        left[0] -= 1
        if not left[0]:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(journal, "SECONDS", 0.0)
        patch.setattr(checkpoint, "save", counted)
        with pytest.raises(KeyboardInterrupt):
            run(problem=f"{path}:problem", out=out, **SMALL)
    (kept,) = out.with_name(out.name + ".partial").rglob("*.training")
    return kept


def error_of(path, out):
    return run(problem=f"{path}:problem", out=out, **SMALL).candidate.metrics["error"]


def test_an_edited_problem_starts_afresh_and_says_so(tmp_path, monkeypatch):
    path, out = tmp_path / "decay.py", tmp_path / "runs" / "decay"
    path.write_text(DECAY.format(rate="3.0"), "utf-8")
    stopped(path, out, monkeypatch)
    path.write_text(DECAY.format(rate="2.0"), "utf-8")
    with pytest.warns(UserWarning, match=r"starts afresh: .*another fit: .*equation.* differ"):
        found = error_of(path, out)
    assert found == error_of(path, tmp_path / "runs" / "clean")


def test_a_damaged_file_starts_afresh_and_says_so(tmp_path):
    settings, folder = {"hidden": (8,), "points": 20, "steps": 10}, tmp_path / "net"
    first = PINN(**settings).fit(oscillator(), checkpoint=folder)
    kept = tmp_path / "net.training"
    kept.write_bytes(kept.read_bytes()[:-9])
    again = PINN(**settings)
    with pytest.warns(UserWarning, match="starts afresh: .*is damaged"):
        journal.fit_kept(again, oscillator(), folder)
    assert again.steps_ == first.steps_
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        journal.fit_kept(PINN(**settings), oscillator(), folder)  # what is whole is used silently


def test_other_refusals_are_not_taken_for_an_old_training(tmp_path):
    with pytest.raises(StudyError, match="precision"):
        journal.fit_kept(PINN(precision="float16"), oscillator(), tmp_path / "net")
