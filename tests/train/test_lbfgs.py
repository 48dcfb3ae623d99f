import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.optimize import minimize, rosen, rosen_der

from assay.train import trace_count
from assay.train.descent import Limits, Stop, resumed
from assay.train.lbfgs import lbfgs
from assay.train.rows import RowData


def valley(params, shared, item):
    x, y = params[:-1], params[1:]
    return jnp.concatenate([10.0 * (y - x**2), 1.0 - x]) * item["one"]


def root(params, shared, item):
    return jnp.sqrt(params) * item["one"] + 1.0


ONE = RowData(({"one": np.ones(1)},), (np.ones(1),))
START = np.array([0.5, 1.5, 0.3, 2.0, 0.5])  # far from the second minimum, at x = -1


@pytest.fixture(autouse=True)
def _double():
    with jax.enable_x64(True):
        yield


def test_finds_the_minimum_that_scipy_finds():
    found = lbfgs((valley,), START, ONE)
    theirs = minimize(rosen, START, jac=rosen_der, method="L-BFGS-B", tol=1e-14)
    assert np.allclose(found.params, theirs.x, atol=1e-5)
    assert found.history["loss"][-1] < 1e-12
    assert found.steps < 4 * theirs.nit
    assert int(found.state["evaluations"]) >= found.steps


def test_every_step_lowers_the_loss():
    found = lbfgs((valley,), START, ONE)
    fall = np.diff(found.history["loss"])
    assert (fall[:-1] < 0).all()
    assert fall[-1] <= 0  # at the rounding of the loss a step may change nothing
    loss = lambda p: float(np.sum(np.asarray(valley(jnp.asarray(p), (), {"one": 1.0})) ** 2))
    assert found.history["loss"][0] == pytest.approx(loss(START))
    assert found.history["loss"][-1] == pytest.approx(loss(found.params))


def test_other_numbers_do_not_compile_again():
    lbfgs((valley,), START, ONE)
    before = trace_count()
    lbfgs((valley,), START + 0.3, ONE, limits=Limits(steps=4, gradient=1e-3, step=0.0))
    assert trace_count() == before


def test_going_on_equals_one_run():
    whole = lbfgs((valley,), START, ONE, limits=Limits(steps=15))
    half = lbfgs((valley,), START, ONE, limits=Limits(steps=6))
    rest = lbfgs(
        (valley,), half.params, ONE, limits=Limits(steps=15), state=resumed(half.state, anew=False)
    )
    assert np.allclose(rest.params, whole.params, rtol=1e-12)


@pytest.mark.parametrize(
    ("limits", "stop"),
    [
        (Limits(steps=3), Stop.BUDGET),
        (Limits(target=1.0), Stop.TARGET),
        (Limits(gradient=1e-2), Stop.GRADIENT),
        (Limits(seconds=0.0), Stop.SECONDS),
    ],
)
def test_it_says_why_it_stopped(limits, stop):
    assert lbfgs((valley,), START, ONE, limits=limits).stop is stop


def test_a_loss_that_is_not_finite_is_said_and_the_weights_stay():
    found = lbfgs((root,), np.array([-1.0]), ONE)
    assert found.stop is Stop.NONFINITE
    assert found.params[0] == -1.0
    edge = lbfgs((root,), np.array([4.0]), ONE)
    assert np.isfinite(edge.params).all()
    assert (np.diff(edge.history["loss"]) <= 0).all()
