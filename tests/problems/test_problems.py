"""The problems against hand arithmetic, known spreads, closed forms and the chapter's digits."""

import dataclasses
import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.integrate import solve_ivp

from assay.errors import DataError, StudyError
from assay.problems import (
    AFTERSLIP,
    BOREHOLE,
    ISHIGAMI,
    OTL_CIRCUIT,
    PISTON,
    WING_WEIGHT,
    afterslip_runs,
    afterslip_slice,
)
from assay.problems.afterslip import displacement, epochs

ALL = (AFTERSLIP, BOREHOLE, ISHIGAMI, OTL_CIRCUIT, PISTON, WING_WEIGHT)
each = pytest.mark.parametrize("problem", ALL, ids=lambda p: p.name)


@each
def test_a_description_is_complete_and_frozen(problem):
    d, m = problem.n_inputs, problem.n_outputs
    assert len(problem.input_units) == len(problem.low) == len(problem.high) == d
    assert len(problem.output_units) == m
    assert (problem.bounds[:, 0] < problem.bounds[:, 1]).all()
    assert problem.source
    with pytest.raises(dataclasses.FrozenInstanceError):
        problem.name = "other"
    assert problem(problem.sample(3, 0)).shape == (3, m)


@each
def test_jax_gives_the_same_values_and_the_right_slopes(problem):
    x = problem.from_unit(np.full((1, problem.n_inputs), 0.4))
    with jax.enable_x64(True):
        run = jax.jit(problem.differentiable)
        np.testing.assert_allclose(np.asarray(run(jnp.asarray(x))), problem(x), rtol=1e-11)
        slopes = np.asarray(jax.jacfwd(lambda z: problem.differentiable(z)[-1])(jnp.asarray(x[0])))
    for i, width in enumerate(np.diff(problem.bounds)[:, 0]):
        step = np.zeros_like(x)
        step[0, i] = 1e-4 * width
        differences = (problem(x + step) - problem(x - step))[0, -1] / (2e-4 * width)
        assert slopes[i] == pytest.approx(differences, rel=1e-5, abs=1e-9)


@each
def test_a_latin_hypercube_has_one_run_in_each_slice(problem):
    unit = problem.to_unit(problem.sample(50, 3))
    for column in unit.T:
        assert sorted(np.floor(column * 50).astype(int)) == list(range(50))
    np.testing.assert_array_equal(problem.sample(50, 3), problem.sample(50, 3))
    assert not np.array_equal(problem.sample(50, 3), problem.sample(50, 4))


# Spreads that others found with 200,000 independent points.
@pytest.mark.parametrize(
    ("problem", "spread"),
    [
        (BOREHOLE, 45.64),
        (OTL_CIRCUIT, 1.141),
        (PISTON, 0.1396),
        (WING_WEIGHT, 48.21),
        (ISHIGAMI, 3.714),
    ],
    ids=lambda v: getattr(v, "name", ""),
)
def test_the_spread_over_the_box(problem, spread):
    y = problem(problem.sample(100_000, 1, kind="random"))
    assert y.std() == pytest.approx(spread, rel=0.01)
    assert problem.spread == pytest.approx(spread, rel=0.01)
    assert y.mean() == pytest.approx(problem.mean, abs=4.0 * spread / math.sqrt(100_000))


def test_borehole_by_hand():
    # Round inputs at which the arithmetic can be followed: log(r / r_w) = 10.
    x = [0.1, 0.1 * math.exp(10.0), 1e5, 1100.0, 100.0, 800.0, 1500.0, 1e4]
    inner = 1.0 + 2.0 * 1500.0 * 1e5 / (10.0 * 0.01 * 1e4) + 1000.0
    assert BOREHOLE([x])[0, 0] == pytest.approx(2.0 * math.pi * 1e5 * 300.0 / (10.0 * inner))


def test_otl_by_hand():
    # R_b1 = R_b2 gives V_b1 = 6 V, and beta (R_c2 + 9) = 1000 with R_f = 1.
    x = [60.0, 60.0, 1.0, 2.0, 1.0, 100.0]
    by_hand = 6.74 * 1000.0 / 1001.0 + 11.35 / 1001.0 + 0.74 * 1000.0 / (1001.0 * 2.0)
    assert OTL_CIRCUIT([x])[0, 0] == pytest.approx(by_hand)


def test_wing_weight_by_hand():
    # Swept by 60 degrees the cosine is one half; all other factors are one, four or nought.
    x = [1.0, 1.0, 4.0**-1, 60.0, 1.0, 1.0, 0.005, 2.0, 8.0, 3.0]
    assert WING_WEIGHT([x])[0, 0] == pytest.approx(0.036 * 16.0**0.49 + 3.0)


def test_piston_balances_its_forces():
    # At rest, the spring, the weight and the gas hold each other: checked with the volume that
    # the period implies.
    x = [45.0, 0.0125, 0.006, 3000.0, 1e5, 293.0, 350.0]
    mass, area, v_0, k, p_0, t_a, t_0 = x
    period = PISTON([x])[0, 0]
    stiffness = mass * (2.0 * math.pi / period) ** 2
    volume = math.sqrt(area**2 * p_0 * v_0 * t_a / (t_0 * (stiffness - k)))
    push = p_0 * v_0 / t_0 * t_a / volume * area
    assert push == pytest.approx(p_0 * area + 19.62 * mass + k * (volume - v_0) / area, rel=1e-9)


def test_ishigami_indices_as_published():
    assert ISHIGAMI.sobol_first == pytest.approx((0.3139, 0.4424, 0.0), abs=5e-5)
    assert ISHIGAMI.sobol_total == pytest.approx((0.5576, 0.4424, 0.2437), abs=5e-5)


def test_ishigami_first_index_by_its_definition():
    grid = (np.arange(64) + 0.5) / 64
    cube = np.stack(np.meshgrid(grid, grid, grid, indexing="ij"), -1)
    y = ISHIGAMI(ISHIGAMI.from_unit(cube.reshape(-1, 3))).reshape(64, 64, 64)
    for axis, expected in enumerate(ISHIGAMI.sobol_first):
        others = tuple(a for a in range(3) if a != axis)
        assert y.mean(axis=others).var() / y.var() == pytest.approx(expected, abs=2e-3)


def test_bad_input():
    with pytest.raises(DataError, match="8 columns"):
        BOREHOLE([[1.0, 2.0]])
    with pytest.raises(DataError, match="no finite output"):
        BOREHOLE([[0.1, 0.1, 1e5, 1100.0, 100.0, 800.0, 1500.0, 1e4]])
    with pytest.raises(StudyError, match="'lhs' or 'random'"):
        BOREHOLE.sample(3, 0, kind="grid")
    with pytest.raises(StudyError, match="1 or more"):
        BOREHOLE.sample(0, 0)


# --- afterslip: the digits of the chapter -----------------------------------------------------


def test_the_slice_has_the_chapters_digits():
    log_v0, y = afterslip_slice()
    assert y.shape == (200,)
    assert y.min() == pytest.approx(56.6199, abs=5e-5)
    assert y.max() == pytest.approx(228.1422, abs=5e-5)
    assert (y.mean(), y.std()) == pytest.approx((164.1167, 53.3375), abs=5e-5)
    assert log_v0[120] == pytest.approx(-2.742275, abs=5e-7)
    assert y[120] == pytest.approx(227.4925, abs=5e-5)


def test_the_slice_rises_to_one_maximum_and_falls():
    log_v0, y = afterslip_slice()
    assert int(y.argmax()) == 126
    assert log_v0[126] == pytest.approx(-2.534, abs=5e-4)
    assert (np.diff(y[:127]) > 0.0).all()
    assert (np.diff(y[126:]) < 0.0).all()
    assert y[199] == pytest.approx(77.27, abs=0.005)


def test_the_runs_have_the_chapters_digits():
    runs = afterslip_runs()
    assert runs.X.shape == (4000, 3)
    assert runs.Y.shape == (4000, 40)
    sizes = [len(runs.X[part]) for part in (runs.train, runs.validation, runs.test)]
    assert sizes == [3200, 400, 400]
    first = runs.Y[:800] - runs.Y[:800].mean(axis=0)
    axis = np.linalg.svd(first, full_matrices=False)[2][0]
    assert (first @ axis).std() == pytest.approx(1408.107, abs=5e-4)
    held = runs.Y[runs.validation]
    assert np.sqrt(np.mean((held - held.mean(axis=0)) ** 2)) == pytest.approx(233.77, abs=0.005)
    assert int((runs.X[:400, 2] <= 4.0).sum()) == 302
    assert int((runs.X[runs.test, 2] <= 4.0).sum()) == 308


def test_afterslip_solves_its_differential_equation():
    # Stress falls by 5 MPa a metre of slip of the station; du/dt = (6/5) v0 sinh(tau / A).
    A, v0, D = 0.5, 0.05, 2.5

    def rate(t, u):
        del t
        return 1.2 * v0 * np.sinh((D - 5.0 * u) / A)

    t = epochs()
    solved = solve_ivp(rate, (0.0, 1.0), [0.0], t_eval=t, rtol=1e-9, atol=1e-12, method="LSODA")
    np.testing.assert_allclose(displacement(A, v0, D, t), 1000.0 * solved.y[0], rtol=1e-6)
