"""A study.toml is run again as it was, or refused with a reason."""

import inspect
import re
import tomllib
import types

import pytest

from assay.cli.main import main
from assay.errors import StudyError
from assay.report.plain import toml


@pytest.fixture
def command(monkeypatch):
    """Stand in for what runs a compress study; keep what it was told."""
    from assay.compress.command import run as real

    kept = types.SimpleNamespace(told=None)

    def run(**told):
        kept.told = told
        raise StudyError("far enough.")

    run.__signature__ = inspect.signature(real)
    monkeypatch.setattr("assay.compress.command.run", run)
    return kept


def test_what_a_study_wrote_is_what_is_run(tmp_path, command):
    path = tmp_path / "study.toml"
    settings = {"need": "compress", "data": ["a.csv", "b.csv"], "drop": ("x",), "group": None}
    path.write_text(toml(settings | {"seed": 3, "seeds": 2, "margin": 0.1}), "utf-8")
    assert tomllib.loads(path.read_text("utf-8"))["need"] == "compress"
    assert main(["run", str(path)]) == 1
    told = {k: v for k, v in command.told.items() if k not in ("out", "progress")}
    wanted = {"data": ["a.csv", "b.csv"], "drop": ["x"], "seed": 3, "seeds": 2, "margin": 0.1}
    assert told == wanted


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("need = 'anomaly'\nnormal = ['a.csv']\nlable = 'y'\n", "unknown setting `lable`.*'label'"),
        ("need = 'anomaly'\n", "lacks the setting `normal`"),
        ("need = 'anomaly'\nnormal = ['a.csv']\nwindow = 'wide'\n", "`window` that cannot be used"),
        ("need = 'anomaly'\nnormal = 7\n", "`normal` that cannot be used"),
        ("need = 'anomly'\n", "Did you mean 'anomaly'"),
        ("need = ['anomaly']\n", "must name its `need`"),
        ("normal = ['a.csv']\n", "must name its `need`"),
        ("need = ", "is no TOML file"),
        ("need = " + "[" * 5000, "is no TOML file"),
        ("need = 'anomaly'\nnormal = ['a.csv']\nseed = -1\n", "`seed` must be"),
    ],
)
def test_a_study_that_cannot_be_run_says_why(tmp_path, capsys, text, said):
    path = tmp_path / "study.toml"
    path.write_text(text, "utf-8")
    assert main(["run", str(path), "--out", str(tmp_path / "x")]) == 1
    err = capsys.readouterr().err
    assert re.search(said, err), err
    assert err.startswith("error: ")
    assert "\nhint: " in err
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize("kind", ["absent", "folder", "bytes"])
def test_a_study_file_that_cannot_be_read(tmp_path, capsys, kind):
    path = tmp_path / "study.toml"
    if kind == "folder":
        path.mkdir()
    elif kind == "bytes":
        path.write_bytes(b"\xff\xfe\x00")
    assert main(["run", str(path)]) == 1
    assert "cannot be read" in capsys.readouterr().err


def test_the_command_line_wins_over_the_file(tmp_path, command):
    path = tmp_path / "study.toml"
    path.write_text("need = 'compress'\ndata = ['a.csv']\nseed = 1\nseeds = 5\n", "utf-8")
    assert main(["run", str(path), "--seed", "9"]) == 1
    assert command.told["seed"] == 9
    assert command.told["seeds"] == 5
    assert command.told["out"] == tmp_path.with_name(f"{tmp_path.name}-again")
