"""How a fit ended and what it returns: plain frozen data, no JAX."""

import dataclasses
import enum
from typing import Any

import numpy as np


class FitStatus(enum.Enum):
    """How a fit ended; `sentence` says it to a reader."""

    CONVERGED = "converged"
    BUDGET = "budget"
    STOPPED_EARLY = "stopped_early"
    NONFINITE = "nonfinite"
    INTERRUPTED = "interrupted"

    @property
    def sentence(self) -> str:
        """What the status means, and what to do about it."""
        return _SENTENCES[self]


_SENTENCES = {
    FitStatus.CONVERGED: "Training converged: the last tenth of the steps lowered the training "
    "loss by less than 1 % and by less than a twentieth of its whole fall.",
    FitStatus.BUDGET: "Training used all its steps while the training loss was still falling; "
    "more steps may give a better network.",
    FitStatus.STOPPED_EARLY: "Training stopped early because the validation loss had ceased to "
    "fall; the weights are those of its minimum.",
    FitStatus.NONFINITE: "Training broke down: the loss became infinite or not a number. The "
    "weights are the best before that; try a smaller learning rate.",
    FitStatus.INTERRUPTED: "Training was interrupted before its last step; the weights are the "
    "best up to there, and a checkpoint, if one was asked for, lets it go on.",
}


@dataclasses.dataclass(frozen=True)
class History:
    """Losses over the fit, one entry a chunk of steps.

    Attributes
    ----------
    steps : array of shape (n,), int
        Number of steps done at the end of the chunk.
    train : array of shape (n,) [unit of the loss]
        Mean over the chunk's batches.
    validation : array of shape (n,) [unit of the loss]
        On the validation rows at the end of the chunk; NaN where it was not computed.
    """

    steps: np.ndarray
    train: np.ndarray
    validation: np.ndarray


@dataclasses.dataclass(frozen=True)
class Fit:
    """A fitted network and how it came about.

    Attributes
    ----------
    model : equinox.Module
        With NumPy leaves: the best on the validation rows if there are any, else the last; the
        best finite one if training broke down.
    status : FitStatus
    history : History
    steps : int
        Steps done.
    seconds, compile_seconds : float [s]
        Wall time in all, and the part of it that went into compiling (0 for a known program).
        For a resumed fit, those of all runs together.
    initial_model : equinox.Module
        The untrained weights.
    best_step : int
        Number of steps after which `model` was taken.
    """

    model: Any
    status: FitStatus
    history: History
    steps: int
    seconds: float
    compile_seconds: float
    initial_model: Any
    best_step: int

    def unless_interrupted(self) -> "Fit":
        """Return this fit, or raise KeyboardInterrupt if Ctrl-C ended it.

        `fit` returns on Ctrl-C so that nothing is lost. A caller that has no use for a half-trained
        network writes ``fit(...).unless_interrupted()`` and lets the interrupt go on.
        """
        if self.status is FitStatus.INTERRUPTED:
            raise KeyboardInterrupt
        return self
