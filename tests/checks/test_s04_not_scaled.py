"""S04: sizes that a network cannot learn in its steps, and the bound on the steps."""

import numpy as np
import pytest

from assay.checks import NotApplicable
from assay.nn import MLP
from assay.problems import AFTERSLIP, BOREHOLE, ISHIGAMI
from assay.surrogate import DeepEnsemble, GaussianProcess, MLPSurrogate, PCAOutputs, ResNetSurrogate
from assay.surrogate.checks import NotScaled
from assay.surrogate.checks_signal import least_movement, reach

CHECK = NotScaled()
SEEDS = [*range(3), *(pytest.param(s, marks=pytest.mark.slow) for s in range(3, 10))]
SIZES = (80, 20, 20)


def run(surrogate_view, parts, model):
    return CHECK(surrogate_view(*parts, [model.fit(*parts[0])]))


@pytest.mark.parametrize("seed", SEEDS)
def test_fails_where_the_steps_cannot_do(surrogate_view, problem_parts, seed):
    """Millimetres out of 64 tanh units: the sizes take more steps than there are."""
    parts = problem_parts(AFTERSLIP, seed, SIZES)
    model = MLPSurrogate(
        output_scaling="none", activation="tanh", steps=1000, random_state=seed
    )  # fmt: skip
    found = run(surrogate_view, parts, model)
    assert found.outcome == "fail"
    assert found.measured > found.threshold == 1000
    assert found.unit == "steps"
    X, Y = parts[0]
    # And it has not: the largest output is not reached.
    assert np.abs(model.predict(X)).mean(axis=0).max() < 0.9 * np.abs(Y).mean(axis=0).max()


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("which", ["input_scaling", "output_scaling"])
def test_warns_on_raw_columns(surrogate_view, problem_parts, which, seed):
    model = MLPSurrogate(steps=500, random_state=seed, **{which: "none"})
    found = run(surrogate_view, problem_parts(BOREHOLE, seed, SIZES), model)
    assert found.outcome == "warn"
    assert found.measured > 10.0
    assert ("Input" if which == "input_scaling" else "Output") in found.sentence


@pytest.mark.parametrize("seed", SEEDS)
def test_warns_on_an_output_that_disappears_beside_another(surrogate_view, seed):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1.0, 1.0, (120, 2))
    Y = np.column_stack([np.sin(X[:, 0]), 1e-3 * np.cos(X[:, 1])])
    parts = [(X[:80], Y[:80]), (X[80:100], Y[80:100]), (X[100:], Y[100:])]
    found = run(surrogate_view, parts, MLPSurrogate(output_scaling="common", steps=100))
    assert found.outcome == "warn"
    assert "Output y1" in found.sentence
    assert "with a spread of" in found.sentence
    assert run(surrogate_view, parts, MLPSurrogate(steps=100)).outcome == "pass"


MODELS = (
    MLPSurrogate(steps=500),
    MLPSurrogate(steps=500, input_scaling="unit", activation="tanh"),
    ResNetSurrogate(steps=500, width=16),
    DeepEnsemble(MLPSurrogate(steps=500), size=2),
)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("model", MODELS, ids=lambda m: type(m).__name__)
def test_silent_on_scaled_columns(surrogate_view, problem_parts, model, seed):
    for problem in (BOREHOLE, ISHIGAMI):
        parts = problem_parts(problem, seed, SIZES)
        found = run(surrogate_view, parts, model)
        assert found.outcome == "pass"
        # Scaled to 0 to 1, the column with the smallest spread is the worst; it has about 0.29.
        X = parts[0][0]
        assert found.measured <= 1.0001 * (np.ptp(X, axis=0) / X.std(axis=0)).max()


@pytest.mark.parametrize("seed", SEEDS)
def test_silent_on_scaled_coefficients_and_on_inputs_of_size_four(
    surrogate_view, problem_parts, seed
):
    """Of the inputs of the afterslip it makes no difference: they are of size one to four."""
    parts = problem_parts(AFTERSLIP, seed, SIZES)
    for scaling in ("standard", "none"):
        model = PCAOutputs(MLPSurrogate(steps=500, input_scaling=scaling), modes=4)
        assert run(surrogate_view, parts, model).outcome == "pass"


def test_the_bound_of_one_layer_in_closed_form():
    """Seven thousand steps for 1408 out of 64 units, with a bias, at 0.003 a step."""
    model = MLP(3, 1, (64,), "tanh")  # weights of nought, which move to S
    assert reach(model, np.ones(3), 1.0).tolist() == [65.0]
    moved = least_movement(model, np.full(3, 0.5), np.array([1408.0]))
    assert moved == pytest.approx(1408.0 / 65.0)
    assert moved / 0.003 == pytest.approx(7220.5, abs=0.5)
    assert least_movement(model, np.ones(3), np.zeros(1)) == 0.0


RARE = ("relu", "sigmoid", "softplus", "sine")


@pytest.mark.parametrize(
    "activation", ["tanh", "gelu", *(pytest.param(a, marks=pytest.mark.slow) for a in RARE)]
)
@pytest.mark.parametrize("kind", [MLPSurrogate, ResNetSurrogate])
def test_no_network_gets_further_than_the_bound(kind, activation):
    """Outputs of a million draw every weight as far as Adam lets it."""
    X = ISHIGAMI.sample(60, 0)
    size = {"hidden": (16, 16)} if kind is MLPSurrogate else {"width": 16, "depth": 2}
    model = kind(
        output_scaling="none", schedule="constant", steps=100, activation=activation, **size
    )  # fmt: skip
    model.fit(X, 1e6 + 0.0 * X[:, 0])
    x = np.abs(model.scaler_.forward(X, dtype=float)).mean(axis=0)
    most = reach(model.initial_, x, 100 * 3e-3)[0]
    got = np.abs(model.predict(X)).mean()
    assert 0.05 * most < got < most


def test_not_applicable(surrogate_view, problem_parts):
    with pytest.raises(NotApplicable, match="no network"):
        run(surrogate_view, problem_parts(ISHIGAMI, 0, SIZES), GaussianProcess(starts=1))
