"""Dense layers against NumPy and SciPy, and what they refuse."""

import equinox as eqx
import jax
import numpy as np
import pytest
from scipy import special

from assay.errors import StudyError
from assay.nn import ACTIVATIONS, MLP, Linear, activation, initialise, n_parameters

TRUTH = {
    "identity": lambda x: x,
    "relu": lambda x: np.maximum(x, 0.0),
    "tanh": np.tanh,
    "gelu": lambda x: x * special.ndtr(x),
    "silu": lambda x: x * special.expit(x),
    "softplus": lambda x: np.logaddexp(0.0, x),
    "sigmoid": special.expit,
    "sine": np.sin,
}


@pytest.mark.parametrize("name", [function.__name__ for function in ACTIVATIONS])
def test_activations_are_the_textbook_functions(name):
    x = np.linspace(-6.0, 6.0, 101).astype(np.float32)
    np.testing.assert_allclose(activation(name)(x), TRUTH[name](x.astype(float)), atol=2e-6)


def test_unknown_activation_names_the_nearest():
    with pytest.raises(StudyError, match="Did you mean 'relu'"):
        activation("rely")


def test_mlp_is_the_composition_written_out():
    net = initialise(MLP(3, 2, hidden=(5, 4), final="sigmoid"), np.random.default_rng(0))
    x = np.array([0.3, -1.2, 2.0], np.float32)
    h = x.astype(float)
    for layer in net.layers[:-1]:
        h = TRUTH["gelu"](layer.weight.astype(float) @ h + layer.bias)
    expected = special.expit(net.layers[-1].weight.astype(float) @ h + net.layers[-1].bias)
    np.testing.assert_allclose(net(x), expected, atol=1e-6)


def test_no_hidden_layer_is_an_affine_map():
    net = initialise(MLP(3, 2, hidden=()), np.random.default_rng(0))
    zero, x = np.zeros(3, np.float32), np.array([1.0, 2.0, -1.0], np.float32)
    np.testing.assert_allclose(net(x) - net(zero), net.layers[0].weight @ x, atol=1e-6)


def test_without_bias_zero_maps_to_zero():
    layer = initialise(Linear(3, 2, use_bias=False), np.random.default_rng(0))
    assert layer.bias is None
    np.testing.assert_array_equal(layer(np.zeros(3, np.float32)), 0.0)


def test_number_of_parameters():
    assert n_parameters(MLP(64, 64, hidden=(128, 8, 128))) == (
        64 * 128 + 128 + 128 * 8 + 8 + 8 * 128 + 128 + 128 * 64 + 64
    )


def test_sizes_cost_nothing_until_weights_are_drawn():
    # 4 TB if they were allocated.
    skeleton = eqx.filter_eval_shape(MLP, 1_000_000, 1_000_000, ())
    assert skeleton.layers[0].weight.shape == (1_000_000, 1_000_000)


def test_structures_compare_by_value():
    structure = lambda net: jax.tree.structure(net)
    assert structure(MLP(3, 2, (4,))) == structure(MLP(3, 2, (4,)))
    assert hash(structure(MLP(3, 2, (4,)))) == hash(structure(MLP(3, 2, (4,))))
    assert structure(MLP(3, 2, (4,))) != structure(MLP(3, 2, (4,), "tanh"))


def test_weights_follow_the_x64_switch():
    with jax.enable_x64(True):
        assert MLP(3, 2).layers[0].weight.dtype == np.float64
    assert MLP(3, 2).layers[0].weight.dtype == np.float32


@pytest.mark.parametrize("size", [0, -3, 2.0, True, "8", None])
def test_sizes_must_be_whole_and_positive(size):
    with pytest.raises(StudyError, match="at least 1"):
        MLP(3, 2, hidden=(size,))


def test_a_million_layers_are_refused():
    with pytest.raises(StudyError, match="at most 1000 layers"):
        MLP(1, 1, hidden=(1,) * 1_000_000)
