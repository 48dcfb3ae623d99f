"""Readings that lead, unknowns within their range, and a network that knows its own error."""

import jax
import numpy as np
import pytest

from assay.physics import PINN, Initial, Measured, Problem, Unknown, laplace_intervals
from assay.physics.gallery_inverse import (
    BURGERS_TRUTH,
    LORENZ_TRUTH,
    burgers_inverse,
    lorenz_inverse,
    oscillator_inverse,
)
from assay.physics.leading import HELD, LED, last_factor, lead_factors, noise_unsaid
from assay.physics.residuals import found_numbers, found_value, raw_value

T = np.linspace(0.1, 1.5, 15)


def decay(sigma=0.02, *, noise=0.02, said=True):
    values = np.exp(-1.5 * T) + noise * np.random.default_rng(3).normal(size=len(T))
    return Problem(
        lambda d: d.u_t + d.k * d.u,
        {"t": (0.0, 1.5)},
        conditions=(Initial("u", 1.0),),
        parameters={"k": Unknown(0.1, 10.0)},
        readings=(Measured("u", {"t": T}, values, sigma if said else None),),
    )


def setup_of(problem, **settings):
    return PINN(hidden=(4,), points=10, steps=1, **settings).fit(problem).pieces_[-1].setup


@pytest.mark.parametrize("scale", ["log", "linear"])
def test_no_raw_number_takes_an_unknown_out_of_its_range(scale):
    unknown = Unknown(0.2, 7.0, scale=scale)
    raw = {f"p{i}": value for i, value in enumerate(np.linspace(-40.0, 40.0, 401))}
    found = found_numbers(dict.fromkeys(raw, unknown), raw)
    assert min(found.values()) >= 0.2
    assert max(found.values()) <= 7.0
    assert np.ptp(list(found.values())) > 6.7
    with jax.enable_x64(True):
        for value in (0.25, 1.0, 6.5):
            back = float(found_value(unknown, np.float64(raw_value(unknown, value))))
            assert back == pytest.approx(value, rel=1e-12)


def test_readings_lead_only_where_the_equation_would_be_held_tightly():
    setup = setup_of(decay(0.02))
    first, second = lead_factors(setup)
    # A misfit of one standard deviation weighs as much as missing the equation by LED.
    size = setup.scales.fields["u"]
    assert first == pytest.approx((LED / (0.1 * 0.02 / size)) ** 2)
    assert second == pytest.approx(np.sqrt(first))
    assert lead_factors(setup_of(decay(2.0))) == ()
    assert lead_factors(setup_of(decay(), scaling="none")) == ()


def test_exact_readings_do_not_make_the_equation_infinitely_stiff():
    exact, noisy = setup_of(decay(1e-5, noise=0.0)), setup_of(decay(0.05))
    size = exact.scales.fields["u"]
    assert last_factor(exact, 1.0) == pytest.approx((HELD / (0.1 * 1e-5 / size)) ** 2)
    assert last_factor(noisy, 1.0) == 1.0
    unsaid = setup_of(decay(said=False))
    assert noise_unsaid(unsaid)
    assert not noise_unsaid(exact)
    # What is assumed is 1 %: half of it, and 100 times less, which is more than the lead gives.
    assert last_factor(unsaid, 0.5) == pytest.approx(HELD**2 / (0.1 * 0.01 * 0.5) ** 2)
    assert last_factor(unsaid, 1e-6) == pytest.approx((LED / (0.1 * 0.01)) ** 2)


def test_a_training_that_was_stopped_early_knows_that_it_is_uncertain():
    short = PINN(hidden=(8,), points=40, steps=6).fit(decay())
    whole = PINN(hidden=(8,), points=40, steps=80).fit(decay())
    early, late = (laplace_intervals(net)["k"] for net in (short, whole))
    assert late.own < 0.3 * late.spread
    assert early.own > 3 * late.own
    assert late.low < 1.5 < late.high


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1])
def test_exact_readings_of_a_smooth_solution_are_covered(seed):
    problem = decay(noise=0.0, said=False)
    found = laplace_intervals(PINN(hidden=(12,), steps=200, random_state=seed).fit(problem))["k"]
    assert found.value == pytest.approx(1.5, rel=1e-3)
    assert found.low < 1.5 < found.high


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_lorenz_is_found_with_default_weights(seed):
    net = PINN(random_state=seed).fit(lorenz_inverse(seed, noise=0.3))
    for name, found in laplace_intervals(net).items():
        assert abs(np.log(found.value / LORENZ_TRUTH[name])) < 4 * found.spread
        assert found.spread < 0.03


@pytest.mark.slow
@pytest.mark.parametrize(("noise", "most"), [(0.0, 0.01), (0.01, 0.02)])
def test_burgers_is_found_with_default_settings_and_covered(noise, most):
    net = PINN().fit(burgers_inverse(0, noise=noise))
    for name, found in laplace_intervals(net).items():
        truth = BURGERS_TRUTH[name]
        assert found.value == pytest.approx(truth, rel=most)
        assert found.low < truth < found.high


@pytest.mark.slow
def test_twelve_readings_give_the_damping_within_its_interval():
    for seed in range(3):
        found = laplace_intervals(PINN(random_state=seed).fit(oscillator_inverse(seed)))["zeta"]
        assert found.low < 0.1 < found.high
        assert found.own < 0.3 * found.spread
