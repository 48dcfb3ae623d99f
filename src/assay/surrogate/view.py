"""What the checks of `surrogate` look at."""

import dataclasses
from typing import TYPE_CHECKING, Any

import numpy as np

from assay.result import Gain

if TYPE_CHECKING:
    from assay.surrogate.inputs import Runs


@dataclasses.dataclass(frozen=True, eq=False)
class SurrogateView:
    """Everything that was split, fitted and scored in one surrogate study.

    Attributes
    ----------
    fit, validation, test : Runs
        Inputs (n, d) and outputs (n, m) of each part [their units].
    bounds : array of shape (d, 2) or None [units of the inputs]
        The box that the user stated.
    sigma : array of shape (m,) or None [units of the outputs]
        The noise that the user stated: an error below it does no harm.
    scale : array of shape (m,) [units of the outputs]
        What errors are divided by before they are squared and averaged.
    candidate : tuple of fitted estimators
        One a seed. Networks have ``status_``, ``history_`` (``step``, ``train``, ``validation``)
        and ``untrained_``; an ensemble has ``members_``; `PCAOutputs` has ``model_``.
    candidate_name : str
    predictions : array of shape (n_seeds, n_test, m) [units of the outputs]
    fit_predictions, validation_predictions : array of shape (n_fit, m), (n_validation, m), or None
        Of the first seed; None where a user brought predictions of the test runs only.
    spread : array of shape (n_test, m) or None [units of the outputs]
        The raw standard deviation of the first seed, where it has one.
    validation_spread : array of shape (n_validation, m) or None [units of the outputs]
    half_width : array of shape (n_test, m) or None [units of the outputs]
        Of the calibrated 95 % interval around the first seed's prediction.
    baselines : tuple of fitted estimators
    baseline_names : tuple of str
    baseline_predictions : array of shape (n_baselines, n_test, m) [units of the outputs]
    baseline_ranks : array of shape (n_baselines,)
        Validation losses.
    best : int
        Index of the strongest baseline by validation.
    gain : Gain or None
        Of the candidate over the strongest baseline.
    seed : int
        For whatever a check draws.
    n_calibration : int or None
        Runs that the calibrated interval was learned from: the validation runs or, where those are
        few, all that were not sealed.
    """

    fit: "Runs"
    validation: "Runs"
    test: "Runs"
    bounds: np.ndarray | None
    sigma: np.ndarray | None
    scale: np.ndarray
    candidate: tuple[Any, ...]
    candidate_name: str
    predictions: np.ndarray
    fit_predictions: np.ndarray | None
    validation_predictions: np.ndarray | None
    spread: np.ndarray | None
    validation_spread: np.ndarray | None
    half_width: np.ndarray | None
    baselines: tuple[Any, ...]
    baseline_names: tuple[str, ...]
    baseline_predictions: np.ndarray
    baseline_ranks: np.ndarray
    best: int
    gain: Gain | None
    seed: int = 0
    n_calibration: int | None = None
