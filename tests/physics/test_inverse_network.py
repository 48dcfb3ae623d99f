"""How certain a network is of what it found, against least squares on the same readings."""

import types

import numpy as np
import pytest

from assay.errors import StudyError
from assay.physics.conditions import Initial, Measured, Unknown
from assay.physics.found import found_tables
from assay.physics.inverse_baseline import LeastSquaresFit
from assay.physics.network_intervals import bootstrap_intervals, laplace_intervals
from assay.physics.pinn import PINN
from assay.physics.problem import Problem

T = np.linspace(0.1, 1.5, 15)


def problem_of(sigma=0.02, *, second=False):
    values = np.exp(-1.5 * T) + 0.02 * np.random.default_rng(3).normal(size=len(T))
    rate = (lambda d: d.k * d.b) if second else (lambda d: d.k)
    names = ("k", "b") if second else ("k",)
    return Problem(
        lambda d: d.u_t + rate(d) * d.u,
        {"t": (0.0, 1.5)},
        conditions=(Initial("u", 1.0),),
        parameters={name: Unknown(0.1, 10.0) for name in names},
        readings=(Measured("u", {"t": T}, values, sigma),),
        units={"k": "1/s"},
    )


def trained(problem, steps=60):
    return PINN(hidden=(8,), points=40, steps=steps).fit(problem)


@pytest.fixture(scope="module")
def fitted():
    problem = problem_of()
    return problem, trained(problem), LeastSquaresFit().fit(problem)


def test_laplace_agrees_with_least_squares(fitted):
    _, net, fit = fitted
    found = laplace_intervals(net)["k"]
    spread = fit.standard_errors_["k"] / fit.parameters_["k"]
    assert abs(np.log(found.value / fit.parameters_["k"])) < 0.2 * spread
    # The network may break the equation a little, which adds about 1 % of the variance and more.
    assert spread < found.spread < 1.2 * spread
    assert found.low < 1.5 < found.high
    assert found.value == pytest.approx(net.parameters_["k"])


def test_bootstrap_agrees_with_laplace(fitted):
    _, net, _ = fitted
    before = net.parameters_["k"]
    laplace, drawn = laplace_intervals(net)["k"], bootstrap_intervals(net, n=20)["k"]
    # A standard deviation from 20 draws scatters by 16 %.
    assert drawn.spread == pytest.approx(laplace.spread, rel=0.5)
    assert drawn.low < drawn.value < drawn.high
    assert net.parameters_["k"] == before
    again = bootstrap_intervals(net, n=20)["k"]
    assert again == drawn
    assert bootstrap_intervals(net, n=20, seed=1)["k"] != drawn


def test_bootstrap_compiles_nothing_new_after_its_first_fit(fitted):
    from assay.train.program import trace_count

    _, net, _ = fitted
    bootstrap_intervals(net, n=3)
    before = trace_count()
    bootstrap_intervals(net, n=3, seed=5)
    assert trace_count() == before


@pytest.mark.slow
def test_unknown_noise_is_estimated():
    problem = problem_of(None)
    net, fit = trained(problem), LeastSquaresFit().fit(problem)
    found = laplace_intervals(net)["k"]
    low, high = fit.intervals_["k"]
    assert np.log(found.high / found.low) == pytest.approx(np.log(high / low), rel=0.2)


@pytest.mark.slow
def test_a_product_stays_open():
    found = laplace_intervals(trained(problem_of(second=True)))
    for one in found.values():
        assert (one.low, one.high) == pytest.approx((0.1, 10.0))
    assert list(found) == ["k", "b"]


def test_table_of_found_parameters(fitted):
    problem, net, fit = fitted

    def scored(estimator):
        return types.SimpleNamespace(trained=types.SimpleNamespace(estimator=estimator))

    (table,) = found_tables(problem, [scored(net), scored(net)], scored(fit))
    (row,) = table.rows
    assert row[:3] == ("k", "1/s", pytest.approx(net.parameters_["k"]))
    assert row[4] == fit.parameters_["k"]
    assert all(" to " in row[i] for i in (3, 5))
    assert f"{fit.misfit_:.4g}" in table.note
    bare = types.SimpleNamespace(parameters_={"k": 20.0})
    (table,) = found_tables(problem, [scored(bare)], scored(fit))
    assert table.rows[0][3] == "-"
    assert "outside" in table.note
    assert found_tables(problem, [scored(object())], scored(fit)) == ()


def test_seeds_that_differ_widen_the_interval_of_their_mean():
    from assay.physics.found import _pooled

    one = types.SimpleNamespace(spread=0.01)
    unknown = Unknown(0.1, 10.0)
    low, high = _pooled(unknown, one, [1.0])
    assert np.log([low, high]) == pytest.approx([-0.0196, 0.0196], rel=1e-3)
    apart = np.exp([-0.02, 0.0, 0.02])
    low, high = _pooled(unknown, one, apart)
    # Rubin by hand: between 4/3 of 4e-4, within 1e-4, 2 (1 + 3/16)^2 = 2.82 degrees of freedom.
    assert np.log(high) == pytest.approx(3.303 * np.sqrt(1e-4 + 4e-4 * 4 / 3), rel=5e-3)
    assert low * high == pytest.approx(1.0)
    assert _pooled(unknown, types.SimpleNamespace(spread=9.0), [1.0]) == (0.1, 10.0)


def test_what_makes_no_sense_is_refused(fitted):
    _, net, _ = fitted
    with pytest.raises(StudyError, match="at least 3"):
        bootstrap_intervals(net, n=2)
    forward = Problem(
        lambda d: d.u_t + d.u, {"t": (0.0, 1.0)}, conditions=(Initial("u", 1.0),)
    )  # fmt: skip
    with pytest.raises(StudyError, match="fitted to readings"):
        laplace_intervals(PINN(hidden=(4,), points=10, steps=2).fit(forward))
