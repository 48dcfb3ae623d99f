import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.flatten_util import ravel_pytree
from scipy.optimize import least_squares as scipy_least_squares

from assay.errors import StudyError
from assay.train import trace_count
from assay.train.adam import Rate, adam
from assay.train.descent import Limits, Stop, resumed
from assay.train.least_squares import Damping, least_squares
from assay.train.rows import (
    RowData,
    even_weights,
    gram,
    jacobian,
    normal,
    row_blocks,
    row_vector,
    slope_norms,
)


def decay(params, shared, item):
    a, k = params["a"], params["k"]
    return (a * jnp.exp(-k * item["t"]) + shared["offset"] - item["y"])[None]


def linear(params, shared, item):
    return item["row"] @ params - item["y"]


def valley(params, shared, item):
    x, y = params[0], params[1]
    return jnp.stack([10.0 * (y - x**2), 1.0 - x]) * item["one"]


def root(params, shared, item):
    """Not a number below zero, with its least value there."""
    return jnp.sqrt(params) * item["one"] + 1.0


def readings(n=40, seed=0):
    rng = np.random.default_rng(seed)
    t = np.linspace(0.0, 2.0, n)
    return t, 2.5 * np.exp(-1.3 * t) + 0.2 + 0.05 * rng.normal(size=n)


def decay_data(t, y, offset=0.2):
    items = ({"t": t, "y": y},)
    return RowData(items, (np.ones(len(t)),), {"offset": np.float64(offset)})


@pytest.fixture(autouse=True)
def _double():
    with jax.enable_x64(True):
        yield


START = {"a": np.float64(1.0), "k": np.float64(0.3)}


def test_agrees_with_scipy_on_a_nonlinear_fit():
    t, y = readings()
    found = least_squares((decay,), START, decay_data(t, y))
    theirs = scipy_least_squares(
        lambda p: p[0] * np.exp(-p[1] * t) + 0.2 - y, [1.0, 0.3], xtol=1e-15, ftol=1e-15, gtol=1e-15
    )
    assert np.allclose([found.params["a"], found.params["k"]], theirs.x, rtol=1e-7)
    assert found.history["loss"][-1] == pytest.approx(2 * theirs.cost, rel=1e-10)
    assert found.stop.settled


def test_a_curved_valley_is_followed_to_its_end():
    data = RowData(({"one": np.ones(1)},), (np.ones(1),))
    found = least_squares((valley,), np.array([-1.2, 1.0]), data)
    assert np.allclose(found.params, 1.0, atol=1e-8)
    assert (np.diff(found.history["loss"]) <= 0).all()
    assert found.steps == len(found.history["loss"]) - 1 < 40


@pytest.mark.parametrize(("rows", "columns"), [(30, 7), (7, 30)])
def test_both_small_systems_solve_the_linear_problem(rows, columns):
    rng = np.random.default_rng(1)
    a, y = rng.normal(size=(rows, columns)), rng.normal(size=rows)
    data = RowData(({"row": a, "y": y},), (np.ones(rows),))
    flat = lambda params, shared, item: linear(params, shared, item)[None]
    found = least_squares((flat,), np.zeros(columns), data, damping=Damping(1e-12))
    # From zero damped steps stay in the row space: they end at the solution of least length.
    assert np.allclose(found.params, np.linalg.lstsq(a, y)[0], atol=1e-7)


@dataclasses.dataclass(frozen=True)
class Wavy:
    """Two rows an item, with parameters in a tree."""

    k: float = 1.5

    def __call__(self, params, shared, item):
        u = params["w"] @ jnp.sin(self.k * item["x"] + params["b"])
        return jnp.stack([u - item["y"], u**2])


def wavy_case(n=23):
    rng = np.random.default_rng(2)
    params = {"w": rng.normal(size=5), "b": rng.normal(size=5)}
    items = ({"x": rng.normal(size=n), "y": rng.normal(size=n)},)
    return params, RowData(items, (rng.uniform(0.5, 1.5, n),))


def test_the_jacobian_is_that_of_the_whole_vector_of_rows():
    params, data = wavy_case()
    theta, unravel = ravel_pytree(params)
    ours = jacobian((Wavy(),), unravel, theta, data)
    whole = jax.jacfwd(lambda flat: row_vector((Wavy(),), unravel(flat), data))(theta)
    assert np.allclose(ours.T, whole, atol=1e-12)


@pytest.mark.parametrize("block", [1, 7, 100])
def test_blocks_add_up_to_the_whole(block):
    params, data = wavy_case()
    theta, unravel = ravel_pytree(params)
    jac = np.asarray(jacobian((Wavy(),), unravel, theta, data)).T
    rows = np.asarray(row_vector((Wavy(),), params, data))

    def both(theta, data):
        found = row_blocks((Wavy(),), unravel(theta), data)
        return normal((Wavy(),), unravel, theta, data, found, block=block)

    square, slope = jax.jit(both)(theta, data)
    assert np.allclose(square, jac.T @ jac, atol=1e-12)
    assert np.allclose(slope, jac.T @ rows, atol=1e-12)


@pytest.mark.parametrize("n", [3, 131])
def test_gram_is_the_product_with_the_transpose(n):
    a = np.random.default_rng(n).normal(size=(n, 17))
    assert np.allclose(gram(jnp.asarray(a)), a @ a.T, atol=1e-12)


def test_slope_norms_are_those_of_each_term():
    t, y = readings()
    other = decay_data(t[:7], y[:7])
    both = RowData((*decay_data(t, y).items, *other.items), (np.ones(40), np.ones(7)),
                   {"offset": np.float64(0.2)})  # fmt: skip
    params = {"a": np.float64(1.0), "k": np.float64(0.3)}
    found = slope_norms((decay, decay), params, both)
    for count, norm in ((40, found[0]), (7, found[1])):
        e = np.exp(-0.3 * t[:count])
        r = e + 0.2 - y[:count]
        assert norm == pytest.approx(np.hypot(2 * (r * e).sum(), 2 * (r * -t[:count] * e).sum()))


def test_other_numbers_do_not_compile_again():
    t, y = readings()
    least_squares((decay,), START, decay_data(t, y))
    before = trace_count()
    t, y = readings(seed=3)
    start = {"a": np.float64(4.0), "k": np.float64(2.0)}
    limits = Limits(steps=7, gradient=1e-3, step=1e-4, target=1e-9)
    least_squares((decay,), start, decay_data(t, y, 0.1), limits=limits, damping=Damping(1.0))
    assert trace_count() == before


@pytest.mark.parametrize(
    ("limits", "stop"),
    [
        (Limits(steps=3), Stop.BUDGET),
        (Limits(target=1.0), Stop.TARGET),
        (Limits(gradient=1e-3), Stop.GRADIENT),
        (Limits(seconds=0.0), Stop.SECONDS),
        (Limits(patience=2, stall=0.999999, chunk=1), Stop.STALLED),
        (Limits(step=10.0), Stop.STEP),
    ],
)
def test_it_says_why_it_stopped(limits, stop):
    t, y = readings()
    found = least_squares((decay,), START, decay_data(t, y), limits=limits)
    if stop is Stop.STEP:  # only looked at where a step fails
        assert found.stop in (Stop.STEP, Stop.FLOOR)
    else:
        assert found.stop is stop
    assert found.stop.sentence.endswith(".")


@pytest.mark.parametrize("one", [1.0, np.inf])
def test_a_loss_that_is_not_finite_at_the_start_is_said(one):
    data = RowData(({"one": np.full(1, one)},), (np.ones(1),))
    start = np.array([-1.0]) if one == 1.0 else np.array([1.0])
    found = least_squares((root,), start, data)
    assert found.stop is Stop.NONFINITE


def test_steps_into_the_undefined_are_refused():
    data = RowData(({"one": np.ones(1)},), (np.ones(1),))
    found = least_squares((root,), np.array([4.0]), data)
    assert np.isfinite(found.params).all()
    assert 0 <= found.params[0] < 1e-3  # the edge, where the loss is least
    assert (np.diff(found.history["loss"]) <= 0).all()


def test_going_on_equals_one_run():
    data = RowData(({"one": np.ones(1)},), (np.ones(1),))
    start = np.array([-1.2, 1.0])
    whole = least_squares((valley,), start, data, limits=Limits(steps=12))
    half = least_squares((valley,), start, data, limits=Limits(steps=5))
    rest = least_squares(
        (valley,), half.params, data, limits=Limits(steps=12), state=resumed(half.state)
    )
    assert rest.steps == 12
    assert rest.history["step"][0] == 5
    assert np.array_equal(rest.params, whole.params)


def test_adam_is_the_published_rule():
    t, y = readings()
    found = adam((decay,), START, decay_data(t, y), limits=Limits(20, stall=0.0, chunk=7),
                 rate=Rate(0.05))  # fmt: skip
    p, m, v = np.array([1.0, 0.3]), np.zeros(2), np.zeros(2)
    for step in range(1, 21):
        e = np.exp(-p[1] * t)
        r = p[0] * e + 0.2 - y
        slope = np.array([2 * (r * e).sum(), 2 * (r * -p[0] * t * e).sum()])
        m, v = 0.9 * m + 0.1 * slope, 0.999 * v + 0.001 * slope**2
        p = p - 0.05 * (m / (1 - 0.9**step)) / (np.sqrt(v / (1 - 0.999**step)) + 1e-8)
    assert np.allclose(found.state["theta"], p, rtol=1e-6)


def test_adam_keeps_the_best_and_cosine_comes_to_rest():
    t, y = readings()
    limits = Limits(300, stall=0.0, chunk=100)
    wild = adam((decay,), START, decay_data(t, y), limits=limits, rate=Rate(1.5))
    best = float(np.sum(np.asarray(row_vector((decay,), wild.params, decay_data(t, y))) ** 2))
    assert best == pytest.approx(wild.history["loss"].min(), rel=1e-9)
    calm = adam((decay,), START, decay_data(t, y), limits=limits, rate=Rate(0.2, "cosine"))
    late = calm.history["loss"][-20:]
    assert late.max() - late.min() < 1e-4 * late.min()


def test_weights_make_means():
    assert np.sum(even_weights(8, 3.0) ** 2) == pytest.approx(3.0)


@pytest.mark.parametrize(
    "wrong", [{"steps": 0}, {"chunk": 1.5}, {"seconds": -1.0}, {"patience": True}]
)
def test_wrong_limits_are_named(wrong):
    with pytest.raises(StudyError, match=next(iter(wrong))):
        Limits(**wrong)


def test_wrong_rates_are_named():
    with pytest.raises(StudyError, match="learning rate"):
        Rate(0.0)
    with pytest.raises(StudyError, match="schedule"):
        Rate(1e-3, "linear")
