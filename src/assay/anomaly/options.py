"""What the user chose beside the data, and what of it makes no sense."""

import dataclasses
import numbers
from typing import Any

from assay.errors import StudyError

_BASELINE = "Pass `assay.anomaly.BASELINES[:3]`, say, or leave it out for all of them."


@dataclasses.dataclass(frozen=True, eq=False)
class Options:
    """What the user chose beside the data."""

    candidate: Any
    baselines: tuple
    rate: float
    scaling: str
    components: float | None
    window: int | None
    step: int | None
    title: str | None
    checks: tuple

    def check(self):
        """Raise StudyError where a choice makes no sense."""
        if not _is_number(self.rate) or not 0.0 < self.rate <= 0.5:
            raise StudyError(
                f"`false_alarm_rate` must lie above 0 and at most at 0.5, got {self.rate!r}.",
                hint="Use 0.05 for one false alarm in twenty normal rows.",
            )
        require_count(self.window, "window", "Leave it out to judge single rows.")
        require_count(self.step, "step", "Leave it out for a window at every row.")
        if self.step is not None and self.window is None:
            raise StudyError(
                f"`step` is {self.step}, but without `window` there are no windows to move.",
                hint="Give the length of the windows too (--window 60), or leave out the step.",
            )
        _require_baselines(self.baselines)


def require_count(value: Any, name: str, cure: str) -> None:
    """Raise StudyError unless `value` is None or a whole number of rows from 1.

    Parameters
    ----------
    value : int or None
    name : str
        How messages call it.
    cure : str
        What else to do.
    """
    if value is None:
        return
    whole = isinstance(value, numbers.Integral) and not isinstance(value, bool)
    if not whole or value < 1:
        raise StudyError(f"`{name}` must be 1 or more rows, got {value!r}.", hint=cure)


def _is_number(value: Any) -> bool:
    return isinstance(value, numbers.Real) and not isinstance(value, bool)


def _require_baselines(baselines: Any) -> None:
    """Refuse what cannot be fitted and scored now, and not when the test part is open."""
    if not isinstance(baselines, tuple | list):
        raise StudyError(
            f"`baselines` must be a tuple of estimators, got {type(baselines).__name__}.",
            hint=_BASELINE,
        )
    if not baselines:
        raise StudyError(
            "A study needs at least one baseline.",
            hint="Leave `baselines` out for all of them.",
        )
    for baseline in baselines:
        if isinstance(baseline, type):
            raise StudyError(
                f"The baseline {baseline.__name__} is a class, an object is needed.",
                hint=f"Pass `{baseline.__name__}()`.",
            )
        lacks = [
            name
            for name in ("fit", "anomaly_score", "get_params", "set_params")
            if not callable(getattr(baseline, name, None))
        ]
        if lacks:
            raise StudyError(
                f"The baseline {type(baseline).__name__} has no `{lacks[0]}`.",
                hint="Baselines are built like those in `assay.anomaly.BASELINES` (see "
                "docs/adding-a-baseline.md); any other detector can be the candidate.",
            )
