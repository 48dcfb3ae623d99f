import jax.numpy as jnp
import numpy as np
import pytest

from assay.errors import StudyError
from assay.physics import Boundary, Face, Initial, Measured, Problem
from assay.physics.scaling import scales_of

W0 = 2 * np.pi


def oscillator(w0=W0, end=2.0, u0=1.0):
    return Problem(
        lambda d: d.u_tt + 2 * d.zeta * w0 * d.u_t + w0**2 * d.u,
        {"t": (0.0, end)},
        conditions=(Initial("u", u0), Initial("u_t", 0.0)),
        parameters={"zeta": 0.1},
    )


def test_an_oscillator_is_measured_in_units_of_its_frequency():
    scales = scales_of(oscillator())
    assert scales.lengths["t"] == pytest.approx(1 / W0)
    assert scales.residuals[0] == pytest.approx(W0**2)
    assert scales.conditions["u_t at t = 0"] == pytest.approx(W0)
    assert scales.terms[0]["u_t"] == pytest.approx(2 * 0.1 * W0)
    assert max(scales.terms_after[0].values()) == pytest.approx(1.0)


def test_other_units_change_nothing_but_the_units():
    seconds, hours = scales_of(oscillator()), scales_of(oscillator(3600 * W0, 2.0 / 3600))
    assert hours.lengths["t"] == pytest.approx(seconds.lengths["t"] / 3600)
    assert hours.terms_after[0]["u_tt"] == pytest.approx(seconds.terms_after[0]["u_tt"])
    metres = scales_of(oscillator(u0=1e-3))
    assert metres.fields["u"] == pytest.approx(1e-3)
    assert metres.residuals[0] == pytest.approx(1e-3 * W0**2)


def test_raw_units_divide_by_nothing_but_still_list_the_terms():
    scales = scales_of(oscillator(), "none")
    assert not scales.scaled
    assert scales.residuals == (1.0,)
    assert set(scales.conditions.values()) == {1.0}
    assert scales.terms[0]["u"] == pytest.approx(W0**2)


def test_a_source_sets_the_size_where_the_conditions_are_zero():
    load = 1e6
    bar = Problem(
        lambda d: 2e11 * d.u_xx + load, {"x": (0.0, 2.0)}, conditions=(Boundary("u", "x", 0.0),)
    )
    scales = scales_of(bar)
    assert scales.fields["u"] == pytest.approx(load / 2e11)  # the exact largest is half of it
    assert scales.residuals[0] == pytest.approx(load)


def test_readings_and_several_fields():
    problem = Problem(
        lambda d: (d.x_t - d.y, d.y_t + d.x),
        {"t": (0.0, 1.0)},
        fields=("x", "y"),
        conditions=(Initial("x", 0.0), Initial("y", -20.0)),
        readings=(Measured("x", {"t": [0.1, 0.2]}, [3.0, -7.0]),),
    )
    assert scales_of(problem).fields == {"x": 7.0, "y": 20.0}


def test_a_field_of_which_nothing_is_known_has_size_one():
    problem = Problem(lambda d: d.u_x + d.u, {"x": (0.0, 1.0)}, conditions=(Boundary("u", "x"),))
    assert scales_of(problem).fields == {"u": 1.0}


def test_a_wave_speed_sets_the_natural_time():
    problem = Problem(
        lambda d: d.u_t + 30.0 * d.u_x,
        {"t": (0.0, 1.0), "x": (0.0, 2 * np.pi)},
        conditions=(Initial("u", lambda x: jnp.sin(x)),),
    )
    scales = scales_of(problem)
    assert scales.lengths["t"] == pytest.approx(np.pi / 30)
    assert scales.fields["u"] == pytest.approx(1.0, rel=1e-2)


def test_a_robin_face_is_measured_by_its_largest_term():
    problem = Problem(
        lambda d: d.u_xx,
        {"x": (0.0, 4.0)},
        conditions=(Boundary("u", "x", 3.0, side="low"), Face(lambda d: d.u_x + d.u, "x", "high")),
    )
    scales = scales_of(problem)
    assert [scales.conditions[face.label] for face in problem.faces] == [3.0, 3.0]


def test_rows_for_the_report():
    row = scales_of(oscillator()).rows()[0]
    assert set(row) == {"equation", "term", "before", "after"}


def test_an_equation_that_is_never_finite_is_refused():
    problem = Problem(
        lambda d: d.u_x - jnp.sqrt(d.x), {"x": (-2.0, -1.0)}, conditions=(Boundary("u", "x"),)
    )
    with pytest.raises(StudyError, match="not finite"):
        scales_of(problem)


def test_a_root_of_the_field_is_measured_where_it_exists():
    tank = Problem(
        lambda d: d.h_t + 0.5 * jnp.sqrt(d.h), {"t": (0.0, 1.0)}, fields="h",
        conditions=(Initial("h", 4.0),),
    )  # fmt: skip
    assert scales_of(tank).fields == {"h": 4.0}
    assert scales_of(tank).residuals[0] == pytest.approx(8.0)  # h / half the box


def test_an_unknown_scaling_is_named():
    with pytest.raises(StudyError, match="scaling"):
        scales_of(oscillator(), "some")
