"""Least squares through the solver against SciPy's fit of the closed form, and its honesty."""

import numpy as np
import pytest
from scipy.optimize import brentq, curve_fit

import assay.physics.misfit as misfit_module
from assay.errors import StudyError
from assay.physics.conditions import Initial, Measured, Unknown, UnknownField
from assay.physics.gallery_inverse import burgers_inverse, lorenz_inverse, oscillator_inverse
from assay.physics.inverse_baseline import LeastSquaresFit
from assay.physics.misfit import Misfit
from assay.physics.problem import Problem

T = np.linspace(0.1, 2.0, 20)


def closed_form(t, zeta):
    w0 = 2.0 * np.pi
    wd = w0 * np.sqrt(1.0 - zeta**2)
    return np.exp(-zeta * w0 * t) * (
        np.cos(wd * t) + zeta / np.sqrt(1.0 - zeta**2) * np.sin(wd * t)
    )


def decay(k=None, *, readings, sigma=None, low=0.1, high=10.0, end=2.0, **more):
    return Problem(
        lambda d: d.u_t + d.k * d.u,
        {"t": (0.0, end)},
        conditions=(Initial("u", 1.0),),
        parameters={"k": k or Unknown(low, high)},
        readings=(Measured("u", {"t": T}, readings, sigma),),
        **more,
    )


def noisy(rate, sigma, seed=0):
    return np.exp(-rate * T) + sigma * np.random.default_rng(seed).normal(size=len(T))


@pytest.mark.parametrize("seed", range(3))
def test_oscillator_agrees_with_curve_fit_of_the_closed_form(seed):
    problem = oscillator_inverse(seed)
    fit = LeastSquaresFit().fit(problem)
    (reading,) = problem.readings
    (zeta,), covariance = curve_fit(
        closed_form, reading.at["t"], reading.values, 0.5, bounds=(0.01, 0.99),
        sigma=np.full(12, 0.02), absolute_sigma=True,
    )  # fmt: skip
    error = float(np.sqrt(covariance[0, 0]))
    assert abs(fit.parameters_["zeta"] - zeta) < 0.01 * error
    assert fit.standard_errors_["zeta"] == pytest.approx(error, rel=0.02)
    # The noise is drawn so that the truth is 0.1; the widest range of the quoted draws is 4.
    assert abs(zeta - 0.1) < 4 * error
    assert 0.001 < error < 0.005
    rows = (closed_form(reading.at["t"], zeta) - reading.values) / 0.02
    assert fit.misfit_ == pytest.approx(rows @ rows / 11, rel=1e-3)


def test_noise_that_is_not_given_is_estimated_as_curve_fit_does():
    fit = LeastSquaresFit().fit(decay(readings=noisy(1.3, 0.05)))
    (rate,), covariance = curve_fit(lambda t, k: np.exp(-k * t), T, noisy(1.3, 0.05), 1.0)
    assert fit.parameters_["k"] == pytest.approx(rate, rel=1e-4)
    assert fit.standard_errors_["k"] == pytest.approx(np.sqrt(covariance[0, 0]), rel=0.02)
    assert "estimated" in fit.status_
    low, high = fit.intervals_["k"]
    # Student's t with 19 degrees of freedom, on the logarithm.
    assert np.log(high / low) / 2 == pytest.approx(
        2.093 * np.sqrt(covariance[0, 0]) / rate, rel=0.02
    )


@pytest.mark.parametrize("rate", [0.7, 1.3, 2.9])
def test_exact_readings_are_said_and_the_interval_is_the_solvers_error(rate):
    fit = LeastSquaresFit().fit(decay(readings=np.exp(-rate * T)))
    low, high = fit.intervals_["k"]
    assert low < rate < high
    assert high / low < 1 + 1e-5
    assert fit.exact_
    assert "show no noise" in fit.status_
    assert not LeastSquaresFit().fit(decay(readings=noisy(rate, 0.01))).exact_


@pytest.mark.slow
def test_interval_covers_the_truth_in_about_95_of_100_draws():
    problem = decay(readings=noisy(1.0, 0.05), sigma=0.05)
    inside = 0
    for seed in range(40):
        one = decay(readings=noisy(1.0, 0.05, seed), sigma=0.05)
        misfit = Misfit(problem, tolerance=1e-5)
        misfit.y = one.readings[0].values
        best, _ = misfit.descend(misfit.shares({"k": 1.0}))
        jac = misfit.jacobian(best)
        spread = 1.96 / float(np.linalg.norm(jac))
        inside += abs(best[0] - misfit.shares({"k": 1.0})[0]) < spread
    assert 34 <= inside <= 40  # 38 expected, 34 is three standard deviations low


def test_estimate_on_the_edge_of_the_range_is_said():
    fit = LeastSquaresFit().fit(decay(readings=noisy(1.0, 0.02), sigma=0.02, low=2.0, high=10.0))
    assert fit.edge_ == ("k",)
    assert "k on the edge of the range" in fit.status_
    assert fit.parameters_["k"] == pytest.approx(2.0, rel=1e-3)
    inner = LeastSquaresFit().fit(decay(readings=noisy(1.0, 0.02), sigma=0.02))
    assert inner.edge_ == ()
    assert "edge" not in inner.status_


def test_two_minima_are_both_named():
    # The readings are even in the frequency's sign, so that +w and -w explain them equally.
    problem = Problem(
        lambda d: d.u_tt + d.w**2 * d.u,
        {"t": (0.0, 2.0)},
        conditions=(Initial("u", 1.0), Initial("u_t", 0.0)),
        parameters={"w": Unknown(-4.0, 4.0, start=1.0, scale="linear")},
        readings=(Measured("u", {"t": T}, np.cos(2.0 * T), 0.01),),
    )
    fit = LeastSquaresFit(random_state=1).fit(problem)
    assert abs(fit.parameters_["w"]) == pytest.approx(2.0, rel=1e-4)
    assert [abs(other["w"]) for other in fit.rivals_] == pytest.approx([2.0], rel=1e-2)
    assert fit.rivals_[0]["w"] * fit.parameters_["w"] < 0
    assert "as well" in fit.status_


@pytest.mark.slow
def test_lorenz_is_found_from_a_far_start():
    fit = LeastSquaresFit().fit(lorenz_inverse(0, noise=0.3))
    truth = {"sigma": 10.0, "rho": 15.0, "beta": 8.0 / 3.0}
    for name, value in truth.items():
        assert abs(fit.parameters_[name] - value) < 4 * fit.standard_errors_[name]
        assert fit.standard_errors_[name] < 0.02 * value
    assert fit.misfit_ == pytest.approx(1.0, abs=0.6)


@pytest.mark.slow
def test_burgers_is_found_from_two_thousand_readings():
    fit = LeastSquaresFit().fit(burgers_inverse(0, noise=0.01))
    truth = {"lambda1": 1.0, "lambda2": 0.01 / np.pi}
    for name, value in truth.items():
        assert abs(fit.parameters_[name] - value) < 4 * fit.standard_errors_[name]
        assert fit.standard_errors_[name] < 0.01 * value
    # 1,998 degrees of freedom: a standard deviation of 3 %.
    assert fit.misfit_ == pytest.approx(1.0, abs=0.13)


def test_misfit_at_other_values_is_the_closed_forms():
    problem = decay(readings=noisy(1.3, 0.05), sigma=0.05)
    fit = LeastSquaresFit().fit(problem)
    rows = (np.exp(-2.0 * T) - problem.readings[0].values) / 0.05
    assert fit.misfit_at({"k": 2.0}) == pytest.approx(rows @ rows / 19, rel=1e-4)
    assert fit.misfit_at({"k": 11.0}) == np.inf


@pytest.mark.parametrize(("rate", "sigma"), [(1.0, 0.05), (3.0, 0.1)])
def test_profile_interval_is_where_chi_square_has_risen_by_384(rate, sigma):
    values = noisy(rate, sigma)
    profile = LeastSquaresFit().fit(decay(readings=values, sigma=sigma)).profile("k")

    def chi2(k):
        return float(np.sum((np.exp(-k * T) - values) ** 2) / sigma**2)

    rates = np.linspace(0.3, 8.0, 20_000)
    costs = ((np.exp(-np.outer(rates, T)) - values) ** 2).sum(axis=1) / sigma**2
    best, lowest = rates[costs.argmin()], costs.min()
    rise = lambda k: chi2(k) - lowest - 3.841459
    truth = brentq(rise, 0.05, best), brentq(rise, best, 50.0)
    assert profile.interval == pytest.approx(truth, rel=5e-3)
    assert profile.identifiable
    assert profile.rise.min() == 0.0


def test_profile_of_two_unknowns_refits_the_other():
    values = 2.0 * np.exp(-1.3 * T) + 0.05 * np.random.default_rng(0).normal(size=len(T))
    problem = Problem(
        lambda d: d.u_t + d.k * (d.u - d.c),
        {"t": (0.0, 2.0)},
        conditions=(Initial("u", 2.0),),
        parameters={
            "k": Unknown(0.1, 10.0),
            "c": Unknown(-2.0, 2.0, start=0.1, scale="linear"),
        },
        readings=(Measured("u", {"t": T}, values, 0.05),),
    )
    fit = LeastSquaresFit().fit(problem)
    grid = np.linspace(-1.0, 1.0, 401)
    rates = np.linspace(0.3, 4.0, 1500)
    model = grid[:, None, None] + (2.0 - grid[:, None, None]) * np.exp(-rates[:, None] * T)
    lowest = (((model - values) / 0.05) ** 2).sum(axis=2).min(axis=1)
    allowed = grid[lowest - lowest.min() < 3.841]
    low, high = fit.profile("c").interval
    assert low == pytest.approx(allowed[0], abs=0.01)
    assert high == pytest.approx(allowed[-1], abs=0.01)


def product(sigma):
    return Problem(
        lambda d: d.u_t + d.a * d.b * d.u,
        {"t": (0.0, 2.0)},
        conditions=(Initial("u", 1.0),),
        parameters={"a": Unknown(0.1, 10.0), "b": Unknown(0.1, 10.0)},
        readings=(Measured("u", {"t": T}, noisy(1.0, 0.02), sigma),),
    )


@pytest.mark.parametrize("sigma", [0.02, None])
def test_a_product_of_two_unknowns_is_not_identifiable(sigma):
    fit = LeastSquaresFit().fit(product(sigma))
    assert fit.parameters_["a"] * fit.parameters_["b"] == pytest.approx(1.0, abs=0.1)
    assert fit.standard_errors_ == {"a": np.inf, "b": np.inf}
    assert fit.intervals_["a"] == pytest.approx((0.1, 10.0))
    profile = fit.profile("a")
    assert not profile.identifiable
    assert profile.interval == pytest.approx((0.1, 10.0), rel=0.15)
    assert "not identifiable" in profile.sentence


def test_a_solver_that_fails_beside_the_estimate_is_said(monkeypatch):
    whole = misfit_module.solve_classical

    def broken(problem, values, **options):
        if values["k"] > 1.0:
            raise StudyError("It runs away.")
        return whole(problem, values, **options)

    monkeypatch.setattr(misfit_module, "solve_classical", broken)
    fit = LeastSquaresFit().fit(decay(readings=noisy(1.3, 0.02), sigma=0.02))
    assert fit.parameters_["k"] == pytest.approx(1.0, abs=0.01)
    assert fit.blocked_
    assert fit.standard_errors_["k"] == np.inf
    assert "fails beside" in fit.status_


def test_what_makes_no_sense_is_refused():
    some = decay(readings=noisy(1.0, 0.02))
    with pytest.raises(StudyError, match="at least as many readings"):
        LeastSquaresFit().fit(some.replace(readings=()))
    varying = Problem(
        lambda d: d.u_t + d.k * d.u,
        {"t": (0.0, 2.0)},
        conditions=(Initial("u", 1.0),),
        coefficients={"k": UnknownField("t", 0.0, 2.0)},
        readings=some.readings,
    )
    with pytest.raises(StudyError, match="not coefficients"):
        LeastSquaresFit().fit(varying)
    with pytest.raises(StudyError, match="Nothing was fitted"):
        LeastSquaresFit().predict(np.zeros((1, 1)))
    fit = LeastSquaresFit().fit(some)
    with pytest.raises(StudyError, match="no unknown"):
        fit.profile("q")
