"""Lab 4, steps 7 and 8: a damping ratio from twelve readings, by a network and by least squares."""

import functools as ft

import numpy as np
from physics_shared import END, W0, ZETA, natural, together, train
from scipy.optimize import curve_fit

from assay.physics import Initial, Measured, Problem, Unknown
from assay.physics.inverse_baseline import LeastSquaresFit
from assay.physics.known import oscillator_exact

SIGMA, READINGS, WEIGHT = 0.02, 12, 10.0
SEED = 1  # of the chapter's readings
OTHERS = (2, 3, 4, 5)
EVERY, LONG = 1000, 10_000
STEPS = tuple(range(EVERY, LONG + 1, EVERY))


def measure() -> dict[str, dict[str, float]]:
    """Return what is measured for each fact of these steps."""
    together([path, *(ft.partial(draw, seed) for seed in OTHERS)])
    return {**course(), **recovered(), **classical()}


def readings(seed):
    """Return times [s] and readings as the chapter's generator draws them.

    It is a Mersenne twister: 24 bits for a uniform number in single precision, and two numbers of
    53 bits for a pair of normal ones (Box and Muller).
    """
    twister = np.random.RandomState(seed)._bit_generator

    def bits(count, keep):
        words = [int(twister.random_raw()) for _ in range(count * (1 + (keep > 32)))]
        if keep > 32:
            words = [(high << 32) | low for high, low in zip(words[::2], words[1::2], strict=True)]
        return np.array([word & ((1 << keep) - 1) for word in words]) / 2.0**keep

    times = END * bits(READINGS, 24)
    angle, size = bits(READINGS, 53).reshape(-1, 2).T
    radius = np.sqrt(-2.0 * np.log1p(-size))
    pairs = [radius * np.cos(2.0 * np.pi * angle), radius * np.sin(2.0 * np.pi * angle)]
    return times, oscillator_exact(times) + SIGMA * np.stack(pairs, axis=1).ravel()


@ft.cache
def unknown(seed, *, seconds=False) -> Problem:
    """Return the oscillator with unknown damping and readings, in natural units or seconds."""
    times, values = readings(seed)
    damping = {"zeta": Unknown(0.01, 0.99, start=0.5)}
    if not seconds:
        read = Measured("u", {"s": W0 * times}, values, SIGMA)
        return natural().replace(parameters=damping, readings=(read,))
    return Problem(
        lambda d: d.u_tt + 2.0 * d.zeta * W0 * d.u_t + W0**2 * d.u,
        {"t": (0.0, END)},
        conditions=(Initial("u", 1.0), Initial("u_t", 0.0)),
        parameters=damping,
        readings=(Measured("u", {"t": times}, values, SIGMA),),
    )


@ft.cache
def path():
    """Train on the chapter's readings, once for each number of steps: the same path each time."""
    return {step: train(unknown(SEED), step, reading=WEIGHT) for step in STEPS}


@ft.cache
def draw(seed):
    """Train on the readings of a seed, from initial weights of the same seed."""
    return train(unknown(seed), LONG, reading=WEIGHT, start=seed)


@ft.cache
def fitted(seed):
    """Fit the closed form to the readings: the damping ratio and its standard error."""
    times, values = readings(seed)
    best, covariance = curve_fit(oscillator_exact, times, values, p0=[0.5], bounds=(0.01, 0.99))
    return float(best[0]), float(np.sqrt(covariance[0, 0]))


def damping(run) -> float:
    """Return the damping ratio that a network found."""
    return run.net.parameters_["zeta"]


def course():
    """Follow the damping ratio and the error of the solution."""
    runs = path()
    found = {
        f"004-lab4-inv-{step}": {"zeta": damping(run), "error": run.errors[-1]}
        for step, run in runs.items()
    }
    zeta = {step: damping(run) for step, run in runs.items()}
    start = unknown(SEED).unknown["zeta"].start
    return found | {
        "004-lab4-inv-0": {"zeta": start, "error": runs[EVERY].errors[0]},
        "004-lab4-inv-monotone": {
            "1000 less 2000": zeta[1000] - zeta[2000], "2000 less 3000": zeta[2000] - zeta[3000],
            "3000 less 5000": zeta[3000] - zeta[5000], "5000 less 10000": zeta[5000] - zeta[LONG],
        },
        "004-s9-log-zeta": {"smallest": min(zeta.values())},
    }  # fmt: skip


def recovered():
    """Look at what the networks end with, for five draws of readings."""
    runs = [path()[LONG], *(draw(seed) for seed in OTHERS)]
    apart = [
        abs(damping(run) - fitted(seed)[0]) / fitted(seed)[1]
        for seed, run in zip((SEED, *OTHERS), runs, strict=True)
    ]
    zeta = damping(runs[0])
    noise = SIGMA / np.sqrt(np.mean(oscillator_exact(np.linspace(0.0, END, 1000)) ** 2))
    errors = [run.errors[-1] for run in runs]
    return {
        "004-lab4-inv-final": {"zeta": zeta, "standard errors": apart[0]},
        "004-s9-inverse": {"zeta": zeta, "standard errors": apart[0]},
        "004-lab4-inv-filters": {
            "median error": np.median(errors), "over noise": np.median(errors) / noise,
        },
        "004-lab4-agree": {
            "apart": np.median(apart), "truth": abs(fitted(SEED)[0] - ZETA) / fitted(SEED)[1],
        },
    }  # fmt: skip


def classical():
    """Fit the readings without a network: the closed form, and Assay's fit through its solver."""
    zeta, error = fitted(SEED)
    through = LeastSquaresFit().fit(unknown(SEED, seconds=True))
    others = [fitted(seed) for seed in OTHERS]
    found = {
        "zeta": zeta, "standard error": error, "truth": abs(zeta - ZETA) / error,
        "through the solver": through.parameters_["zeta"],
        "others lowest": min(one for one, _ in others),
        "others highest": max(one for one, _ in others),
        "others narrowest": min(width for _, width in others),
        "others widest": max(width for _, width in others),
        "others truth": max(abs(one - ZETA) / width for one, width in others),
    }  # fmt: skip
    return {"004-lab4-curvefit": found, "004-s9-curvefit": found}
