"""One pass through the network gives what nested forward mode gives, for all terms."""

import dataclasses

import jax
import numpy as np
import pytest

from assay.nn.features import Fourier
from assay.physics import Boundary, Initial, Measured, Problem, Unknown, UnknownField
from assay.physics.fitting import initial_params, places_of, points_for, row_data
from assay.physics.gallery import burgers, oscillator, poisson
from assay.physics.pinn import PINN
from assay.physics.scaling import scales_of
from assay.physics.series import groups_of
from assay.train import trace_count
from assay.train.rows import all_rows


def both(problem, points=40, **settings):
    """Return the rows of all terms by one pass and point by point; None without a pass."""
    network = PINN(**settings)
    network.problem_, network.scales_ = problem, scales_of(problem)
    setup = network._set_up(problem)
    with jax.enable_x64(True):
        params = initial_params(setup, 0, "glorot")
        at = points_for(problem, points, "auto", 0, setup.shared.frame)
        data = row_data(setup, places_of(setup, at, 8, 0))
        if data.columns is None:
            return None
        slow = dataclasses.replace(data, columns=None)
        return all_rows(setup.terms, params, data), all_rows(setup.terms, params, slow)


def swapping():
    """Two fields, mixed derivatives, unknowns, readings of a slope."""
    return Problem(
        lambda d: (d.u_tx - d.k * d.v + d.x * d.u_t, d.v_t - d.u_xx),
        {"t": (0.0, 1.0), "x": (-1.0, 2.0)},
        fields=("u", "v"),
        conditions=(
            Initial("u", lambda x: jax.numpy.sin(x)), Initial("v", 0.5), Boundary("u", "x", 1.0),
        ),
        parameters={"k": Unknown(0.1, 2.0)},
        readings=(Measured("u_x", {"t": [0.2, 0.4], "x": [0.0, 1.0]}, [1.0, 2.0], sigma=0.1),),
    )  # fmt: skip


@pytest.mark.parametrize("conditions", ["auto", "soft"])
@pytest.mark.parametrize("body", ["mlp", "resnet"])
@pytest.mark.parametrize("problem", [oscillator, burgers, poisson, swapping])
def test_rows_are_the_same(problem, body, conditions):
    found = both(problem(), hidden=(9, 9), body=body, conditions=conditions, activation="sine")
    assert found is not None
    for fast, slow in zip(*found, strict=True):
        assert np.abs(slow).max() > 0.0
        np.testing.assert_allclose(fast, slow, rtol=1e-11, atol=1e-12 * np.abs(slow).max())


def test_features_and_periods():
    shift = Problem(
        lambda d: d.u_t + 3.0 * d.u_x,
        {"t": (0.0, 1.0), "x": (0.0, 2.0)},
        conditions=(Initial("u", lambda x: jax.numpy.sin(np.pi * x)),),
    )
    fast, slow = both(shift, features=Fourier((1, 2, 4)))
    np.testing.assert_allclose(fast[0], slow[0], rtol=1e-11)


@pytest.mark.parametrize(
    ("problem", "settings"),
    [
        (oscillator, {"body": "modified", "hidden": (8, 8)}),
        (lambda: Problem(lambda d: d.u_xxx - d.u, {"x": (0.0, 1.0)},
                         conditions=(Boundary("u", "x", 1.0, "low"),)), {}),
        (lambda: Problem(lambda d: d.u_t + d.k * d.u, {"t": (0.0, 1.0)},
                         conditions=(Initial("u", 1.0),),
                         coefficients={"k": UnknownField(("t",), 0.1, 1.0)},
                         readings=(Measured("u", {"t": [0.5]}, [0.6], sigma=0.1),)), {}),
    ],
)  # fmt: skip
def test_what_one_pass_cannot_do_goes_point_by_point(problem, settings):
    assert both(problem(), **settings) is None


def test_only_small_terms_join_the_equation():
    assert groups_of((0, 1, 2, 3), (100, 10, 90, 25)) == ((0, 1, 3), (2,))


def test_other_points_and_seeds_do_not_compile_again():
    settings = {"hidden": (8,), "optimiser": "adam", "steps": 20, "conditions": "soft"}
    PINN(**settings).fit(oscillator())
    before = trace_count()
    PINN(**settings, random_state=1, sampling="uniform").fit(oscillator())
    assert trace_count() == before
