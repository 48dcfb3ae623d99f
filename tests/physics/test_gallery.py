"""The gallery: closed forms fulfil their equations, and inverse problems hold their readings."""

import jax
import numpy as np
import pytest
from scipy.optimize import curve_fit

from assay.errors import StudyError
from assay.physics.gallery import PROBLEMS, burgers
from assay.physics.gallery_inverse import (
    BURGERS_TRUTH,
    LORENZ_TRUTH,
    burgers_inverse,
    lorenz_inverse,
    oscillator_inverse,
)
from assay.physics.known import burgers_exact, oscillator_exact

EXACT = [make for make in PROBLEMS if make().exact is not None]
# Central differences of sixth order for derivatives 1 and 2.
FIRST = np.array([-1, 9, -45, 0, 45, -9, 1]) / 60
SECOND = np.array([2, -27, 270, -490, 270, -27, 2]) / 180


def difference(problem, key, points, step):
    """Return a derivative of the exact solution by differences: shape (n,)."""
    field = problem.fields.index(key[0])
    total = np.zeros(len(points))
    stencils = [
        {
            0: {0: 1.0},
            1: dict(zip(range(-3, 4), FIRST, strict=True)),
            2: dict(zip(range(-3, 4), SECOND, strict=True)),
        }[order]
        for order in key[1]
    ]
    grids = np.meshgrid(*[list(s) for s in stencils], indexing="ij")
    for shift in np.stack([g.ravel() for g in grids], axis=1):
        weight = np.prod([s[k] for s, k in zip(stencils, shift, strict=True)])
        if weight:
            total += weight * problem.exact_at(points + step * shift)[:, field]
    return total / step ** sum(key[1])


@pytest.mark.parametrize("make", EXACT, ids=lambda make: make.__name__)
def test_the_exact_solution_solves_its_equation(make):
    problem = make()
    rng = np.random.default_rng(0)
    low, high = np.array(list(problem.box.values())).T
    points = low + (high - low) * rng.uniform(0.1, 0.9, (50, len(low)))
    known = {key: difference(problem, key, points, 2e-3) for key in problem.keys}
    if make is burgers:  # away from the front, where differences of this step are exact enough
        keep = np.abs(points[:, 1]) > 0.15
        points, known = points[keep], {key: v[keep] for key, v in known.items()}
    place = dict(zip(problem.box, points.T, strict=True))
    with jax.enable_x64(True):
        run = jax.vmap(lambda d, at: problem.residual(d, at, problem.known))
        left = np.asarray(run(known, place))
    size = max(np.abs(v).max() for v in known.values())
    assert np.abs(left).max() < 1e-5 * size


@pytest.mark.parametrize("make", EXACT, ids=lambda make: make.__name__)
def test_the_exact_solution_fulfils_its_conditions(make):
    problem = make()
    rng = np.random.default_rng(1)
    for face in problem.faces:
        (key,) = face.keys
        if sum(key[1]):
            continue
        low, high = np.array(list(problem.box.values())).T
        points = low + (high - low) * rng.uniform(size=(20, len(low)))
        points[:, list(problem.box).index(face.along)] = face.at
        found = problem.exact_at(points)[:, problem.fields.index(key[0])]
        with jax.enable_x64(True):
            wanted = [float(face.value(dict(zip(problem.box, p, strict=True)))) for p in points]
        assert np.allclose(found, wanted, atol=1e-12)


def test_burgers_against_the_published_slope():
    # Basdevant and others (1986), table 1: the steepest slope at x = 0.
    h = 1e-5
    b = burgers_exact(np.full(4, 1.6037 / np.pi), np.array([-2, -1, 1, 2]) * h)
    slope = (b[0] - 8 * b[1] + 8 * b[2] - b[3]) / (12 * h)
    assert slope == pytest.approx(-152.00516, abs=2e-5)


def test_burgers_is_stable_for_small_and_large_viscosity():
    x = np.linspace(-1.0, 1.0, 41)
    sharp = burgers_exact(np.ones(41), x, 1e-3)
    assert np.isfinite(sharp).all()
    assert np.abs(sharp + sharp[::-1]).max() < 1e-10
    smooth = burgers_exact(np.full(41, 0.1), x, 10.0)
    assert np.allclose(smooth, -np.sin(np.pi * x) * np.exp(-(np.pi**2)), atol=1e-6)


def test_oscillator_facts():
    wd = 2 * np.pi * np.sqrt(1 - 0.01)
    assert round(wd, 3) == 6.252
    t = np.linspace(0.0, 2.0, 1000)
    late = np.abs(oscillator_exact(t[t > 1.0])).max()
    assert round(late, 4) == 0.5318
    assert round(float(np.sqrt(np.mean(oscillator_exact(t) ** 2))), 2) == 0.44


def test_problems_are_made_once():
    assert all(make() is make() for make in PROBLEMS)
    assert len({make().name for make in PROBLEMS}) == len(PROBLEMS)


def test_oscillator_readings_recover_zeta_by_curve_fit():
    problem = oscillator_inverse(seed=0)
    (reading,) = problem.readings
    assert reading.sigma == 0.02
    assert len(reading.values) == 12
    (zeta,), cov = curve_fit(
        oscillator_exact, reading.at["t"], reading.values, p0=(0.5,), bounds=(0.01, 0.99)
    )
    assert abs(zeta - 0.1) < 4 * np.sqrt(cov[0, 0])


def test_readings_depend_on_the_seed_only():
    one, two, other = (burgers_inverse(seed, noise=0.01) for seed in (3, 3, 4))
    assert np.array_equal(one.readings[0].values, two.readings[0].values)
    assert not np.array_equal(one.readings[0].values, other.readings[0].values)


def test_burgers_readings_have_the_noise_they_say():
    clean, noisy = burgers_inverse(0), burgers_inverse(0, noise=0.01)
    assert clean.readings[0].sigma is None
    apart = noisy.readings[0].values - clean.readings[0].values
    assert apart.std() == pytest.approx(0.01 * clean.readings[0].values.std(), rel=0.1)
    assert noisy.readings[0].sigma == pytest.approx(apart.std(), rel=0.1)
    assert len(apart) == 2000


def test_truth_lies_inside_the_ranges_and_not_at_the_start():
    for problem, truth in ((lorenz_inverse(), LORENZ_TRUTH), (burgers_inverse(), BURGERS_TRUTH)):
        for name, unknown in problem.unknown.items():
            assert unknown.low < truth[name] < unknown.high
            assert abs(unknown.start - truth[name]) > 0.3 * truth[name]


def test_lorenz_readings_are_three_fields():
    problem = lorenz_inverse(noise=0.1)
    assert [r.name for r in problem.readings] == ["x", "y", "z"]
    times = np.stack([r.at["t"] for r in problem.readings])[:, :, None]
    clean = problem.exact_at(times[0])
    apart = np.stack([r.values for r in problem.readings], axis=1) - clean
    assert 0.07 < apart.std() < 0.13


@pytest.mark.parametrize("options", [{"noise": -1.0}, {"n": 0}])
def test_wrong_readings_are_refused(options):
    with pytest.raises(StudyError, match="noise"):
        oscillator_inverse(**options)
