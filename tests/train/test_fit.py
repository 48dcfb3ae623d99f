"""How a fit ends, and what it returns."""

import dataclasses
import math

import equinox as eqx
import jax
import numpy as np
import pytest

from assay.errors import StudyError
from assay.nn import MLP
from assay.train import FitSpec, FitStatus, Hyper, fit, predict
from assay.train.losses import squared_error
from assay.train.state import has_flattened

from .common import CODER, LINE, line_rows, noisy_error, root_error, rows


def test_equal_seeds_give_equal_bits_and_others_do_not():
    fits = [fit(CODER, Hyper(steps=50), rows(), seed=seed) for seed in (0, 0, 1)]
    assert eqx.tree_equal(fits[0].model, fits[1].model)
    assert not eqx.tree_equal(fits[0].model, fits[2].model)


def test_nothing_depends_on_chunks():
    spec = dataclasses.replace(CODER, loss=noisy_error, needs_key=True)
    hyper = Hyper(steps=50, extra={"noise": 0.2})
    a, b = (fit(spec, hyper, rows(), seed=0, chunk=chunk) for chunk in (50, 7))
    for one, other in zip(jax.tree.leaves(a.model), jax.tree.leaves(b.model), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)
    assert b.history.steps[-1] == 50


def test_noise_level_reaches_the_loss():
    spec = dataclasses.replace(CODER, loss=noisy_error, needs_key=True)
    quiet = fit(spec, Hyper(steps=400, extra={"noise": 0.0}), rows(), seed=0)
    plain = fit(CODER, Hyper(steps=400), rows(), seed=0)
    loud = fit(spec, Hyper(steps=400, extra={"noise": 3.0}), rows(), seed=0)
    np.testing.assert_allclose(quiet.history.train, plain.history.train, rtol=1e-4)
    assert loud.history.train[-1] > 1.5 * plain.history.train[-1]


def test_history_is_the_mean_loss_of_each_chunk():
    x, y = line_rows(16)  # one batch: the loss of the first step is that of the initial network
    done = fit(LINE, Hyper(steps=3, learning_rate=1e-8), x, y, seed=0, chunk=2)
    first = np.mean((predict(done.initial_model, x) - y) ** 2)
    np.testing.assert_allclose(done.history.train, [first, first], rtol=1e-4)
    np.testing.assert_array_equal(done.history.steps, [2, 3])
    assert np.isnan(done.history.validation).all()


def test_budget_and_converged():
    x, y = line_rows(200)
    spec = dataclasses.replace(LINE, batch=200)
    assert fit(spec, Hyper(60, 1e-3), x, y, seed=0).status is FitStatus.BUDGET
    assert fit(spec, Hyper(2000, 0.02), x, y, seed=0).status is FitStatus.CONVERGED


@pytest.mark.parametrize(
    ("first", "fall", "flat"),
    [(2.0, 0.009, True), (2.0, 0.011, False), (1.1, 0.004, True), (1.1, 0.006, False)],
)
def test_the_rule_of_convergence_at_its_thresholds(first, fall, flat):
    losses = np.ones(1000)
    losses[:100] = first
    losses[-100:] = 1.0 - fall
    assert has_flattened(losses, per_epoch=10) is flat


def test_a_loss_that_rises_again_has_flattened():
    losses = np.concatenate([np.full(100, 2.0), np.ones(800), np.full(100, 1.5)])
    assert has_flattened(losses, per_epoch=10)


def test_convergence_needs_two_windows():
    losses = np.geomspace(1.0, 1e-9, 20)
    losses[10:] = 1e-3
    assert has_flattened(losses, per_epoch=5)
    assert not has_flattened(losses, per_epoch=11)


def test_early_stopping_returns_the_minimum():
    x, y = line_rows(20)
    far_x, far_y = line_rows(50, seed=1)
    spec = FitSpec(build=MLP, build_args=(3, 1, (64,)), loss=squared_error, batch=8)
    done = fit(
        spec, Hyper(5000, 0.01), x, y, seed=0, validation=(far_x, far_y), patience=5, chunk=20
    )
    assert done.status is FitStatus.STOPPED_EARLY
    validation = done.history.validation
    best = int(np.argmin(validation))
    assert done.best_step == done.history.steps[best]
    assert len(validation) == best + 1 + 5
    loss = np.mean((predict(done.model, far_x) - far_y) ** 2, dtype=float)
    assert loss == pytest.approx(validation[best], rel=1e-5)


def test_large_validation_parts_are_looked_at_less_often():
    x = rows(64)
    done = fit(CODER, Hyper(steps=40), x, seed=0, validation=(rows(330), None), chunk=10)
    # 330 rows against 160 of a chunk: every third chunk, and the last.
    np.testing.assert_array_equal(np.isfinite(done.history.validation), [False, False, True, True])


def test_validation_in_several_blocks_is_the_mean_over_all(monkeypatch):
    monkeypatch.setattr("assay.train.job.VALIDATION_BLOCK", 256)
    x, far = rows(2000), rows(601, seed=1)
    done = fit(CODER, Hyper(steps=10), x, seed=0, validation=(far, None))
    expected = np.mean((predict(done.model, far) - far) ** 2, dtype=float)
    assert done.history.validation[-1] == pytest.approx(expected, rel=1e-5)


def test_a_loss_that_is_not_a_number_ends_the_fit_with_sound_weights():
    spec = FitSpec(build=MLP, build_args=(1, 1, ()), loss=root_error, batch=8, optimiser="sgd")
    x = np.full((8, 1), 0.001, np.float32)
    seed = next(  # one whose output starts positive: minimising it leads below zero
        s for s in range(20)
        if predict(fit(spec, Hyper(1, 1e-6), x, seed=s).initial_model, x)[0, 0] > 0.3
    )  # fmt: skip
    done = fit(spec, Hyper(5000, 0.01), x, seed=seed, chunk=10)
    assert done.status is FitStatus.NONFINITE
    assert done.steps < 5000
    assert "smaller learning rate" in done.status.sentence
    assert np.isfinite(predict(done.model, x)).all()
    assert done.best_step > 0
    assert predict(done.model, x)[0, 0] < predict(done.initial_model, x)[0, 0]


def test_divergence_at_once_returns_the_initial_weights():
    x, y = line_rows()
    spec = dataclasses.replace(LINE, optimiser="sgd")
    done = fit(spec, Hyper(300, 1e6), x, y, seed=0)
    assert done.status is FitStatus.NONFINITE
    assert eqx.tree_equal(done.model, done.initial_model)


def test_breaking_down_with_validation_keeps_the_best_validated():
    spec = FitSpec(build=MLP, build_args=(1, 1, ()), loss=root_error, batch=8, optimiser="sgd")
    x = np.full((8, 1), 0.001, np.float32)
    seed = next(
        s for s in range(20)
        if predict(fit(spec, Hyper(1, 1e-6), x, seed=s).initial_model, x)[0, 0] > 0.3
    )  # fmt: skip
    done = fit(spec, Hyper(5000, 0.01), x, seed=seed, chunk=10, validation=(x, None))
    assert done.status is FitStatus.NONFINITE
    finite = np.nanmin(done.history.validation)
    assert np.sqrt(predict(done.model, x)[0, 0]) == pytest.approx(finite, rel=1e-4)


def test_ctrl_c_ends_the_fit_cleanly():
    def progress(step, steps, loss):
        assert steps == 1000
        assert math.isfinite(loss)
        if step == 200:
            raise KeyboardInterrupt

    done = fit(CODER, Hyper(steps=1000), rows(), seed=0, progress=progress)
    assert done.status is FitStatus.INTERRUPTED
    assert done.steps == 200
    reference = fit(CODER, Hyper(steps=200), rows(), seed=0)
    assert eqx.tree_equal(done.model, reference.model)
    with pytest.raises(KeyboardInterrupt):
        done.unless_interrupted()
    assert reference.unless_interrupted() is reference


def test_every_status_has_a_sentence():
    assert all(status.sentence.endswith(".") for status in FitStatus)


def test_times_add_up():
    done = fit(dataclasses.replace(CODER, batch=11), Hyper(steps=100), rows(), seed=0)
    assert 0.0 < done.compile_seconds < done.seconds < 120.0


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"x": np.empty((0, 6), np.float32)}, "at least one row"),
        ({"y": rows(99)}, "expected 100, got 99"),
        ({"seed": -1}, "`seed` must be"),
        ({"chunk": 0}, "`chunk` must be"),
        ({"patience": 3}, "needs `validation`"),
        ({"validation": (rows(), rows())}, "both have `y`, or neither"),
    ],
)
def test_what_does_not_fit_together_is_refused(change, match):
    arguments = {"x": rows(), "y": None, "seed": 0} | change
    with pytest.raises(StudyError, match=match):
        fit(CODER, Hyper(steps=10), **arguments)


def test_outputs_never_broadcast_against_targets():
    x, y = line_rows()
    with pytest.raises(StudyError, match=r"returns rows of shape \(1,\), the target has \(\)"):
        fit(LINE, Hyper(steps=10), x, y[:, 0], seed=0)
