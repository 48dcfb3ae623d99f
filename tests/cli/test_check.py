"""New data are held against the range that a model was trained on."""

import json
import types

import numpy as np
import pytest

from assay.cli.main import main
from assay.data import Scaler

ROWS = 1000


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture
def model(monkeypatch, tmp_path, rng):
    """Stand in for a saved detector that was trained on three columns; return its description."""
    X = rng.uniform(-1.0, 1.0, size=(ROWS, 3))
    extra = {"columns": ["a", "b", "c"], "threshold": 2.0}
    saved = types.SimpleNamespace(
        scaler_=Scaler.fit(X), anomaly_score=lambda rows: np.abs(rows).max(axis=1)
    )
    monkeypatch.setattr("assay.models.load", lambda folder: saved)
    monkeypatch.setattr("assay.models.load_model", lambda folder: ("f", {}, {}, extra))
    return types.SimpleNamespace(extra=extra, saved=saved, folder=str(tmp_path / "model"))


def table(path, X, names=("a", "b", "c")):
    rows = "\n".join(",".join(f"{value:.6f}" for value in row) for row in X)
    path.write_text(f"{','.join(names)}\n{rows}\n", "utf-8")
    return str(path)


def test_the_same_kind_of_data_is_inside(model, tmp_path, rng, capsys):
    data = table(tmp_path / "new.csv", rng.uniform(-0.99, 0.99, size=(500, 3)))
    assert main(["check", model.folder, data]) == 0
    out = capsys.readouterr().out
    assert out.startswith("INSIDE")
    assert "0 of 500 rows (0.0 %) alarm" in out


def test_a_shifted_column_is_named_with_its_share_and_rows(model, tmp_path, rng, capsys):
    X = rng.uniform(-0.99, 0.99, size=(500, 3))
    X[100:150, 1] = 3.0
    data = table(tmp_path / "new.csv", X)
    assert main(["check", model.folder, data, "--json"]) == 3
    told = json.loads(capsys.readouterr().out)
    assert told["inside"] is False
    assert told["columns"][0][:2] == ["b", 0.1]
    assert told["rows_outside"] == 50
    assert told["first_rows"][0] == 102  # line in the file: a header and a hundred rows before
    assert told["alarms"] == 50
    assert main(["check", model.folder, data, "--allow", "0.1"]) == 0
    assert main(["check", model.folder, data, "--exit-zero"]) == 0
    assert "b" in capsys.readouterr().out


def test_columns_are_found_by_name_in_any_order(model, tmp_path, rng):
    X = rng.uniform(-0.99, 0.99, size=(200, 4))
    X[:, 0] = 100.0
    assert main(["check", model.folder, table(tmp_path / "x.csv", X, ("z", "c", "a", "b"))]) == 0


def test_windows_are_cut_as_in_training(model, tmp_path, rng, capsys):
    model.extra |= {"window": 5, "step": 1}
    flat = rng.uniform(-1.0, 1.0, size=(ROWS, 15))
    model.saved.scaler_ = Scaler.fit(flat)
    X = rng.uniform(-0.99, 0.99, size=(300, 3))
    X[:20, 2] = 9.0
    assert main(["check", model.folder, table(tmp_path / "x.csv", X), "--json"]) == 3
    told = json.loads(capsys.readouterr().out)
    assert told["rows"] == 296
    assert [name for name, *_ in told["columns"]] == ["c"]


def test_other_columns_are_refused(model, tmp_path, rng, capsys):
    data = table(tmp_path / "x.csv", rng.normal(size=(50, 2)), ("a", "b"))
    assert main(["check", model.folder, data]) == 1
    assert "'c'" in capsys.readouterr().err
    model.extra.clear()
    assert main(["check", model.folder, data]) == 1
    assert "2 columns to use" in capsys.readouterr().err


def test_a_folder_without_a_model(tmp_path, capsys):
    assert main(["check", str(tmp_path), str(tmp_path / "x.csv")]) == 1
    err = capsys.readouterr().err
    assert err.startswith("error: ")
    assert "\nhint: " in err


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("columns", 5),
        ("columns", [["a"], "b"]),
        ("threshold", "2.0"),
        ("window", -5),
        ("window", "x"),
        ("step", 0),
        ("step", "a"),
    ],
)
def test_a_description_that_was_edited_is_refused(model, tmp_path, rng, capsys, name, value):
    data = table(tmp_path / "x.csv", rng.normal(size=(50, 3)))
    model.extra[name] = value
    assert main(["check", model.folder, data]) == 1
    err = capsys.readouterr().err
    assert f"has a `{name}` that cannot be used" in err
    assert "\nhint: " in err
