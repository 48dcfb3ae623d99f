"""P17: a network whose parameters are not those of least squares."""

import copy
import functools
import types

import numpy as np
import pytest

from assay.checks import NotApplicable
from assay.physics.baselines import ClassicalSolver
from assay.physics.checks_inverse import FoundElsewhere
from assay.physics.conditions import Initial
from assay.physics.gallery_inverse import oscillator_inverse
from assay.physics.inverse_baseline import LeastSquaresFit
from assay.physics.pinn import PINN
from assay.physics.problem import Problem
from assay.physics.reference import Reference
from assay.physics.view import PhysicsView

CHECK = FoundElsewhere()
SEEDS = [0, *(pytest.param(s, marks=pytest.mark.slow) for s in range(1, 8))]


@functools.cache
def classical(seed):
    return LeastSquaresFit().fit(oscillator_inverse(seed))


def view_of(problem, fit, networks):
    points = np.linspace(0.0, 2.0, 11)[:, None]
    reference = Reference(points, np.zeros((11, 1)), 0.0, "none")
    return PhysicsView(
        problem, tuple(networks), reference, np.empty(0), np.ones(len(networks)), fit, 0.0
    )


def found_by(*values):
    return [types.SimpleNamespace(parameters_={"zeta": value}) for value in values]


@pytest.mark.parametrize("seed", SEEDS)
def test_fails_on_a_training_that_is_far_from_its_end(seed):
    problem = oscillator_inverse(seed)
    net = PINN(hidden=(16,), points=40, steps=4, random_state=seed).fit(problem)
    found = CHECK(view_of(problem, classical(seed), [net]))
    assert found.outcome == "fail"
    assert found.measured > 3.0
    assert "believe the latter" in found.sentence


@pytest.mark.parametrize("seed", SEEDS)
def test_silent_on_a_network_that_has_converged(seed):
    problem = oscillator_inverse(seed)
    net = PINN(hidden=(16,), points=60, steps=150, random_state=seed).fit(problem)
    found = CHECK(view_of(problem, classical(seed), [net]))
    assert found.outcome == "pass"
    assert found.measured < 0.5


def test_distance_is_counted_in_halves_of_the_interval_on_that_side():
    fit, problem = classical(0), oscillator_inverse(0)
    low, high = fit.intervals_["zeta"]
    for value, outcome in ((0.99 * high, "pass"), (1.005 * high, "warn"), (0.995 * low, "warn")):
        found = CHECK(view_of(problem, fit, found_by(value)))
        assert found.outcome == outcome
        assert found.measured == pytest.approx(1.0, abs=0.25)
    found = CHECK(view_of(problem, fit, found_by(fit.parameters_["zeta"], 0.5)))
    assert found.outcome == "fail"
    assert "In 1 of 2 runs" in found.sentence
    assert "zeta is 0.5 against" in found.sentence


def test_least_squares_in_a_poorer_minimum_is_named_instead():
    problem, poor = oscillator_inverse(0), copy.copy(classical(0))
    good = poor.parameters_["zeta"]
    poor.parameters_, poor.intervals_ = {"zeta": 0.3}, {"zeta": (0.28, 0.32)}
    poor.misfit_ = poor.misfit_at({"zeta": 0.3})
    found = CHECK(view_of(problem, poor, found_by(good)))
    assert found.outcome == "warn"
    assert "believe the former" in found.sentence
    assert "least squares" in found.cause


def test_what_nobody_minds_passes_where_the_interval_is_narrower():
    fit, problem = copy.copy(classical(0)), oscillator_inverse(0)
    zeta = fit.parameters_["zeta"]
    fit.intervals_ = {"zeta": (zeta * (1 - 1e-6), zeta * (1 + 1e-6))}
    # The range is a factor of 99: 0.2 % of it are 0.9 % of the value.
    assert CHECK(view_of(problem, fit, found_by(1.009 * zeta))).outcome == "pass"
    assert CHECK(view_of(problem, fit, found_by(1.012 * zeta))).outcome == "warn"


def test_not_applicable_where_nothing_was_found():
    fit, problem = classical(0), oscillator_inverse(0)
    with pytest.raises(NotApplicable, match="says nothing"):
        CHECK(view_of(problem, fit, [object()]))
    forward = Problem(
        lambda d: d.u_t + d.u, {"t": (0.0, 2.0)}, conditions=(Initial("u", 1.0),)
    )  # fmt: skip
    with pytest.raises(NotApplicable, match="Nothing"):
        CHECK(view_of(forward, ClassicalSolver(tolerance=1e-4), []))
