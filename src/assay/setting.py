"""How a study is run, and the arguments that all studies take."""

import dataclasses
import math
import numbers
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from assay.errors import StudyError
from assay.ledger import Ledger


@dataclasses.dataclass(frozen=True)
class Setting:
    """How a study is run: seeds, margin, where the ledger and the checkpoints are, progress.

    `progress` is called with a sentence and the share done in [0, 1].
    """

    seed: int = 0
    seeds: int = 3
    margin: float = 0.0
    ledger: Ledger | None = None
    workspace: Path | None = None
    progress: Callable[[str, float], None] = lambda text, share: None

    def __post_init__(self):
        check_setting(self.seed, self.seeds, self.margin)


def check_setting(seed: Any, seeds: Any, margin: Any) -> None:
    """Refuse what no study can be run with, before anything is read, fitted or opened.

    Raises
    ------
    StudyError
        For a seed that not every library takes, for no seeds at all, and for a margin outside
        [0, 1): a negative one would call a loss earned.
    """
    whole = (numbers.Integral, "a whole number")
    for name, value, (kind, what), low, high, cure in (
        ("seed", seed, whole, 0, 2**31, "Use seed 0, the default."),
        ("seeds", seeds, whole, 1, math.inf, "Use 3 seeds, the default."),
        ("margin", margin, (numbers.Real, "a number"), 0, 1, "0.1 asks for a tenth less loss."),
    ):
        if not isinstance(value, kind) or isinstance(value, bool) or not low <= value < high:
            above = "" if high == math.inf else f" and below {high}"
            raise StudyError(
                f"`{name}` must be {what} from {low}{above}, got {value!r}.", hint=cure
            )


def as_names(names: Any) -> tuple[str, ...]:
    """Return names of columns as a tuple; one name alone is one column, not its letters."""
    if names is None:
        return ()
    if not isinstance(names, str | Iterable):
        raise StudyError(
            f"Columns are given by their names, got {names!r}.",
            hint="Pass one name, or a list of names: 'y', or ['u', 'v'].",
        )
    return (names,) if isinstance(names, str) else tuple(names)
