"""What the checks of `anomaly` look at."""

import dataclasses
from typing import Any

import numpy as np

from assay.anomaly.feeds import Feed
from assay.anomaly.threshold import Threshold


@dataclasses.dataclass(frozen=True, eq=False)
class Judged:
    """One fitted detector with its scores; `estimator` is None for scores made elsewhere.

    `calibration` (n_calibration,) are its scores of held-out normal rows, which set `threshold`;
    `test` (n_test,) those of the rows to judge.
    """

    name: str
    estimator: Any
    calibration: np.ndarray
    test: np.ndarray
    threshold: Threshold


@dataclasses.dataclass(frozen=True, eq=False)
class AnomalyView:
    """Everything that was split, fitted and scored in one anomaly study.

    Attributes
    ----------
    fit, calibration, test : Feed
        `test.labels` is None where the rows to judge have no labels.
    columns : tuple of str
        Names of the columns of `X` in the feeds (of a window: with the row's place in it).
    candidate : tuple of Judged
        One a seed.
    baselines : tuple of Judged
    false_alarm_rate : float
        The rate that was asked for.
    blocks : numpy.ndarray of shape (n_test,), int
        What was drawn independently: equal numbers belong together (rows: all different).
    seed : int
        For whatever a check draws.
    """

    fit: Feed
    calibration: Feed
    test: Feed
    columns: tuple[str, ...]
    candidate: tuple[Judged, ...]
    baselines: tuple[Judged, ...]
    false_alarm_rate: float
    blocks: np.ndarray
    seed: int = 0
