"""Checks of the error bars: spread, truncation, calibrated intervals."""

import dataclasses
import math
from typing import ClassVar, Literal

import numpy as np
from scipy import stats

from assay.checks import NotApplicable, finding
from assay.result import Finding
from assay.surrogate.bands import coverage
from assay.surrogate.checks_parts import by_unit, insides
from assay.surrogate.domain import Domain
from assay.surrogate.view import SurrogateView
from assay.symptoms import percent

LEVEL = 0.95


@dataclasses.dataclass(frozen=True)
class SpreadTooSmall:
    """The spread of the predictions is smaller than their error (S10).

    Attributes
    ----------
    least_coverage : float [-]
        Share of test outputs that must lie within 1.96 spreads. An error bar would hold 95 %; an
        ensemble's spread is not one, and held 47 to 67 % in nine fits of five networks [1]_
        (ours: 0.9).

    References
    ----------
    .. [1] Y. Ovadia et al., Can you trust your model's uncertainty?, NeurIPS 2019; figures: ours.
    """

    code: ClassVar[str] = "S10"
    title: ClassVar[str] = "Spread too small"
    severity: ClassVar[Literal["warn", "fail"]] = "warn"

    least_coverage: float = 0.9

    def __call__(self, view: SurrogateView) -> Finding:
        """Count test outputs within 1.96 spreads, inside and outside the domain of the fit."""
        if view.spread is None:
            raise NotApplicable("The candidate has no spread.")
        errors = np.abs(view.predictions[0] - view.test.Y)
        held = (errors <= stats.norm.ppf(0.5 + 0.5 * LEVEL) * view.spread).mean(axis=1)
        units = by_unit(held, view.test.groups)
        share = float(units.mean())
        low, high = _interval(share, len(units))
        inside = Domain.fit(view.fit.X).inside(view.test.X)
        told = (
            f"{percent(share)} of the test outputs ({percent(low)} to {percent(high)}) lie within "
            f"1.96 spreads of the prediction, where an error bar holds {percent(LEVEL)}"
        )
        parts = (("inside the domain", inside), ("outside", ~inside))
        told += "".join(
            f"; {name} the error is {_times(errors[rows], view.spread[rows])} the spread"
            for name, rows in parts
            if rows.any()
        )
        bad = high < self.least_coverage
        return finding(
            self,
            "warn" if bad else "pass",
            f"{told}." + (" The spread is not an error bar." if bad else ""),
            measured=share,
            threshold=self.least_coverage,
            interval=(low, high),
            cause="Members that learned from the same runs share their errors: their disagreement "
            "says what is undetermined, and nothing about what they all have wrong."
            if bad
            else "",
            fix=(
                "Use the calibrated intervals (`CalibratedSurrogate`): they were tried on runs "
                "that were not learned from.",
                "Outside the domain trust neither: run the simulator there.",
                "Use the spread for ranking where to run next, not as a standard deviation.",
            )
            if bad
            else (),
        )


@dataclasses.dataclass(frozen=True)
class TruncationDominates:
    """The modes that were left out are most of the error (S11).

    Attributes
    ----------
    max_share : float [-]
        Truncation over the error of the candidate on the test runs (root mean squares). At 0.7
        half of the squared error is the truncation's.
    max_sigma : float [-]
        Truncation over the noise of what is compared (sigma), where it is given, up to which it
        may dominate: half of it adds 12 % in quadrature (ours: 0.5).
    """

    code: ClassVar[str] = "S11"
    title: ClassVar[str] = "Truncation dominates"
    severity: ClassVar[Literal["warn", "fail"]] = "warn"

    max_share: float = 0.7
    max_sigma: float = 0.5

    def __call__(self, view: SurrogateView) -> Finding:
        """Compare the truncation error with the candidate's own and with sigma."""
        found = [e for one in view.candidate for e in insides(one) if hasattr(e, "truncation_rms_")]
        if not found:
            raise NotApplicable("The candidate predicts its outputs directly.")
        left = float(np.mean([e.truncation_rms_ for e in found]))
        errors = math.sqrt(float(np.mean((view.predictions - view.test.Y) ** 2)))
        share = left / max(errors, np.finfo(float).tiny)
        modes = round(float(np.mean([e.n_modes_ for e in found])))
        told = (
            f"{modes} modes leave {left:.3g} out of the outputs (root mean square, "
            f"cross-validated), {percent(share)} of the candidate's error on the test runs"
        )
        noise = None
        if view.sigma is not None:
            noise = left / math.sqrt(float(np.mean(np.asarray(view.sigma) ** 2)))
            told += f" and {percent(noise)} of sigma"
        bad = share > self.max_share and (noise is None or noise > self.max_sigma)
        # A truncation above sigma is too much whatever the model adds to it.
        above = noise is not None and noise > 1.0
        return finding(
            self,
            "warn" if bad or above else "pass",
            f"{told}.",
            measured=noise if above and not bad else share,
            threshold=1.0 if above and not bad else self.max_share,
            cause="Too few modes: all methods behind them share this error, and their differences "
            "disappear in it."
            if bad or above
            else "",
            fix=(
                f"Keep more modes (--modes {2 * modes}), or leave their number to the rule.",
                "Give --sigma: the truncation is then brought to a tenth of it.",
            )
            if bad or above
            else (),
        )


@dataclasses.dataclass(frozen=True)
class IntervalsDoNotHold:
    """Calibrated intervals hold another share of the test runs than they promise (S12).

    Attributes
    ----------
    confidence : float [-]
        Of the band around 95 % in which the share lies if the intervals are right. Calibration and
        test runs are both few, so that it is beta-binomial [1]_; one false word in a hundred.

    References
    ----------
    .. [1] V. Vovk, Conditional validity of inductive conformal predictors, ACML 2012,
       proposition 2b.
    """

    code: ClassVar[str] = "S12"
    title: ClassVar[str] = "Calibrated intervals do not hold"
    severity: ClassVar[Literal["warn", "fail"]] = "warn"

    confidence: float = 0.99

    def __call__(self, view: SurrogateView) -> Finding:
        """Count the test runs inside their intervals."""
        if view.half_width is None:
            raise NotApplicable("The candidate has no calibrated intervals.")
        n = _calibration_runs(view)
        if not np.isfinite(view.half_width).all():
            return finding(
                self,
                "warn",
                f"Some intervals have no ends: {n} runs are too few to calibrate 95 % on.",
                measured=n,
                threshold=19,
                unit="runs",
                cause="With fewer than 19 runs the largest error is not large enough.",
                fix=("Give more runs.", "Or ask for a lower level (level=0.8)."),
            )
        inside = np.abs(view.predictions[0] - view.test.Y) <= view.half_width
        found = coverage(inside, level=LEVEL, n_calibration=n, confidence=self.confidence)
        low = found.estimate < found.low
        return finding(
            self,
            "pass" if found.inside else "warn",
            f"{percent(found.estimate)} of the test outputs are inside their intervals of "
            f"{percent(LEVEL)}; with {n:,} calibration and {len(inside):,} test runs, "
            f"{percent(found.low)} to {percent(found.high)} can be chance.",
            measured=found.estimate,
            threshold=found.high if found.estimate > found.high else found.low,
            cause=""
            if found.inside
            else "The test runs are not like the runs that the intervals were learned from: "
            "another region of the inputs (S03), or another version of the simulator."
            if low
            else "The intervals are wider than they need be: the models of the folds learned from "
            "fewer runs, or the calibration runs are the harder ones.",
            fix=()
            if found.inside
            else (
                "Calibrate on runs from the region of use.",
                "Inside and outside the domain need intervals of their own.",
            )
            if low
            else ("Calibrate again on more runs, with more folds.",),
        )


def _times(errors, spread) -> str:
    """Return the median over runs of error over spread (root mean squares over the outputs)."""
    each = np.sqrt(np.mean(errors**2, axis=1))
    wide = np.sqrt(np.mean(spread**2, axis=1))
    return f"{np.median(each / np.maximum(wide, np.finfo(float).tiny)):.2g} times"


def _interval(share: float, n: int) -> tuple[float, float]:
    """Return Clopper and Pearson's 95 % interval, for a share of n runs that need not be whole.

    The outputs of a run go together: the run is the unit, which is the wide side.
    """
    count = share * n
    low = stats.beta.ppf(0.025, count, n - count + 1.0) if count > 0 else 0.0
    high = stats.beta.ppf(0.975, count + 1.0, n - count) if count < n else 1.0
    return float(low), float(high)


def _calibration_runs(view: SurrogateView) -> int:
    if view.n_calibration is not None:
        return view.n_calibration
    if view.n_calibration is not None:
        return view.n_calibration
    for one in view.candidate:
        for estimator in insides(one):
            conformal = getattr(estimator, "conformal_", None)
            if conformal is not None:
                return int(conformal.n)
    return len(view.validation.X)
