"""S10: a spread that is no error bar."""

import numpy as np
import pytest

from assay.checks import NotApplicable
from assay.problems import BOREHOLE, ISHIGAMI
from assay.surrogate import DeepEnsemble, GaussianProcess, MLPSurrogate
from assay.surrogate.checks import SpreadTooSmall

CHECK = SpreadTooSmall()
SEEDS = [*range(3), *(pytest.param(s, marks=pytest.mark.slow) for s in range(3, 10))]
SIZES = (120, 40, 100)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(
    "problem", [pytest.param(BOREHOLE, marks=pytest.mark.slow), ISHIGAMI], ids=lambda p: p.name
)
def test_warns_on_an_ensemble(surrogate_view, problem_parts, problem, seed):
    parts = problem_parts(problem, seed, SIZES)
    model = DeepEnsemble(MLPSurrogate(steps=8000), size=4, random_state=seed).fit(*parts[0])
    found = CHECK(surrogate_view(*parts, [model]))
    assert found.outcome == "warn"
    assert found.measured < 0.85
    assert found.interval[0] < found.measured < found.interval[1] < 0.9
    assert "The spread is not an error bar." in found.sentence
    assert "inside the domain the error is" in found.sentence


def gaussian(surrogate_view, Given, seed, factor, n=200, m=3):
    """Errors of known size beside a spread that is `factor` times it."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(n, 2))
    size = rng.uniform(0.5, 2.0, size=(n, m))
    parts = [(X, np.zeros((n, m)))] * 3
    errors = (size * rng.normal(size=(n, m)))[None]
    return CHECK(surrogate_view(*parts, [Given()], predictions=errors, spread=factor * size))


@pytest.mark.parametrize("seed", SEEDS)
def test_known_errors(surrogate_view, Given, seed):
    found = gaussian(surrogate_view, Given, seed, 0.5)  # holds 67 %
    assert found.outcome == "warn"
    assert found.measured == pytest.approx(0.673, abs=0.08)
    for factor in (0.95, 1.0, 3.0):
        assert gaussian(surrogate_view, Given, seed, factor).outcome == "pass"


@pytest.mark.parametrize("seed", SEEDS)
def test_silent_on_a_process_with_noise_in_its_runs(surrogate_view, problem_parts, seed):
    # With a hundred runs the likelihood takes some of the noise for signal, and the check says so.
    parts = problem_parts(BOREHOLE, seed, (300, 40, 100), noise=0.1)
    model = GaussianProcess(starts=2, transform="identity").fit(*parts[0])
    assert CHECK(surrogate_view(*parts, [model])).outcome == "pass"


def test_few_runs_convict_nobody(surrogate_view, Given):
    assert gaussian(surrogate_view, Given, 0, 0.6, n=6).outcome == "pass"


def test_groups_are_the_unit(surrogate_view, Given):
    n = 200
    X = np.random.default_rng(0).uniform(size=(n, 2))
    errors = np.where(np.arange(n) < 50, 3.0, 0.0)[None, :, None]
    given = {"predictions": errors, "spread": np.ones((n, 1))}
    parts = [(X, np.zeros((n, 1)))] * 3
    assert CHECK(surrogate_view(*parts, [Given()], **given)).outcome == "warn"
    four = surrogate_view(*parts, [Given()], groups=np.arange(n) // 50, **given)
    assert CHECK(four).outcome == "pass"  # one of four


def test_not_applicable(surrogate_view, Given, problem_parts):
    with pytest.raises(NotApplicable, match="no spread"):
        CHECK(surrogate_view(*problem_parts(ISHIGAMI, 0, SIZES), [Given()]))
