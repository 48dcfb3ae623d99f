"""The residual network against the formula written out, and what depth does to its gradient."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from assay.errors import ModelError, StudyError
from assay.nn import MLP, ResNet, from_arrays, initialise, n_parameters, to_arrays


def test_resnet_is_the_composition_written_out():
    net = initialise(ResNet(3, 2, width=5, depth=4), np.random.default_rng(0))
    x = np.array([0.3, -1.2, 2.0], np.float32)
    h = net.lift.weight.astype(float) @ x + net.lift.bias
    for block in net.blocks:
        h = h + np.tanh(block.weight.astype(float) @ h + block.bias) / 2.0  # 1 / sqrt(4)
    np.testing.assert_allclose(net(x), net.read_out.weight @ h + net.read_out.bias, atol=1e-6)


def test_number_of_parameters():
    assert n_parameters(ResNet(3, 10, width=32, depth=23)) == (
        3 * 32 + 32 + 23 * (32 * 32 + 32) + 32 * 10 + 10
    )


def gradients(build, *args, scale):
    """Norms of the loss's gradient for the square layers, first to last, before training."""
    with jax.enable_x64(True):
        net = initialise(build(*args), np.random.default_rng(8), rule="lecun", scale=scale)
        rng = np.random.default_rng(2)
        x, y = rng.uniform(size=(400, 3)), rng.normal(size=(400, 10))
        found = eqx.filter_jit(eqx.filter_grad(lambda net: jnp.mean((jax.vmap(net)(x) - y) ** 2)))
        layers = to_arrays(found(jax.tree.map(jnp.asarray, net)))
    return [np.linalg.norm(w) for w in layers.values() if w.shape == (32, 32)]


def test_depth_kills_the_gradient_of_a_plain_network_and_not_of_a_residual_one():
    plain = gradients(MLP, 3, 10, (32,) * 24, "tanh", scale=0.5)
    residual = gradients(ResNet, 3, 10, 32, 23, "tanh", scale=0.5)
    assert len(plain) == len(residual) == 23
    assert max(plain) < 1e-6
    assert min(residual) > 1e-3
    assert max(residual) < 3.0 * min(residual)


def test_scale_multiplies_weights_and_leaves_biases():
    once = initialise(ResNet(3, 2, 5, 2), np.random.default_rng(0))
    twice = initialise(ResNet(3, 2, 5, 2), np.random.default_rng(0), scale=2.0)
    np.testing.assert_array_equal(twice.blocks[1].weight, 2.0 * once.blocks[1].weight)
    np.testing.assert_array_equal(twice.blocks[1].bias, once.blocks[1].bias)


@pytest.mark.parametrize("scale", [0.0, -1.0, np.inf, np.nan])
def test_scale_must_be_positive(scale):
    with pytest.raises(StudyError, match="scale"):
        initialise(ResNet(3, 2, 5, 2), np.random.default_rng(0), scale=scale)


@pytest.mark.parametrize("args", [(3, 2, 0, 4), (3, 2, 8, 0), (0, 2, 8, 4), (3, 2, 8, True)])
def test_sizes_are_checked(args):
    with pytest.raises(StudyError, match="whole number"):
        ResNet(*args)


def test_a_file_cannot_ask_for_a_million_blocks():
    with pytest.raises((StudyError, ModelError), match="1000"):
        from_arrays(ResNet, (3, 2, 8, 10**6), {})


def test_unknown_activation():
    with pytest.raises(StudyError, match="Did you mean 'tanh'"):
        ResNet(3, 2, activation="tan")
