"""Initial weights: variances and supports as the papers state them."""

import equinox as eqx
import jax
import numpy as np
import pytest
from scipy import stats

from assay.errors import StudyError
from assay.nn import MLP, Linear, initialise

N_IN, N_OUT = 400, 300
VARIANCE = {
    "torch": 1.0 / (3.0 * N_IN),
    "glorot": 2.0 / (N_IN + N_OUT),
    "he": 2.0 / N_IN,
    "lecun": 1.0 / N_IN,
}


def drawn(rule, seed=0, n_in=N_IN, n_out=N_OUT):
    skeleton = eqx.filter_eval_shape(Linear, n_in, n_out)
    return initialise(skeleton, np.random.default_rng(seed), rule=rule)


@pytest.mark.parametrize("rule", VARIANCE)
def test_variance_of_the_weight(rule):
    weight = drawn(rule).weight
    # 120,000 draws: the relative error of the variance is below 0.5 % (one sigma).
    assert weight.var() == pytest.approx(VARIANCE[rule], rel=0.02)
    assert weight.mean() == pytest.approx(0.0, abs=5 * np.sqrt(VARIANCE[rule] / weight.size))


@pytest.mark.parametrize(
    ("rule", "bound"), [("torch", N_IN**-0.5), ("glorot", (6.0 / (N_IN + N_OUT)) ** 0.5)]
)
def test_uniform_rules_are_uniform(rule, bound):
    weight = drawn(rule).weight.ravel().astype(float)
    assert abs(weight).max() <= bound * (1 + 1e-6)
    assert stats.kstest(weight, stats.uniform(-bound, 2 * bound).cdf).pvalue > 1e-4


@pytest.mark.parametrize("rule", ["he", "lecun"])
def test_normal_rules_are_normal(rule):
    weight = drawn(rule).weight.ravel().astype(float)
    assert stats.kstest(weight / np.sqrt(VARIANCE[rule]), "norm").pvalue > 1e-4


def test_torch_draws_the_bias_too_and_the_others_do_not():
    bias = np.concatenate([drawn("torch", seed).bias for seed in range(20)])
    assert bias.var() == pytest.approx(VARIANCE["torch"], rel=0.1)
    assert all(not drawn(rule).bias.any() for rule in ("glorot", "he", "lecun", "orthogonal"))


@pytest.mark.parametrize(("n_in", "n_out"), [(6, 6), (4, 9), (9, 4)])
def test_orthogonal(n_in, n_out):
    weight = drawn("orthogonal", n_in=n_in, n_out=n_out).weight.astype(float)
    gram = weight @ weight.T if n_out <= n_in else weight.T @ weight
    np.testing.assert_allclose(gram, np.eye(min(n_in, n_out)), atol=1e-6)


def test_orthogonal_draws_both_orientations():
    signs = {np.sign(np.linalg.det(drawn("orthogonal", s, 3, 3).weight)) for s in range(20)}
    assert signs == {-1.0, 1.0}


def test_gains_become_one_and_other_vectors_zero():
    norm = initialise(eqx.filter_eval_shape(eqx.nn.LayerNorm, 5), np.random.default_rng(0))
    np.testing.assert_array_equal(norm.weight, 1.0)
    np.testing.assert_array_equal(norm.bias, 0.0)


def test_fan_in_of_a_convolution_counts_its_kernel():
    skeleton = eqx.filter_eval_shape(eqx.nn.Conv1d, 8, 256, 5, key=jax.random.key(0))
    weight = initialise(skeleton, np.random.default_rng(0), rule="lecun").weight
    assert weight.var() == pytest.approx(1.0 / 40.0, rel=0.1)


def test_same_generator_same_weights():
    nets = [initialise(MLP(3, 2), np.random.default_rng(7)) for _ in range(2)]
    assert eqx.tree_equal(*nets)
    other = initialise(MLP(3, 2), np.random.default_rng(8))
    assert not np.array_equal(other.layers[0].weight, nets[0].layers[0].weight)


def test_unknown_rule():
    with pytest.raises(StudyError, match="Did you mean 'glorot'"):
        initialise(MLP(3, 2), np.random.default_rng(0), rule="glorrot")
