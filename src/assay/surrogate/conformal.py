"""Intervals that hold what they say: split conformal prediction, and the count that tests it."""

import dataclasses
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from assay.data import as_matrix
from assay.errors import DataError, StudyError
from assay.surrogate.bands import Coverage as Coverage
from assay.surrogate.bands import coverage as coverage
from assay.surrogate.bands import coverage_band as coverage_band
from assay.surrogate.out_of_fold import out_of_fold

# Floors on trial, over the root mean square of errors and spreads; the last is a constant width.
# On 24 designs each of Borehole, OTL, piston and wing weight a Gaussian process has the narrowest
# intervals with floors chosen like this (against fixed ones of 0.01 to 1), at the same coverage.
FLOORS = np.concatenate([np.geomspace(0.05, 10.0, 24), [1e3]])


@dataclasses.dataclass(frozen=True, eq=False)
class Conformal:
    r"""Half widths of intervals, learned from errors on runs that the model did not see.

    The half width of output j is :math:`q_j \sqrt{s_j^2 + f_j^2}`, with the spread :math:`s` of
    the prediction and the floor :math:`f`, so that a spread of almost nothing promises nothing; or
    :math:`q_j` alone where the model has no spread.

    Attributes
    ----------
    level : float in (0, 1)
        Share of further runs that are to fall inside.
    multiplier : (m,) array, or (1,) where the outputs are pooled
        :math:`q` [-], or [unit of the output] if not `scaled`; infinite where there were too few
        runs for the level.
    scaled : bool
        Whether it multiplies a spread.
    floor : (m,) array [units of the outputs]
        :math:`f`; 0 if not `scaled`.
    n : int
        Calibration runs.
    """

    level: float
    multiplier: np.ndarray
    scaled: bool
    floor: np.ndarray
    n: int

    @property
    def bounded(self) -> bool:
        """Whether all intervals are finite."""
        return bool(np.isfinite(self.multiplier).all())

    def half_width(self, spread) -> np.ndarray:
        """Return half widths (k, m) [units of the outputs].

        Parameters
        ----------
        spread : array of shape (k, m) [units of the outputs], or int
            Of the predictions; or the number of rows k, where the model has no spread.

        Raises
        ------
        StudyError
            If a spread is given and was not calibrated, or the other way round.
        """
        alone = isinstance(spread, int | np.integer)
        if alone == self.scaled:
            raise StudyError(
                "These intervals "
                + ("scale a spread, got a number of rows." if alone else "have a constant width."),
                hint="Pass the spread of the predictions." if alone else "Pass the number of rows.",
            )
        m = len(self.floor)
        if alone:
            return np.broadcast_to(self.multiplier, (int(spread), m)).copy()
        spread = as_matrix(spread, name="spread", n_columns=m)
        return self.multiplier * np.sqrt(spread**2 + self.floor**2)

    def with_floor(self, share) -> "Conformal":
        """Return the same with the floors times a share: (m,) or a number, 0 or more [-].

        For a model that is better than those whose errors were seen. Its spread is smaller by
        itself, but the floor would stay.
        """
        return dataclasses.replace(self, floor=self.floor * share)

    def to_saved(self) -> tuple[dict, dict[str, np.ndarray]]:
        """Return (plain values, arrays) for `assay.models.save_model`."""
        # Saved arrays are finite: -1 stands for no bound.
        q = np.where(np.isfinite(self.multiplier), self.multiplier, -1.0)
        config = {"level": self.level, "scaled": self.scaled, "n": self.n}
        return config, {"conformal.multiplier": q, "conformal.floor": self.floor}

    @classmethod
    def from_saved(cls, config, arrays) -> "Conformal":
        """Return the calibration from what `to_saved` returned; ValueError if it does not fit."""
        q, floor = (np.asarray(arrays[f"conformal.{k}"], float) for k in ("multiplier", "floor"))
        fits = q.ndim == floor.ndim == 1 and len(q) in (1, len(floor)) and (floor >= 0.0).all()
        if not fits or not 0.0 < config["level"] < 1.0 or not int(config["n"]) >= 1:
            raise ValueError("the saved calibration is inconsistent")
        q = np.where(q == -1.0, np.inf, q)
        if (q < 0.0).any():
            raise ValueError("the saved calibration has negative widths")
        return cls(float(config["level"]), q, bool(config["scaled"]), floor, int(config["n"]))


def fit_conformal(errors, spread=None, *, level: float = 0.95, pooled: bool = False) -> Conformal:
    r"""Learn the half widths from errors on runs that the model did not see.

    The multiplier is the :math:`\lceil (n + 1) l \rceil`-th smallest of the n errors, each over
    its :math:`\sqrt{s^2 + f^2}`: then a further run falls inside with a probability of at least
    the level l, whatever the model and the distribution [1]_. The floor is the one under which
    the errors are likeliest as normal with these standard deviations times a factor; the choice
    costs the promise little, since it is one number.

    Parameters
    ----------
    errors : array of shape (n, m) or (n,) [units of the outputs]
    spread : array like `errors`, optional
        Standard deviations of the same predictions, 0 or more.
    level : float in (0, 1)
    pooled : bool
        One multiplier for all outputs, such that the share of the outputs of a run that fall
        inside is the level on average over runs [2]_; else each output has its own.

    Raises
    ------
    DataError, StudyError
        If arrays are not finite or do not fit, or `level` is no share.

    References
    ----------
    .. [1] V. Vovk, A. Gammerman, G. Shafer, Algorithmic Learning in a Random World, Springer 2005,
       sec. 2.2 and 4.2; normalised scores: H. Papadopoulos et al., 2008.
    .. [2] A. N. Angelopoulos et al., Conformal risk control, ICLR 2024, eq. 4.

    Examples
    --------
    >>> fit_conformal(np.arange(1.0, 100.0), level=0.9).multiplier.tolist()
    [90.0]
    >>> fit_conformal([1.0, 2.0, 3.0]).bounded
    False
    """
    errors = np.abs(_matrix(errors, "errors"))
    _check_level(level)
    n, m = errors.shape
    floor, scale = np.zeros(m), np.ones_like(errors)
    if spread is not None:
        spread = _matrix(spread, "spread")
        if spread.shape != errors.shape or (spread < 0.0).any():
            raise DataError(
                f"`spread` must be 0 or more and of the shape {errors.shape} of the errors, got "
                f"{spread.shape} and a smallest value of {spread.min():g}.",
                hint="Pass the standard deviations of the same predictions.",
            )
        floor = np.array([_floor(e, s) for e, s in zip(errors.T, spread.T, strict=True)])
        scale = np.sqrt(spread**2 + floor**2)
    scores = errors / scale
    scores = scores.reshape(-1, 1) if pooled else scores
    each = len(scores) // n  # scores a run: m if pooled
    rank = math.ceil((n + 1) * level * each - 1e-9)
    if rank > len(scores):
        multiplier = np.full(scores.shape[1], np.inf)
    else:
        multiplier = np.sort(scores, axis=0)[rank - 1]
    return Conformal(float(level), multiplier, spread is not None, floor, n)


def cross_errors(
    make: Callable[[], Any], X, Y, *, folds: int = 5, seed: int = 0, groups=None
) -> tuple[np.ndarray, np.ndarray | None]:
    """Return errors of models that did not see the run: each run is predicted by another fold's.

    Parameters
    ----------
    make : callable
        Returns an unfitted estimator.
    X : array of shape (n, d) [units of the inputs]
    Y : array of shape (n, m) or (n,) [units of the outputs]
    folds : int >= 2
        Number of fits.
    seed : int
        Of the folds.
    groups : array of shape (n,), optional
        Runs of one group stay in one fold. By default, runs with the same inputs are one.

    Returns
    -------
    errors : (n, m) array [units of the outputs]
        Prediction minus truth.
    spread : (n, m) array [units of the outputs], or None
        Standard deviation of the predictions, if the model gives one.

    Raises
    ------
    StudyError
        If there are fewer than 2 folds or groups; whatever the model's `fit` raises.
    """
    found = out_of_fold(make, X, Y, folds=folds, seed=seed, groups=groups)
    return found.errors, found.spread


def _matrix(values, name):
    values = np.asarray(values)
    return as_matrix(values[:, None] if values.ndim == 1 else values, name=name)


def _check_level(level):
    if not 0.0 < level < 1.0:
        raise StudyError(
            f"`level` must be a share between 0 and 1, got {level!r}.", hint="0.95 is usual."
        )


def _floor(errors, spread):
    """Return the floor of one output: the likeliest of `FLOORS`, in its unit."""
    unit = math.sqrt(np.mean(errors**2) + np.mean(spread**2))
    if unit == 0.0:
        return 1.0  # no error and no spread: any scale gives intervals of no width
    variance = (spread / unit) ** 2 + (FLOORS**2)[:, None]
    factor = np.mean((errors / unit) ** 2 / variance, axis=1)
    misfit = np.log(np.maximum(factor, 1e-300)) + np.mean(np.log(variance), axis=1)
    return float(FLOORS[misfit.argmin()] * unit)
