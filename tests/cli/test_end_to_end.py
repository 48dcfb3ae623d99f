"""The commands as a user types them, on small files, through to the folder."""

import json
import os
import signal
import subprocess
import sys
import time
import tomllib

import numpy as np
import pytest

from assay.cli.main import main

FILES = ("result.json", "report.html", "study.toml")


def write(path, X, label=None, names=None):
    names = names or [f"s{j}" for j in range(X.shape[1])]
    columns = [*X.T] + ([label] if label is not None else [])
    head = ",".join([*names, *(["state"] if label is not None else [])])
    rows = "\n".join(",".join(f"{v:.6g}" for v in row) for row in zip(*columns, strict=True))
    path.write_text(f"{head}\n{rows}\n", "utf-8")
    return str(path)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Write normal rows near a plane, and a test part with faults off the plane."""
    rng = np.random.default_rng(0)
    plane = rng.normal(size=(2, 5))

    def rows(n):
        return rng.normal(size=(n, 2)) @ plane + 0.1 * rng.normal(size=(n, 5))

    folder = tmp_path_factory.mktemp("files")
    faults = rows(60) + rng.normal(size=(60, 5))
    labels = np.r_[np.zeros(200), np.ones(60)]
    normal = write(folder / "normal.csv", rows(600))
    test = write(folder / "test.csv", np.r_[rows(200), faults], labels)
    return normal, test


@pytest.fixture(scope="module")
def ran(files, tmp_path_factory):
    """Run the anomaly command once, in a process of its own."""
    folder = tmp_path_factory.mktemp("runs") / "first"
    typed = ["anomaly", files[0], "--test", files[1], "--label", "state", "--seeds", "1"]
    run = command([*typed, "--out", str(folder), "--json"], ledger=folder.with_name("ledger"))
    return folder, run


def command(args, *, ledger):
    return subprocess.run(
        [sys.executable, "-m", "assay.cli.main", *args],
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        check=False,
        env=os.environ | {"ASSAY_LEDGER": str(ledger)},
    )


def test_stdout_is_the_result_and_nothing_else(ran):
    folder, run = ran
    told = json.loads(run.stdout)
    assert told == json.loads((folder / "result.json").read_text("utf-8"))
    codes = {"earned": 0, "not_earned": 3, "invalid": 4, "undecided": 5}
    assert run.returncode == codes[told["verdict"]]
    assert "Traceback" not in run.stderr


def test_the_result_has_what_is_documented(ran):
    told = json.loads(ran[1].stdout)
    wanted = {"need", "verdict", "gain", "candidate", "baselines", "findings", "split", "ledger"}
    assert wanted | {"settings", "versions"} <= set(told)
    assert {"estimate", "low", "high", "against"} <= set(told["gain"])
    assert {"name", "metrics", "cost"} <= set(told["candidate"])
    for finding in told["findings"]:
        assert {"code", "outcome", "measured", "threshold", "sentence", "fix"} <= set(finding)


def test_the_folder_holds_what_is_documented(ran):
    folder, _ = ran
    for name in FILES:
        assert (folder / name).is_file()
    assert list((folder / "figures").glob("*.svg"))
    assert sorted(p.name for p in (folder / "model").iterdir()) == [
        "model.json",
        "weights.safetensors",
    ]
    assert [p.name for p in folder.parent.iterdir() if p.name.startswith("." + folder.name)] == []
    assert not folder.with_name(folder.name + ".partial").exists()


def test_the_study_file_runs_the_same_study_again(ran):
    folder, first = ran
    ledger = folder.with_name("ledger")
    again = command(["run", str(folder / "study.toml"), "--json"], ledger=ledger)
    assert again.returncode == first.returncode, again.stderr
    one, two = json.loads(first.stdout), json.loads(again.stdout)
    assert two["gain"]["estimate"] == one["gain"]["estimate"]
    assert two["candidate"]["metrics"] == one["candidate"]["metrics"]
    assert two["settings"] == one["settings"]
    assert two["ledger"]["openings"] == one["ledger"]["openings"] + 1
    assert tomllib.loads((folder.with_name("first-again") / "study.toml").read_text("utf-8"))


def test_new_data_are_checked_against_the_saved_model(ran, files, tmp_path, capsys):
    folder, _ = ran
    assert main(["check", str(folder), files[0], "--allow", "0.02"]) == 0
    assert "alarm" in capsys.readouterr().out
    wild = write(tmp_path / "wild.csv", np.full((50, 5), 99.0))
    assert main(["check", str(folder), wild]) == 3


def test_data_that_cannot_be_used_leave_nothing(tmp_path, files, capsys):
    bad = tmp_path / "bad.csv"
    bad.write_text("a,b\nx,y\n", "utf-8")
    out = tmp_path / "runs" / "bad"
    assert main(["anomaly", str(bad), "--test", files[1], "--out", str(out)]) == 1
    err = capsys.readouterr().err
    assert [line.split(":")[0] for line in err.splitlines()] == ["error", "hint"]
    assert not out.exists()
    assert not out.parent.exists() or list(out.parent.iterdir()) == []


def test_a_folder_of_somebody_else_is_refused_before_the_work(tmp_path, files, capsys):
    out = tmp_path / "mine"
    out.mkdir()
    (out / "thesis.tex").write_text("x", "utf-8")
    assert main(["anomaly", files[0], "--out", str(out)]) == 1
    assert "thesis" in os.listdir(out)[0]
    assert "error: " in capsys.readouterr().err


@pytest.mark.slow
def test_ctrl_c_can_be_gone_on_from(files, tmp_path):
    out = tmp_path / "runs" / "stopped"
    typed = [sys.executable, "-m", "assay.cli.main", "anomaly", files[0], "--test", files[1]]
    typed += ["--label", "state", "--out", str(out)]
    # A job in the background is started with Ctrl-C ignored, and hands that on to its own.
    given = signal.signal(signal.SIGINT, signal.default_int_handler)
    process = subprocess.Popen(
        typed, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, stdin=subprocess.DEVNULL
    )
    signal.signal(signal.SIGINT, given)
    partial = out.with_name("stopped.partial")
    deadline = time.monotonic() + 120
    while not any(partial.rglob("*")) and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=120)
    assert process.returncode == 130, err
    assert "the same command again" in err
    assert not out.exists()
    again = command(typed[3:], ledger=tmp_path / "ledger")
    assert again.returncode in (0, 3, 4, 5), again.stderr
    assert (out / "report.html").is_file()
    assert not partial.exists()
