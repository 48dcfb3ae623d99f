"""The known failure of networks, through a whole study: found, and called by its name."""

import numpy as np
import pytest

from assay.physics import PINN, PhysicsStudy
from assay.physics.gallery import convection

ADAM = {"hidden": (20, 20, 20), "points": 600, "optimiser": "adam", "steps": 1500}
SINGLE = {"conditions": "soft", "precision": "float32"}


@pytest.mark.slow
def test_fast_convection_in_single_precision_with_soft_conditions_is_not_counted():
    """Adam meets the start and the ends, and finds a constant behind them."""
    told = PhysicsStudy(convection(), candidate=PINN(**ADAM, **SINGLE)).run(seeds=2)
    found = {f.code: f for f in told.findings}
    assert told.verdict == "invalid"
    assert "P07 Late times" in told.sentence
    assert "P16 Not solved" in told.sentence
    assert found["P07"].outcome == found["P16"].outcome == "fail"
    assert "late times are lost" in found["P07"].sentence
    assert found["P02"].outcome == "pass"
    assert found["P09"].outcome == "pass"  # double precision fares no better
    assert np.min(told.arrays["errors"]) > 0.5


@pytest.mark.slow
def test_gauss_newton_solves_the_same_problem_with_the_same_precision():
    """With windows in time and a smaller network, in a few seconds; the embedding is not needed."""
    network = PINN(hidden=(20, 20), points=300, steps=120, windows=10, **SINGLE)
    told = PhysicsStudy(convection(), candidate=network).run(seeds=2)
    found = {f.code: f.outcome for f in told.findings}
    assert found["P07"] == found["P16"] == "pass"
    assert np.max(told.arrays["errors"]) < 0.05
