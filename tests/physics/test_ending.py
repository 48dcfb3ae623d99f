"""What is said of how a training ended: whether more steps would have helped, and it is so."""

import numpy as np
import pytest

from assay.physics import PINN
from assay.physics.ending import ending
from assay.physics.gallery import oscillator
from assay.physics.solution import relative_l2
from assay.train.descent import Stop

TIMES = np.linspace(0.0, 2.0, 401)[:, None]


@pytest.mark.parametrize(
    ("loss", "said"),
    [
        (0.97 ** np.arange(100.0), "still falling: to 54 % over the last fifth"),
        (1e-12 * np.ones(100), "had become flat: 100 % was left"),
        (0.999 ** np.arange(100.0), "had become flat: 98 % was left"),
        (np.r_[np.linspace(1, 2, 50), np.linspace(2, 3, 50)], "had become flat: 100 % was left"),
    ],
)
@pytest.mark.parametrize("stop", [Stop.BUDGET, Stop.SECONDS])
def test_figures_of_the_loss(loss, said, stop):
    told = ending(stop, {"loss": loss}, 99)
    assert said in told
    assert told.startswith("All 99 steps" if stop is Stop.BUDGET else "The time was used up")
    assert ("steps=" in told or "seconds=" in told) is ("still" in said)


@pytest.mark.parametrize("stop", [s for s in Stop if s not in (Stop.BUDGET, Stop.SECONDS)])
def test_other_ends_are_as_the_method_says(stop):
    assert ending(stop, {"loss": 0.9 ** np.arange(100.0)}, 99) == stop.sentence


def test_few_steps_say_nothing_of_the_fall():
    assert ending(Stop.BUDGET, {"loss": np.ones(5)}, 4) == Stop.BUDGET.sentence


@pytest.mark.parametrize("seed", range(3))
def test_twice_the_steps_lower_the_error_where_it_says_so(seed):
    errors = []
    for steps in (60, 120):
        net = PINN(hidden=(16, 16), points=60, steps=steps, random_state=seed).fit(oscillator())
        assert "still falling" in net.status_
        errors.append(relative_l2(net.predict(TIMES), oscillator().exact_at(TIMES)))
    assert errors[1] < 0.5 * errors[0]


def test_twice_the_steps_change_little_where_it_says_so():
    """One unit cannot follow the swing: Adam settles at the best that it can."""
    errors = []
    for steps in (8000, 16000):
        settings = {"optimiser": "adam", "learning_rate": 1e-2, "steps": steps}
        net = PINN(hidden=(1,), points=60, **settings).fit(oscillator())
        assert "had become flat" in net.status_
        errors.append(relative_l2(net.predict(TIMES), oscillator().exact_at(TIMES)))
    assert errors[1] > 0.9 * errors[0]
