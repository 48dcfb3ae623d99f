"""S11: modes that were left out."""

import numpy as np
import pytest

from assay.checks import NotApplicable
from assay.problems import AFTERSLIP, ISHIGAMI
from assay.surrogate import GaussianProcess, PCAOutputs
from assay.surrogate.checks import TruncationDominates
from assay.surrogate.response_surface import ResponseSurface

CHECK = TruncationDominates()
SEEDS = [*range(3), *(pytest.param(s, marks=pytest.mark.slow) for s in range(3, 10))]
SIZES = (120, 30, 60)
MODES = 40
SIGMA = np.full(MODES, 2.0)


def fitted(parts, seed, modes):
    process = GaussianProcess(starts=1, transform="identity", random_state=seed)
    return PCAOutputs(process, modes=modes).fit(*parts[0])


@pytest.mark.parametrize("seed", SEEDS)
def test_warns_on_one_mode(surrogate_view, problem_parts, seed):
    parts = problem_parts(AFTERSLIP, seed, SIZES)
    model = fitted(parts, seed, 1)
    for sigma in (None, SIGMA):
        found = CHECK(surrogate_view(*parts, [model], sigma=sigma))
        assert found.outcome == "warn"
        assert found.measured > 0.8
        assert "--modes 2" in found.fix[0]
        assert ("of sigma" in found.sentence) == (sigma is not None)


@pytest.mark.parametrize("seed", SEEDS)
def test_silent_on_the_modes_of_the_rule(surrogate_view, problem_parts, seed):
    parts = problem_parts(AFTERSLIP, seed, SIZES)
    model = fitted(parts, seed, None)
    assert CHECK(surrogate_view(*parts, [model])).outcome == "pass"
    assert CHECK(surrogate_view(*parts, [model], sigma=SIGMA)).outcome == "pass"


@pytest.mark.parametrize("seed", SEEDS)
def test_it_may_dominate_far_below_sigma_and_must_not_be_above(surrogate_view, problem_parts, seed):
    parts = problem_parts(AFTERSLIP, seed, SIZES)
    model = fitted(parts, seed, 1)
    left = model.truncation_rms_
    at = {factor: surrogate_view(*parts, [model], sigma=np.full(MODES, factor * left))
          for factor in (2.1, 1.9)}  # fmt: skip
    assert CHECK(at[2.1]).outcome == "pass"
    assert CHECK(at[1.9]).outcome == "warn"
    poor = PCAOutputs(ResponseSurface(degree=1), modes=2).fit(*parts[0])
    found = CHECK(surrogate_view(*parts, [poor], sigma=np.full(MODES, 0.5 * poor.truncation_rms_)))
    assert found.outcome == "warn"
    assert (found.measured, found.threshold) == (pytest.approx(2.0), 1.0)


def test_not_applicable(surrogate_view, problem_parts):
    parts = problem_parts(ISHIGAMI, 0, SIZES)
    with pytest.raises(NotApplicable, match="directly"):
        CHECK(surrogate_view(*parts, [GaussianProcess(starts=1).fit(*parts[0])]))
