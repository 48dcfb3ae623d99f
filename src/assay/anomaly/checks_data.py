"""Checks of the rows themselves: contamination, changed conditions, leakage."""

import dataclasses
import re
import shlex
from typing import ClassVar, Literal

import numpy as np
from scipy import stats

from assay.anomaly.metrics import rate
from assay.anomaly.separation import small_group
from assay.anomaly.threshold import Threshold
from assay.anomaly.view import AnomalyView, Judged
from assay.checks import NotApplicable, finding
from assay.result import Finding
from assay.shared_rows import LIKELY, SURE, leak_finding
from assay.symptoms import MOST_ROWS, percent, some


@dataclasses.dataclass(frozen=True)
class Contaminated:
    """Anomalies hide in the rows that were called normal (A02).

    Attributes
    ----------
    max_p : float [-]
        Chance of such a group in rows without one, all looks at the data counted: one false
        warning in a thousand studies.
    least_share : float [-]
        Smaller groups do no harm to a threshold at a few per cent (ours).
    max_share : float [-]
        Larger groups are an operating condition of their own and not a contamination (ours; below
        the 15 % that `assay.anomaly.separation` reaches for).
    """

    code: ClassVar[str] = "A02"
    title: ClassVar[str] = "Normal data contaminated"
    severity: ClassVar[Literal["warn", "fail"]] = "warn"

    max_p: float = 1e-3
    least_share: float = 0.01
    max_share: float = 0.12

    def __call__(self, view: AnomalyView) -> Finding:
        """Look for a small group of rows of the fit that lies apart from the others."""
        found = small_group(view.fit.X, max_share=self.max_share, seed=view.seed)
        if found is None:
            raise NotApplicable("Fewer than 100 normal rows to tell groups from.")
        if found.p >= self.max_p or found.share < self.least_share:
            return finding(
                self,
                "pass",
                f"No small group of rows lies apart from the others among {found.n:,} normal rows "
                "looked at.",
                measured=0.0,
                threshold=self.least_share,
            )
        count = found.rows.size
        low, high = stats.beta.ppf([0.025, 0.975], [count, count + 1],
                                   [found.n - count + 1, found.n - count])  # fmt: skip
        rows = view.fit.rows[found.rows]
        named = ", ".join(str(r) for r in rows[:4]) + (" ..." if rows.size > 4 else "")
        moved = _told(_moved(view.fit.X, view.fit.X[found.rows], view.columns, view.seed))
        return finding(
            self,
            "warn",
            f"{percent(found.share)} of the normal rows ({percent(low)} to {percent(high)}) form a "
            f"group apart from the others, e.g. rows {named}: {moved}.",
            measured=found.share,
            threshold=self.least_share,
            interval=(low, high),
            cause="Faults, start-ups or tests that were recorded as normal operation; or a rare "
            "operating condition.",
            fix=(
                "Look at the rows named; take them out if they are no normal operation.",
                "If they are a rare normal condition, record more of it.",
                "A detector that learnt them as normal will not alarm on the like.",
            ),
        )


@dataclasses.dataclass(frozen=True)
class ConditionShifted:
    """Normal test rows alarm more often than the threshold promises (A03).

    Attributes
    ----------
    max_p, warn_p : float [-]
        Chance of as many false alarms if nothing has changed, below which the study is invalid, or
        a warning is given. Alarms among m new rows follow a beta-binomial law with the k-th of n
        calibration scores as threshold [1]_.
    least_factor : float [-]
        Times the asked rate from which the study may be invalid (ours: a rate within double of the
        asked one is what docs/how-to-choose.md calls supported).

    References
    ----------
    .. [1] V. Vovk, Conditional validity of inductive conformal predictors, ACML 2012,
       proposition 2b.
    """

    code: ClassVar[str] = "A03"
    title: ClassVar[str] = "Operating condition shifted"
    severity: ClassVar[Literal["warn", "fail"]] = "fail"

    max_p: float = SURE
    warn_p: float = LIKELY
    least_factor: float = 2.0

    def __call__(self, view: AnomalyView) -> Finding:
        """Compare the false alarms of every method with their predictive band."""
        labels, asked = view.test.labels, view.false_alarm_rate
        normal = np.ones(len(view.test.X), bool) if labels is None else ~labels
        if not normal.any():
            raise NotApplicable("There are no normal rows among the test rows.")
        m = int(normal.sum())
        units = _groups(view, normal)
        shares = [float(j.threshold.alarms(j.test[normal]).mean()) for j in view.candidate]
        share = float(np.mean(shares))
        threshold = view.candidate[0].threshold
        p = _chance(share, m, threshold)
        sure = _chance(share, m if units is None else min(m, units), threshold)
        band = _band(m, threshold, self.warn_p)
        far = sure < self.max_p and share >= self.least_factor * asked
        others = [j for j in view.baselines if self._far(j, normal, m, units, asked)]
        outcome = "pass"
        if far and labels is not None:
            outcome = "fail"
        elif far or (labels is not None and (p < self.warn_p or others)):
            outcome = "warn"
        moved, tail = (), ""
        if outcome != "pass":
            moved = _moved(view.fit.X, view.test.X[normal], view.columns, view.seed)
            told = _told(moved)
            tail = f" {told[0].upper()}{told[1:]}."
        shown = rate(
            view.candidate[0].threshold.alarms(view.candidate[0].test[normal]),
            units=view.blocks[normal],
        )
        return finding(
            self,
            outcome,
            self._sentence(view, m, share, band, others, far=far) + tail,
            measured=share,
            threshold=max(band, self.least_factor * asked) if labels is None else band,
            interval=(min(shown.low, share), max(shown.high, share)),
            cause=""
            if outcome == "pass"
            else "The plant ran under other conditions (load, temperature, season, another unit, a "
            "recalibrated sensor) when the test rows were recorded"
            + ("." if labels is not None else ", or many of these rows are faults."),
            fix=()
            if outcome == "pass"
            else (
                "Give normal rows from the conditions of the test, e.g. the first rows of each "
                "file (--normal-rows).",
                "Recalibrate the threshold on held-out normal rows of the new condition.",
                "Leave out columns that only follow the condition and carry no sign of a fault "
                f"(--drop{' ' + shlex.quote(moved[0].name) if moved else ''}).",
            ),
        )

    def _far(self, judged: Judged, normal, m, units, asked) -> bool:
        share = float(judged.threshold.alarms(judged.test[normal]).mean())
        p = _chance(share, m if units is None else min(m, units), judged.threshold)
        return p < self.max_p and share >= self.least_factor * asked

    def _sentence(self, view, m, share, band, others, *, far) -> str:
        asked, labelled = view.false_alarm_rate, view.test.labels is not None
        what = "normal test rows" if labelled else "test rows"
        text = (
            f"{percent(share)} of {m:,} {what} alarm, where {percent(asked)} were asked and up to "
            f"{percent(band)} can be chance"
        )
        methods = 1 + len(view.baselines)
        named = ", ".join(j.name for j in others)
        if others and far:
            text += (
                f"; the same holds for {len(others)} of {len(view.baselines)} baselines ({named})"
            )
        elif others:
            text += (
                f"; but {named} alarm{'s' if len(others) == 1 else ''} far more often than asked"
            )
        text += "."
        if not labelled and far:
            text += " Without labels this may be faults or a changed operating condition."
        elif far and len(others) + 1 >= 0.75 * methods:
            text += " Nearly every method alarms on normal rows: the operating condition has"
            text += " changed, and detection means nothing here."
        elif far:
            text += " The threshold does not hold on these rows."
        return text


@dataclasses.dataclass(frozen=True)
class TrainingRowsInTest:
    """Test rows that detector or threshold have seen, exactly or nearly (A06).

    Attributes
    ----------
    max_share : float [-]
        Share of leaked test rows beyond chance from which the study is invalid (ours: one row in a
        hundred can move a false-alarm rate by a point).
    tolerance : float [-]
        Near duplicates are closer than this share of the usual distance between neighbours
        (the default of `assay.leaks.leaks`).
    """

    code: ClassVar[str] = "A06"
    title: ClassVar[str] = "Training rows in the test part"
    severity: ClassVar[Literal["warn", "fail"]] = "fail"

    max_share: float = 0.01
    tolerance: float = 0.05

    def __call__(self, view: AnomalyView) -> Finding:
        """Look for test rows among the rows of the fit and of the calibration."""
        return leak_finding(
            self,
            (view.fit.X, view.calibration.X),
            view.test.X,
            max_share=self.max_share,
            tolerance=self.tolerance,
            seed=view.seed,
            rows=(np.concatenate([view.fit.rows, view.calibration.rows]), view.test.rows),
        )


def _groups(view: AnomalyView, normal: np.ndarray) -> int | None:
    """Return the number of groups among the normal test rows, or None where rows count."""
    if view.test.times is not None:
        return None  # The correlation time of the calibration rows says what a series is worth.
    units = np.unique(view.blocks[normal]).size
    return units if units < normal.sum() else None


def _effective(m: int, threshold: Threshold) -> tuple[float, float, int]:
    # Correlation as in the calibration rows: a shift itself would show as correlation in the test.
    tau = threshold.n / threshold.n_effective
    rows = min(max(1, round(m / tau)), MOST_ROWS)
    return threshold.k / tau, (threshold.n + 1 - threshold.k) / tau, rows


def _chance(share: float, m: float, threshold: Threshold) -> float:
    """Return the chance of at least this share of alarms among `m` rows if nothing has changed."""
    a, b, rows = _effective(m, threshold)
    return float(stats.betabinom.sf(np.ceil(share * rows - 1e-9) - 1, rows, a, b))


def _band(m: float, threshold: Threshold, tail: float) -> float:
    a, b, rows = _effective(m, threshold)
    return float(stats.betabinom.ppf(1.0 - tail, rows, a, b)) / rows


@dataclasses.dataclass(frozen=True)
class _Moved:
    """A column whose median has moved, in robust standard deviations of the rows before."""

    name: str
    before: float
    after: float
    shift: float


def _moved(before: np.ndarray, after: np.ndarray, columns, seed: int) -> tuple[_Moved, ...]:
    """Return the (at most three) columns that have moved most, and by more than one spread."""
    rng = np.random.default_rng(seed)
    before, after = some(before, MOST_ROWS, rng), some(after, MOST_ROWS, rng)
    low, middle, high = np.percentile(before, [25, 50, 75], axis=0)
    now = np.median(after, axis=0)
    # 1.349 standard deviations of Gaussian rows lie between the quartiles.
    spread = (high - low) / 1.349
    spread = np.where(spread > 0, spread, before.std(axis=0, dtype=np.float64))
    change = np.abs(now - middle)
    with np.errstate(divide="ignore", invalid="ignore"):
        shift = np.where(change > 0, change / spread, 0.0)
    found: dict[str, _Moved] = {}
    for j in np.argsort(-shift):
        # In windows a column occurs once a row of the window; it is named once.
        name = re.sub(r" \[-\d+\]$", "", columns[j]) if columns else f"column {j + 1}"
        if shift[j] < 1.0 or len(found) == 3:
            break
        found.setdefault(name, _Moved(name, middle[j], now[j], float(shift[j])))
    return tuple(found.values())


def _told(moved: tuple[_Moved, ...]) -> str:
    if not moved:
        return "no single column has moved by more than its usual spread"
    parts = [
        f"{m.name} from {m.before:.4g} to {m.after:.4g} "
        + (f"({m.shift:.1f} spreads)" if np.isfinite(m.shift) else "(was constant before)")
        for m in moved
    ]
    return f"the columns that moved most: {', '.join(parts)}"
