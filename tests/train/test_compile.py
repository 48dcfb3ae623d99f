"""Compiling is the main cost of a small network: what must not compile, and how often."""

import dataclasses
import logging

import jax
import numpy as np

from assay.train import Hyper, fit, predict, trace_count

from .common import CODER, LINE, line_rows, noisy_error, rows


def names_of_compiled(caplog):
    return [r.args[0] for r in caplog.records if r.msg.startswith("Compiling")]


def test_four_different_fits_share_one_trace():
    spec = dataclasses.replace(CODER, batch=15)  # a specification of this test alone
    before = trace_count()
    fit(spec, Hyper(steps=120, learning_rate=1e-3), rows(100), seed=0)
    fit(spec, Hyper(steps=120, learning_rate=2e-3), rows(100), seed=1)
    fit(spec, Hyper(steps=77, learning_rate=1e-2, weight_decay=0.1), rows(83), seed=2)
    fit(spec, Hyper(steps=250), rows(1000), seed=3)
    assert trace_count() == before + 1


def test_initial_weights_are_not_part_of_the_program():
    spec = dataclasses.replace(CODER, batch=10)  # of this test alone
    before = trace_count()
    first = fit(spec, Hyper(steps=5), rows(), seed=0)
    larger = fit(spec, Hyper(steps=5, init_scale=3.0), rows(), seed=0)
    other = fit(dataclasses.replace(spec, init="glorot"), Hyper(steps=5), rows(), seed=0)
    assert trace_count() == before + 1
    weights = [one.initial_model.encoder.layers[0].weight for one in (first, larger, other)]
    np.testing.assert_allclose(weights[1], 3.0 * weights[0], rtol=1e-6)
    assert not np.allclose(weights[2], weights[0])


def test_whole_batches_share_a_trace_within_a_bucket():
    spec = dataclasses.replace(LINE, batch=211)
    before = trace_count()
    for n in (125, 126, 128):
        fit(spec, Hyper(steps=30), *line_rows(n), seed=0)
    assert trace_count() == before + 1


def test_extra_and_validation_rows_are_traced():
    spec = dataclasses.replace(CODER, loss=noisy_error, needs_key=True, batch=14)
    before = trace_count()
    for noise, n in ((0.1, 30), (0.3, 200)):
        fit(
            spec, Hyper(steps=30, extra={"noise": noise}), rows(), seed=0,
            validation=(rows(n), None),
        )  # fmt: skip
    assert trace_count() == before + 2  # the steps and the validation


def test_a_fit_and_its_prediction_are_two_programs_and_nothing_else(caplog):
    spec = dataclasses.replace(CODER, build_args=(6, 5), batch=13)  # of this test alone
    x = rows()
    with jax.log_compiles(True), caplog.at_level(logging.WARNING, logger="jax"):
        done = fit(spec, Hyper(steps=150), x, seed=0)
        predict(done.model, x)
        predict(done.initial_model, rows(200))
    assert names_of_compiled(caplog) == ["jit(run_chunk)", "jit(_forward)"]


def test_a_second_fit_compiles_nothing(caplog):
    spec = dataclasses.replace(CODER, batch=12)
    first = fit(spec, Hyper(steps=50), rows(), seed=0)
    with jax.log_compiles(True), caplog.at_level(logging.WARNING, logger="jax"):
        second = fit(spec, Hyper(steps=60), rows(90), seed=1)
    assert names_of_compiled(caplog) == []
    assert first.compile_seconds > 0.0
    assert second.compile_seconds == 0.0


def test_global_configuration_is_left_alone():
    before = dict(jax.config.values)
    fit(CODER, Hyper(steps=10), rows(), seed=0)
    assert dict(jax.config.values) == before


def test_float64_where_the_caller_switches_it_on():
    x = rows().astype(float)
    with jax.enable_x64(True):
        done = fit(CODER, Hyper(steps=20), x, seed=0)
        assert predict(done.model, x).dtype == np.float64
    assert done.model.encoder.layers[0].weight.dtype == np.float64
    single = fit(CODER, Hyper(steps=20), x, seed=0)
    assert single.model.encoder.layers[0].weight.dtype == np.float32
    np.testing.assert_allclose(single.history.train, done.history.train, rtol=1e-4)
