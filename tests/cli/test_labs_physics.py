"""The labs on physics-informed networks: the loss is the chapter's, and the cheap rows hold."""

import importlib

import numpy as np
import pytest

from assay.cli import labs


@pytest.fixture(scope="module")
def run():
    return labs.labs_module()


def lab(name):
    labs.labs_module()  # puts the folder on the path
    return importlib.import_module(name)


@pytest.mark.parametrize(
    ("script", "part"), [("physics_forward", "known"), ("physics_section9", "the_equation")]
)
def test_what_needs_no_training_holds(run, script, part):
    facts = {fact.id: fact for fact in run.read_facts()}
    measured = getattr(lab(script), part)()
    assert measured
    assert not [i for i, numbers in measured.items() if not run.judge(facts[i], numbers).held]


def test_the_trained_loss_is_the_chapters():
    """Residual and conditions in seconds, from a network written out in NumPy."""
    shared = lab("physics_shared")
    problem = shared.oscillator()
    net = shared.network(1, condition=100.0, precision="float64").fit(problem)
    layers = [
        (np.asarray(layer.weight), np.asarray(layer.bias))
        for layer in net.pieces_[0].params["net"].body.layers
    ]

    def with_slopes(t):
        """Return u, u_t, u_tt by the chain rule."""
        x = np.array([t / shared.END, 1.0 / shared.END, 0.0])[:, None]
        for i, (weight, bias) in enumerate(layers):
            a, a1, a2 = x @ weight.T + np.array([[1.0], [0.0], [0.0]]) * bias
            if i == len(layers) - 1:
                return a[0], a1[0], a2[0]
            h = np.tanh(a)
            x = np.stack([h, (1 - h**2) * a1, (1 - h**2) * (a2 - 2.0 * h * a1**2)])
        return None

    u, u_t, u_tt = np.array([with_slopes(t) for t in np.linspace(0.0, shared.END, 200)]).T
    residual = u_tt + 2.0 * shared.ZETA * shared.W0 * u_t + shared.W0**2 * u
    condition = (u[0] - 1.0) ** 2 + u_t[0] ** 2
    assert net.history_["residual"][0] == pytest.approx(np.mean(residual**2), rel=1e-9)
    assert net.history_["condition"][0] == pytest.approx(100.0 * condition, rel=1e-9)


def test_natural_units_are_the_same_problem():
    shared = lab("physics_shared")
    t = np.linspace(0.0, shared.END, 50)[:, None]
    seconds, units = shared.oscillator(), shared.natural()
    assert units.exact_at(shared.W0 * t) == pytest.approx(seconds.exact_at(t), abs=1e-12)


def test_the_readings_are_the_chapters():
    zeta, error = lab("physics_inverse").fitted(1)
    assert (round(zeta, 4), round(error, 4)) == (0.0977, 0.0015)


def test_a_step_without_a_look_is_refused():
    shared = lab("physics_shared")
    flat = np.zeros(2)
    looked = shared.Run(None, 0.0, np.array([0, 100]), flat, flat, flat, flat)
    assert looked.look(60) == 1
    with pytest.raises(ValueError, match="No look near step 400"):
        looked.look(400)
