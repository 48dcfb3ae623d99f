"""Surrogates as JAX functions: equal to their predictions, differentiable, compiled once."""

import jax
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression

from assay import load
from assay.errors import StudyError
from assay.problems import AFTERSLIP, BOREHOLE, ISHIGAMI
from assay.surrogate import DeepEnsemble, GaussianProcess, MLPSurrogate, PCAOutputs, ResNetSurrogate
from assay.surrogate.calibrated import CalibratedSurrogate
from assay.surrogate.inversion import invert
from assay.surrogate.response_surface import MeanOutput, ResponseSurface
from assay.surrogate.traced import as_function


def runs(problem, n=60):
    X = problem.sample(n, 0)
    return X, problem(X)


def mlp(**changes):
    return MLPSurrogate(hidden=(16, 16), steps=300, **changes)


KINDS = {
    "mlp": (mlp(), AFTERSLIP, 1e-5),
    "mlp64": (mlp(precision="float64"), AFTERSLIP, 1e-12),
    "resnet": (ResNetSurrogate(width=16, depth=3, steps=300), AFTERSLIP, 1e-5),
    "ensemble": (DeepEnsemble(mlp(), size=3), AFTERSLIP, 1e-5),
    "modes": (PCAOutputs(mlp(), modes=3), AFTERSLIP, 1e-5),
    "modes of ensemble": (PCAOutputs(DeepEnsemble(mlp(), size=3), modes=3), AFTERSLIP, 1e-5),
    "modes of gp": (PCAOutputs(GaussianProcess(starts=1), modes=3), AFTERSLIP, 1e-9),
    "gp": (GaussianProcess(starts=1, transform="identity"), ISHIGAMI, 1e-9),
    "gp log": (GaussianProcess(starts=1, transform="log"), BOREHOLE, 1e-9),
    "gp sqrt": (GaussianProcess(starts=1, transform="sqrt", mean="average"), BOREHOLE, 1e-9),
    "linear": (ResponseSurface(degree=1), AFTERSLIP, 1e-12),
    "quadratic": (ResponseSurface(degree=2), AFTERSLIP, 1e-12),
}


@pytest.fixture(scope="module")
def fitted():
    found = {}

    def get(kind):
        if kind not in found:
            model, problem, _ = KINDS[kind]
            found[kind] = model.fit(*runs(problem))
        return found[kind]

    return get


@pytest.mark.parametrize("kind", KINDS)
def test_the_function_equals_the_predictions(kind, fitted):
    model, problem, tolerance = fitted(kind), *KINDS[kind][1:]
    X = problem.sample(30, 1)
    with jax.enable_x64(True):
        Y = np.asarray(jax.jit(jax.vmap(as_function(model)))(X))
    expected = model.predict(X).reshape(30, -1)
    assert Y.dtype == np.float64
    np.testing.assert_allclose(Y, expected, rtol=0, atol=tolerance * np.abs(expected).max())


@pytest.mark.parametrize("kind", KINDS)
def test_the_derivative_equals_finite_differences(kind, fitted):
    model, problem = fitted(kind), KINDS[kind][1]
    x, width = problem.sample(3, 2)[1], problem.bounds[:, 1] - problem.bounds[:, 0]
    f = as_function(model)
    steps = 1e-5 * np.diag(width)
    with jax.enable_x64(True):
        run = jax.jit(lambda x, X: (jax.jacobian(f)(x), jax.vmap(f)(X)))
        slope, around = run(x, np.concatenate([x + steps, x - steps]))
    change = (np.asarray(around)[: len(x)] - np.asarray(around)[len(x) :]) / 2e-5
    slope = np.asarray(slope).T * width[:, None]
    np.testing.assert_allclose(slope, change, rtol=0, atol=1e-5 * np.abs(slope).max())


def test_the_derivative_at_a_run_is_finite(fitted):
    gp = fitted("gp")
    with jax.enable_x64(True):
        slope = jax.jacobian(as_function(gp))(gp.scaler_.inverse(gp.inputs_)[3])
        assert np.isfinite(np.asarray(slope)).all()


@pytest.mark.parametrize(
    "kind", ["ensemble", "gp", "gp log", "gp sqrt", "modes of gp", "modes of ensemble"]
)
def test_the_variance_is_the_surrogates_own(kind, fitted):
    model, problem = fitted(kind), KINDS[kind][1]
    f, X = as_function(model), problem.sample(10, 1)
    with jax.enable_x64(True):
        covariance = np.asarray(jax.vmap(lambda x: f.moments(x)[1])(X))
    expected = model.predict(X, return_std=True)[1].reshape(10, -1) ** 2
    found = np.einsum("nii->ni", covariance)
    tolerance = 1e-3 if "ensemble" in kind else 1e-6
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=1e-5 * expected.max())
    assert np.linalg.eigvalsh(covariance).min() >= -1e-9 * expected.max()
    assert f.has_spread


@pytest.mark.parametrize("kind", ["mlp", "linear", "modes"])
def test_without_a_variance_it_says_so(kind, fitted):
    f = as_function(fitted(kind))
    assert not f.has_spread
    with pytest.raises(StudyError, match="has no variance") as caught:
        f.moments(AFTERSLIP.sample(1, 0)[0])
    assert "DeepEnsemble" in caught.value.hint


def test_a_loaded_model_is_the_same_function(tmp_path, fitted):
    model, x = fitted("modes of ensemble"), AFTERSLIP.sample(1, 5)[0]
    again = load(model.save(tmp_path / "model"))
    with jax.enable_x64(True):
        assert np.array_equal(as_function(model)(x), as_function(again)(x))


def test_two_surrogates_of_one_size_share_a_program():
    traces = []

    @jax.jit
    def run(f, x):
        traces.append(1)
        return f(x)

    with jax.enable_x64(True):
        for seed in (0, 1):
            X, Y = runs(AFTERSLIP, 20)
            run(as_function(mlp(random_state=seed).set_params(steps=5).fit(X, Y)), X[0])
    assert len(traces) == 1


def test_a_calibrated_surrogate_is_its_model():
    X, Y = runs(AFTERSLIP, 40)
    model = CalibratedSurrogate(ResponseSurface()).fit(X, Y)
    with jax.enable_x64(True):
        np.testing.assert_allclose(as_function(model)(X[0]), model.predict(X[:1])[0], rtol=1e-10)


def test_other_models_are_refused():
    X, Y = runs(AFTERSLIP, 20)
    for model in (MeanOutput().fit(X, Y), LinearRegression().fit(X, Y), np.sin):
        with pytest.raises(StudyError, match="not a function that JAX can differentiate"):
            as_function(model)


@pytest.mark.parametrize("kind", KINDS)
def test_an_unfitted_model_says_what_to_do(kind):
    model = clone(KINDS[kind][0])
    for ask in (as_function, lambda model: invert(model, np.zeros(40), 1.0)):
        with pytest.raises(NotFittedError, match=r"not fitted.*fit\(X, Y\)"):
            ask(model)
