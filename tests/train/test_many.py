"""Several networks at a time are the networks one after the other."""

import dataclasses
import os
import signal
import threading

import equinox as eqx
import jax
import numpy as np
import pytest

from assay.errors import StudyError
from assay.train import FitStatus, Hyper, fit, fit_many, trace_count

from .common import CODER, line_rows, rows
from .killed_fit import everything, several


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


# --- checkpoints: one file a network (tests/train/test_checkpoint.py kills the process) ----------


def test_ctrl_c_leaves_checkpoints_that_go_on(tmp_path):
    told = []

    def pressed(step, steps, loss):
        told.append(step)
        if len(told) == 3:
            os.kill(os.getpid(), signal.SIGINT)  # as from the keyboard: to the main thread
            threading.Event().wait(0.3)

    broken = several(tmp_path / "kept", pressed)
    assert {one.status for one in broken} == {FitStatus.INTERRUPTED}
    assert sorted(path.name for path in (tmp_path / "kept").iterdir()) == ["0", "1", "2"]
    told.clear()
    resumed = several(tmp_path / "kept", lambda *a: told.append(a[0]))
    assert len(told) <= 19 - 3, "it started again instead of going on"
    unbroken = everything(several(None))
    for name, array in everything(resumed).items():
        np.testing.assert_array_equal(array, unbroken[name], err_msg=name)


def test_networks_that_had_ended_are_read_back_and_more_may_join(tmp_path):
    spec = dataclasses.replace(CODER, batch=8)  # of this test alone
    settings = {"x": rows(), "checkpoint": tmp_path / "kept", "workers": 3}
    first = fit_many(spec, Hyper(steps=30), seeds=(0, 1), **settings)
    told = []
    more = fit_many(
        spec, Hyper(steps=30), seeds=(0, 1, 2, 3), progress=lambda *a: told.append(a), **settings
    )
    assert len(told) == 2  # a chunk each of the two new ones
    assert all(eqx.tree_equal(a.model, b.model) for a, b in zip(first, more[:2], strict=True))


def test_one_compilation_where_the_first_networks_had_ended(tmp_path):
    spec = dataclasses.replace(CODER, batch=6)  # of this test alone
    settings = {"x": rows(), "checkpoint": tmp_path / "kept", "workers": 4}
    fit_many(spec, Hyper(steps=30), seeds=(0,), **settings)
    jax.clear_caches()  # as in a later process
    before = trace_count()
    fit_many(spec, Hyper(steps=30), seeds=range(5), **settings)
    assert trace_count() == before + 1


@pytest.mark.parametrize(
    ("change", "named"),
    [({"hypers": Hyper(steps=21)}, r"hyper\.steps"), ({"x": rows(seed=9)}, "x"),
     ({"seeds": (1, 0)}, "seed")],
)  # fmt: skip
def test_the_checkpoints_of_other_networks_are_refused_and_kept(tmp_path, change, named):
    arguments = {"hypers": Hyper(steps=20), "x": rows(), "seeds": (0, 1), "chunk": 10}
    fit_many(CODER, **arguments, checkpoint=tmp_path)
    before = [(tmp_path / name).read_bytes() for name in "01"]
    with pytest.raises(StudyError, match=f"belongs to another fit: {named} differ"):
        fit_many(CODER, **(arguments | change), checkpoint=tmp_path)
    assert [(tmp_path / name).read_bytes() for name in "01"] == before


def test_a_file_is_no_folder_of_checkpoints(tmp_path):
    fit(CODER, Hyper(steps=10), rows(), seed=0, checkpoint=tmp_path / "kept")
    with pytest.raises(StudyError, match="must be a folder"):
        fit_many(CODER, Hyper(steps=10), rows(), seeds=(0, 1), checkpoint=tmp_path / "kept")
