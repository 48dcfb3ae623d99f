"""S05: signal and gradient of the untrained network."""

import numpy as np
import pytest

from assay.checks import NotApplicable
from assay.nn import initialise
from assay.problems import AFTERSLIP, BOREHOLE
from assay.surrogate import GaussianProcess, MLPSurrogate, PCAOutputs, ResNetSurrogate
from assay.surrogate.checks import BadInitialisation
from assay.surrogate.checks_signal import signal

CHECK = BadInitialisation()
SEEDS = [*range(3), *(pytest.param(s, marks=pytest.mark.slow) for s in range(3, 10))]
SIZES = (60, 20, 20)
DEEP = (32,) * 12


def run(surrogate_view, parts, model):
    if hasattr(model, "prepare"):
        untrained(model, *parts[0])
    else:
        model.fit(*parts[0])
    return CHECK(surrogate_view(*parts, [model]))


def untrained(model, X, Y):
    """Bring a network to where training starts: nobody needs what comes after."""
    model.prepare(X, Y)
    build, sizes = model._network()
    rng = np.random.default_rng(model.random_state)
    model.initial_ = model.model_ = initialise(
        build(*sizes), rng, rule=model.initialisation, scale=model.init_scale
    )
    model.history_, model.status_ = {}, "Not trained."
    return model


def network(seed, **options):
    return MLPSurrogate(random_state=seed, **options)


@pytest.mark.parametrize("seed", SEEDS)
def test_fails_on_a_signal_that_dies(surrogate_view, problem_parts, seed):
    parts = problem_parts(BOREHOLE, seed, SIZES)
    model = network(seed, hidden=DEEP, activation="tanh", initialisation="lecun", init_scale=0.2)
    found = run(surrogate_view, parts, model)
    assert found.outcome == "fail"
    # Each of 11 layers takes four fifths of it.
    assert np.log(found.measured) == pytest.approx(11 * np.log(5.0), rel=0.15)


@pytest.mark.parametrize("seed", SEEDS)
def test_warns_on_a_signal_that_shrinks(surrogate_view, problem_parts, seed):
    parts = problem_parts(BOREHOLE, seed, SIZES)
    model = network(seed, hidden=DEEP, activation="tanh", initialisation="lecun", init_scale=0.4)
    found = run(surrogate_view, parts, model)
    assert found.outcome == "warn"
    assert found.unit == "times"


@pytest.mark.parametrize("seed", SEEDS)
def test_fires_on_saturated_units(surrogate_view, problem_parts, seed):
    parts = problem_parts(BOREHOLE, seed, SIZES)
    model = network(seed, hidden=(32, 32), activation="tanh", init_scale=100.0)
    found = run(surrogate_view, parts, model)
    assert found.outcome == "fail"
    assert found.measured > 0.9
    model = network(seed, hidden=(32, 32), activation="tanh", init_scale=6.0)
    assert run(surrogate_view, parts, model).outcome == "warn"


@pytest.mark.parametrize("seed", SEEDS)
def test_warns_on_dead_units(surrogate_view, problem_parts, seed):
    """Inputs of size a thousand, all positive: half of the first ReLU layer is off on all runs."""
    parts = problem_parts(BOREHOLE, seed, SIZES)
    model = network(seed, hidden=(32,), activation="relu", input_scaling="none")
    found = run(surrogate_view, parts, model)
    assert found.outcome == "warn"
    assert found.measured == pytest.approx(0.5, abs=0.2)


MODELS = (
    {},
    {"activation": "tanh"},
    {"activation": "relu", "initialisation": "he"},
    {"hidden": (32,) * 8, "activation": "tanh", "initialisation": "glorot"},
    {"hidden": DEEP, "activation": "relu", "initialisation": "he"},
)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("options", MODELS, ids=str)
def test_silent_on_weights_of_the_right_size(surrogate_view, problem_parts, options, seed):
    assert run(
        surrogate_view, problem_parts(BOREHOLE, seed, SIZES), network(seed, **options)
    ).outcome == "pass"  # fmt: skip


@pytest.mark.parametrize("seed", SEEDS)
def test_silent_on_a_deep_residual_network(surrogate_view, problem_parts, seed):
    model = ResNetSurrogate(width=16, depth=12, activation="tanh", random_state=seed)
    found = run(surrogate_view, problem_parts(BOREHOLE, seed, SIZES), model)
    assert found.outcome == "pass"
    assert found.measured < 10.0


def test_the_signal_is_that_of_a_backward_pass_by_hand():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(7, 3)), rng.normal(size=(7, 2))
    start = network(1, hidden=(5, 4), activation="tanh", initialisation="torch")
    model = untrained(start, x, y).initial_
    (W1, b1), (W2, b2), (W3, b3) = (
        (np.float64(a.weight), np.float64(a.bias)) for a in model.layers
    )
    first = np.tanh(x @ W1.T + b1)
    second = np.tanh(first @ W2.T + b2)
    back = 2.0 * (second @ W3.T + b3 - y) @ W3
    again = (back * (1.0 - second**2)) @ W2
    found = signal(model, x, y)
    assert found.forward == pytest.approx(
        [np.sqrt(h.var(axis=0).mean()) for h in (first, second)], rel=1e-12
    )
    assert found.backward == pytest.approx(
        [np.sqrt(np.mean(g**2)) for g in (again, back)], rel=1e-12
    )
    assert found.saturated == pytest.approx(
        np.mean([(1 - first**2 < 0.1).mean(), (1 - second**2 < 0.1).mean()])
    )


def test_a_network_behind_modes_is_found(surrogate_view, problem_parts):
    parts = problem_parts(AFTERSLIP, 0, SIZES)
    model = MLPSurrogate(hidden=(8,), activation="tanh", init_scale=300.0, steps=1)
    assert run(surrogate_view, parts, PCAOutputs(model, modes=3)).outcome == "fail"


def test_not_applicable(surrogate_view, problem_parts):
    parts = problem_parts(BOREHOLE, 0, SIZES)
    with pytest.raises(NotApplicable, match="no network"):
        run(surrogate_view, parts, GaussianProcess(starts=1))
    with pytest.raises(NotApplicable, match="before training"):
        run(surrogate_view, parts, network(0, hidden=()))
