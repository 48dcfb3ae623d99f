"""The declaration: what it understands, and the error for everything it cannot."""

import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from assay.errors import DataError, StudyError
from assay.physics import (
    Boundary,
    Face,
    Initial,
    Measured,
    Periodic,
    Problem,
    Unknown,
    UnknownField,
)
from assay.physics.space import Point, Space

BOX = {"t": (0.0, 1.0), "x": (-1.0, 1.0)}


def heat(**changes):
    parts = {"equation": lambda d: d.u_t - d.u_xx, "box": BOX}
    return Problem(**{**parts, **changes})


def test_names_become_keys():
    space = Space(("t", "x"), ("u", "v"), ("nu",))
    assert space.key("u") == ("u", (0, 0))
    assert space.key("v_xxt") == ("v", (1, 2))
    assert space.key("nu") is None
    assert space.key("x") is None
    assert space.name(("v", (1, 2))) == "v_txx"


def test_mixed_derivatives_are_the_same_in_any_order():
    problem = heat(equation=lambda d: d.u_xt - d.u_tx + d.u_t)
    assert problem.keys == (("u", (1, 0)), ("u", (1, 1)))
    values = {("u", (1, 0)): 2.0, ("u", (1, 1)): 5.0}
    assert float(problem.residual(values, {"t": 0.0, "x": 0.0}, {})[0]) == 2.0


def test_long_names_are_read_before_short_ones():
    space = Space(("x", "xi"), ("u",))
    assert space.key("u_xix") == ("u", (1, 1))
    assert space.key("u_xxi") == ("u", (1, 1))


def test_keys_orders_and_highest():
    problem = heat(equation=lambda d: d.u_tt + d.k * d.u_xxxx, parameters={"k": 2.0})
    assert problem.order_in_time == {"u": 2}
    assert problem.highest("u", "x") == 4
    assert problem.highest("u", None) == 0
    assert problem.known == {"k": 2.0}


def test_time_is_t_or_named_or_absent():
    assert heat().time == "t"
    assert heat(time=None).time is None
    assert Problem(lambda d: d.u_xx, {"x": (0, 1)}).time is None
    assert Problem(lambda d: d.u_s, {"s": (0, 1)}, time="s").time == "s"


def test_systems_return_tuples_or_several_functions():
    pair = Problem(lambda d: (d.u_t - d.v, d.v_t + d.u), {"t": (0, 1)}, fields=("u", "v"))
    two = Problem((lambda d: d.u_t - d.v, lambda d: d.v_t + d.u), {"t": (0, 1)}, fields=["u", "v"])
    values = {("u", (0,)): 1.0, ("u", (1,)): 2.0, ("v", (0,)): 3.0, ("v", (1,)): 4.0}
    for problem in (pair, two):
        assert np.allclose(problem.residual(values, {"t": 0.0}, {}), [-1.0, 5.0])


def test_residual_keeps_the_precision_of_its_input():
    problem = heat()
    with jax.enable_x64(True):
        small = problem.residual(
            {("u", (1, 0)): 1.0 + 1e-12, ("u", (0, 2)): 1.0}, {"t": 0.0, "x": 0.0}, {}
        )
        assert float(small[0]) == pytest.approx(1e-12, rel=1e-3)


def test_conditions_become_faces():
    problem = heat(
        conditions=(
            Initial("u", lambda x: x**2),
            Boundary("u", "x", lambda t: 1.0 + t, side="low"),
            Face(lambda d: d.u_x + 3.0 * d.u, "x", side="high"),
        )
    )
    start, low, high = problem.faces
    assert (start.kind, start.along, start.at, start.label) == ("initial", "t", 0.0, "u at t = 0")
    assert float(start.value({"x": 3.0})) == 9.0
    assert (low.end, low.at, float(low.value({"t": 1.0}))) == ("low", -1.0, 2.0)
    assert (high.end, high.name, len(high.keys)) == ("high", None, 2)
    values = {("u", (0, 0)): 2.0, ("u", (0, 1)): 1.0}
    assert float(high.equation(Point(problem.space, values, {}))) == 7.0


def test_both_sides_and_places_inside():
    both = heat(conditions=(Boundary("u", "x", 1.0),)).faces
    assert [face.at for face in both] == [-1.0, 1.0]
    (inside,) = heat(conditions=(Boundary("u", "x", 1.0, side=0.25),)).faces
    assert (inside.end, inside.at) == ("inside", 0.25)
    (end,) = heat(conditions=(Boundary("u", "x", 1.0, side=1.0),)).faces
    assert end.end == "high"


def test_several_equations_on_a_face_have_labels_of_their_own():
    pair = Problem(
        lambda d: (d.u_t - d.u_xx, d.v_t - d.v_xx),
        BOX,
        fields=("u", "v"),
        conditions=(
            Face(lambda d: d.u_x + 3.0 * d.u, "x", "high"),
            Face(lambda d: d.v_x + 5e3 * d.v, "x", "high"),
        ),
    )
    first, second = pair.faces
    assert (first.keys[0][0], second.keys[0][0]) == ("u", "v")
    assert first.label == "equation at x = 1 (number 1)"
    assert second.label == "equation at x = 1 (number 2)"


def test_periodic_variables():
    assert heat(conditions=(Periodic("x"), Periodic("x"))).periodic == ("x",)


def test_a_single_condition_needs_no_tuple():
    assert len(heat(conditions=Initial("u", 0.0)).faces) == 1


def test_exact_values_in_any_order_of_arguments():
    problem = heat(exact=lambda x, t: x + 10 * t)
    points = np.array([[0.1, 0.5], [0.2, -0.5]])
    assert np.allclose(problem.exact_at(points)[:, 0], [1.5, 1.5])
    constant = heat(exact=lambda: 2.0)
    assert np.allclose(constant.exact_at(points), 2.0)
    shifted = heat(exact=lambda x, shift=1.0: x + shift)
    assert np.allclose(shifted.exact_at(points)[:, 0], [1.5, 0.5])


def test_exact_of_something_else_is_refused():
    with pytest.raises(StudyError, match="function of 'y'"):
        heat(exact=lambda y: y).exact_at(np.zeros((1, 2)))
    for wrong in (lambda t: t + 1j, lambda t: np.ma.masked_array(t, [True])):
        with pytest.raises(StudyError, match="gives no 1 real numbers"):
            heat(exact=wrong).exact_at(np.zeros((1, 2)))
    with pytest.raises(StudyError, match="no exact solution"):
        heat().exact_at(np.zeros((1, 2)))


def test_unknowns_start_inside_their_range():
    assert Unknown(0.01, 1.0).start == pytest.approx(0.1)
    assert Unknown(-1.0, 3.0, scale="linear").start == 1.0
    assert Unknown(-1.0, 1.0, scale="linear").start == 0.0
    problem = heat(
        equation=lambda d: d.u_t - d.a * d.u_xx, parameters={"a": Unknown(0.1, 10.0, start=3.0)}
    )
    assert problem.known == {"a": 3.0}
    assert list(problem.unknown) == ["a"]


def test_coefficients_are_fields_of_the_space():
    problem = heat(
        equation=lambda d: d.u_t - d.a * d.u_xx - d.a_x * d.u_x,
        coefficients={"a": UnknownField("x", 0.1, 1.0)},
    )
    assert problem.space.fields == ("u", "a")
    assert ("a", (0, 1)) in problem.keys


def test_a_parameter_may_act_through_a_condition_only():
    problem = heat(
        conditions=(Face(lambda d: d.u_x + d.h * d.u, "x", "high"),), parameters={"h": 2.0}
    )
    assert problem.known == {"h": 2.0}


EFFECTS = {
    "an equation of tiny terms": (lambda d: 1e-15 * (d.u_t + d.k * d.u), 3.0),
    "a tiny term": (lambda d: d.u_t + 1e-14 * d.k * d.u, 3.0),
    "a square of zero": (lambda d: d.u_t + d.k**2 * d.u, 0.0),
    "a threshold": (lambda d: d.u_t + d.k * jnp.maximum(d.u - 273.0, 0.0), -1.0),
    "rounding elsewhere": (
        lambda d: d.u_t + jnp.where(d.t < 0.2, d.k * d.u, 0.1 * d.k + 0.2 * d.k - 0.3 * d.k),
        1.0,
    ),
    "an overflow": (lambda d: d.u_t - jnp.exp(1e4 * d.u * d.k), 1.0),
}
NO_EFFECTS = {
    "nothing": lambda d: d.u_t + d.u,
    "a zero": lambda d: d.u_t + 0.0 * d.k * d.u,
    "rounding": lambda d: d.u_t + 0.1 * d.k * d.u + 0.2 * d.k * d.u - 0.3 * d.k * d.u,
    "large rounding": lambda d: (
        d.u_t + 1e9 * (jnp.sin(d.k) ** 2 * d.u + jnp.cos(d.k) ** 2 * d.u - d.u)
    ),
}


@pytest.mark.parametrize("case", EFFECTS)
def test_a_parameter_acts_however_little(case):
    equation, k = EFFECTS[case]
    Problem(equation, {"t": (0.0, 1.0)}, parameters={"k": k})


@pytest.mark.parametrize("case", NO_EFFECTS)
@pytest.mark.parametrize("k", [0.0, 1e-6, 1.0, 3.3, -2.0, 4e7])
def test_rounding_is_no_effect(case, k):
    with pytest.raises(StudyError, match="'k' changes neither"):
        Problem(NO_EFFECTS[case], {"t": (0.0, 1.0)}, parameters={"k": k})


def test_replace_checks_again():
    problem = heat(conditions=(Initial("u", 0.0),))
    with pytest.raises(StudyError, match="outside the box"):
        problem.replace(conditions=(Boundary("u", "x", 0.0, side=7.0),))


ONE = np.ones(2)
WRONG = {
    # names
    "must be a Python identifier": lambda: heat(box={"1x": (0, 1)}),
    "stands for two things": lambda: heat(fields="x"),
    "underscore": lambda: heat(box={"t": (0, 1), "x_1": (0, 1)}),
    "one to 3 variables": lambda: heat(box=dict.fromkeys("xyzw", (0, 1))),
    "at least one field": lambda: heat(fields=()),
    "reads as a derivative": lambda: heat(parameters={"u_x": 1.0}),
    "problem has no 'w_x'": lambda: heat(equation=lambda d: d.w_x),
    "problem has no 'u_y'": lambda: heat(equation=lambda d: d.u_y),
    "derivative of order 7": lambda: heat(equation=lambda d: d.u_xxxxxxx),
    # the box
    "`box` must be a dictionary": lambda: heat(box=[(0, 1)]),
    "range of 'x' must rise": lambda: heat(box={"t": (0, 1), "x": (1, 0)}),
    "range of 't' must rise": lambda: heat(box={"t": 1.0, "x": (1, 0)}),
    "range of 't' must rise from one number to another, got ('0', '1')": lambda: heat(
        box={"t": ("0", "1")}
    ),
    "range of 't' must rise from one number to another, got (False, True)": lambda: heat(
        box={"t": (False, True)}
    ),
    "too wide": lambda: heat(box={"t": (-1e308, 1e308)}),
    "`time` is 's'": lambda: heat(time="s"),
    "`time` must be named by a text": lambda: heat(time=[]),
    "can be read in two ways": lambda: heat(box={"t": (0, 1), "tt": (0, 1)}),
    # parts that are of another kind
    "`parameters` must be a dictionary": lambda: heat(parameters=None),
    "`parameters` must be a dictionary by name, got ['k']": lambda: heat(parameters=["k"]),
    "`coefficients` must be a dictionary": lambda: heat(coefficients=None),
    "`units` must be a dictionary": lambda: heat(units=None),
    "`units` has 's', which is no": lambda: heat(units={"s": "m"}),
    "unit of 't' must be a text": lambda: heat(units={"t": 1.0}),
    "`parameters` has 'μ' twice": lambda: heat(
        parameters={"\N{MICRO SIGN}": 1.0, "\N{GREEK SMALL LETTER MU}": 2.0}
    ),
    "`fields` must be a name": lambda: heat(fields=None),
    "`fields` must be a name or a tuple of names, got 5": lambda: heat(fields=5),
    "`fields` must be named by a text": lambda: heat(fields=(5,)),
    "`name` must be a text": lambda: heat(name=5),
    "`exact` must be a function": lambda: heat(exact=5.0),
    # the equation
    "must be a function": lambda: heat(equation=3.0),
    "decides something by a value": lambda: heat(equation=lambda d: d.u_t if d.u > 0 else d.u),
    "takes a NumPy function": lambda: heat(equation=lambda d: d.u_t - np.sin(d.u)),
    "the equation fails: KeyError": lambda: heat(equation=lambda d: {}["a"] * d.u),
    "each residual is one number": lambda: heat(equation=lambda d: d.u_t * jnp.ones(3)),
    "fails: SystemExit": lambda: heat(equation=lambda d: sys.exit()),
    "the equation returns True or False": lambda: heat(equation=lambda d: d.u_t == d.u_xx),
    "the equation returns a complex": lambda: heat(
        equation=lambda d: jax.lax.complex(d.u_t, d.u_xx)
    ),
    "the equation returns an object of type str": lambda: heat(equation=lambda d: "u"),
    "the equation returns an object of type Point": lambda: heat(equation=lambda d: d),
    "the equation returns None": lambda: heat(equation=lambda d: None),
    "the equation returns an object of type tuple": lambda: heat(
        equation=lambda d: ((d.u_t, d.u_xx), d.u)
    ),
    "the equation divides by a plain 0": lambda: heat(equation=lambda d: d.u_t - d.u_xx / 0),
    "2 fields need as many equations": lambda: heat(fields=("u", "v")),
    "does not contain the field 'u'": lambda: heat(equation=lambda d: d.x * d.t),
    # parameters
    "must be a finite number or Unknown": lambda: heat(parameters={"a": "fast"}),
    "parameter 'a' changes neither": lambda: heat(parameters={"a": 1.0}),
    "cancels": lambda: heat(
        equation=lambda d: d.u_t - d.u_xx + d.a * d.u - d.u * d.a, parameters={"a": 1.0}
    ),
    "must be an UnknownField": lambda: heat(
        equation=lambda d: d.u_t - d.a * d.u_xx, coefficients={"a": 1.0}
    ),
    "depends on 'y'": lambda: heat(
        equation=lambda d: d.u_t - d.a * d.u_xx, coefficients={"a": UnknownField("y", 0, 1)}
    ),
    "does not contain the field 'a'": lambda: heat(coefficients={"a": UnknownField("x", 0, 1)}),
    "scale of an unknown": lambda: Unknown(0.1, 1.0, scale="cubic"),
    "range of an unknown must rise": lambda: Unknown(1.0, 0.1),
    "log scale must be positive": lambda: Unknown(0.0, 1.0),
    "starts at 5.0, outside": lambda: Unknown(0.1, 1.0, start=5.0),
    "`low` of an unknown must be a finite number, got 'a'": lambda: Unknown("a", "b"),
    "`low` of an unknown must be a finite number, got None": lambda: Unknown(None, 1.0),
    "`low` of an unknown must be a finite number, got 1j": lambda: Unknown(1j, 2.0),
    "`high` of an unknown must be a finite number, got inf": lambda: Unknown(1.0, np.inf),
    "`start` of an unknown must be a finite number": lambda: Unknown(1.0, 2.0, start="x"),
    "`of` of an UnknownField must be a name": lambda: UnknownField(5, 0.0, 1.0),
    "must name each of its variables once, got ()": lambda: UnknownField((), 0.0, 1.0),
    "must name each of its variables once, got ('x', 'x')": lambda: UnknownField(
        ("x", "x"), 0.0, 1.0
    ),
    # conditions
    "must be Initial, Boundary, Face": lambda: heat(conditions=("u = 0",)),
    "makes time periodic": lambda: heat(conditions=(Periodic("t"),)),
    "along 'y', which is no variable": lambda: heat(conditions=(Boundary("u", "y", 0.0),)),
    "x is periodic and has no ends": lambda: heat(
        conditions=(Periodic("x"), Boundary("u", "x", 0.0))
    ),
    "u at x = -1 is given twice": lambda: heat(
        conditions=(Boundary("u", "x", 0.0), Boundary("u", "x", 1.0, side="low"))
    ),
    "u at x = 1 is given twice": lambda: heat(
        conditions=(
            Boundary("u", "x", 0.0, side="high"),
            Boundary("u", "x", 0.0, side=1.0 - 1e-12),
        )
    ),
    "the problem has no time": lambda: heat(time=None, conditions=(Initial("u", 0.0),)),
    "x = 2 lies outside the box": lambda: heat(conditions=(Boundary("u", "x", 0.0, side=2.0),)),
    "`side` must be": lambda: heat(conditions=(Boundary("u", "x", 0.0, side="left"),)),
    "`side` must be 'both', 'low', 'high' or a number, got [0, 1]": lambda: heat(
        conditions=(Boundary("u", "x", 0.0, side=[0, 1]),)
    ),
    "variable of a boundary condition must be named by a text": lambda: Boundary("u", [], 0.0),
    "variable of a face must be named by a text": lambda: Face(lambda d: d.u, 3),
    "periodic variable must be named by a text": lambda: Periodic([]),
    "initial condition is for must be named by a text": lambda: Initial(3, 1.0),
    "boundary condition is for must be named by a text": lambda: Boundary(None, "x"),
    "the face x=-1 returns True or False": lambda: heat(
        conditions=(Face(lambda d: d.u == 0.0, "x"),)
    ),
    "does not say what it takes": lambda: heat(conditions=(Initial("u", max),)),
    "got inf": lambda: heat(conditions=(Initial("u", float("inf")),)),
    "got True": lambda: heat(conditions=(Initial("u", True),)),
    "u at t = 0 fails: SystemExit": lambda: heat(conditions=(Initial("u", lambda x: sys.exit()),)),
    "A Face has one equation": lambda: heat(conditions=(Face(lambda d: (d.u, d.u_x), "x"),)),
    "for 'x', which is no field": lambda: heat(conditions=(Boundary("x", "x", 0.0),)),
    "problem has no 'v'": lambda: heat(conditions=(Initial("v", 0.0),)),
    "function of 'y'; it may depend on x": lambda: heat(conditions=(Initial("u", lambda y: y),)),
    "function of 'x'; it may depend on t": lambda: heat(
        conditions=(Boundary("u", "x", lambda x: x),)
    ),
    "must be a number or a function": lambda: heat(conditions=(Initial("u", "one"),)),
    "got nan": lambda: heat(conditions=(Initial("u", float("nan")),)),
    # readings
    "Readings must be Measured": lambda: heat(readings=(1.0,)),
    "Readings of u: `at` must be a dictionary": lambda: Measured("u", ONE, ONE),
    "What was measured must be named by a text": lambda: Measured(5, {"t": ONE}, ONE),
    "say at which 'y', which is no variable": lambda: heat(
        readings=Measured("u", {"t": ONE, "x": ONE, "y": ONE}, ONE)
    ),
    "do not say at which 'x'": lambda: heat(readings=Measured("u", {"t": ONE}, ONE)),
    "Reading 1 of u is at x = 3": lambda: heat(
        readings=Measured("u", {"t": ONE, "x": [0.0, 3.0]}, ONE)
    ),
    "reading of what is not there": lambda: heat(readings=Measured("w", {"t": ONE, "x": ONE}, ONE)),
    "Readings are of 'x', which is no field": lambda: heat(
        readings=Measured("x", {"t": ONE, "x": ONE}, ONE)
    ),
}
SAID = {
    "reading of what is not there": "problem has no 'w'",
}


@pytest.mark.parametrize("said", WRONG)
def test_wrong_declarations_are_named(said):
    with pytest.raises(StudyError) as caught:
        WRONG[said]()
    assert SAID.get(said, said) in str(caught.value)


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        ({"values": np.ones((2, 1))}, "'values' has shape (2, 1)"),
        ({"at": {"t": np.ones(3)}}, "'t' has shape (3,)"),
        ({"values": []}, "'values' has shape (0,)"),
        ({"values": [1.0, np.inf]}, "not finite at reading 1"),
        ({"sigma": 0.0}, "`sigma` must be above 0"),
        ({"sigma": -1.0}, "`sigma` must be above 0"),
        ({"sigma": True}, "`sigma` must be above 0"),
        ({"sigma": "0.1"}, "`sigma` must be above 0"),
        ({"values": ONE + 1j}, "'values' must be real numbers"),
        ({"values": [1.0, 2j]}, "'values' must be real numbers"),
        ({"values": ["1", "2"]}, "'values' must be real numbers"),
        ({"values": [[1.0], [1.0, 2.0]]}, "'values' must be real numbers"),
        ({"at": {"t": np.array(["2024-01-01", "2024-01-02"], "M8[D]")}}, "'t' must be real"),
        ({"values": np.ma.masked_array(ONE, [False, True])}, "reading 1 is masked"),
        ({"at": {"t": np.ma.masked_array(ONE, [True, False])}}, "'t': reading 0 is masked"),
    ],
)
def test_wrong_readings_are_named(parts, said):
    with pytest.raises(DataError) as caught:
        Measured(**{"name": "u", "at": {"t": ONE}, "values": ONE, **parts})
    assert said in str(caught.value)


def test_readings_are_an_own_copy():
    values, times = np.ones(2), np.array([0.1, 0.2])
    kept = Measured("u", {"t": times}, values)
    values[0] = times[0] = 7.0
    assert (kept.values[0], kept.at["t"][0]) == (1.0, 0.1)
    with pytest.raises(ValueError, match="read-only"):
        kept.values[0] = 7.0
    unmasked = np.ma.masked_array(np.ones(2), [False, False])
    assert Measured("u", {"t": times}, unmasked).values.tolist() == [1.0, 1.0]
    assert Measured("u", {"t": [0, 1]}, [np.float32(1.0), 2]).values.tolist() == [1.0, 2.0]


def test_unknowns_start_inside_ranges_of_any_size():
    assert Unknown(1e300, 1e301).start == pytest.approx(10**300.5)
    assert Unknown(1e-300, 1e-299).start == pytest.approx(10**-299.5)
    assert Unknown(1e308, 1.5e308, scale="linear").start == pytest.approx(1.25e308)


def test_names_are_spelled_as_python_spells_them():
    micro, greek = "\N{MICRO SIGN}", "\N{GREEK SMALL LETTER MU}"
    problem = Problem(
        lambda d: d.u_t + getattr(d, greek) * d.u,
        {"t": (0.0, 1.0)},
        parameters={micro: 3.0},
        units={micro: "1/s"},
    )
    assert problem.known == {greek: 3.0}
    assert problem.units == {greek: "1/s"}
    field = Problem(
        lambda d: getattr(d, greek + "_t") + getattr(d, micro),
        {"t": (0.0, 1.0)},
        fields=micro,
        conditions=Initial(micro, 1.0),
        readings=Measured(micro, {"t": ONE}, ONE),
    )
    assert field.fields == (greek,)
    assert field.faces[0].label == f"{greek} at t = 0"


def test_long_names_of_variables_are_read_whole():
    space = Space(("x", "xy", "yz"), ("u",))
    assert space.key("u_xyz") == ("u", (1, 0, 1))
    assert space.key("u_xyx") == ("u", (1, 1, 0))
    with pytest.raises(StudyError, match="no 'u_z'"):
        space.key("u_z")


def test_errors_say_what_to_do():
    for make in WRONG.values():
        with pytest.raises(StudyError) as caught:
            make()
        assert caught.value.hint or "Did you mean" in str(caught.value), caught.value


def test_terms_that_depend_on_values_are_caught_later():
    problem = heat()
    with pytest.raises(StudyError, match="was not in the equation"):
        Point(problem.space, {}, {"t": 0.0, "x": 0.0}).u_x  # noqa: B018


def test_dunder_lookups_are_plain():
    assert not hasattr(Point(Space(("x",), ("u",)), {}, {}), "__array__")
