"""P01: conditions that are missing, too many, or contradict each other; terms that do not act."""

import numpy as np
import pytest

from assay.physics import Boundary, Face, Initial, Problem
from assay.physics.checks import IllPosed
from assay.physics.gallery import PROBLEMS

CHECK = IllPosed()
BOX = {"t": (0.0, 1.0), "x": (0.0, 1.0)}


def heat(*conditions, a=0.25):
    return Problem(
        lambda d: d.u_t - d.a * d.u_xx, BOX, conditions=conditions, parameters={"a": a},
        exact=lambda t, x: np.exp(-a * np.pi**2 * t) * np.sin(np.pi * x),
    )  # fmt: skip


def start(x):
    import jax.numpy as jnp

    return jnp.sin(jnp.pi * x)


ENDS, START = Boundary("u", "x", 0.0), Initial("u", start)
PLANTED = {
    "no ends": ((START,), "2 in x"),
    "one end": ((START, Boundary("u", "x", 0.0, "low")), "1 given"),
    "no start": ((ENDS,), "start"),
    "three": ((START, ENDS, Boundary("u_x", "x", 0.0, "low")), "takes as many"),
    "against each other": (
        (START, ENDS, Face(lambda d: 2.0 * d.u - 1.0, "x", "low")), "contradict",
    ),
    "only zero": ((Initial("u", 0.0), ENDS), "Zero fulfils"),
}  # fmt: skip


@pytest.mark.parametrize("case", PLANTED)
def test_fails_by_name(physics_view, case):
    conditions, word = PLANTED[case]
    found = CHECK(physics_view(heat(*conditions), fields=lambda s, p, truth: truth))
    assert found.outcome == "fail"
    assert word in found.sentence
    assert found.fix


@pytest.mark.parametrize("a", [1e-9, 1e-10, 1e-12])
def test_warns_where_the_second_derivative_does_not_act(physics_view, a):
    """A diffusivity in the wrong units: the highest derivative is written and does nothing."""
    found = CHECK(physics_view(heat(START, ENDS, a=a), fields=lambda s, p, truth: truth))
    assert found.outcome == "warn"
    assert "u_xx" in found.sentence
    assert "hardly acts" in found.sentence


@pytest.mark.parametrize("make", PROBLEMS, ids=lambda make: make.__name__)
def test_silent_on_the_gallery(physics_view, make):
    problem = make()
    if problem.exact is None:
        problem = problem.replace(exact=lambda t, x: np.ones_like(t))
    found = CHECK(physics_view(problem, fields=lambda s, p, truth: truth, count=5))
    assert found.outcome == "pass"
    assert (found.measured, found.unit) == (0, "faults")


def test_silent_on_the_healthy_variant(physics_view):
    view = physics_view(heat(START, ENDS), fields=lambda s, p, truth: truth)
    assert CHECK(view).outcome == "pass"
