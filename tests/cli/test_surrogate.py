"""``assay surrogate`` as typed, and ``assay check`` of a saved surrogate."""

import json

import numpy as np
import pytest

from assay.cli.main import main
from assay.errors import StudyError
from assay.models import save_model
from assay.surrogate import GaussianProcess, SurrogateStudy

CODES = {"earned": 0, "not_earned": 3, "invalid": 4, "undecided": 5}


def write(path, X, names):
    np.savetxt(path, X, delimiter=",", header=",".join(names), comments="", fmt="%.10g")
    return str(path)


def runs(n, seed):
    X = np.random.default_rng(seed).uniform(-1.0, 1.0, size=(n, 2))
    return np.c_[X, np.sin(2 * X[:, 0]) + X[:, 1] ** 2]


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """Save a Gaussian process as a study does, with the names of its inputs."""
    train = runs(60, 0)
    fitted = GaussianProcess(bounds=[[-1.0, 1.0], [-1.0, 1.0]]).fit(train[:, :2], train[:, 2])
    config, arrays = fitted.to_saved()
    folder = tmp_path_factory.mktemp("saved") / "model"
    extra = {"columns": ["a", "b"], "units": ["", ""]}
    save_model(folder, family=fitted.family, config=config, arrays=arrays, extra=extra)
    return str(folder)


def test_runs_of_the_same_kind_are_inside_in_any_order_of_columns(model, tmp_path, capsys):
    data = write(tmp_path / "new.csv", runs(200, 1)[:, [2, 1, 0]], ["y", "b", "a"])
    assert main(["check", model, data]) == 0
    assert capsys.readouterr().out.startswith("INSIDE")


def test_runs_outside_the_box_are_named(model, tmp_path, capsys):
    X = runs(50, 1)
    X[:10, 1] = 1.5
    data = write(tmp_path / "new.csv", X, ["a", "b", "y"])
    assert main(["check", model, data, "--json"]) == 3
    told = json.loads(capsys.readouterr().out)
    parts = {name: (n, most) for name, n, most in told["parts"]}
    assert parts["box"][0] == 10
    assert told["columns"] == [["b", 0.2, -1.0, 1.0]]
    assert told["first_rows"][0][0] == 2  # line in the file, after the header
    assert "box" in told["first_rows"][0][1]
    assert main(["check", model, data, "--exit-zero"]) == 0
    assert "OUTSIDE" in capsys.readouterr().out


def test_a_hole_between_the_runs_is_found_by_density(tmp_path, capsys):
    X = np.random.default_rng(0).uniform(-1.0, 1.0, size=(400, 2))
    ring = X[np.hypot(*X.T) > 0.8]
    fitted = GaussianProcess().fit(ring, ring[:, 0])
    fitted.save(tmp_path / "model")
    middle = write(tmp_path / "middle.csv", 0.1 * X[:50], ["a", "b"])
    assert main(["check", str(tmp_path / "model"), middle, "--json"]) == 3
    parts = {name: n for name, n, _ in json.loads(capsys.readouterr().out)["parts"]}
    assert (parts["box"], parts["density"]) == (0, 50)


def test_other_inputs_are_refused(model, tmp_path, capsys):
    data = write(tmp_path / "new.csv", runs(30, 1), ["a", "c", "y"])
    assert main(["check", model, data]) == 1
    assert "'b'" in capsys.readouterr().err
    assert main(["check", model, data, "--columns", "a,c,y"]) == 1
    assert "2 inputs" in capsys.readouterr().err
    assert main(["check", model, data, "--columns", "a,c"]) == 0


@pytest.fixture
def stopped(monkeypatch):
    """Stop every surrogate study where it would begin to fit."""

    def run(self, *given, **told):
        raise StudyError("far enough.")

    monkeypatch.setattr(SurrogateStudy, "run", run)


@pytest.mark.usefixtures("stopped")
def test_what_is_left_out_is_told_at_the_start_in_a_line_each(tmp_path, capsys):
    rows = [f"{a},{b},steel,{y}" for a, b, y in runs(30, 0).round(3)]
    rows[4] = "0.1,,steel,0.2"
    path = tmp_path / "runs.csv"
    path.write_text("a,b,material,y\n" + "\n".join(rows) + "\n", encoding="utf-8")
    typed = ["surrogate", str(path), "--outputs", "y", "--out", str(tmp_path / "x")]
    assert main(typed) == 1
    told = capsys.readouterr().err.splitlines()
    assert [line.partition(": ")[0] for line in told] == ["note", "note", "error"]
    assert "text: 'material'" in told[0]
    assert "1 row of 30" in told[1]
    assert "line 6" in told[1]
    assert main([*typed, "--quiet"]) == 1
    assert capsys.readouterr().err == "error: far enough.\n"
    toml = tmp_path / "study.toml"
    toml.write_text(f"need = 'surrogate'\ndata = '{path}'\noutputs = ['y']\n", encoding="utf-8")
    assert main(["run", str(toml), "--out", str(tmp_path / "x")]) == 1
    assert capsys.readouterr().err.splitlines() == told
    toml.write_text(f"need = 'surrogate'\ndata = '{path}'\nnote = 'y'\n", encoding="utf-8")
    assert main(["run", str(toml), "--out", str(tmp_path / "x")]) == 1
    assert "unknown setting `note`" in capsys.readouterr().err


@pytest.mark.usefixtures("stopped")
def test_nothing_is_told_where_nothing_is_left_out(tmp_path, capsys):
    path = write(tmp_path / "runs.csv", runs(30, 0), ["a", "b", "y"])
    assert main(["surrogate", path, "--outputs", "y", "--out", str(tmp_path / "x")]) == 1
    assert capsys.readouterr().err == "error: far enough.\n"


@pytest.mark.slow
def test_a_study_from_the_file_to_the_saved_model(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("ASSAY_LEDGER", str(tmp_path / "ledger.jsonl"))
    data = write(tmp_path / "runs.csv", np.c_[np.arange(80), runs(80, 0)], ["run", "a", "b", "y"])
    typed = ["surrogate", data, "--outputs", "y", "--sigma", "0.05", "--members", "2"]
    typed += ["--bounds", "a=-1:1", "--bounds", "b=-1:1", "--seeds", "1"]
    code = main([*typed, "--out", str(tmp_path / "out"), "--json"])
    told = json.loads(capsys.readouterr().out)
    assert code == CODES[told["verdict"]]
    assert told["need"] == "surrogate"
    assert [c["name"] for c in told["data"]["columns"]] == ["a", "b", "y"]
    assert any("only count" in note for note in told["data"]["notes"])
    assert (tmp_path / "out" / "report.html").stat().st_size > 10_000
    assert main(["run", str(tmp_path / "out" / "study.toml"), "--json"]) == code
    again = json.loads(capsys.readouterr().out)
    assert again["settings"] == told["settings"]
    assert again["gain"]["estimate"] == pytest.approx(told["gain"]["estimate"])
    new = write(tmp_path / "new.csv", runs(100, 5)[:, [1, 0]], ["b", "a"])
    assert main(["check", str(tmp_path / "out"), new]) == 0


@pytest.mark.slow
def test_predictions_made_elsewhere_are_put_on_trial(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("ASSAY_LEDGER", str(tmp_path / "ledger.jsonl"))
    new = runs(40, 1)
    data = write(tmp_path / "runs.csv", runs(60, 0), ["a", "b", "y"])
    test = write(tmp_path / "test.csv", new, ["a", "b", "y"])
    noise = 1e-9 * np.random.default_rng(0).normal(size=40)
    theirs = write(tmp_path / "theirs.csv", (new[:, 2] + noise)[:, None], ["y"])
    typed = ["surrogate", data, "--outputs", "y", "--test", test, "--candidate-rows", theirs]
    assert main([*typed, "--out", str(tmp_path / "out"), "--json"]) == CODES["earned"]
    told = json.loads(capsys.readouterr().out)
    assert told["candidate"]["name"] == "Brought predictions"
    assert not (tmp_path / "out" / "model").exists()
