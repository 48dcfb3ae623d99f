"""Findings about a declaration: each planted, and the gallery healthy."""

import jax.numpy as jnp
import numpy as np
import pytest

from assay.physics import Boundary, Face, Initial, Measured, Periodic, Problem
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
