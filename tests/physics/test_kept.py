"""What a study hands over: the classical solution as a table, and where it may be asked."""

import csv

import numpy as np
import pytest

import assay
from assay.errors import DataError, ModelError
from assay.physics import PINN, solve_classical
from assay.physics.gallery import heat, oscillator
from assay.physics.gallery_inverse import oscillator_inverse
from assay.physics.kept import SavedSolution
from assay.physics.known import oscillator_exact
from assay.physics.study import PhysicsStudy


@pytest.fixture(autouse=True)
def _ledger(tmp_path, monkeypatch):
    monkeypatch.setenv("ASSAY_LEDGER", str(tmp_path / "ledger.jsonl"))


@pytest.mark.parametrize("problem", [oscillator, heat])
def test_a_saved_solution_is_the_same_after_loading(problem, tmp_path):
    solution = solve_classical(problem(), tolerance=1e-6)
    kept = SavedSolution.of(solution)
    kept.save(tmp_path / "one")
    kept.save(tmp_path / "one")  # again, into the same folder
    loaded = assay.load(tmp_path / "one")
    rng = np.random.default_rng(0)
    low, high = np.array(list(problem().box.values())).T
    points = rng.uniform(low, high, (50, len(low)))
    assert np.array_equal(loaded.predict(points), solution.at(points))
    assert loaded.fields == ("u",)
    assert loaded.error == solution.error


def test_its_values_stand_in_a_table_as_well(tmp_path):
    SavedSolution.of(solve_classical(oscillator(), tolerance=1e-9)).save(tmp_path)
    with open(tmp_path / "solution.csv", encoding="utf-8") as file:
        head, *rows = csv.reader(file)
    assert head == ["t", "u"]
    t, u = np.array(rows, float).T
    assert np.abs(u - oscillator_exact(t)).max() < 1e-7


def test_a_table_that_was_edited_is_refused():
    config, arrays = SavedSolution.of(solve_classical(oscillator(), tolerance=1e-4)).to_saved()
    with pytest.raises(ModelError, match="shape"):
        SavedSolution.from_saved(config, arrays | {"values": np.zeros((3, 1))})
    with pytest.raises(ModelError, match="rising"):
        SavedSolution.from_saved(config, arrays | {"nodes.0": arrays["nodes.0"][::-1]})


def test_the_solution_that_is_to_be_used_comes_with_the_study(tmp_path):
    network = PINN(hidden=(8,), steps=20, points=30)
    result = PhysicsStudy(oscillator(), candidate=network, tolerance=1e-6).run(seeds=2)
    assert result.verdict == "not_earned"
    assert result.model_to_use is result.baseline_model
    result.save(tmp_path / "run")
    loaded = assay.load(tmp_path / "run" / "baseline")
    t = np.linspace(0.0, 2.0, 21)
    assert np.abs(loaded.predict(t[:, None])[:, 0] - oscillator_exact(t)).max() < 1e-4
    assert (tmp_path / "run" / "baseline" / "solution.csv").exists()
    # A network beside it refuses what lies outside, before and after loading, and so does it.
    again = assay.load(tmp_path / "run" / "model")
    for model in (result.model, again, loaded):
        assert model.predict([[2.0]]).shape == (1, 1)
        for outside in (2.5, -0.1):
            with pytest.raises(DataError, match=r"outside the box \(0 to 2\)"):
                model.predict([[outside]])


def test_of_an_inverse_problem_the_solution_at_the_estimate_is_kept():
    problem = oscillator_inverse().replace(exact=None)
    told = PhysicsStudy(problem, candidate=lambda p: oscillator_exact(p[:, 0]), tolerance=1e-6)
    kept = told.run(seeds=1).baseline_model
    assert kept.parameters["zeta"] == pytest.approx(0.1, abs=0.02)
    assert kept.predict([[0.0]])[0, 0] == pytest.approx(1.0, abs=1e-6)
