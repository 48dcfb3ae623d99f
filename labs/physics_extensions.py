"""Lab 4's further questions: conditions by construction, and eight periods."""

import functools as ft

import numpy as np
from physics_forward import LONG, natural_units
from physics_shared import STARTS, built_in, middle, natural, network, starts, together

from assay.nn.features import Fourier

PERIODS = 8
HARMONICS = (1, 2, 4)  # of the natural frequency


def measure() -> dict[str, dict[str, float]]:
    """Return what is measured for each fact of these parts."""
    together([construction, natural_units, waves])
    return {**constructed(), **many_periods()}


@ft.cache
def construction():
    """Train in seconds, with the conditions built in."""
    return starts(built_in(), LONG, conditions="hard")


@ft.cache
def waves():
    """Train over eight periods: without and with sines and cosines of the time as inputs."""
    swing = natural(PERIODS)
    # Assay counts half periods over the whole interval.
    features = Fourier(tuple(2 * PERIODS * k for k in HARMONICS))
    return starts(swing, LONG), starts(swing, LONG, features=features)


def constructed():
    """Build the conditions in, in seconds."""
    runs = construction()
    error = middle(runs, lambda r: r.errors[-1])
    ends = np.array([r.net.derivatives([[0.0]], "u", "u_t")[0] for r in runs])
    untrained = [network(1, start=s, conditions="hard").fit(built_in()) for s in STARTS]
    begins = np.array([net.derivatives([[0.0]], "u", "u_t")[0] for net in untrained])
    off = lambda rows: float(np.abs(rows - [1.0, 0.0]).max())
    return {
        "004-lab4-try1": {"error": error},
        "004-s9-hard": {"error": error},
        "004-s9-hard-ic": {"untrained": off(begins), "trained": off(ends)},
        "004-lab4-try1-order": {
            "over units": error / middle(natural_units(), lambda r: r.best),
            "largest": min(r.largest[-1] for r in runs),
        },
    }


def many_periods():
    """Compare the two networks over eight periods."""
    without, with_waves = (middle(runs, lambda r: r.errors[-1]) for runs in waves())
    return {"004-lab4-try2": {"ratio": with_waves / without}}
