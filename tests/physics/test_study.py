"""A physics study whole: what it measures, what may be brought, what is refused or found."""

import dataclasses

import jax.numpy as jnp
import numpy as np
import pytest

import assay
from assay.errors import AssayError, StudyError
from assay.physics import PINN, Boundary, Initial, Measured, Problem, Unknown
from assay.physics.baselines import ClassicalSolver
from assay.physics.classical import solve_classical
from assay.physics.gallery import oscillator
from assay.physics.gallery_inverse import oscillator_inverse
from assay.physics.known import oscillator_exact
from assay.physics.study import PhysicsStudy

SMALL = {"hidden": (16, 16), "steps": 40, "points": 50}


@pytest.fixture(autouse=True)
def _ledger(tmp_path, monkeypatch):
    monkeypatch.setenv("ASSAY_LEDGER", str(tmp_path / "ledger.jsonl"))


@pytest.fixture(scope="module")
def result(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ASSAY_LEDGER", str(tmp_path_factory.mktemp("l") / "ledger.jsonl"))
        return PhysicsStudy(oscillator(), candidate=PINN(**SMALL)).run(seeds=2)


def swing(**changes):
    """Return the oscillator with something changed, as a user would write it."""
    told = {
        "equation": lambda d: d.u_tt + 2.0 * d.zeta * d.w0 * d.u_t + d.w0**2 * d.u,
        "box": {"t": (0.0, 2.0)},
        "conditions": (Initial("u", 1.0), Initial("u_t", 0.0)),
        "parameters": {"zeta": 0.1, "w0": 2.0 * np.pi},
        "exact": oscillator_exact,
    } | changes
    return Problem(told.pop("equation"), told.pop("box"), **told)


def outcomes(result):
    return {f.code: f.outcome for f in result.findings}


# --- truth ----------------------------------------------------------------------------------


def test_both_methods_solve_the_oscillator(result):
    t = result.arrays["points"][:, 0]
    truth = oscillator_exact(t)
    for key, most in (("fields", 5e-3), ("solver_fields", 1e-6)):
        off = np.linalg.norm(result.arrays[key][:, 0] - truth) / np.linalg.norm(truth)
        assert off < most
    assert result.candidate.metrics["error"] == pytest.approx(
        np.exp(np.mean(np.log(result.arrays["errors"])))
    )


def test_the_comparison_is_with_the_best_level_in_the_networks_time(result):
    arrays = result.arrays
    spent = np.median(arrays["seconds"])
    within = arrays["level_errors"][arrays["level_seconds"] <= spent]
    theirs = within.min() if len(within) else arrays["level_errors"][0]
    ratio = np.exp(np.mean(np.log(arrays["errors"] / theirs)))
    assert 1.0 - result.gain.estimate == pytest.approx(ratio)
    assert arrays["level_errors"][-1] < 1e-6 < arrays["level_errors"][0]


def test_the_verdict_says_first_what_to_use_and_speaks_in_factors(result):
    assert result.verdict == "not_earned"
    assert result.sentence.startswith("Use the classical solver: ")
    assert "factor of" in result.sentence
    assert "%" not in result.sentence.replace("95 % interval", "")
    assert result.title == "damped oscillator (one variable, one field)"


def test_the_saved_network_predicts_the_same(result, tmp_path):
    result.model.save(tmp_path / "model")
    points = np.linspace(0.0, 2.0, 31)[:, None]
    loaded = assay.load(tmp_path / "model")
    assert np.allclose(loaded.predict(points), result.model.predict(points), rtol=0, atol=1e-9)


def test_equal_seeds_give_equal_results(result):
    again = PhysicsStudy(oscillator(), candidate=PINN(**SMALL)).run(seeds=1)
    assert again.arrays["errors"][0] == result.arrays["errors"][0]
    assert np.isinf(again.gain.low)  # one seed says nothing of the spread
    assert "one seed" in again.sentence
    assert "use the classical solver" in again.sentence
    assert "--seeds 3" in again.sentence


def test_a_parameter_is_found_by_both_methods():
    network = PINN(hidden=(12,), steps=80, points=40)
    told = PhysicsStudy(oscillator_inverse(), candidate=network, tolerance=1e-6).run(seeds=2)
    assert told.arrays["found_solver"][0] == pytest.approx(0.1, abs=0.02)
    assert told.arrays["found_network"][:, 0] == pytest.approx([0.1, 0.1], abs=0.05)
    assert told.title.endswith("1 to be found)")
    assert told.arrays["reading_values"].shape == told.arrays["reading_network"].shape == (12,)


# --- what is brought ------------------------------------------------------------------------


class Taylor:
    """An object with fit and predict: the exact answer, off by one part in a thousand."""

    def fit(self, problem):
        self.zeta_ = problem.known["zeta"]
        return self

    def predict(self, points):
        return 1.001 * oscillator_exact(points[:, 0], self.zeta_)[:, None]


def test_an_object_and_a_function_can_be_brought():
    told = PhysicsStudy(oscillator(), candidate=Taylor()).run(seeds=1)
    assert told.candidate.metrics["error"] == pytest.approx(1e-3)
    assert told.settings["candidate"] == "brought: Taylor"
    exact = PhysicsStudy(oscillator(), candidate=lambda points: oscillator_exact(points[:, 0])).run(
        seeds=1
    )
    assert exact.candidate.metrics["error"] == pytest.approx(1e-15)  # not below the reference's own
    assert outcomes(exact)["P15"] == "warn"


class Reads:
    """A candidate that looks the answer up in the problem."""

    def fit(self, problem):
        self.problem_ = problem
        return self

    def predict(self, points):
        return self.problem_.exact_at(points)


def test_no_method_gets_the_exact_solution():
    with pytest.raises(StudyError, match="no exact solution"):
        PhysicsStudy(oscillator(), candidate=Reads(), tolerance=1e-3).run(seeds=1)


def test_an_exact_solution_that_changes_its_arguments_moves_no_point():
    def clumsy(t):
        value = oscillator_exact(t)
        t[:] = 0.0
        return value

    problem = swing(exact=clumsy)
    points = np.linspace(0.0, 2.0, 11)[:, None]
    assert np.array_equal(problem.exact_at(points)[:, 0], oscillator_exact(points[:, 0]))
    assert points[-1, 0] == 2.0


@pytest.mark.parametrize(
    ("exact", "said"),
    [
        (lambda t: 1 / 0, "fails: ZeroDivisionError"),
        (lambda t: np.zeros(7), r"no 1001 real numbers for u, .* shape \(7,\)"),
        (lambda t: "one", "no 1001 real numbers for u"),
        (lambda t: t + 1j, "no 1001 real numbers for u"),
        (lambda t: (t, t), r"returns 2 field\(s\); 1 are needed"),
        (lambda t: np.full_like(t, np.nan), "not finite at t = 0"),
        (lambda x: x, "function of 'x'"),
    ],
)
def test_an_exact_solution_that_cannot_be_used_is_told_before_anything_is_fitted(exact, said):
    def never(points):
        raise AssertionError("a method was asked")

    with pytest.raises(StudyError, match=said) as caught:
        PhysicsStudy(swing(exact=exact), candidate=never).run(seeds=1)
    assert caught.value.hint


def raises(points):
    raise RuntimeError("no licence")


@pytest.mark.parametrize(
    ("candidate", "said"),
    [
        (lambda points: np.zeros((len(points), 2)), r"shape \(1001, 1\), got \(1001, 2\)"),
        (lambda points: np.zeros(7), "shape"),
        (lambda points: np.full(len(points), np.nan), "not finite"),
        (lambda points: ["a"] * len(points), "no array of numbers"),
        (raises, "RuntimeError: no licence"),
        ("network", "got str"),
        (7, "got int"),
    ],
)
def test_hostile_candidates_are_refused_in_a_sentence(candidate, said):
    with pytest.raises(StudyError, match=said) as caught:
        PhysicsStudy(oscillator(), candidate=candidate, tolerance=1e-3).run(seeds=1)
    assert caught.value.hint


@pytest.mark.parametrize(
    "wrong", [{"tolerance": 0.0}, {"tolerance": 2.0}, {"seconds": -1.0}, {"tolerance": "fine"}]
)
def test_settings_out_of_range_are_refused(wrong):
    with pytest.raises(StudyError, match=next(iter(wrong))):
        PhysicsStudy(oscillator(), **wrong)


def test_a_network_that_cannot_be_trained_is_refused_at_once():
    with pytest.raises(StudyError, match="`hidden` must be a tuple"):
        PhysicsStudy(oscillator(), candidate=PINN(hidden=8))


def test_an_unknown_needs_readings():
    for exact in (None, oscillator_exact):
        parameters = {"zeta": Unknown(0.01, 0.99), "w0": 6.28}
        problem = oscillator().replace(parameters=parameters, exact=exact)
        with pytest.raises(StudyError, match="Nothing was measured from which zeta could be"):
            PhysicsStudy(problem)
    assert PhysicsStudy(oscillator_inverse(n=12)) is not None


def test_something_else_than_a_problem_is_refused():
    with pytest.raises(StudyError, match="must be a Problem, got dict"):
        PhysicsStudy({"t": (0, 1)})


# --- mistakes of a user ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"equation": lambda d: d.t - d.zeta * d.w0}, "does not contain the field 'u'"),
        ({"equation": lambda d: d.u_tt + d.w0 * d.zeta * d.v}, "has no 'v'"),
        ({"conditions": (Initial("u", 1.0), Boundary("u", "t", 0.0, side=3.0))}, "3"),
        ({"conditions": (Initial("u", 1.0), Initial("u_t", lambda x: x))}, "'x'"),
        ({"readings": (Measured("u", {"t": [0.5, 7.0]}, [0.1, 0.2]),)}, "outside the box"),
        (
            {
                "equation": lambda d: d.u_tt + d.w0**2 * d.u + d.zeta - d.zeta,
                "parameters": {"zeta": Unknown(0.01, 0.9), "w0": 2.0 * np.pi},
            },
            "zeta",
        ),
    ],
    ids=["no-field", "no-such-name", "outside", "no-variable", "reading-outside", "cancels"],
)
def test_a_declaration_that_cannot_be_right_is_refused(changes, said):
    with pytest.raises(AssayError, match=said) as caught:
        swing(**changes)
    assert caught.value.hint


def test_a_missing_condition_is_named():
    problem = swing(conditions=(Initial("u", 1.0),))
    study = PhysicsStudy(problem, candidate=lambda p: oscillator_exact(p[:, 0]))
    with pytest.raises(AssayError, match=r"u_t|condition"):
        study.run(seeds=1)


def test_a_sign_error_shows_against_the_exact_solution():
    wrong = swing(equation=lambda d: d.u_tt - 2.0 * d.zeta * d.w0 * d.u_t + d.w0**2 * d.u)
    told = PhysicsStudy(wrong, candidate=lambda p: oscillator_exact(p[:, 0])).run(seeds=1)
    assert outcomes(told)["P02"] == "fail"
    assert told.verdict == "invalid"


def test_mixed_units_are_named():
    # Milliseconds in the box, seconds in the frequency: the equation is a thousand times too fast.
    mixed = swing(box={"t": (0.0, 2000.0)}, exact=None)
    result = PhysicsStudy(mixed, candidate=lambda p: jnp.ones(len(p)), tolerance=0.1).run(seeds=1)
    (found,) = (f for f in result.findings if f.code == "P01")
    assert found.outcome == "warn"
    assert "u_tt" in found.sentence
    assert any("units" in cure for cure in found.fix)


def test_compiling_is_not_counted_against_the_classical_solver(monkeypatch):
    calls = []

    def solve(problem, *, level, seconds):
        calls.append(level)
        found = solve_classical(problem, level=level, seconds=seconds)
        slow = 5.0 if calls.count(level) == 1 else 0.01  # what a first call takes
        return dataclasses.replace(found, seconds=slow)

    monkeypatch.setattr("assay.physics.baselines.solve_classical", solve)
    solver = ClassicalSolver(tolerance=1e-6, seconds=60.0).fit(oscillator())
    assert len(solver.levels_) > 1
    assert [level.seconds for level in solver.levels_] == [0.01] * len(solver.levels_)
