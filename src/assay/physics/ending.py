"""How a training ended, in a sentence with its figures."""

from typing import Any

from assay.physics.capacity import FLAT, loss_fall
from assay.symptoms import percent
from assay.train.descent import Stop

FEWEST = 20  # losses, below which nothing can be said of their fall


def ending(stop: Stop, history: dict[str, Any], steps: int) -> str:
    """Return why a training ended, and where its budget ended it, whether more of it would help.

    Parameters
    ----------
    stop : Stop
    history : dict of arrays of shape (n,)
        With ``loss``.
    steps : int
        Done.

    Examples
    --------
    >>> ending(Stop.BUDGET, {"loss": [0.99**i for i in range(100)]}, 99)[:82]
    'All 99 steps were used while the loss was still falling: to 82 % over the last fif'
    """
    if stop not in (Stop.BUDGET, Stop.SECONDS) or len(history["loss"]) < FEWEST:
        return stop.sentence
    used = f"All {steps:,} steps were used" if stop is Stop.BUDGET else "The time was used up"
    fall = loss_fall(history)
    if fall >= FLAT:
        return (
            f"{used}, but the loss had become flat: {percent(min(fall, 1.0))} was left of it after "
            "the last fifth of the training. More of the same would change little."
        )
    more = "twice the steps (`steps=`)" if stop is Stop.BUDGET else "more time (`seconds=`)"
    return (
        f"{used} while the loss was still falling: to {percent(fall)} over the last fifth of the "
        f"training. The error falls with its root at best: {more} may help somewhat."
    )
