"""P08: slow parts without the fast ones."""

import jax.numpy as jnp
import numpy as np
import pytest

from assay.checks import NotApplicable, run_checks
from assay.nn.features import Fourier
from assay.physics import PINN, Boundary, Initial, Problem
from assay.physics.checks import SpectralBias
from assay.physics.gallery import burgers, convection, heat, helmholtz, oscillator, wave

CHECK = SpectralBias()
SEEDS = [0, *(pytest.param(s, marks=pytest.mark.slow) for s in range(1, 8))]


def two_tones(fast=12.0, size=0.3):
    """u = sin(2 pi x) + size sin(2 pi fast x): slow and fast, the benchmark of Wang and others."""

    def exact(x):
        return np.sin(2 * np.pi * x) + size * np.sin(2 * np.pi * fast * x)

    return Problem(
        lambda d: d.u_xx, {"x": (0.0, 1.0)}, conditions=(Boundary("u", "x", 0.0),), exact=exact
    )


def slow_only(seed, points, truth):
    rng = np.random.default_rng(seed)
    return np.sin(2 * np.pi * points) + 0.01 * rng.normal(size=truth.shape)


@pytest.mark.parametrize("fast", [6.0, 12.0, 25.5])
@pytest.mark.parametrize("size", [0.1, 0.3, 0.9])
def test_warns_where_the_fast_tone_is_missing(physics_view, fast, size):
    found = CHECK(physics_view(two_tones(fast, size), fields=slow_only))
    assert found.outcome == "warn"
    assert found.measured < 0.2
    assert "u along x" in found.sentence


@pytest.mark.parametrize("fast", [6.0, 12.0, 25.5])
@pytest.mark.parametrize("off", [0.0, 0.02, 0.1])
def test_silent_where_it_is_there(physics_view, fast, off):
    def both(seed, points, truth):
        return truth * (1.0 + off * np.random.default_rng(seed).normal())

    found = CHECK(physics_view(two_tones(fast), fields=both))
    assert found.outcome == "pass"
    assert found.measured > 0.9


@pytest.mark.parametrize("make", [burgers, convection, heat, helmholtz, oscillator, wave])
@pytest.mark.parametrize("part", [0.0, 0.5, 1.0])
def test_silent_on_zero_and_on_what_is_wrong_everywhere(physics_view, make, part):
    """Nothing of the slow part, either: another check's business."""
    view = physics_view(make(), fields=lambda s, p, truth: part * truth)
    assert run_checks([CHECK], view)[0].outcome in ("pass", "not_applicable")


def test_not_applicable(physics_view):
    with pytest.raises(NotApplicable, match="no fast parts"):
        CHECK(physics_view(convection(), fields=lambda s, p, truth: truth))


def thermometer(fast=12.0, size=0.3):
    """A sensor that follows a slow swing with a fast ripple on it, known in closed form."""
    slow, quick = 2.0 * np.pi, 2.0 * np.pi * fast

    def exact(t):
        return np.sin(slow * t) + size * np.sin(quick * t)

    def equation(d):
        reading = jnp.sin(slow * d.t) + size * jnp.sin(quick * d.t)
        change = slow * jnp.cos(slow * d.t) + size * quick * jnp.cos(quick * d.t)
        return d.u_t + d.k * (d.u - reading) - change

    return Problem(
        equation, {"t": (0.0, 1.0)}, conditions=(Initial("u", 0.0),), parameters={"k": 50.0},
        exact=exact,
    )  # fmt: skip


THERMOMETER = thermometer()
SMOOTH = {"hidden": (20, 20), "optimiser": "adam", "steps": 2000, "points": 200}


@pytest.mark.parametrize("seed", SEEDS)
def test_warns_on_a_network_that_learned_the_slow_part_alone(physics_view, seed):
    network = PINN(**SMOOTH, conditions="soft", random_state=seed).fit(THERMOMETER)
    found = CHECK(physics_view(THERMOMETER, [network]))
    assert found.outcome == "warn"
    assert found.measured < 0.2
    assert "u along t" in found.sentence


@pytest.mark.parametrize("seed", SEEDS)
def test_silent_on_the_same_network_with_features(physics_view, seed):
    network = PINN(
        **SMOOTH, conditions="soft", features=Fourier((1, 2, 4, 8, 16)), random_state=seed
    ).fit(THERMOMETER)
    found = CHECK(physics_view(THERMOMETER, [network]))
    assert found.outcome == "pass"
    assert found.measured > 0.9
