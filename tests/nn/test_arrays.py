"""Networks as named arrays: there and back, and what does not fit."""

import equinox as eqx
import numpy as np
import pytest

from assay.errors import ModelError
from assay.nn import MLP, from_arrays, initialise, to_arrays


@pytest.fixture
def net():
    return initialise(MLP(3, 2, hidden=(4,)), np.random.default_rng(0))


def test_round_trip(net):
    arrays = to_arrays(net, "net.")
    assert list(arrays) == [
        "net.layers.0.weight", "net.layers.0.bias", "net.layers.1.weight", "net.layers.1.bias"
    ]  # fmt: skip
    arrays["scaler.mean"] = np.zeros(3)
    assert eqx.tree_equal(from_arrays(MLP, (3, 2, (4,)), arrays, "net."), net)


def test_missing_and_left_over(net):
    arrays = to_arrays(net)
    del arrays["layers.0.bias"]
    with pytest.raises(ModelError, match=r"layers\.0\.bias is missing"):
        from_arrays(MLP, (3, 2, (4,)), arrays)
    with pytest.raises(ModelError, match="left over"):
        from_arrays(MLP, (3, 2, (4,)), to_arrays(net) | {"layers.9.bias": np.zeros(1)})


@pytest.mark.parametrize("change", [np.transpose, np.float64])
def test_wrong_shape_or_dtype(net, change):
    arrays = to_arrays(net)
    arrays["layers.0.weight"] = change(arrays["layers.0.weight"])
    with pytest.raises(ModelError, match=r"layers\.0\.weight must be float32\(4, 3\)"):
        from_arrays(MLP, (3, 2, (4,)), arrays)


@pytest.mark.parametrize(
    "sizes",
    [(-1, 2, ()), (3, 0, ()), ("3", 2, ()), (3, 2, (None,)), (3, 2, 7), (3, 2, (4,), "eval")],
)
def test_sizes_that_describe_no_network(net, sizes):
    with pytest.raises(ModelError, match="do not describe a network"):
        from_arrays(MLP, sizes, to_arrays(net))


@pytest.mark.parametrize("size", [10**6, 10**9, 10**30])
def test_huge_sizes_are_refused_without_allocating(net, size):
    with pytest.raises(ModelError):
        from_arrays(MLP, (size, size, (4,)), to_arrays(net))
