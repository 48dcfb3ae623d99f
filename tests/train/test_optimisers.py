"""The compiled loop against the update rules written out in NumPy, step by step."""

import dataclasses

import numpy as np
import pytest

from assay.train import Hyper, fit
from assay.train.batches import Batches

from .common import LINE, line_rows

RATE, DECAY, STEPS = 0.05, 0.3, 23  # 23 steps of 7 an epoch: short batches are among them


def by_hand(start, x, y, *, optimiser, cosine, batch, seed):
    """Train an affine map with textbook formulae in float64 (Kingma and Ba 2015, algorithm 1)."""
    layer = start.layers[0]
    theta = np.concatenate([layer.weight[0], layer.bias]).astype(float)
    design = np.column_stack([x, np.ones(len(x))]).astype(float)
    m, v = np.zeros(4), np.zeros(4)
    batches = Batches(len(x), batch, seed) if len(x) > batch else None
    for t in range(STEPS):
        rows = np.arange(len(x))
        if batches is not None:
            index, count = batches.rows(t, 1)
            rows = index[0, : count[0]]
        residual = design[rows] @ theta - y[rows, 0]
        gradient = 2.0 * design[rows].T @ residual / len(rows)
        rate = RATE * (0.5 + 0.5 * np.cos(np.pi * t / STEPS)) if cosine else RATE
        if optimiser != "adamw":
            gradient = gradient + DECAY * theta
        if optimiser == "sgd":
            update = gradient
        elif optimiser == "momentum":
            m = 0.9 * m + gradient
            update = m
        else:
            m = 0.9 * m + 0.1 * gradient
            v = 0.999 * v + 0.001 * gradient**2
            update = (m / (1 - 0.9 ** (t + 1))) / (np.sqrt(v / (1 - 0.999 ** (t + 1))) + 1e-8)
        if optimiser == "adamw":
            update = update + DECAY * theta
        theta = theta - rate * update
    return theta


@pytest.mark.parametrize("optimiser", ["adam", "adamw", "sgd", "momentum"])
@pytest.mark.parametrize("schedule", ["constant", "cosine"])
def test_every_rule_is_the_textbook_rule(optimiser, schedule):
    x, y = line_rows()
    spec = dataclasses.replace(LINE, optimiser=optimiser, schedule=schedule)
    done = fit(spec, Hyper(STEPS, RATE, DECAY), x, y, seed=3)
    expected = by_hand(
        done.initial_model, x, y,
        optimiser=optimiser, cosine=schedule == "cosine", batch=16, seed=3,
    )  # fmt: skip
    layer = done.model.layers[0]
    np.testing.assert_allclose([*layer.weight[0], *layer.bias], expected, rtol=2e-4, atol=2e-5)


@pytest.mark.parametrize("n", [5, 16])
def test_rows_that_fit_into_one_batch_are_used_whole(n):
    x, y = line_rows(n)
    done = fit(LINE, Hyper(STEPS, RATE, DECAY), x, y, seed=0)
    expected = by_hand(done.initial_model, x, y, optimiser="adam", cosine=False, batch=16, seed=0)
    layer = done.model.layers[0]
    np.testing.assert_allclose([*layer.weight[0], *layer.bias], expected, rtol=2e-4, atol=2e-5)


def test_least_squares_is_reached():
    x, y = line_rows(200)
    spec = dataclasses.replace(LINE, batch=200)
    done = fit(spec, Hyper(3000, 0.02), x, y, seed=0)
    exact, *_ = np.linalg.lstsq(np.column_stack([x, np.ones(len(x))]), y[:, 0], rcond=None)
    layer = done.model.layers[0]
    np.testing.assert_allclose([*layer.weight[0], *layer.bias], exact, atol=1e-4)
