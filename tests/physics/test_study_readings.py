"""Inverse studies without a known solution: readings grade the methods, or are all fitted."""

import numpy as np
import pytest

from assay.errors import StudyError
from assay.physics import PINN, PhysicsStudy
from assay.physics.gallery_inverse import oscillator_inverse
from assay.physics.heldout import hold_back
from assay.physics.known import oscillator_exact

NETWORK = {"hidden": (12,), "steps": 80, "points": 40}


@pytest.fixture(autouse=True)
def _ledger(tmp_path, monkeypatch):
    monkeypatch.setenv("ASSAY_LEDGER", str(tmp_path / "ledger.jsonl"))


class Swing:
    """A candidate that fits nothing: the oscillation with a damping ratio of its own."""

    def __init__(self, zeta):
        self.zeta = zeta

    def fit(self, problem):
        self.seen_ = sum(len(reading.values) for reading in problem.readings)
        return self

    def predict(self, points):
        return oscillator_exact(points[:, 0], self.zeta)[:, None]


def study(problem, **given):
    return PhysicsStudy(problem.replace(exact=None), tolerance=1e-6, **given)


def test_what_is_held_back_is_in_no_problem_that_is_fitted():
    problem = oscillator_inverse(n=50)
    fitted, aside = hold_back(problem, seed=3)
    kept = set(zip(fitted.readings[0].at["t"], fitted.readings[0].values, strict=True))
    held = set(zip(aside.points[:, 0], aside.values, strict=True))
    assert not kept & held
    assert len(kept | held) == 50
    assert fitted.exact is None
    other = hold_back(problem, seed=4)[1]
    assert not np.array_equal(aside.values, other.values)
    assert np.array_equal(aside.values, hold_back(problem, seed=3)[1].values)


def test_a_miss_is_counted_in_the_noise_of_a_reading():
    aside = hold_back(oscillator_inverse(n=400, noise=0.02), seed=0)[1]
    right = aside.misses(oscillator_exact(aside.points[:, 0])[:, None])
    assert np.sqrt(np.mean(right**2)) == pytest.approx(1.0, abs=0.25)
    wrong = aside.misses(oscillator_exact(aside.points[:, 0])[:, None] + 0.2)
    assert np.mean(wrong) == pytest.approx(10.0, abs=0.5)


def test_few_readings_are_all_fitted_and_nothing_is_compared():
    told = study(oscillator_inverse(n=12), candidate=PINN(**NETWORK)).run(seeds=1)
    assert told.verdict == "undecided"
    assert told.gain is None
    assert "fewer than 40 readings" in told.sentence.lower()
    assert "zeta = 0.1" in told.sentence
    assert "95 % interval" in told.sentence
    assert "agree" in told.sentence
    found = {contender.name: contender for contender in (told.candidate, *told.baselines)}
    low, high = found["Least squares through the solver"].intervals["found_zeta"]
    assert low < 0.1 < high
    assert found["Physics-informed network"].metrics["found_zeta"] == pytest.approx(0.1, abs=0.02)
    assert any("All 12 readings" in note for note in told.notes)
    assert not [f for f in told.findings if f.outcome in ("fail", "error")]
    assert {part.name for part in told.split.parts} == {"equation", "readings"}
    assert "found_network" in told.arrays
    assert told.arrays["exact"] == False  # noqa: E712


@pytest.mark.parametrize("seed", range(3))
def test_many_readings_are_held_back_and_tell_a_wrong_candidate(seed):
    problem = oscillator_inverse(seed=seed, n=150)
    wrong = study(problem, candidate=Swing(0.16)).run(seed, seeds=1)
    assert wrong.verdict == "not_earned"
    assert wrong.sentence.startswith("Use least squares through the solver")
    assert wrong.candidate.metrics["error"] > 1.8
    (best,) = wrong.baselines
    assert 0.4 < best.metrics["error"] < 1.6  # in standard deviations of a reading
    assert {part.name: part.rows for part in wrong.split.parts}["held back"] == 30


@pytest.mark.parametrize("seed", range(3))
def test_a_right_candidate_is_not_told_from_least_squares(seed):
    told = study(oscillator_inverse(seed=seed, n=60), candidate=Swing(0.1)).run(seed, seeds=1)
    assert told.verdict in ("undecided", "earned")  # it knows the true value
    assert told.candidate.metrics["error"] == pytest.approx(1.0, abs=0.6)
    assert not [f for f in told.findings if f.outcome in ("fail", "error")]


def test_readings_of_unknown_noise_are_counted_in_their_spread():
    problem = oscillator_inverse(n=60)
    (reading,) = problem.readings
    blind = problem.replace(readings=(type(reading)("u", reading.at, reading.values),))
    told = study(blind, candidate=Swing(0.1)).run(seeds=1)
    spread = np.std(reading.values)
    assert told.candidate.metrics["error"] == pytest.approx(0.02 / spread, rel=0.6)


def test_no_readings_at_all_are_refused():
    with pytest.raises(StudyError, match="reading"):
        study(oscillator_inverse().replace(readings=()), candidate=Swing(0.1)).run(seeds=1)


def test_the_report_and_its_files_are_written(tmp_path):
    told = study(oscillator_inverse(n=60), candidate=Swing(0.1)).run(seeds=1, folder=tmp_path / "r")
    told.save(tmp_path / "r")
    page = (tmp_path / "r" / "report.html").read_text("utf-8")
    assert "held back" in page
    assert (tmp_path / "r" / "figures" / "readings.svg").exists()
