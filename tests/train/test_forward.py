"""Predictions do not depend on blocks, and tables of similar length share a program."""

import logging
import tracemalloc

import jax
import numpy as np
import pytest

from assay.errors import DataError, StudyError
from assay.nn import MLP, initialise
from assay.train import predict
from assay.train.forward import block_size

from .common import Coder


def drawn(build, *args):
    return initialise(build(*args), np.random.default_rng(0))


def by_hand(net, x):
    hidden = np.tanh(x @ net.layers[0].weight.T + net.layers[0].bias)
    return hidden @ net.layers[1].weight.T + net.layers[1].bias


@pytest.mark.parametrize("n", [0, 1, 255, 256, 257, 1100, 3000])
def test_any_number_of_rows(n):
    net = drawn(MLP, 4, 3, (8,), "tanh")
    x = np.random.default_rng(1).normal(size=(n, 4)).astype(np.float32)
    result = predict(net, x)
    assert result.shape == (n, 3)
    np.testing.assert_allclose(result, by_hand(net, x), atol=1e-5)


def test_small_chunks_give_the_same():
    net = drawn(MLP, 4, 3, (8,))
    x = np.random.default_rng(1).normal(size=(1000, 4)).astype(np.float32)
    np.testing.assert_allclose(predict(net, x, chunk=7), predict(net, x), rtol=1e-5, atol=1e-6)


def encode(model, row):
    return model.encoder(row)


def test_a_part_of_the_model_can_be_applied():
    net = drawn(Coder, 6, 2)
    x = np.random.default_rng(1).normal(size=(10, 6)).astype(np.float32)
    np.testing.assert_array_equal(predict(net, x, apply=encode), predict(net.encoder, x))


@pytest.mark.parametrize(
    ("n", "chunk", "size"),
    [(1, 65536, 256), (1023, 65536, 256), (1024, 65536, 1024), (70000, 65536, 65536),
     (10**7, 65536, 65536), (10**7, 1000, 1000)],
)  # fmt: skip
def test_block_sizes(n, chunk, size):
    assert block_size(n, chunk) == size


def test_one_program_per_structure_and_block(caplog):
    with jax.log_compiles(True), caplog.at_level(logging.WARNING, logger="jax"):
        for seed, n in enumerate((2, 100, 700, 1000)):
            net = initialise(MLP(5, 3, (7,)), np.random.default_rng(seed))
            predict(net, np.ones((n, 5)))
    assert sum(r.msg.startswith("Compiling") for r in caplog.records) == 1


def test_memory_does_not_grow_with_a_copy_of_the_table():
    net = drawn(MLP, 50, 1, (8,))
    x = np.zeros((400_000, 50))  # 160 MB of float64; a float32 copy of it would take 80 MB
    predict(net, x[:70000])
    tracemalloc.start()
    predict(net, x)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 60e6  # three blocks of 13 MB may be on their way at a time


def test_errors():
    net = drawn(MLP, 4, 3)
    with pytest.raises(DataError, match="one row per item"):
        predict(net, 3.0)
    with pytest.raises(StudyError, match="`chunk`"):
        predict(net, np.ones((3, 4)), chunk=0)
