"""Advice follows from what is in the table."""

import json

import numpy as np
import pytest

from assay.cli.advise import advise, rows_for_rate
from assay.cli.main import main
from assay.data import Table, profile


def topics(X, *, rate=0.05, **extra):
    X = np.asarray(X, dtype=np.float64)
    names = tuple(f"c{j}" for j in range(X.shape[1]))
    table = Table(X, names, ("",) * len(names), **extra)
    found = advise(table, profile(X), rate=rate, typed="assay anomaly log.csv")
    return {a.topic: a.sentence for a in reversed(found)}, found


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def test_nearly_linear_columns_point_to_pca_q(rng):
    X = rng.normal(size=(2000, 3)) @ rng.normal(size=(3, 20)) + 1e-3 * rng.normal(size=(2000, 20))
    told, _ = topics(X)
    assert "PCA Q" in told["baseline"]
    assert "little room" in told["network"]


def test_independent_columns_do_not(rng):
    told, _ = topics(rng.normal(size=(2000, 20)))
    assert "nearest normal row" in told["baseline"]
    assert "little room" not in told["network"]


def test_few_columns_point_to_mahalanobis(rng):
    assert "Mahalanobis" in topics(rng.normal(size=(2000, 4)))[0]["baseline"]


def test_few_rows_are_said_to_be_few(rng):
    told, _ = topics(rng.normal(size=(30, 20)))
    assert "no covariance can be trusted" in told["baseline"]
    assert "are few for a network" in told["network"]
    assert "cannot carry it" in told["threshold"]


def test_enough_rows_are_said_to_be_enough(rng):
    assert "which is enough" in topics(rng.normal(size=(5000, 4)))[0]["threshold"]


def test_copies_and_still_columns_are_named(rng):
    X = np.repeat(rng.normal(size=(500, 3)), 2, axis=0)
    X[:, 1] = 7.0
    _, found = topics(X)
    said = " ".join(a.sentence for a in found)
    assert "500 of the 1,000 rows looked at repeat" in said
    assert "'c1' hardly ever changes" in said


def test_a_label_among_the_columns_is_pointed_out(rng):
    X = np.c_[rng.normal(size=(400, 3)), rng.random(400) < 0.1]
    _, found = topics(X)
    assert any("'c3' holds only 0 and 1" in a.sentence for a in found)
    labels = np.arange(400) < 40
    assert not any("holds only 0 and 1" in a.sentence for a in topics(X, labels=labels)[1])


def test_faults_are_counted(rng):
    told, _ = topics(rng.normal(size=(400, 3)), labels=np.arange(400) < 12)
    assert "388 rows are normal and 12 are faults" in told["need"]
    assert "Only 12 rows are faults" in told["need"]


def test_a_series_is_told_about_blocks(rng):
    assert "time" in topics(rng.normal(size=(400, 3)), times=np.arange(400.0))[0]
    assert "time" not in topics(rng.normal(size=(400, 3)))[0]


@pytest.mark.parametrize("rate", [0.01, 0.05, 0.2])
def test_the_rows_for_a_rate_keep_their_promise_in_a_simulation(rate, rng):
    n = rows_for_rate(rate)
    k = int(np.floor(rate * (n + 1) + 1e-9))
    # Uniform scores: the realised rate of the threshold at the k-th largest is one minus it.
    realised = 1.0 - np.sort(rng.random((4000, n)), axis=1)[:, n - k]
    inside = np.mean((realised >= rate / 2) & (realised <= 2 * rate))
    assert inside >= 0.94
    fewer = max(n // 3, 1)
    k = max(int(np.floor(rate * (fewer + 1) + 1e-9)), 1)
    realised = 1.0 - np.sort(rng.random((4000, fewer)), axis=1)[:, fewer - k]
    assert np.mean((realised >= rate / 2) & (realised <= 2 * rate)) < 0.94


def test_the_command_prints_names_that_were_typed(tmp_path, rng, capsys):
    path = tmp_path / "log.csv"
    rows = "\n".join(f"{a:.5f},{b:.5f},{int(a > 1.5)}" for a, b in rng.normal(size=(400, 2)))
    path.write_text(f"flow,pressure,state\n{rows}\n", "utf-8")
    assert main(["advise", str(path), "--label", "state"]) == 0
    assert f"assay anomaly {path} --label state" in capsys.readouterr().out
    assert main(["advise", str(path), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["profile"]["rows"] == 400
    assert {"topic", "sentence", "command"} == set(told["advice"][0])


def test_a_file_that_is_not_there(tmp_path, capsys):
    assert main(["advise", str(tmp_path / "none.csv")]) == 1
    err = capsys.readouterr().err
    assert err.startswith("error: ")
    assert "\nhint: " in err


def test_a_plain_table_may_be_runs_of_a_simulator(rng):
    told, found = topics(rng.normal(size=(60, 4)))
    assert "60 runs and 3 inputs" in told["surrogate"]
    assert next(a for a in found if a.topic == "surrogate").command.endswith("--outputs c3")
    assert "few" in topics(rng.normal(size=(25, 4)))[0]["surrogate"]
    stamps = np.arange(60.0)
    assert "surrogate" not in topics(rng.normal(size=(60, 4)), times=stamps)[0]


def test_a_series_at_the_end_of_a_table_is_taken_for_the_outputs(rng):
    names = ("a", "b", *(f"u_{t}" for t in (0.1, 0.2, 0.5, 1.5)))
    X = rng.normal(size=(60, 6))
    found = advise(Table(X, names, ("",) * 6, source="r.csv"), profile(X), rate=0.05, typed="x")
    told = next(a for a in found if a.topic == "surrogate")
    assert told.command == "assay surrogate r.csv --outputs 'u_*'"
    assert "2 inputs" in told.sentence


def test_a_declaration_is_sent_to_the_need_that_takes_it(capsys):
    assert main(["advise", "oscillator.py"]) == 1
    assert "assay physics oscillator.py:NAME" in capsys.readouterr().err
