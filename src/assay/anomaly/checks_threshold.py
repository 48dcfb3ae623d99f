"""Checks of the threshold and of what happens at it."""

import dataclasses
import math
from typing import ClassVar, Literal

import numpy as np
from scipy import stats

from assay.anomaly.metrics import auc, rate
from assay.anomaly.threshold import minimum_rows
from assay.anomaly.view import AnomalyView, Judged
from assay.checks import NotApplicable, finding
from assay.result import Finding
from assay.symptoms import percent


def need_labels(view: AnomalyView) -> np.ndarray:
    """Return the labels of the test rows, or say that the check needs both kinds of them."""
    labels = view.test.labels
    if labels is None:
        raise NotApplicable("The test rows have no labels.")
    if not labels.any() or labels.all():
        raise NotApplicable("The test rows are all of one kind.")
    return labels


def rows_for(alpha: float, factor: float) -> int:
    """Return the rows that keep the realised rate within `factor` of `alpha`, 95 % sure.

    Examples
    --------
    >>> rows_for(0.05, 2.0), rows_for(0.01, 2.0)
    (219, 1099)
    """
    for k in range(1, 100_000):
        n = math.ceil(k / alpha - 1e-9) - 1
        law = stats.beta(k, n + 1 - k)
        if n >= k and law.ppf(0.025) >= alpha / factor and law.ppf(0.975) <= alpha * factor:
            return n
    return math.ceil(100_000 / alpha)


@dataclasses.dataclass(frozen=True)
class FewThresholdRows:
    """The realised false-alarm rate may be far from the asked one (A01).

    Attributes
    ----------
    max_factor : float [-]
        How far the 95 % interval on the realised rate may reach from the asked one. Half to
        double is what docs/how-to-choose.md tabulates; the law is Beta(k, n + 1 - k) [1]_.
    minimum_multiple : float [-]
        Least number of (effective) rows, in units of the bare minimum 1 / alpha - 1 (ours: at the
        minimum the threshold is simply the largest score).

    References
    ----------
    .. [1] V. Vovk, Conditional validity of inductive conformal predictors, ACML 2012,
       proposition 2b.
    """

    code: ClassVar[str] = "A01"
    title: ClassVar[str] = "Threshold from too few rows"
    severity: ClassVar[Literal["warn", "fail"]] = "warn"

    max_factor: float = 2.0
    minimum_multiple: float = 2.0

    def __call__(self, view: AnomalyView) -> Finding:
        """Compare the interval on the realised rate with the asked rate, in the worst run."""
        asked = view.false_alarm_rate
        worst = min((j.threshold for j in view.candidate), key=lambda t: t.n_effective)
        tau = worst.n / worst.n_effective
        # Of untied scores: ties at the threshold lower the rate, whatever the number of rows.
        law = stats.beta(worst.k / tau, (worst.n + 1 - worst.k) / tau)
        low, high = float(law.ppf(0.025)), float(law.ppf(0.975))
        factor = max(high / asked, asked / max(low, 1e-12))
        needed = math.ceil(
            tau * max(rows_for(asked, self.max_factor), self.minimum_multiple * minimum_rows(asked))
        )
        few = worst.n_effective < self.minimum_multiple * minimum_rows(asked)
        worth = (
            f" (worth about {worst.n_effective:,.0f} independent ones, since neighbouring rows "
            "resemble each other)"
            if worst.n_effective < 0.9 * worst.n
            else ""
        )
        sentence = (
            f"The threshold rests on {worst.n:,} held-out normal rows{worth}: asked were "
            f"{percent(asked)} false alarms, realised may be anything from {percent(low)} to "
            f"{percent(high)}."
        )
        bad = few or factor > self.max_factor
        return finding(
            self,
            "warn" if bad else "pass",
            sentence,
            measured=factor if factor < 100 else None,  # above: the interval reaches down to 0
            threshold=self.max_factor,
            unit="times the asked rate",
            cause="Too few normal rows for a rate this small." if bad else "",
            fix=(
                f"Give about {needed:,} held-out normal rows for the threshold.",
                "Or ask for a higher false-alarm rate.",
            )
            if bad
            else (),
        )


@dataclasses.dataclass(frozen=True)
class AnomaliesLookNormal:
    """AUC promises what the threshold does not keep (A07).

    Attributes
    ----------
    least_auc, least_detection : float [-]
        A detector ranks well from an AUC of 0.9, and misses too much below 70 % detection (ours;
        the case they were chosen on has AUC 0.952 and detects 58 % at 4 % false alarms).
    """

    code: ClassVar[str] = "A07"
    title: ClassVar[str] = "Anomalies that look normal"
    severity: ClassVar[Literal["warn", "fail"]] = "warn"

    least_auc: float = 0.9
    least_detection: float = 0.7

    def __call__(self, view: AnomalyView) -> Finding:
        """Compare the mean AUC with the mean detection at the threshold."""
        labels = need_labels(view)
        area = float(np.mean([auc(j.test, labels).estimate for j in view.candidate]))
        found = [rate(j.threshold.alarms(j.test)[labels], units=view.blocks[labels])
                 for j in view.candidate]  # fmt: skip
        detected = float(np.mean([r.estimate for r in found]))
        interval = tuple(
            float(np.mean([getattr(r, end) for r in found])) for end in ("low", "high")
        )
        sentence = (
            f"AUC is {area:.3f}, and at the threshold {percent(detected)} of the "
            f"{int(labels.sum()):,} anomalous test rows alarm ({percent(interval[0])} to "
            f"{percent(interval[1])})."
        )
        bad = area >= self.least_auc and detected < self.least_detection
        if bad:
            sentence += " The AUC averages over thresholds that nobody would run."
        return finding(
            self,
            "warn" if bad else "pass",
            sentence,
            measured=detected,
            threshold=self.least_detection,
            interval=interval,
            cause="Some anomalies score like normal rows: they lie within what the detector can "
            "reconstruct, or the faults are weak."
            if bad
            else "",
            fix=(
                "Judge the detector by its detection at the threshold, and by kind of anomaly.",
                "Compare with the nearest-neighbour distance and with PCA Q in the table.",
                "Give columns, or windows of the series, in which these faults show.",
                "Accept more false alarms if missing a fault is dearer.",
            )
            if bad
            else (),
        )


@dataclasses.dataclass(frozen=True)
class SeedSpread:
    """Luck with the seed is larger than the gain (A11).

    Attributes
    ----------
    ignore_below : float [-]
        Differences between seeds that nobody would act on: two points of detection (ours).
    """

    code: ClassVar[str] = "A11"
    title: ClassVar[str] = "Spread between seeds"
    severity: ClassVar[Literal["warn", "fail"]] = "warn"

    ignore_below: float = 0.02

    def __call__(self, view: AnomalyView) -> Finding:
        """Compare the range over seeds with the lead over the best baseline."""
        labels = need_labels(view)
        if len(view.candidate) < 2:
            raise NotApplicable("The candidate was fitted with one seed only.")
        if not view.baselines:
            raise NotApplicable("There is no baseline to lead.")

        def worth(judged: Judged) -> float:
            """Return detection less false alarms: one minus the loss of the verdict."""
            alarms = judged.threshold.alarms(judged.test)
            return float(alarms[labels].mean() - alarms[~labels].mean())

        ours = [worth(j) for j in view.candidate]
        best = max(view.baselines, key=worth)
        spread, lead = max(ours) - min(ours), float(np.mean(ours)) - worth(best)
        # Rounding must not decide where both are the same number of rows.
        bad = spread > self.ignore_below + 1e-12 and 0.0 < lead < spread - 1e-12
        sentence = (
            f"Over {len(ours)} seeds, detection less false alarms runs from {min(ours):.3f} to "
            f"{max(ours):.3f}; the mean is {abs(lead):.3f} {'above' if lead > 0 else 'below'} that "
            f"of {best.name}, the best baseline."
        )
        return finding(
            self,
            "warn" if bad else "pass",
            sentence + (" Another seed might lose." if bad else ""),
            measured=spread,
            threshold=max(lead, self.ignore_below) if lead > 0.0 else None,
            cause="The result of training depends on the initial weights and on the order of rows."
            if bad
            else "",
            fix=(
                "Run more seeds (--seeds 10), and choose none of them by its test result.",
                "Train longer, or average the scores of several networks.",
            )
            if bad
            else (),
        )
