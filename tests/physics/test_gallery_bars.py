"""The gallery by the default network, seed by seed: each error is below its bar, in few minutes."""

import time

import numpy as np
import pytest

from assay.physics import PINN
from assay.physics.gallery import burgers, convection, heat, oscillator, poisson
from assay.physics.solution import relative_l2

SECONDS = 240.0  # of processors, two minutes on two cores; measured: 3 to 100
BARS = [
    pytest.param(oscillator, {}, 1e-5, id="oscillator"),
    pytest.param(heat, {"hidden": (64,)}, 1e-5, id="heat"),
    pytest.param(poisson, {}, 1e-6, id="poisson"),
    pytest.param(convection, {}, 1e-3, id="convection"),
    pytest.param(burgers, {}, 1e-4, id="burgers"),
]


def error_on_a_grid(problem, network, count=101):
    lines = [np.linspace(low, high, count) for low, high in problem.box.values()]
    points = np.stack(np.meshgrid(*lines, indexing="ij"), axis=-1).reshape(-1, len(lines))
    return relative_l2(network.predict(points), problem.exact_at(points))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("make", "settings", "most"), BARS)
def test_the_default_network_stays_below_the_bar(make, settings, most, seed):
    began = time.process_time()
    network = PINN(**settings, random_state=seed).fit(make())
    assert time.process_time() - began < SECONDS
    assert error_on_a_grid(make(), network) < most
