"""What the needs do with estimators: fresh ones with a study's settings, fits, loss curves."""

import inspect
from pathlib import Path
from typing import Any

import numpy as np


def configured(estimator: Any, wanted: dict[str, Any], seed: int) -> Any:
    """Return a clone with those of the study's settings that it takes, and the seed.

    Parameters
    ----------
    estimator : estimator with ``get_params``
        Never fitted itself.
    wanted : dict
        Settings of the study; those that the estimator does not have are left out.
    seed : int
        Becomes its ``seed`` or ``random_state``, where it has one.
    """
    from sklearn.base import clone

    fresh = clone(estimator)
    takes = fresh.get_params(deep=False)
    chosen = {k: v for k, v in wanted.items() if k in takes}
    chosen |= {k: seed for k in ("seed", "random_state") if k in takes}
    return fresh.set_params(**chosen)


def checkpointed(estimator: Any, X: Any, checkpoint: Path | None) -> None:
    """Fit `estimator` on `X`, with checkpoints where it knows how to keep them."""
    if checkpoint is not None and "checkpoint" in inspect.signature(estimator.fit).parameters:
        checkpoint.parent.mkdir(parents=True, exist_ok=True)
        estimator.fit(X, checkpoint=checkpoint)
    else:
        estimator.fit(X)


def curve_of(estimator) -> dict[str, np.ndarray]:
    """Return the loss curve that a network keeps, as the figures want it."""
    history = getattr(estimator, "history_", None)
    if not history or len(history.get("step", ())) == 0:
        return {}
    return {f"history_{key}": np.asarray(history[key]) for key in history}
