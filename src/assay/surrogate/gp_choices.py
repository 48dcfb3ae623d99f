"""What the parameters of a Gaussian process may be."""

import numpy as np

from assay.errors import StudyError, did_you_mean
from assay.surrogate.transforms import NAMES


def check_gp(given, Y) -> None:
    """Raise StudyError if a parameter of the process `given` is out of range for outputs `Y`."""
    words = {
        "scaling": ("unit", "standard", "none"),
        "transform": ("auto", *NAMES),
        "mean": ("fitted", "average"),
        "variance": ("own", "shared"),
    }
    for key, valid in words.items():
        if getattr(given, key) not in valid:
            raise StudyError(
                f"`{key}` of GaussianProcess is unknown: {getattr(given, key)!r}.",
                hint=did_you_mean(str(getattr(given, key)), valid),
            )
    if given.transform in ("sqrt", "log") and not (Y > 0.0).all():
        raise StudyError(
            f"`transform={given.transform!r}` needs outputs above 0, the smallest is {Y.min():g}.",
            hint='Use transform="auto" or "identity".',
        )
    numbers = {"search_rows": 10, "final_rows": 10, "most_steps": 1}
    numbers |= {} if np.ndim(given.starts) else {"starts": 1}
    for key, least in numbers.items():
        value = getattr(given, key)
        whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
        if not (whole and value >= least) and not (key == "final_rows" and value is None):
            raise StudyError(
                f"`{key}` of GaussianProcess must be a whole number from {least}, got {value!r}.",
                hint="Leave it out for the default.",
            )
    if not 0.0 < given.nugget_floor <= 1.0:
        raise StudyError(
            f"`nugget_floor` must be above 0 and at most 1, got {given.nugget_floor!r}.",
            hint="1e-9 is usual; raise it where runs nearly repeat each other.",
        )
