"""The fitted methods that a result takes along: which, where to, and which of them to use."""

import dataclasses
from typing import Any

from assay.report.words import one_line
from assay.result import Result

CANDIDATE, BASELINE = "model", "baseline"  # folders inside that of the study


@dataclasses.dataclass(frozen=True)
class Saved:
    """A fitted method as a study's folder holds it.

    Attributes
    ----------
    folder : str
        Its name inside the folder of the study.
    method : str
        As the report calls it.
    role : {"candidate", "baseline"}
    advised : bool
        Whether the verdict says to use it. Of an invalid study that is said of none.
    model : object
        With ``save(folder)``.
    """

    folder: str
    method: str
    role: str
    advised: bool
    model: Any = dataclasses.field(repr=False)


def saved_models(result: Result) -> tuple[Saved, ...]:
    """Return the fitted methods that can be saved, what the verdict advises first.

    Examples
    --------
    >>> [(one.folder, one.advised) for one in saved_models(result)]  # doctest: +SKIP
    [('baseline', True), ('model', False)]
    """
    first = result.baselines[0].name if result.baselines else "strongest baseline"
    against = result.gain.against if result.gain else first
    both = (
        (CANDIDATE, result.candidate.name, "candidate", result.model),
        (BASELINE, against, "baseline", result.baseline_model),
    )
    found = [
        Saved(folder, method, role, model is result.model_to_use, model)
        for folder, method, role, model in both
        if hasattr(model, "save")
    ]
    return tuple(sorted(found, key=lambda one: not one.advised))


def told(one: Saved) -> str:
    """Return what a saved method is, in words: ``"Gaussian process, the one to use"``."""
    method = one_line(one.method, 80)
    if one.advised:
        return f"{method}, the one to use"
    return f"{method}, the {'candidate' if one.role == 'candidate' else 'strongest baseline'}"
