"""Findings about a declaration: each planted, and the gallery healthy."""

import time

import jax.numpy as jnp
import numpy as np
import pytest

from assay.errors import StudyError
from assay.physics import Boundary, Face, Initial, Measured, Periodic, PhysicsStudy, Problem
from assay.physics.classical import solve_classical
from assay.physics.gallery import PROBLEMS, burgers, heat
from assay.physics.gallery_inverse import INVERSE
from assay.physics.posed import CODES, posed

BOX = {"t": (0.0, 1.0), "x": (0.0, 1.0)}
START = Initial("u", lambda x: jnp.sin(jnp.pi * x))
ENDS = Boundary("u", "x", 0.0)


def codes(problem, *severities, **parameters):
    severities = severities or ("fail", "warn")
    return {note.code for note in posed(problem, parameters) if note.severity in severities}


def heat_with(*conditions, equation=lambda d: d.u_t - d.u_xx, box=BOX, **more):
    return Problem(equation, box, conditions=conditions, **more)


@pytest.mark.parametrize("make", [*PROBLEMS, *INVERSE], ids=lambda make: make.__name__)
def test_the_gallery_is_posed(make):
    assert codes(make()) == set()


def test_every_note_says_what_to_do():
    notes = posed(heat_with())
    assert notes
    for note in notes:
        assert note.code in CODES
        assert note.sentence.endswith(".")
        assert note.cure


def test_worst_first():
    severities = [note.severity for note in posed(heat_with(START))]
    assert severities == sorted(severities, key=["fail", "warn", "info"].index)


PLANTED = {
    "initial-missing": heat_with(ENDS),
    "boundary-missing": heat_with(START),
    "boundary-extra": heat_with(START, ENDS, Boundary("u_x", "x", 1.0, side="low")),
    "boundary-one-sided": heat_with(
        START, Boundary("u", "x", 0.0, side="low"), Boundary("u_x", "x", np.pi, side="low")
    ),
    "condition-too-high": heat_with(
        START, Boundary("u", "x", 0.0, side="low"), Boundary("u_xx", "x", 0.0, side="high")
    ),
    "contradiction": heat_with(START, ENDS, Face(lambda d: 2.0 * d.u - 1.0, "x", side="high")),
    "corner": heat_with(START, Boundary("u", "x", 1.0)),
    "zero-solution": heat_with(Initial("u", 0.0), ENDS),
    "inactive-derivative": heat_with(
        START, ENDS, equation=lambda d: d.u_t + d.u * d.u_x - 1e-12 * d.u_xx
    ),
    "units-mixed": heat_with(START, ENDS, equation=lambda d: d.u_t - d.u_xx - 1e8 * (1.0 - d.u**2)),
    "level-open": Problem(
        lambda d: d.u_xx + d.u_yy - d.x,
        {"x": (0.0, 1.0), "y": (0.0, 1.0)},
        conditions=(Boundary("u_x", "x", 0.0), Boundary("u_y", "y", 0.0)),
    ),
    "runs-away": heat_with(START, ENDS, equation=lambda d: d.u_t + 0.25 * d.u_xx),
    "initial-extra": Problem(
        lambda d: (d.u_t - d.v_x, d.v_x - d.u),
        BOX,
        fields=("u", "v"),
        conditions=(START, Initial("v", 1.0), Boundary("v", "x", 0.0, side="low")),
    ),
}


@pytest.mark.parametrize("code", PLANTED)
def test_planted(code):
    assert code in codes(PLANTED[code])


def test_every_code_is_planted_or_healthy():
    assert set(PLANTED) | {"zero-solves-equation"} == set(CODES)


def test_a_healthy_variant_of_each_is_silent():
    assert codes(heat_with(START, ENDS)) == set()
    assert codes(heat_with(START, Periodic("x"), box={"t": (0, 1), "x": (0, 2)})) == set()
    robin = Face(lambda d: d.u_x + 2.0 * d.u + jnp.pi, "x", side="high")
    assert codes(heat_with(START, Boundary("u", "x", 0.0, side="low"), robin)) == set()


def test_homogeneous_equation_is_only_worth_knowing():
    assert codes(heat(), "info") == {"zero-solves-equation"}


def test_a_missing_speed_at_the_start_is_named():
    problem = heat_with(START, ENDS, equation=lambda d: d.u_tt - d.u_xx)
    (note,) = [n for n in posed(problem) if n.code == "initial-missing"]
    assert "u_t" in note.sentence
    assert note.severity == "fail"


def test_readings_may_stand_for_a_missing_condition():
    places = np.linspace(0.1, 0.9, 5)
    reading = Measured("u", {"t": places, "x": places}, np.ones(5))
    (note,) = [n for n in posed(heat_with(START, readings=reading)) if "missing" in n.code]
    assert note.severity == "warn"


def test_vanishing_viscosity_through_a_parameter():
    assert "inactive-derivative" not in codes(burgers())
    assert "inactive-derivative" in codes(burgers(), nu=0.0)


def test_the_slope_of_a_neumann_corner_is_compared():
    fits = heat_with(
        START,
        Boundary("u_x", "x", lambda t: -jnp.pi + 0.0 * t, side="high"),
        Boundary("u", "x", 0.0, side="low"),
    )
    jumps = fits.replace(
        conditions=(
            START,
            Boundary("u_x", "x", 2.0, side="high"),
            Boundary("u", "x", 0.0, side="low"),
        )
    )
    assert "corner" not in codes(fits)
    assert "corner" in codes(jumps)


def test_one_variable_counts_all_conditions():
    beam = Problem(
        lambda d: d.w_xxxx - 1.0,
        {"x": (0.0, 1.0)},
        fields="w",
        conditions=(Boundary("w", "x", 0.0, "low"), Boundary("w_x", "x", 0.0, "low")),
    )
    assert codes(beam) == {"boundary-missing"}
    tip = (Boundary("w_xx", "x", 0.0, "high"), Boundary("w_xxx", "x", 0.0, "high"))
    assert codes(beam.replace(conditions=(*beam.conditions, *tip))) == set()


def end(name="u"):
    return Boundary(name, "t", lambda x: jnp.sin(jnp.pi * x), side="high")


def test_a_condition_at_the_end_does_not_stand_for_the_start_of_diffusion():
    assert codes(heat_with(end(), ENDS)) == {"initial-missing"}
    (note,) = posed(heat_with(end(), ENDS))[:1]
    assert "back from the end" in note.sentence
    assert codes(heat_with(START, end(), ENDS)) == {"boundary-extra"}


def test_what_runs_backwards_takes_its_condition_at_the_end():
    """As the equation of Black and Scholes."""
    back = heat_with(end(), ENDS, equation=lambda d: d.u_t + 0.25 * d.u_xx)
    assert codes(back) == set()
    still = heat_with(end(), Periodic("x"), equation=lambda d: d.u_t + d.u_x, box={
        "t": (0, 1), "x": (0, 2)})  # fmt: skip
    assert codes(still) == set()


def test_a_slope_of_the_start_is_no_start():
    assert "initial-missing" in codes(heat_with(Initial("u_x", 0.0), ENDS))


def test_a_face_without_the_field_is_named():
    silent = Face(lambda d: d.t - 1.0, "x", side="high")
    notes = posed(heat_with(START, Boundary("u", "x", 0.0, side="low"), silent))
    assert any(n.code == "contradiction" and "contains no field" in n.sentence for n in notes)
    assert any(n.code == "boundary-missing" for n in notes)


AWAY = {
    "wave": lambda d: d.u_tt + d.u_xx,
    "fourth order": lambda d: d.u_t - d.u_xxxx,
    "field dependent": lambda d: d.u_t + (1.0 + d.u**2) * d.u_xx,
}
FINE = {
    "wave": lambda d: d.u_tt - d.u_xx,
    "fourth order": lambda d: d.u_t + d.u_xxxx,
    "short waves damped, long ones driven": lambda d: d.u_t + d.u_xx + d.u_xxxx,
    "transport": lambda d: d.u_t + d.u_x,
    "dispersion": lambda d: d.u_t + d.u * d.u_x + d.u_xxx,
    "beam": lambda d: d.u_tt + d.u_xxxx,
}


@pytest.mark.parametrize("which", AWAY)
def test_what_runs_away_is_named_before_it_is_solved(which):
    problem = heat_with(START, Initial("u_t", 0.0), equation=AWAY[which])
    if which != "wave":
        problem = problem.replace(conditions=(START,))
    assert "runs-away" in codes(problem)
    with pytest.raises(StudyError, match="grow without bound"):
        solve_classical(problem)


@pytest.mark.parametrize("which", FINE)
def test_what_does_not_run_away_is_not_accused(which):
    first = which not in ("wave", "beam")
    problem = heat_with(
        *((START,) if first else (START, Initial("u_t", 0.0))), equation=FINE[which]
    )
    assert "runs-away" not in codes(problem)


def test_two_fields_that_turn_into_each_other_are_not_accused():
    free = Problem(  # the equation of Schroedinger
        lambda d: (d.u_t + d.v_xx, d.v_t - d.u_xx),
        {"t": (0.0, 1.0), "x": (0.0, 2.0)},
        fields=("u", "v"),
        conditions=(START, Initial("v", 0.0), Periodic("x")),
    )
    assert "runs-away" not in codes(free)


def test_a_study_of_what_is_not_posed_is_refused_at_once():
    begun = time.perf_counter()
    with pytest.raises(StudyError, match=r"not posed: .*needs as many conditions"):
        PhysicsStudy(heat_with(START)).run(seeds=1)
    assert time.perf_counter() - begun < 20.0


@pytest.mark.parametrize("size", [1e-30, 1e-13, 1.0, 1e13])
def test_a_small_start_is_not_zero_and_zero_is(size):
    problem = heat_with(Initial("u", lambda x: size * jnp.sin(jnp.pi * x)), ENDS)
    assert "zero-solution" not in codes(problem)
    assert "zero-solution" in codes(problem.replace(conditions=(Initial("u", 0.0), ENDS)))
