"""P11: a training that broke down, or was cut short."""

import numpy as np
import pytest

from assay.physics.checks import TrainingNotFinished
from assay.physics.gallery import oscillator
from assay.train.descent import Stop

CHECK = TrainingNotFinished()


def judged(physics_view, Given, stop, loss, *, off=0.1, others=0):
    """Return the finding on a run that stopped so, beside others that converged."""
    run = Given(scales_=None, stop_=stop, history_={"loss": np.asarray(loss)})
    fine = Given(scales_=None, stop_=Stop.STALLED, history_={"loss": np.ones(100)})
    nets = [run, *[fine] * others]
    fields = [oscillator().exact_at(np.linspace(0, 2, 401)[:, None]) * (1 + off)] * len(nets)
    return CHECK(physics_view(oscillator(), nets, fields=fields))


STEPS = np.arange(1, 1001)


@pytest.mark.parametrize("seed", range(3))
def test_warns_on_a_training_that_was_cut_short(physics_view, swings, seed):
    """After 400 steps of Adam an oscillator is far from done."""
    found = CHECK(physics_view(oscillator(), swings("weighted")[seed : seed + 1]))
    assert found.outcome == "warn"
    assert found.measured < 0.9


@pytest.mark.parametrize("rate", [0.002, 0.01, 0.1])
@pytest.mark.parametrize("stop", [Stop.BUDGET, Stop.SECONDS])
def test_warns_on_a_loss_that_still_falls(physics_view, Given, stop, rate):
    found = judged(physics_view, Given, stop, np.exp(-rate * STEPS), others=2)
    assert found.outcome == "warn"
    assert "1 of 3 runs" in found.sentence
    assert found.measured == pytest.approx(np.exp(-rate * 200), rel=1e-6)


@pytest.mark.parametrize("others", range(3))
def test_fails_on_a_breakdown(physics_view, Given, others):
    found = judged(physics_view, Given, Stop.NONFINITE, 1.0 / STEPS, off=1e-5, others=others)
    assert found.outcome == "fail"
    assert (found.measured, found.unit) == (1, "runs")


@pytest.mark.parametrize("seed", range(3))
def test_silent_on_a_noisy_loss_that_has_settled(physics_view, Given, seed):
    """Adam always uses its steps: that alone says nothing."""
    loss = 1e-3 * np.random.default_rng(seed).lognormal(sigma=0.3, size=1000)
    assert judged(physics_view, Given, Stop.BUDGET, loss).outcome == "pass"


@pytest.mark.parametrize("stop", [Stop.STEP, Stop.FLOOR, Stop.STUCK, Stop.GRADIENT])
def test_silent_where_more_steps_would_not_help(physics_view, Given, stop):
    assert judged(physics_view, Given, stop, np.exp(-0.01 * STEPS)).outcome == "pass"


@pytest.mark.parametrize("off", [0.0, 1e-6, 9e-4])
def test_silent_where_it_is_good_enough(physics_view, Given, off):
    found = judged(physics_view, Given, Stop.BUDGET, np.exp(-0.01 * STEPS), off=off)
    assert found.outcome == "pass"


@pytest.mark.parametrize("recipe", ["raw", "good"])
def test_silent_on_runs_that_are_done(physics_view, swings, recipe):
    """Done is not right: the collapsed runs are, too."""
    assert CHECK(physics_view(oscillator(), swings(recipe))).outcome == "pass"


@pytest.mark.parametrize("n", [1, 2, 5])
def test_short_histories_do_not_crash(physics_view, Given, n):
    assert judged(physics_view, Given, Stop.BUDGET, np.ones(n)).outcome == "pass"
