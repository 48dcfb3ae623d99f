"""A detector as it leaves a study: the estimator with its threshold, columns and windows."""

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np

from assay.anomaly.threshold import Threshold
from assay.errors import ModelError


@dataclasses.dataclass(frozen=True, eq=False)
class Detector:
    """A fitted detector with the threshold that was set for it.

    Attributes
    ----------
    estimator : object with ``anomaly_score``
    threshold : Threshold
    columns, units : tuple of str
        The columns it was trained on, in order.
    window, step : int or None
        Where it judges windows: their length and distance [rows].

    Examples
    --------
    >>> from assay.anomaly.row_norm import RowNorm
    >>> from assay.anomaly.threshold import conformal_threshold
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> model = RowNorm().fit(X[:100])
    >>> threshold = conformal_threshold(model.anomaly_score(X[100:]), 0.05)
    >>> detector = Detector(model, threshold, ("a", "b"), ("", ""))
    >>> detector.alarms([[9.0, 9.0]]).tolist()
    [True]
    """

    estimator: Any
    threshold: Threshold
    columns: tuple[str, ...]
    units: tuple[str, ...]
    window: int | None = None
    step: int | None = None

    def anomaly_score(self, X) -> np.ndarray:
        """Return the scores (n,) of rows or flat windows `X` (n, p), higher is more anomalous."""
        return self.estimator.anomaly_score(X)

    def alarms(self, X) -> np.ndarray:
        """Return which rows or windows `X` (n, p) alarm: (n,) bool."""
        return self.threshold.alarms(self.anomaly_score(X))

    def save(self, folder) -> Path:
        """Write ``model.json`` and ``weights.safetensors`` into `folder`.

        Raises
        ------
        ModelError
            If the estimator was brought by the user: it is theirs to save.
        """
        from assay.models import save_model

        if not hasattr(self.estimator, "to_saved"):
            raise ModelError(
                f"{type(self.estimator).__name__} was brought to the study and cannot be saved "
                "by Assay.",
                hint="Save it with the tools it came from; the threshold is in result.json.",
            )
        config, arrays = self.estimator.to_saved()
        extra = {
            "threshold": self.threshold.value,
            "false_alarm_rate": self.threshold.alpha,
            "columns": list(self.columns),
            "units": list(self.units),
            "window": self.window,
            "step": self.step,
        }
        return save_model(
            folder, family=self.estimator.family, config=config, arrays=arrays, extra=extra
        )
