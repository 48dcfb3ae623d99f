"""The settings of a network for an equation: each is checked before anything is computed."""

import math
from typing import Any

import numpy as np

from assay.errors import StudyError
from assay.nn.features import Fourier
from assay.physics.fitting import WEIGHTS
from assay.physics.given import is_number


def require_settings(network: Any) -> None:
    """Require settings that a training can use, by their kind and size.

    Names among several (optimisers, activations, samplings) and what the problem has to allow are
    looked at where they are used.

    Parameters
    ----------
    network : PINN
        Not fitted yet.

    Raises
    ------
    StudyError
        Names the first setting that is out of range.

    Examples
    --------
    >>> from assay.physics import PINN
    >>> require_settings(PINN(hidden=(16, 16), steps=100))
    """
    _require_hidden(network.hidden)
    _require_steps(network.optimiser, network.steps)
    for name in ("points", "face_points"):
        if name == "face_points" or network.points is not None:
            value = getattr(network, name)
            _require_whole(name, value, 1, "Some hundreds for an ODE, some thousands for a PDE.")
    for name in ("windows", "harmonics"):
        _require_whole(name, getattr(network, name), 1, f"{name}=1")
    _require_whole("random_state", network.random_state, 0, "random_state=0")
    _require_seconds(network.seconds)
    if not is_number(network.learning_rate):
        raise StudyError(
            f"`learning_rate` must be a positive number, got {network.learning_rate!r}.",
            hint="learning_rate=1e-3",
        )
    if network.features is not None and not isinstance(network.features, Fourier):
        raise StudyError(
            f"`features` must be Fourier(...) or None, got {network.features!r}.",
            hint="from assay.nn.features import Fourier; features=Fourier((1, 2, 4))",
        )
    if network.precision not in ("float64", "float32"):
        raise StudyError(
            f"`precision` must be 'float64' or 'float32', got {network.precision!r}.",
            hint="'float64'",
        )
    _require_weights(network.weights)
    _require_curriculum(network.curriculum)
    _require_resample(network.resample)


def _is_whole(value, least):
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    return whole and value >= least


def _require_whole(name, value, least, hint):
    if not _is_whole(value, least):
        raise StudyError(
            f"`{name}` must be a whole number of at least {least}, got {value!r}.", hint=hint
        )


def _require_hidden(hidden):
    auto = isinstance(hidden, str) and hidden == "auto"
    if not auto and not (
        isinstance(hidden, list | tuple) and all(_is_whole(width, 1) for width in hidden)
    ):
        raise StudyError(
            f"`hidden` must be a tuple of widths of at least 1, or 'auto', got {hidden!r}.",
            hint="hidden=(20, 20): two layers of twenty units.",
        )


def _require_steps(optimiser, steps):
    names = (optimiser,) if isinstance(optimiser, str) else optimiser
    if not isinstance(names, list | tuple) or not names or not all(
        isinstance(name, str) for name in names
    ):  # fmt: skip
        raise StudyError(
            f"`optimiser` must be a name or a tuple of names, got {optimiser!r}.",
            hint="'auto', 'gauss_newton', 'lbfgs', 'adam'; ('adam', 'lbfgs') runs both.",
        )
    for count in steps if isinstance(steps, list | tuple) else (steps,):
        if count is not None:
            hint = "Leave it out for the default of the optimiser."
            _require_whole("steps", count, 1, hint)


def _require_seconds(seconds):
    endless = isinstance(seconds, float) and seconds == math.inf
    if seconds is not None and not endless and not (is_number(seconds) and seconds >= 0):
        raise StudyError(
            f"`seconds` must be a number of at least 0, got {seconds!r}.",
            hint="Leave it out for a training without a budget of time.",
        )


def _require_weights(weights):
    """Require None, "balanced", or numbers of at least 0 by the names of `WEIGHTS`."""
    balanced = isinstance(weights, str) and weights == "balanced"
    fine = isinstance(weights, dict) and all(
        name in WEIGHTS and is_number(value) and value >= 0 for name, value in weights.items()
    )
    if weights is not None and not balanced and not fine:
        raise StudyError(
            f"`weights` must give numbers of at least 0 for {', '.join(WEIGHTS)}, got {weights!r}.",
            hint="weights={'condition': 100.0}, or 'balanced'.",
        )


def _require_curriculum(curriculum):
    if curriculum is None:
        return
    hint = "curriculum={'beta': (5.0, 15.0, 30.0)}"
    if not isinstance(curriculum, dict):
        raise StudyError(
            f"`curriculum` must be a dictionary of known parameters, got {curriculum!r}.", hint=hint
        )
    for name, values in curriculum.items():
        several = isinstance(values, list | tuple | np.ndarray)
        if not several or not all(is_number(value) for value in values):
            raise StudyError(
                f"`curriculum` must list numbers for {name!r}, got {values!r}.", hint=hint
            )


def _require_resample(value):
    """Require None, "auto", or a whole number of steps from 1."""
    auto = isinstance(value, str) and value == "auto"
    if value is not None and not auto and not _is_whole(value, 1):
        raise StudyError(
            f"`resample` must be a number of steps from 1, 'auto' or None, got {value!r}.",
            hint="resample=50",
        )
