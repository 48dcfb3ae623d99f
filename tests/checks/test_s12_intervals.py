"""S12: calibrated intervals that do not hold."""

import numpy as np
import pytest

from assay.checks import NotApplicable
from assay.problems import BOREHOLE, ISHIGAMI
from assay.surrogate import GaussianProcess
from assay.surrogate.calibrated import CalibratedSurrogate
from assay.surrogate.checks import IntervalsDoNotHold
from assay.surrogate.conformal import fit_conformal
from assay.surrogate.response_surface import ResponseSurface

CHECK = IntervalsDoNotHold()
SEEDS = [*range(4), *(pytest.param(s, marks=pytest.mark.slow) for s in range(4, 30))]


def known(surrogate_view, Given, seed, *, test_error=1.0, n=100, calibration=60):
    """Intervals from normal errors, and test errors that are larger by a factor."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(n, 2))
    parts = [(X, np.zeros((n, 1))), (X[:calibration], np.zeros((calibration, 1)))]
    conformal = fit_conformal(rng.normal(size=calibration))
    errors = test_error * rng.normal(size=(1, n, 1))
    view = surrogate_view(*parts, parts[0], [Given(conformal_=conformal)],
                          predictions=errors, half_width=conformal.half_width(n))  # fmt: skip
    return CHECK(view)


@pytest.mark.parametrize("seed", SEEDS)
def test_warns_where_errors_have_grown(surrogate_view, Given, seed):
    found = known(surrogate_view, Given, seed, test_error=4.0)
    assert found.outcome == "warn"
    assert found.measured < found.threshold < 0.95
    assert "another region" in found.cause


@pytest.mark.parametrize("seed", SEEDS)
def test_warns_outside_the_region_of_the_runs(surrogate_view, problem_parts, seed):
    fit, held, (X, _) = problem_parts(BOREHOLE, seed, (60, 20, 60))
    low = BOREHOLE.low[0]
    X[:, 0] = low + 4.0 * (X[:, 0] - low)
    test = X, BOREHOLE(X)
    model = CalibratedSurrogate(ResponseSurface(degree=2)).fit(*fit)
    view = surrogate_view(fit, held, test, [model], half_width=model.half_width(X))
    assert CHECK(view).outcome == "warn"


@pytest.mark.parametrize("seed", SEEDS)
def test_silent_where_nothing_has_changed(surrogate_view, Given, seed):
    assert known(surrogate_view, Given, seed).outcome == "pass"


def calibrated(surrogate_view, problem_parts, problem, seed):
    parts = problem_parts(problem, seed, (80, 20, 80))
    model = CalibratedSurrogate(GaussianProcess(starts=1)).fit(*parts[0])
    width = model.half_width(parts[2][0])
    return CHECK(surrogate_view(*parts, [model], half_width=np.atleast_2d(width)))


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("problem", [BOREHOLE, ISHIGAMI], ids=lambda p: p.name)
def test_silent_on_a_calibrated_surrogate(surrogate_view, problem_parts, problem, seed):
    found = calibrated(surrogate_view, problem_parts, problem, seed)
    assert found.outcome == "pass"
    assert "with 80 calibration and 80 test runs" in found.sentence


@pytest.mark.slow
@pytest.mark.parametrize("problem", [BOREHOLE, ISHIGAMI], ids=lambda p: p.name)
def test_false_words_are_rare(surrogate_view, problem_parts, problem):
    """The band holds 99 % for a calibration apart; out-of-fold errors are close to that."""
    found = [calibrated(surrogate_view, problem_parts, problem, seed) for seed in range(30)]
    assert sum(f.outcome == "warn" for f in found) <= 2


def test_intervals_far_too_wide_are_told_from_chance(surrogate_view, Given):
    found = known(surrogate_view, Given, 0, test_error=0.2, n=3000, calibration=2000)
    assert found.outcome == "warn"
    assert found.measured > found.threshold > 0.95
    assert "wider than they need be" in found.cause


def test_intervals_without_ends(surrogate_view, Given):
    found = known(surrogate_view, Given, 0, calibration=18)
    assert found.outcome == "warn"
    assert "no ends: 18 runs" in found.sentence


def test_not_applicable(surrogate_view, Given, problem_parts):
    with pytest.raises(NotApplicable, match="no calibrated"):
        CHECK(surrogate_view(*problem_parts(ISHIGAMI, 0, (40, 20, 20)), [Given()]))
