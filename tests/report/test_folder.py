import dataclasses
import json
import re
import tomllib

import numpy as np
import polars
import pytest

from assay.errors import StudyError
from assay.report import figures, folder

from . import fake


class Model:
    def save(self, path):
        path.mkdir()
        (path / "model.json").write_text("{}")


class Broken:
    def save(self, path):
        raise OSError(28, "No space left on device")


def _draw_little(result, figure):
    figure.add_subplot().plot([0, 1])


FIGURES = (dataclasses.replace(fake.FIGURES[0], draw=_draw_little), fake.BROKEN)


@pytest.fixture(autouse=True)
def _two_figures(monkeypatch):
    monkeypatch.setattr(figures, "specs_of", lambda need: FIGURES)


def result(**changes):
    return dataclasses.replace(fake.not_earned(), **changes)


def listing(path):
    return sorted(str(p.relative_to(path)) for p in path.rglob("*") if p.is_file())


def test_holds_all_that_the_study_used(tmp_path):
    out = tmp_path / "runs" / "pump"
    assert folder.write(result(model=Model()), out) == out
    assert listing(out) == [
        "figures/scores.png",
        "figures/scores.svg",
        "model/model.json",
        "report.html",
        "result.json",
        "scores.csv",
        "study.toml",
    ]
    assert json.loads((out / "result.json").read_text("utf-8"))["verdict"] == "not_earned"
    settings = tomllib.loads((out / "study.toml").read_text("utf-8"))
    assert settings["candidate"] == {"hidden": [64, 16, 64], "learning_rate": 0.001}
    assert "time" not in settings  # it was None
    assert "scores-caption" in (out / "report.html").read_text("utf-8")
    assert (out / "figures" / "scores.png").read_bytes().startswith(b"\x89PNG")
    assert [p.name for p in out.parent.iterdir()] == ["pump"]  # nothing is left beside it


def test_scores_have_one_line_a_test_row(tmp_path):
    folder.write(result(), tmp_path / "a")
    table = polars.read_csv(tmp_path / "a" / "scores.csv", try_parse_dates=True)
    assert table.columns == ["row", "time", "score", "alarm", "label"]
    expected = fake.arrays()
    np.testing.assert_array_equal(table["row"].to_numpy(), expected["row_number"])
    np.testing.assert_array_equal(table["score"].to_numpy(), expected["row_score"])
    np.testing.assert_array_equal(table["alarm"].to_numpy(), expected["row_alarm"])
    np.testing.assert_array_equal(table["time"].to_numpy(), expected["row_time"])


def test_score_columns_of_text_and_of_unequal_length():
    kinds = np.array(["stuck", None, 'a "quoted", one'], object)
    assert folder.score_table({"row_kind": kinds, "other": np.zeros(9)})["kind"].to_list() == [
        "stuck",
        None,
        'a "quoted", one',
    ]
    assert folder.score_table({"threshold": np.array(1.0)}) is None
    with pytest.raises(StudyError, match="differ in length"):
        folder.score_table({"row_a": np.zeros(3), "row_b": np.zeros(4)})


def test_replaces_an_earlier_study_and_keeps_what_is_not_ours(tmp_path):
    out = tmp_path / "pump"
    folder.write(result(model=Model()), out)
    (out / "notes.txt").write_text("mine")
    folder.write(result(arrays={}, verdict="undecided"), out)
    found = listing(out)
    assert "notes.txt" in found
    assert "model/model.json" not in found  # it belonged to the earlier study
    assert "scores.csv" not in found
    assert json.loads((out / "result.json").read_text("utf-8"))["verdict"] == "undecided"
    assert [p.name for p in tmp_path.iterdir() if p.name != "ledger"] == ["pump"]


def test_an_empty_folder_is_filled(tmp_path):
    (tmp_path / "empty").mkdir()
    folder.write(result(), tmp_path / "empty")
    assert (tmp_path / "empty" / "result.json").exists()


@pytest.mark.parametrize("kind", ["folder", "file"])
def test_does_not_touch_what_is_not_a_study(tmp_path, kind):
    out = tmp_path / "thesis"
    if kind == "folder":
        out.mkdir()
        (out / "chapter1.tex").write_text("years of work")
    else:
        out.write_text("years of work")
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(StudyError, match="thesis") as caught:
        folder.write(result(), out)
    assert caught.value.hint
    assert sorted(tmp_path.rglob("*")) == before


def test_nothing_is_lost_when_it_fails_half_way(tmp_path):
    out = tmp_path / "pump"
    folder.write(result(), out)
    before = {name: (out / name).read_bytes() for name in listing(out)}
    with pytest.raises(StudyError, match="No space left on device"):
        folder.write(result(model=Broken(), verdict="earned"), out)
    assert {name: (out / name).read_bytes() for name in listing(out)} == before
    assert [p.name for p in tmp_path.iterdir() if p.name != "ledger"] == ["pump"]


def test_nothing_is_lost_when_the_last_step_fails(tmp_path, monkeypatch):
    out = tmp_path / "pump"
    folder.write(result(), out)
    before = (out / "result.json").read_bytes()
    rename = type(out).rename

    def fail_on_new(self, target):
        if self.name.startswith(".pump-") and target == out:
            raise OSError(5, "Input/output error")
        return rename(self, target)

    monkeypatch.setattr(type(out), "rename", fail_on_new)
    with pytest.raises(StudyError, match="Input/output error"):
        folder.write(result(verdict="earned"), out)
    assert (out / "result.json").read_bytes() == before
    assert [p.name for p in tmp_path.iterdir() if p.name != "ledger"] == ["pump"]


def test_a_first_run_that_fails_leaves_no_folder(tmp_path):
    with pytest.raises(StudyError):
        folder.write(result(model=Broken()), tmp_path / "pump")
    assert not (tmp_path / "pump").exists()


def test_single_files_have_pages_that_the_page_links_to(tmp_path):
    out = folder.write(fake.pooled(), tmp_path / "bench")
    page = (out / "report.html").read_text("utf-8")
    links = re.findall(r'href="(studies/[^"]*)"', page)
    assert len(links) == 2
    assert all((out / link).read_text("utf-8").startswith("<!DOCTYPE") for link in links)
    told = json.loads((out / "result.json").read_text("utf-8"))["studies"]
    assert [s["verdict"] for s in told] == ["earned", "undecided"]
    assert all((out / s["folder"] / "result.json").is_file() for s in told)


def test_hostile_text_is_written(tmp_path):
    fake.hostile().save(tmp_path / "Öl & <b>")
    text = (tmp_path / "Öl & <b>" / "study.toml").read_text("utf-8")
    assert any(fake.HOSTILE in key for key in tomllib.loads(text))
