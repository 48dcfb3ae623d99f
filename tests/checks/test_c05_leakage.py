"""C05: test rows that were seen before the test; the rule is that of A06."""

import numpy as np
import pytest

from assay.compress.baselines import PCA
from assay.compress.checks import LeakBetweenParts

CHECK = LeakBetweenParts()


def run(compress_view, rng, plant=None, coarse=None):
    parts = [rng.normal(size=(n, 5)) for n in (400, 100, 200)]
    if coarse is not None:
        parts = [np.round(X / coarse) * coarse for X in parts]
    if plant is not None:
        plant(*parts)
    return CHECK(compress_view(*parts, [PCA(code_size=2).fit(parts[0])]))


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("part", [0, 1])
@pytest.mark.parametrize("digits", [None, 3])
def test_fires_on_copied_and_on_rounded_rows(compress_view, seed, part, digits):
    def plant(*parts):
        rows = parts[part][10:30]
        parts[2][:20] = rows if digits is None else np.round(rows, digits)

    found = run(compress_view, np.random.default_rng(seed), plant)
    assert found.outcome == "fail"
    assert found.measured == pytest.approx(0.1)
    assert f"{'equal' if digits is None else 'nearly equal'} to rows" in found.sentence


@pytest.mark.parametrize("coarse", [None, 0.5, 1.0])
def test_silent_on_independent_rows(compress_view, coarse):
    found = [run(compress_view, np.random.default_rng(s), coarse=coarse).outcome for s in range(10)]
    assert set(found) == {"pass"}


def test_silent_on_a_quiet_and_a_busy_machine(compress_view):
    """Most test rows are from the quiet time, of which the fit has seen little: no copies."""
    for seed in range(5):
        rng = np.random.default_rng(seed)
        parts = [rng.normal(size=(n, 5)) for n in (600, 100, 300)]
        for rows, quiet in zip(parts, (100, 5, 250), strict=True):
            rows[:quiet] *= 1e-3
        view = compress_view(*parts, [PCA(code_size=2).fit(parts[0])])
        assert CHECK(view).outcome == "pass"
