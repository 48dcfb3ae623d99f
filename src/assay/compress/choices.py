"""Which parameters of an autoencoder make sense."""

import numpy as np

from assay.errors import StudyError, did_you_mean

OUTPUTS = ("identity", "sigmoid")
NOISES = ("gaussian", "mask")


def check_choices(given) -> None:
    """Require that the parameters of an `Autoencoder` make sense."""
    for field, valid in (("output", OUTPUTS), ("noise_kind", NOISES)):
        if getattr(given, field) not in valid:
            raise StudyError(
                f"Unknown {field} {getattr(given, field)!r} of an Autoencoder.",
                hint=did_you_mean(getattr(given, field), valid),
            )
    if given.precision not in ("float32", "float64"):
        raise StudyError(
            f"`precision` must be 'float32' or 'float64', got {given.precision!r}.",
            hint="Leave it out: float32 is enough for all but tests against closed forms.",
        )
    most = 1.0 if given.noise_kind == "mask" else np.inf
    if not 0.0 <= given.noise < most:
        raise StudyError(
            f"`noise` must be from 0 to below {most}, got {given.noise!r}.",
            hint="0.1 to 0.5 is usual: standard deviations, or the share of masked values.",
        )
    if not 0.0 <= given.validation_fraction <= 0.5:
        raise StudyError(
            f"`validation_fraction` must be from 0 to 0.5, got {given.validation_fraction!r}.",
            hint="Use 0.1, or 0 to train on all rows.",
        )
    if given.epochs is not None and not (isinstance(given.epochs, int) and given.epochs >= 1):
        raise StudyError(
            f"`epochs` must be a whole number of at least 1 or None, got {given.epochs!r}.",
            hint="Leave it out for about 5,000 steps.",
        )


def check_output(output, rows) -> None:
    """Require that the network can reach all scaled rows."""
    if output == "sigmoid" and (rows.min() < 0.0 or rows.max() > 1.0):
        raise StudyError(
            "A sigmoid output reaches 0 to 1 only, but the scaled rows go from "
            f"{rows.min():.3g} to {rows.max():.3g}.",
            hint='Use scaling="unit", or output="identity".',
        )
