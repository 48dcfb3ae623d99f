"""A06: rows of the fit or calibration part that turn up in the test."""

import dataclasses

import numpy as np
import pytest

from assay.anomaly.checks import TrainingRowsInTest
from assay.anomaly.row_norm import RowNorm
from assay.shared_rows import shared_exactly

CHECK = TrainingRowsInTest()


def parts(rng, coarse=None):
    found = [rng.normal(size=(n, 4)) for n in (600, 200, 300)]
    return found if coarse is None else [np.round(X / coarse) * coarse for X in found]


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("jitter", [0.0, 1e-7, 1e-3])
@pytest.mark.parametrize("source", ["fit", "calibration"])
def test_fires_on_copied_rows(anomaly_view, seed, jitter, source):
    rng = np.random.default_rng(seed)
    fit, held, test = parts(rng)
    copied = (fit if source == "fit" else held)[:30]
    test[50:80] = copied + jitter * rng.normal(size=copied.shape)
    found = CHECK(anomaly_view(fit, held, test, candidate=[RowNorm()]))
    assert found.outcome == "fail"
    assert found.severity == "fail"
    assert found.measured == pytest.approx(0.1, abs=0.002)
    assert "row 1 of the rows seen before and row 51 of the test" in found.sentence


def test_silent_on_rows_that_were_drawn_independently(anomaly_view):
    for seed in range(20):
        fit, held, test = parts(np.random.default_rng(seed))
        assert CHECK(anomaly_view(fit, held, test, candidate=[RowNorm()])).outcome == "pass"


@pytest.mark.parametrize("coarse", [0.25, 0.5, 1.0, 2.0])
def test_silent_where_readings_repeat_by_themselves(anomaly_view, coarse):
    """From one row in twenty to nearly all rows have an equal one in another part."""
    outcomes = []
    for seed in range(5):
        fit, held, test = parts(np.random.default_rng(seed), coarse)
        outcomes.append(CHECK(anomaly_view(fit, held, test, candidate=[RowNorm()])).outcome)
    assert set(outcomes) == {"pass"}


def test_silent_on_a_machine_at_rest(anomaly_view):
    """One row that fills half of the test part is one shared row."""
    rng = np.random.default_rng(0)
    fit, held, test = parts(rng)
    fit[:2] = 0.0
    test[100:250] = 0.0
    found = CHECK(anomaly_view(fit, held, test, candidate=[RowNorm()]))
    assert found.outcome == "pass"
    assert found.measured < 0.01


def test_a_few_copies_are_a_warning(anomaly_view):
    rng = np.random.default_rng(0)
    fit, held, test = parts(rng)
    test = np.vstack([test, rng.normal(size=(700, 4))])
    test[:9] = fit[:9]
    assert CHECK(anomaly_view(fit, held, test, candidate=[RowNorm()])).outcome != "fail"


def test_threshold_is_exact(anomaly_view):
    rng = np.random.default_rng(0)
    fit, held, test = parts(rng)
    test[:30] = fit[:30]
    view = anomaly_view(fit, held, test, candidate=[RowNorm()])
    found = shared_exactly((fit, held), test)
    excess = found.share - found.chance
    assert dataclasses.replace(CHECK, max_share=excess)(view).outcome == "fail"
    assert dataclasses.replace(CHECK, max_share=excess * (1 + 1e-9))(view).outcome == "warn"
