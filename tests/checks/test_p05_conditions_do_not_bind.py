"""P05: conditions that are missed."""

import numpy as np
import pytest

from assay.checks import NotApplicable
from assay.physics import Face, Initial, Problem
from assay.physics.checks import ConditionsDoNotBind
from assay.physics.diagnosis import conditions_at
from assay.physics.gallery import heat, oscillator

CHECK = ConditionsDoNotBind()


def test_warns_where_the_equation_outweighs_them(physics_view, swings):
    found = CHECK(physics_view(oscillator(), swings("raw")))
    assert found.outcome == "warn"
    assert "u at t = 0" in found.sentence
    assert found.measured == pytest.approx(1.0, abs=0.1)


def test_each_seed_is_silent_where_they_hold(physics_view, swings):
    for network in swings("good and soft"):
        found = CHECK(physics_view(oscillator(), [network]))
        assert found.outcome == "pass"
        assert found.measured < 1e-3


@pytest.mark.parametrize("factor", [0.0, 0.5, 0.9, 0.97, 1.0])
def test_missed_by_how_much(Given, factor):
    """A fixed part of the solution of the heat equation misses its start by the rest."""
    problem = heat()

    def derivatives(points, *names):
        assert names == ("u",)
        t, x = points.T
        return factor * np.asarray(problem.exact(t, x)).reshape(-1, 1)

    soft = tuple((face.label, "") for face in problem.faces)
    missed = conditions_at(Given(problem_=problem, soft_=soft, derivatives=derivatives))
    # The size of the start is its largest value, of which the root mean square is 0.7.
    assert missed["u at t = 0"] == pytest.approx((1 - factor) * 0.7, rel=0.1, abs=1e-12)
    assert all(size < 1e-12 for label, size in missed.items() if " x = " in label)


@pytest.mark.parametrize("k", [1.0, 5.0, 20.0])
def test_conditions_on_combinations_are_measured(Given, k):
    """A Robin condition: u_x = k (u - 1) at the left end, missed by a field that stands still."""
    problem = Problem(
        lambda d: d.u_xx + d.u, {"x": (0.0, 1.0)},
        conditions=(Face(lambda d: d.u_x - k * (d.u - 1.0), "x", "low"),
                    Face(lambda d: d.u - 1.0, "x", "high")),
    )  # fmt: skip
    soft = tuple((face.label, "") for face in problem.faces)

    def derivatives(points, *names):
        return np.array([[{"u": 0.0, "u_x": 0.0}[name] for name in names]] * len(points))

    missed = conditions_at(Given(problem_=problem, soft_=soft, derivatives=derivatives))
    assert len(missed) == 2
    assert all(size > 0.05 for size in missed.values())


def test_not_applicable_where_they_are_built_in(physics_view, swings):
    with pytest.raises(NotApplicable, match="built into"):
        CHECK(physics_view(oscillator(), swings("good")))


def test_size_is_that_of_the_condition_in_raw_units_too(Given):
    problem = Problem(lambda d: d.u_t + d.u, {"t": (0.0, 1.0)}, conditions=(Initial("u", 1000.0),))
    net = Given(problem_=problem, soft_=(("u at t = 0", ""),),
                derivatives=lambda points, *names: np.full((len(points), 1), 990.0))  # fmt: skip
    assert conditions_at(net) == {"u at t = 0": pytest.approx(0.01)}
