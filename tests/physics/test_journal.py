"""A training that was cut off goes on as if it had not been."""

import numpy as np
import pytest

from assay.errors import StudyError
from assay.physics import PINN, journal
from assay.physics.gallery import oscillator

TIMES = np.linspace(0.0, 2.0, 11)[:, None]
SMALL = {"hidden": (10,), "points": 40}


def cut(settings, folder, chunks, error=RuntimeError):
    """Train until so many chunks are done, and fail."""
    left = [chunks]

    def watch(step, predict):
        left[0] -= 1
        if not left[0]:
            raise error

    with pytest.raises(error):
        PINN(**SMALL, **settings).fit(oscillator(), checkpoint=folder, watch=watch)


@pytest.mark.parametrize(
    "settings",
    [
        {"steps": 60, "resample": 20},
        {"optimiser": "adam", "steps": 500, "precision": "float32"},
        {"optimiser": "lbfgs", "steps": 150},
        {"optimiser": ("adam", "gauss_newton"), "steps": (200, 40)},
        {"steps": 30, "windows": 2},
    ],
    ids=["new points", "adam", "lbfgs", "two optimisers", "windows"],
)
def test_a_training_that_failed_goes_on_bit_for_bit(settings, tmp_path, monkeypatch):
    monkeypatch.setattr(journal, "SECONDS", 0.0)
    straight = PINN(**SMALL, **settings).fit(oscillator())
    cut(settings, tmp_path / "net", 3)
    assert (tmp_path / "net.training").is_file()
    again = PINN(**SMALL, **settings).fit(oscillator(), checkpoint=tmp_path / "net")
    assert np.array_equal(again.predict(TIMES), straight.predict(TIMES))
    assert np.array_equal(again.history_["loss"], straight.history_["loss"])
    assert np.array_equal(again.history_["step"], straight.history_["step"])
    assert again.stop_ is straight.stop_
    assert (np.diff(again.history_["seconds"]) >= 0).all()


def test_ctrl_c_keeps_the_last_chunk(tmp_path):
    settings = {"steps": 60, "resample": None}
    cut(settings, tmp_path / "net", 3, KeyboardInterrupt)
    seen = []
    again = PINN(**SMALL, **settings).fit(
        oscillator(), checkpoint=tmp_path / "net", watch=lambda step, predict: seen.append(step)
    )
    straight = PINN(**SMALL, **settings).fit(oscillator())
    assert seen[0] > 2  # the first chunks were not done again
    assert np.array_equal(again.predict(TIMES), straight.predict(TIMES))


def test_what_is_done_is_not_done_again(tmp_path):
    settings = {"steps": 40}
    first = PINN(**SMALL, **settings).fit(oscillator(), checkpoint=tmp_path / "net")
    seen = []
    again = PINN(**SMALL, **settings).fit(
        oscillator(), checkpoint=tmp_path / "net", watch=lambda step, predict: seen.append(step)
    )
    assert not seen
    assert np.array_equal(again.predict(TIMES), first.predict(TIMES))
    assert again.fit_seconds_ >= first.history_["seconds"][-1]


@pytest.mark.parametrize(
    ("settings", "problem", "said"),
    [
        ({"steps": 41}, oscillator(), "setting steps"),
        ({"random_state": 1}, oscillator(), "setting random_state"),
        ({}, oscillator().replace(parameters={"zeta": 0.2, "w0": 2 * np.pi}), "points"),
        ({}, oscillator().replace(equation=lambda d: d.u_tt + d.zeta * d.w0 * d.u), "equation"),
    ],
)
def test_another_training_is_refused(settings, problem, said, tmp_path):
    PINN(**SMALL, steps=20).fit(oscillator(), checkpoint=tmp_path / "net")
    with pytest.raises(StudyError, match=f"another fit.*{said}"):
        PINN(**(SMALL | {"steps": 20} | settings)).fit(problem, checkpoint=tmp_path / "net")
