"""P09: single precision ends a training that double precision finishes."""

import numpy as np
import pytest

from assay.physics.checks import PrecisionFloor
from assay.physics.gallery import oscillator

CHECK = PrecisionFloor()
SEEDS = [0, pytest.param(1, marks=pytest.mark.slow), pytest.param(2, marks=pytest.mark.slow)]


@pytest.mark.parametrize("seed", SEEDS)
def test_fails_where_a_line_search_hits_the_rounding(physics_view, swings, seed):
    """L-BFGS in raw units stops after some thirty steps: the loss cannot be told from itself."""
    networks = swings("rounded off")[seed : seed + 1]
    found = CHECK(physics_view(oscillator(), networks))
    assert found.outcome == "fail"
    assert found.measured > 20.0
    assert networks[0].steps_ < 200


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_silent_where_double_precision_does_no_better(physics_view, swings, seed):
    found = CHECK(physics_view(oscillator(), swings("weighted")[seed : seed + 1]))
    assert found.outcome == "pass"
    assert 0.5 < found.measured < 2.0


@pytest.mark.parametrize("off", [1e-6, 1e-4, 9e-4])
def test_silent_where_single_precision_was_enough(physics_view, swings, off):
    view = physics_view(
        oscillator(), swings("weighted"), fields=lambda s, p, truth: (1.0 + off) * truth
    )
    assert "was enough" in CHECK(view).sentence


def test_silent_in_double_precision(physics_view, swings):
    view = physics_view(oscillator(), swings("good"), fields=lambda s, p, t: np.zeros_like(t))
    assert CHECK(view).outcome == "pass"
