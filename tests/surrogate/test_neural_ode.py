"""The neural ODE: solvers against closed forms and SciPy, training, saving."""

import jax
import numpy as np
import pytest
from scipy.integrate import solve_ivp

import assay
from assay.errors import StudyError
from assay.nn import ODENet, ResNet, initialise
from assay.surrogate import DeepEnsemble, NeuralODE, ResNetSurrogate
from assay.train import predict, trace_count

ROWS = np.random.default_rng(0).normal(size=(20, 3))
SMALL = {"width": 8, "inner": 16, "solver_steps": 4}


def net(solver="euler", steps=16, *, tolerance=1e-4, timed=False):
    """Return a network in float64; all have the same weights."""
    shapes = ODENet(
        3, 2, width=6, inner=12, solver=solver, steps=steps, tolerance=tolerance, timed=timed
    )
    return initialise(shapes, np.random.default_rng(1), rule="glorot", scale=2.0)


def outputs(**settings):
    with jax.enable_x64(True):
        return predict(net(**settings), ROWS)


def by_hand(n):
    """Return the residual network of `n` blocks with shared weights and steps of 1/n."""
    with jax.enable_x64(True):
        made = net()
    h = ROWS @ made.lift.weight.T + made.lift.bias
    for _ in range(n):
        inner = np.tanh(h @ made.first.weight.T + made.first.bias)
        h = h + (inner @ made.second.weight.T + made.second.bias) / n
    return h @ made.read_out.weight.T + made.read_out.bias


def by_scipy(*, timed=False):
    with jax.enable_x64(True):
        made = net(timed=timed)

    def rate(t, h):
        seen = np.append(h, t) if timed else h
        return made.second.weight @ np.tanh(made.first.weight @ seen + made.first.bias)

    ends = [
        solve_ivp(rate, (0.0, 1.0), made.lift.weight @ row, rtol=1e-11, atol=1e-12).y[:, -1]
        for row in ROWS
    ]  # biases are 0 after this initialisation
    return np.array(ends) @ made.read_out.weight.T


@pytest.mark.parametrize("n", [7, 49])
def test_euler_is_a_residual_network_with_shared_weights(n):
    np.testing.assert_allclose(outputs(steps=n), by_hand(n), rtol=1e-12, atol=1e-12)


def test_one_euler_step_is_one_block_of_the_resnet():
    """With W2 the identity and one step, the block of `assay.nn.ResNet` of depth 1."""
    ode = initialise(ODENet(3, 2, width=6, inner=6, steps=1), np.random.default_rng(0))
    ode.second.weight[:], ode.second.bias[:] = np.eye(6), 0.0
    block = ResNet(3, 2, width=6, depth=1)
    block = jax.tree.unflatten(
        jax.tree.structure(block),
        [
            part
            for layer in (ode.lift, ode.first, ode.read_out)
            for part in (layer.weight, layer.bias)
        ],
    )
    np.testing.assert_allclose(predict(ode, ROWS), predict(block, ROWS), atol=1e-6)


@pytest.mark.parametrize("timed", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_solvers_agree_with_scipy(timed):
    exact = by_scipy(timed=timed)
    adaptive = outputs(solver="tsit5", steps=None, tolerance=1e-9, timed=timed)
    np.testing.assert_allclose(adaptive, exact, atol=1e-7)
    np.testing.assert_allclose(outputs(solver="tsit5", steps=12, timed=timed), exact, atol=1e-5)


def test_error_of_euler_falls_with_the_number_of_steps():
    steps = np.array([4, 16, 64])
    exact = outputs(solver="tsit5", steps=None, tolerance=1e-10)
    errors = [np.sqrt(np.mean((outputs(steps=int(n)) - exact) ** 2)) for n in steps]
    slope = np.polyfit(np.log(steps), np.log(errors), 1)[0]
    assert slope == pytest.approx(-1.0, abs=0.1)
    assert errors[0] > 1e-3  # there is something to fall


@pytest.mark.parametrize(
    "settings",
    [{"steps": 8}, pytest.param({"steps": None, "tolerance": 1e-10}, marks=pytest.mark.slow)],
)
def test_gradients_agree_with_central_differences(settings):
    """Whatever the adjoint: kept states with fixed steps, checkpoints with adaptive ones."""
    with jax.enable_x64(True):
        made = net(solver="tsit5", **settings)
        slope = np.asarray(jax.jit(jax.grad(lambda x: made(x)[0]))(np.array(ROWS[0])))
        steps = 1e-5 * np.eye(3)
        around = predict(made, np.r_[ROWS[0] + steps, ROWS[0] - steps])[:, 0]
    np.testing.assert_allclose(slope, (around[:3] - around[3:]) / 2e-5, rtol=1e-5, atol=1e-8)


def wave(n=100, seed=0):
    X = np.random.default_rng(seed).uniform(-1.0, 1.0, (n, 1))
    return X, np.sin(3.0 * X[:, 0])


@pytest.fixture(scope="module")
def fitted():
    return NeuralODE(**SMALL, steps=3000).fit(*wave())


def test_learns_a_wave(fitted):
    X = np.linspace(-0.95, 0.95, 50)[:, None]
    error = fitted.predict(X) - np.sin(3.0 * X[:, 0])
    assert np.sqrt(np.mean(error**2)) < 0.01
    assert fitted.predict(X).dtype == np.float64
    assert fitted.n_parameters_ == 2 * 8 + (8 * 16 + 16) + (16 * 8 + 8) + 8 + 1
    assert fitted.model_.lift.weight.dtype == np.float32


def test_other_seeds_do_not_compile_again(fitted):
    before = trace_count()
    other = NeuralODE(**SMALL, steps=300, random_state=5, learning_rate=1e-3).fit(*wave(seed=1))
    assert trace_count() == before
    assert not np.array_equal(other.predict([[0.5]]), fitted.predict([[0.5]]))


def test_saved_and_loaded(fitted, tmp_path):
    X, _ = wave(seed=2)
    loaded = assay.load(fitted.save(tmp_path / "model"))
    assert type(loaded) is NeuralODE
    np.testing.assert_array_equal(loaded.predict(X), fitted.predict(X))
    assert loaded.settings() == fitted.settings()


def test_members_of_an_ensemble(tmp_path):
    model = DeepEnsemble(NeuralODE(**SMALL, steps=200), 2).fit(*wave())
    mean, std = model.predict([[0.1], [5.0]], return_std=True)
    assert std[1] > std[0] > 0.0
    loaded = assay.load(model.save(tmp_path / "m"))
    np.testing.assert_array_equal(loaded.predict([[0.1], [5.0]]), mean)


@pytest.mark.slow
def test_adaptive_steps_in_double_precision():
    model = NeuralODE(
        width=4, inner=8, solver="tsit5", solver_steps=None, steps=20, precision="float64"
    )
    model.fit(*wave(20))
    assert model.model_.lift.weight.dtype == np.float64
    assert np.isfinite(model.predict([[0.0]])).all()


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"solver_steps": 0}, "solver steps"),
        ({"solver_steps": None}, "solver steps"),
        ({"solver": "rk4"}, "rk4"),
        ({"tolerance": 0.0}, "tolerance"),
        ({"width": 0}, "whole number"),
    ],
)
def test_choices_are_checked(settings, said):
    with pytest.raises(StudyError, match=said):
        NeuralODE(**settings).fit(*wave(20))


@pytest.mark.slow
def test_as_good_as_a_residual_network():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(300, 3))
    Y = np.sin(4.0 * X[:, 0]) * X[:, 1] + X[:, 2] ** 2
    ours = NeuralODE(steps=4000).fit(X[:200], Y[:200]).score(X[200:], Y[200:])
    plain = ResNetSurrogate(steps=4000).fit(X[:200], Y[:200]).score(X[200:], Y[200:])
    assert 1.0 - ours < 3.0 * (1.0 - plain) + 1e-3
