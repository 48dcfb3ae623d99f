"""P04: zero instead of a solution, and since which step."""

import numpy as np
import pytest

from assay.checks import NotApplicable
from assay.physics.checks import TrivialSolution
from assay.physics.diagnosis import constant_is_solution, trivial_from, zero_condition_loss
from assay.physics.gallery import allen_cahn_wang, convection, heat, oscillator, poisson

CHECK = TrivialSolution()
HEALTHY = ["weighted", "scaled", "hard", "good", "good and soft", "few points"]


def test_fails_on_the_first_run_of_the_chapter(physics_view, swings):
    """Raw units, weight 1: the network is zero, and that is told long before step 500."""
    networks = swings("raw")
    found = CHECK(physics_view(oscillator(), networks))
    assert found.outcome == "fail"
    assert "In 3 of 3 runs" in found.sentence
    assert "since step" in found.sentence
    assert found.measured < 0.05
    for network in networks:
        step = trivial_from(network.history_, zero_condition_loss(network))
        assert 0 < step < 100
        # It can be asked during training: the first 250 steps are enough.
        early = {key: values[:251] for key, values in network.history_.items()}
        assert trivial_from(early, zero_condition_loss(network)) == step


@pytest.mark.parametrize("recipe", HEALTHY)
def test_silent_where_the_conditions_hold(physics_view, swings, recipe):
    networks = swings(recipe)
    found = CHECK(physics_view(oscillator(), networks))
    assert found.outcome == "pass"
    assert found.measured > 0.3
    for network in networks:
        zero = zero_condition_loss(network)
        assert zero is None or trivial_from(network.history_, zero) is None


def test_what_zero_costs(swings):
    """u(0) = 1 and u'(0) = 0 with weight 1 or 100; built in, nothing."""
    costs = [zero_condition_loss(swings(name)[0]) for name in ("raw", "weighted", "hard")]
    assert costs == [pytest.approx(1.0), pytest.approx(100.0), None]


@pytest.mark.parametrize("seed", range(3))
def test_silent_on_a_start_that_passes_through_zero(seed):
    """The residual goes first and the conditions follow: a handful of steps is no collapse."""
    step = np.arange(1000)
    late = 20 + 20 * seed
    history = {
        "step": step,
        "residual": np.where(step < 5, 50.0, 0.1),
        "condition": np.where(step < 5 + late, 1.0, 0.1),
    }
    assert trivial_from(history, 1.0) is None
    assert trivial_from(history, 1.0, hold=late - 1) == 5


@pytest.mark.parametrize("value", [0.0, -1.3, 40.0])
@pytest.mark.parametrize("seed", range(3))
def test_a_constant_is_as_trivial_where_only_derivatives_count(physics_view, value, seed):
    rng = np.random.default_rng(seed)

    def flat(_, points, truth):
        return value + 0.02 * rng.normal(size=truth.shape)

    found = CHECK(physics_view(convection(), fields=flat))
    assert found.outcome == "fail"
    assert "constant" in found.sentence


@pytest.mark.parametrize("part", [0.3, 0.5, 1.0])
def test_silent_on_a_solution_that_dies_out(physics_view, part):
    """Zero behind a correct start is another failure: late times."""

    def dying(_, points, truth):
        return truth * (points[:, :1] <= part)

    assert CHECK(physics_view(convection(), fields=dying)).outcome == "pass"


def test_what_solves_which_equation():
    zero = {make.__name__: constant_is_solution(make()) for make in (oscillator, heat, poisson)}
    assert zero == {"oscillator": True, "heat": True, "poisson": False}
    assert constant_is_solution(convection(), 3.0)
    assert not constant_is_solution(oscillator(), 3.0)
    assert [constant_is_solution(allen_cahn_wang(), v) for v in (-1.0, 0.0, 0.5)] == [
        True, True, False,
    ]  # fmt: skip


def test_not_applicable(physics_view):
    with pytest.raises(NotApplicable, match="Zero does not solve"):
        CHECK(physics_view(poisson(), fields=lambda s, p, truth: 0.0 * truth))
    nothing = heat().replace(exact=lambda t, x: 0.0 * t)
    with pytest.raises(NotApplicable, match="zero itself"):
        CHECK(physics_view(nothing, fields=lambda s, p, truth: truth))


@pytest.mark.parametrize(("built_in", "cause"), [((), "built in"), (("u at t = 0",), "outweighs")])
def test_cures_are_those_that_are_left(physics_view, built_in, cause):
    """Where all conditions are built in already, building them in is no advice."""

    class Collapsed:
        soft_ = built_in

    view = physics_view(oscillator(), [Collapsed()] * 3, fields=lambda s, p, truth: 0.0 * truth)
    found = CHECK(view)
    assert found.outcome == "fail"
    assert cause in found.cause
    assert any("Build the conditions in" in fix for fix in found.fix) == bool(built_in)
