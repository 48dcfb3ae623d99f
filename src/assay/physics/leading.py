"""Readings that lead a training at first, and how tightly the equation is held beside them."""

import dataclasses
from typing import Any

import numpy as np

from assay.physics.fitting import Setup, slack_of
from assay.train.rows import all_rows

LED = 0.1  # sizes of its terms that the equation may be missed by while the readings lead
SHARE, PARTS = 5, 2  # a fifth of the steps, in two parts
HELD = 3e-3  # sizes of its terms: beside exact readings the equation is not held more tightly


def lead_factors(setup: Setup) -> tuple[float, ...]:
    """Return what the readings count more in each part of the lead; nothing where none is needed.

    Held tightly from the start, a network follows the solution of the first guess, and there may
    be no way downhill from there to the readings.
    """
    slack = slack_of(setup)
    if slack is None or slack >= LED:
        return ()
    return tuple((LED / slack) ** (2.0 - 2.0 * i / PARTS) for i in range(PARTS))


def last_factor(setup: Setup, sigma: float) -> float:
    """Return what the readings count more to the end, given their noise over the assumed one.

    The equation is not held more tightly than a network can hold it: beside readings that are
    nearly exact, what it misses at a front would move the unknowns (Burgers without noise: 2 % of
    the viscosity).
    """
    most = LED / slack_of(setup)
    return float(np.clip(HELD / slack_of(setup, sigma), 1.0, most)) ** 2


def noise_unsaid(setup: Setup) -> bool:
    """Return whether the standard deviation of some reading was not given."""
    return any(reading.sigma is None for reading in setup.system.problem.readings)


def without_fifth(setup: Setup, data: Any) -> Any:
    """Return row data in which every fifth reading weighs nothing."""
    weights = list(data.weights)
    for i, kind in enumerate(setup.kinds):
        if kind == "reading":
            weights[i] = np.where(_fifth(weights[i]), 0.0, weights[i]).astype(weights[i].dtype)
    return dataclasses.replace(data, weights=tuple(weights))


def noise_shown(setup: Setup, params: Any, data: Any) -> float:
    """Return the noise that the readings held back show, over the one that the weights assume.

    It contains what the network itself misses there.
    """
    whole = dataclasses.replace(data, weights=tuple(np.ones_like(w) for w in data.weights))
    rows = all_rows(setup.terms, params, whole)
    parts = [np.asarray(rows[i])[:, 0] for i, kind in enumerate(setup.kinds) if kind == "reading"]
    kept = np.concatenate([part[_fifth(part)] for part in parts])
    return max(float(np.sqrt(np.mean(kept**2))), 1e-12) if len(kept) else 1.0


def _fifth(array):
    return np.arange(len(array)) % 5 == 2
