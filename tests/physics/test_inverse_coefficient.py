"""Coefficients that vary, by splines through the solver, against coefficients that are known."""

import jax
import numpy as np
import pytest
from scipy.interpolate import BSpline

from assay.errors import StudyError
from assay.physics.coefficient_fit import CoefficientFit
from assay.physics.conditions import Boundary, Initial, Measured, Unknown, UnknownField
from assay.physics.problem import Problem
from assay.physics.splines import Spline, spelled_out, splines_of

T = np.linspace(0.04, 2.0, 50)


def rate(t):
    return 1.0 + 0.5 * np.sin(2.0 * t)


def decay(seed=0, *, sigma=0.002, said=True, scale="linear", low=0.1, **more):
    """Return u_t = -k(t) u with its closed form and noise."""
    exact = np.exp(-(T + 0.25 * (1.0 - np.cos(2.0 * T))))
    values = exact + sigma * np.random.default_rng(seed).normal(size=len(T))
    told = {"coefficients": {"k": UnknownField("t", low, 3.0, scale=scale)}} | more
    equation = told.pop("equation", lambda d: d.u_t + d.k * d.u)
    return Problem(
        equation,
        {"t": (0.0, 2.0)},
        conditions=(Initial("u", 1.0),),
        readings=(Measured("u", {"t": T}, values, sigma if said else None),),
        **told,
    )


def test_basis_is_that_of_scipy_and_stays_within_the_range():
    spline = Spline("k", UnknownField(("x",), 0.0, 2.0), ((-1.0, 3.0),))
    knots = -1.0 + 4.0 / 5.0 * np.arange(-3, 9)
    nodes = np.random.default_rng(0).uniform(0.0, 2.0, 8)
    theirs = BSpline(knots, nodes, 3)
    with jax.enable_x64(True):
        for x in np.linspace(-1.0, 2.999, 9):
            ours = 2.0 * float(spline.share((x,), nodes))
            assert ours == pytest.approx(float(theirs(x)), abs=1e-12)
            assert sum(np.asarray(spline.basis((x,)))) == pytest.approx(1.0, abs=1e-12)
    assert np.allclose(spline.roughness() @ np.arange(8.0), 0.0)


@pytest.mark.parametrize("seed", [0, *(pytest.param(s, marks=pytest.mark.slow) for s in (1, 2))])
def test_a_rate_that_varies_is_found_within_its_interval(seed):
    fit = CoefficientFit().fit(decay(seed))
    inner = np.linspace(0.1, 1.9, 19)[:, None]
    found = fit.coefficients(inner)[:, 0]
    low, high = fit.coefficient_intervals(inner)[:, 0].T
    off = np.abs(found - rate(inner[:, 0]))
    assert (off < 3.5 * (high - low) / (2 * 1.96)).all()
    assert off[4:12].max() < 0.05  # the ends are seen by few readings
    assert (low < found).all()
    assert (found < high).all()
    # 95 % of each place; neighbours share their errors.
    assert np.mean((low < rate(inner[:, 0])) & (rate(inner[:, 0]) < high)) > 0.7
    assert np.median(high - low) < 0.2
    assert fit.misfit_ == pytest.approx(1.0, abs=0.6)
    assert "for 8 nodes" in fit.status_
    assert np.abs(fit.predict(T[:, None])[:, 0] - np.exp(-(T + 0.25 * (1 - np.cos(2 * T))))).max() \
        < 0.004  # fmt: skip


@pytest.mark.slow
def test_a_larger_noise_makes_it_smoother_and_its_interval_wider():
    quiet = CoefficientFit().fit(decay(sigma=0.0005))
    loud = CoefficientFit().fit(decay(sigma=0.05))
    places = np.linspace(0.2, 1.8, 9)[:, None]
    both = [fit.coefficient_intervals(places)[:, 0] for fit in (quiet, loud)]
    width = [np.median(np.ptp(ends, axis=1)) for ends in both]
    assert width[1] > 3 * width[0]
    assert loud.freedom_ > quiet.freedom_


@pytest.mark.slow
def test_a_number_is_found_beside_a_coefficient_and_noise_is_estimated():
    problem = decay(
        said=False, scale="log", equation=lambda d: d.u_t + d.k * d.u * d.a,
        parameters={"a": Unknown(0.99, 1.01)},
    )  # fmt: skip
    fit = CoefficientFit().fit(problem)
    assert list(fit.parameters_) == list(fit.intervals_) == ["a"]
    found = fit.coefficients([[1.0]])[0, 0] * fit.parameters_["a"]
    assert found == pytest.approx(rate(1.0), abs=0.1)
    assert np.isfinite(fit.misfit_at({"a": 1.0}))
    assert fit.misfit_at({"a": 2.0}) == np.inf
    with pytest.raises(StudyError, match="no profile"):
        fit.profile("a")


@pytest.mark.slow
def test_a_conductivity_that_varies_in_space():
    # (k u_x)_x + 1 = 0 on [0, 1], k = 1 + x: u = -x + log(1 + x) / log(2) satisfies it.
    x = np.linspace(0.02, 0.98, 60)
    exact = -x + np.log1p(x) / np.log(2.0)
    problem = Problem(
        lambda d: d.k * d.u_xx + d.k_x * d.u_x + 1.0,
        {"x": (0.0, 1.0)},
        conditions=(Boundary("u", "x", 0.0),),
        coefficients={"k": UnknownField("x", 0.3, 5.0, scale="log")},
        readings=(Measured("u", {"x": x}, exact + 1e-5 * np.random.default_rng(0).normal(size=60),
                           1e-5),),
    )  # fmt: skip
    fit = CoefficientFit().fit(problem)
    inner = np.linspace(0.05, 0.95, 10)[:, None]
    assert fit.coefficients(inner)[:, 0] == pytest.approx(1.0 + inner[:, 0], rel=0.05)


def test_what_cannot_be_written_with_nodes_is_refused():
    box = {"t": (0.0, 1.0), "x": (0.0, 1.0), "y": (0.0, 1.0)}
    problem = Problem(
        lambda d: d.u_t - d.k * (d.u_xx + d.u_yy), box,
        conditions=(Initial("u", 1.0), Boundary("u", "x", 0.0), Boundary("u", "y", 0.0)),
        coefficients={"k": UnknownField(("t", "x", "y"), 0.1, 1.0)},
    )  # fmt: skip
    with pytest.raises(StudyError, match="depends on 3 variables"):
        splines_of(problem)
    few = decay()
    (reading,) = few.readings
    few = few.replace(readings=(Measured("u", {"t": T[:3]}, reading.values[:3], 0.01),))
    with pytest.raises(StudyError, match="at least as many"):
        CoefficientFit().fit(few)
    assert spelled_out(few.replace(coefficients={}, parameters={"k": 1.0}), ()) is not None
