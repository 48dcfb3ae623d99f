"""Which parameters of a network surrogate make sense."""

import numbers

import numpy as np

from assay.errors import StudyError, did_you_mean
from assay.surrogate.decay import CHOSEN

OPTIMISERS = ("adam", "momentum", "sgd")
SCALINGS = ("standard", "unit", "none")
OUTPUT_SCALINGS = ("standard", "common", "none")


def check_choices(given) -> None:
    """Require that the parameters of a network surrogate make sense."""
    named = (
        ("optimiser", OPTIMISERS),
        ("input_scaling", SCALINGS),
        ("output_scaling", OUTPUT_SCALINGS),
        ("precision", ("float32", "float64")),
    )
    for field, valid in named:
        if getattr(given, field) not in valid:
            raise StudyError(
                f"Unknown {field} {getattr(given, field)!r} of a surrogate.",
                hint=did_you_mean(str(getattr(given, field)), valid),
            )
    _check_numbers(given)
    if not 0.0 <= given.validation_fraction <= 0.5:
        raise StudyError(
            f"`validation_fraction` must be from 0 to 0.5, got {given.validation_fraction!r}.",
            hint="Use 0.1, or 0 to train on all runs.",
        )
    for field in ("steps", "epochs", "batch", "patience"):
        value = getattr(given, field)
        if value is not None and not _whole(value):
            raise StudyError(
                f"`{field}` must be a whole number of at least 1 or None, got {value!r}.",
                hint="Leave it out.",
            )
    if given.steps is not None and given.epochs is not None:
        raise StudyError(
            f"Give `steps` or `epochs`, not both: got {given.steps} and {given.epochs}.",
            hint="Leave one of them out.",
        )
    if (given.prior_sd is None) != (given.noise_sd is None) or (
        given.prior_sd is not None and given.weight_decay
    ):
        raise StudyError(
            "A prior needs both `prior_sd` and `noise_sd`, and takes the place of `weight_decay`: "
            f"got {given.prior_sd!r}, {given.noise_sd!r} and {given.weight_decay!r}.",
            hint="Give the two standard deviations, or the weight decay alone.",
        )


def is_number(value) -> bool:
    """Whether a value is a real number; True and False are not."""
    return isinstance(value, numbers.Real) and not isinstance(value, bool | np.bool_)


def check_decay(decay) -> None:
    """Require a weight decay that a network takes: None, a number from 0, or ``"validation"``."""
    number = is_number(decay)
    if not (decay is None or number or (isinstance(decay, str) and decay == CHOSEN)):
        raise StudyError(
            f"`weight_decay` must be a number, None or {CHOSEN!r}, got {decay!r}.",
            hint=f"{CHOSEN!r} chooses it on held-out runs; None is a usual prior.",
        )
    if number and not 0.0 <= decay < np.inf:
        raise StudyError(
            f"`weight_decay` must be finite and not negative, got {decay!r}.",
            hint="0 is no weight decay; None is a usual prior.",
        )


def _check_numbers(given):
    check_decay(given.weight_decay)
    for field in ("learning_rate", "init_scale", "validation_fraction"):
        if not is_number(getattr(given, field)):
            raise StudyError(
                f"`{field}` must be a number, got {getattr(given, field)!r}.", hint="Leave it out."
            )
    for field in ("prior_sd", "noise_sd"):
        value = getattr(given, field)
        if value is not None and not is_number(value):
            raise StudyError(
                f"`{field}` must be a number or None, got {value!r}.", hint="Leave it out."
            )


def _whole(value):
    return isinstance(value, int | np.integer) and not isinstance(value, bool) and value >= 1
