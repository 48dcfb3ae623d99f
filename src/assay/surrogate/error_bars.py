"""Error bars of a method in a study: raw spread, calibrated interval, and what they hold."""

import dataclasses
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import stats

from assay.result import ExtraTable
from assay.surrogate.conformal import (
    Conformal,
    Coverage,
    coverage,
    cross_errors,
    fit_conformal,
)
from assay.surrogate.scoring import mid_sentence

if TYPE_CHECKING:
    from assay.surrogate.inputs import Runs
    from assay.surrogate.prepared import Held
    from assay.surrogate.scoring import Scored, Yard

LEVEL = 0.95
FEWEST_VALIDATION = 40  # below it the calibrated interval would rest on one or two runs
LEVELS = np.array([0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95])


@dataclasses.dataclass(frozen=True, eq=False)
class Calibration:
    """Errors on runs that the fit did not see, what they were taken from, and the intervals.

    `errors` and `spread` are (n, m) [units of the outputs]; `spread` is None without one.
    """

    errors: np.ndarray
    spread: np.ndarray | None
    rule: str
    conformal: Conformal

    def half_width(self, spread: np.ndarray | None, n: int, level: float = LEVEL) -> np.ndarray:
        """Return half widths (n, m) [units of the outputs] for predictions with `spread`."""
        made = self.conformal
        if level != made.level:
            made = fit_conformal(self.errors, self.spread, level=level)
        return made.half_width(spread if made.scaled else n)


def calibrate(
    scored: "Held | Scored",
    fit: "Runs",
    validation: "Runs",
    make: Callable[[], Any] | None,
    seed: int,
) -> Calibration | None:
    """Learn intervals from the validation runs or, where they are few, from errors between folds.

    Parameters
    ----------
    scored : Held or Scored
        The method, with its errors on the validation runs.
    fit, validation : Runs
    make : callable or None
        Returns an unfitted estimator; None where it cannot be fitted again.
    seed : int
        Of the folds.

    Returns
    -------
    Calibration or None
        None where nothing is known of the method but its predictions of the test runs.
    """
    few = validation.n_runs < FEWEST_VALIDATION
    if few and make is not None:
        X, Y = np.vstack([fit.X, validation.X]), np.vstack([fit.Y, validation.Y])
        groups = None
        if fit.groups is not None and validation.groups is not None:
            groups = np.concatenate([fit.groups, validation.groups])
        errors, spread = cross_errors(make, X, Y, seed=seed, groups=groups)
        rule = f"errors between folds of {len(X):,} runs"
    elif scored.validation_errors is not None:
        errors, spread = scored.validation_errors, scored.validation_spread
        rule = f"errors on the {len(errors):,} validation runs"
    else:
        return None
    return Calibration(errors, spread, rule, fit_conformal(errors, spread, level=LEVEL))


@dataclasses.dataclass(frozen=True, eq=False)
class ErrorBars:
    """What the error bars of one method held on the test runs.

    `raw` and `calibrated` are None where there is no spread or no calibration; `ratio_inside` and
    `ratio_outside` [-] are the RMS error over the RMS spread (1 is right) in and out of the
    validity domain; `width` is the mean half width of the calibrated interval, in the study's unit;
    `half_width` (n_test, m) [units of the outputs] is that of each; `n` counts calibration runs.
    """

    name: str
    rule: str
    raw: Coverage | None
    calibrated: Coverage | None
    ratio_inside: float | None
    ratio_outside: float | None
    width: float | None
    half_width: np.ndarray | None
    n: int | None = None

    @classmethod
    def of(
        cls, scored: "Scored", calibration: Calibration | None, yard: "Yard", inside: np.ndarray
    ) -> "ErrorBars":
        """Hold the test errors against the spread and the intervals."""
        errors, spread = np.abs(scored.errors), scored.spread
        raw = calibrated = width = half = n = None
        ratios = [None, None]
        if spread is not None:
            z = stats.norm.ppf(0.5 + LEVEL / 2.0)
            raw = coverage(errors <= z * spread, level=LEVEL)
            ratios = [
                _ratio(errors[w] / yard.scale, spread[w] / yard.scale) for w in (inside, ~inside)
            ]
        if calibration is not None:
            half = calibration.half_width(spread, len(errors))
            n = calibration.conformal.n
            calibrated = coverage(errors <= half, level=LEVEL, n_calibration=n)
            width = float(np.mean(half / yard.scale)) * yard.factor
        rule = "" if calibration is None else calibration.rule
        return cls(scored.name, rule, raw, calibrated, *ratios, width, half, n)


def _ratio(errors, spread):
    if not len(errors):
        return None
    below = float(np.sqrt(np.mean(spread**2)))
    return float(np.sqrt(np.mean(errors**2))) / below if below > 0 else np.inf


def bars_table(bars: list[ErrorBars], unit: str) -> ExtraTable | None:
    """Return the table of coverage before and after calibration."""
    known = [b for b in bars if b.raw is not None or b.calibrated is not None]
    if not known:
        return None
    rows = tuple(
        (
            b.name,
            None if b.raw is None else 100.0 * b.raw.estimate,
            None if b.raw is None else _band(*b.raw.binomial),
            None if b.calibrated is None else 100.0 * b.calibrated.estimate,
            None if b.calibrated is None else _band(b.calibrated.low, b.calibrated.high),
            b.width if b.width is not None and np.isfinite(b.width) else None,
            b.ratio_inside,
            b.ratio_outside,
        )
        for b in known
    )
    columns = (
        ("method", ""),
        ("spread holds", "%"),
        ("right would be", "%"),
        ("calibrated interval holds", "%"),
        ("right would be", "%"),
        ("mean half width", unit),
        ("error / spread in the domain", ""),
        ("outside it", ""),
    )
    note = (
        "How many of the test runs' outputs lie in the 95 % interval: of the raw spread (1.96 "
        "standard deviations), and calibrated. Right would be 95 %, and, with as few runs as "
        "there are, anything in the range beside it. Error / spread is 1 where a spread is an "
        "error bar. "
    )
    note += "; ".join(f"{b.name}: calibrated on {b.rule}" for b in known if b.rule) + "."
    return ExtraTable("Error bars", columns, rows, note)


def _band(low, high):
    return f"{100 * low:.1f} to {100 * high:.1f}"


def bars_note(bars: ErrorBars) -> str:
    """Return the sentence on whether the spread is an error bar; empty without a spread.

    Examples
    --------
    >>> bad = coverage(np.arange(100) < 60)
    >>> bars_note(ErrorBars("GP", "", bad, None, 3.0, None, None, None))[:50]
    'The spread of the GP is not an error bar: 1.96 sta'
    """
    if bars.raw is None:
        return ""
    held, (low, _) = 100.0 * bars.raw.estimate, bars.raw.binomial
    if bars.raw.estimate >= low:
        return ""
    said = (
        f"The spread of the {mid_sentence(bars.name)} is not an error bar: 1.96 standard "
        f"deviations hold {held:.3g} % of the test outputs where 95 % were due."
    )
    if bars.calibrated is not None and np.isfinite(bars.width):
        said += f" The calibrated interval holds {100.0 * bars.calibrated.estimate:.3g} %: use it."
    return said


def bars_arrays(
    scored: "Scored", calibration: Calibration | None, prefix: str
) -> dict[str, np.ndarray]:
    """Return observed coverage at `LEVELS`, raw and calibrated, for the figure."""
    errors, found = np.abs(scored.errors), {}
    if scored.spread is not None:
        z = stats.norm.ppf(0.5 + LEVELS / 2.0)
        found[f"{prefix}_raw"] = np.array([np.mean(errors <= q * scored.spread) for q in z])
    if calibration is not None:
        found[f"{prefix}_calibrated"] = np.array(
            [
                np.mean(errors <= calibration.half_width(scored.spread, len(errors), float(level)))
                for level in LEVELS
            ]
        )
    return found | ({"coverage_level": LEVELS} if found else {})
