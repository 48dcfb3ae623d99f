"""What a physics study says where accuracy does not decide, or the seeds say nothing."""

import dataclasses
import threading

import numpy as np
import pytest

from assay.errors import StudyError
from assay.physics.gallery import oscillator
from assay.physics.known import oscillator_exact
from assay.physics.study import PhysicsStudy
from assay.physics.wording import TIME, sentence
from assay.report import words
from assay.result import Contender, Cost, Gain
from assay.seed_gain import seed_gain


@pytest.fixture(autouse=True)
def _ledger(tmp_path, monkeypatch):
    monkeypatch.setenv("ASSAY_LEDGER", str(tmp_path / "ledger.jsonl"))


def told(gain, error=1e-3, seconds=2.0):
    ours = Contender(
        "Physics-informed network", {"error": error, "seconds": seconds}, Cost(seconds, 1.0)
    )
    return {"gain": gain, "candidate": ours, "baselines": (), "findings": ()}


def test_seeds_that_disagree_give_no_interval_in_words():
    gain = seed_gain(np.array([1e-9, 1.0, 1e-5]), 1e-6, against="Classical solver", loss="error")
    said = sentence("undecided", "", told(gain))
    assert "the seeds disagree" in said
    assert len(max(said.split(), key=len)) < 30  # no number that fills a line
    close = seed_gain(np.array([1e-3, 2e-3, 1.5e-3]), 1e-6, against="Classical solver")
    assert "95 % interval" in sentence("not_earned", "", told(close))


def test_where_both_are_accurate_enough_the_time_decides_and_it_is_said():
    gain = Gain(-429.0, -500.0, -300.0, "Classical solver", f"{TIME}1e-06")
    said = sentence("not_earned", "", told(gain, error=6e-9))
    assert said.startswith("Use the classical solver: both reach the error of 1e-06")
    assert "4.7 ms" in said
    assert "larger by a factor of 430" in said


class Near:
    """A candidate that is off by a part of 1 in `off`, and takes no time."""

    def __init__(self, off):
        self.off = off

    def fit(self, problem):
        return self

    def predict(self, points):
        return (1.0 + self.off) * oscillator_exact(points[:, 0])[:, None]


@pytest.mark.parametrize("seeds", [1, 2, 3])
def test_a_study_asks_for_time_only_below_the_tolerance(seeds):
    asked = {"tolerance": 1e-4}
    quick = PhysicsStudy(oscillator(), candidate=Near(1e-6), **asked).run(seeds=seeds)
    assert quick.gain.loss == f"{TIME}0.0001"
    assert "time decides" in quick.sentence
    coarse = PhysicsStudy(oscillator(), candidate=Near(1e-2), **asked).run(seeds=seeds)
    assert "L2" in coarse.gain.loss


def test_one_time_stands_in_the_table_and_in_the_sentences():
    result = PhysicsStudy(oscillator(), candidate=Near(1e-2), tolerance=1e-4).run(seeds=3)
    contender = result.candidate
    assert contender.cost.fit_s == contender.metrics["seconds"]
    assert contender.metrics["seconds"] == np.median(result.arrays["seconds"])


@pytest.mark.parametrize(("more", "said"), [(1.1, "About 4 seeds would decide."), (900.0, "")])
def test_more_seeds_are_counted_and_not_multiplied(more, said):
    result = PhysicsStudy(oscillator(), candidate=Near(1e-2), tolerance=1e-4).run(seeds=3)
    open_ = Gain(0.1, -0.2, 0.4, "Classical solver", more_data=more)
    text = words.meaning(dataclasses.replace(result, verdict="undecided", gain=open_))
    assert (said in text) if said else ("would decide" not in text)
    assert "times as many" not in text
    beaten = words.meaning(dataclasses.replace(result, verdict="not_earned"))
    assert "On this problem" in beaten
    assert "data" not in beaten


def test_a_page_speaks_of_a_problem_and_not_of_a_table(tmp_path):
    result = PhysicsStudy(oscillator(), candidate=Near(1e-2), tolerance=1e-4).run(seeds=3)
    result.report(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text("utf-8")
    for odd in ("reader of the data", "On these data", "0 rows", "Per item", "Gain over"):
        assert odd not in page
    assert "No readings, 1 variable" in page
    assert page.index("The solution</h3>") < page.index("Candidate and baselines")
    assert "times larger" in page


class Locked(Near):
    """A candidate that holds what no copy can have."""

    def __init__(self):
        super().__init__(0.0)
        self.lock = threading.Lock()


def test_a_candidate_that_cannot_be_copied_is_told():
    with pytest.raises(StudyError, match="Locked cannot be copied") as caught:
        PhysicsStudy(oscillator(), candidate=Locked(), tolerance=1e-2).run(seeds=1)
    assert "__deepcopy__" in caught.value.hint
