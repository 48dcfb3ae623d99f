"""Several networks at a time are the networks one after the other."""

import dataclasses

import equinox as eqx
import jax
import numpy as np
import pytest

from assay.errors import StudyError
from assay.train import FitStatus, Hyper, fit, fit_many, trace_count

from .common import CODER, line_rows, rows


@pytest.mark.parametrize("workers", [1, 3])
def test_equal_to_the_bit_to_single_fits(workers):
    hypers = [Hyper(steps=130), Hyper(steps=70, learning_rate=1e-2), Hyper(steps=130)]
    fits = fit_many(CODER, hypers, rows(), seeds=(5, 6, 7), workers=workers)
    for one, hyper, seed in zip(fits, hypers, (5, 6, 7), strict=True):
        alone = fit(CODER, hyper, rows(), seed=seed)
        assert eqx.tree_equal(one.model, alone.model)
        assert one.steps == hyper.steps


def test_threads_share_one_compilation():
    spec = dataclasses.replace(CODER, batch=9)
    before = trace_count()
    fits = fit_many(spec, Hyper(steps=30), rows(), seeds=range(4), workers=4)
    assert trace_count() == before + 1
    assert len(fits) == 4


def test_one_for_all():
    hypers = [Hyper(steps=10, learning_rate=rate) for rate in (1e-3, 1e-2)]
    fits = fit_many(CODER, hypers, rows(), seeds=3)
    assert eqx.tree_equal(fits[0].initial_model, fits[1].initial_model)


def test_progress_counts_over_all():
    told = []
    fit_many(CODER, Hyper(steps=150), rows(), seeds=(0, 1), progress=lambda *a: told.append(a[:2]))
    assert told[-1] == (300, 300)
    assert [done for done, _ in told] == sorted(done for done, _ in told)


def test_ctrl_c_ends_all(monkeypatch):
    class Pressed:
        calls = 0

        def __call__(self, step, steps, loss):
            self.calls += 1
            if self.calls == 3:
                raise KeyboardInterrupt

    fits = fit_many(CODER, Hyper(steps=100_000), rows(), seeds=(0,), progress=Pressed(), workers=1)
    assert [one.status for one in fits] == [FitStatus.INTERRUPTED]


def test_the_callers_float64_holds_in_the_threads():
    with jax.enable_x64(True):
        fits = fit_many(CODER, Hyper(steps=10), rows(), seeds=(0, 1), workers=2)
    assert all(one.model.encoder.layers[0].weight.dtype == np.float64 for one in fits)


def test_errors_come_through():
    x, y = line_rows()
    with pytest.raises(StudyError, match="equally many"):
        fit_many(CODER, [Hyper(steps=1)] * 2, x, seeds=(0, 1, 2))
    with pytest.raises(StudyError, match="equally many"):
        fit_many(CODER, [], x, seeds=())
    with pytest.raises(StudyError, match="expected 100, got 99"):
        fit_many(CODER, Hyper(steps=1), x, y[:-1], seeds=(0, 1))
