"""Checks of the runs: too few, outside the domain, brought from outside."""

import dataclasses
import math
from typing import ClassVar, Literal

import numpy as np
from scipy import stats

from assay.checks import NotApplicable, finding
from assay.fingerprint import row_hashes
from assay.result import Finding
from assay.surrogate.checks_parts import by_unit, losses, rms_ratio
from assay.surrogate.domain import Domain
from assay.surrogate.view import SurrogateView
from assay.symptoms import percent

FEWEST = 3  # runs on a side, before an error is said of it


@dataclasses.dataclass(frozen=True)
class FewTestRuns:
    """Too few test runs to tell a difference of a tenth (S02).

    Attributes
    ----------
    least_runs : float [-]
        Independent test runs below which a warning is given whatever the gain: with fewer than 20,
        a 95 % interval is expected to miss less than one of them.
    max_half_width : float [-]
        Half width of the interval on the gain from which an undecided study says little (ours: the
        tenth that would matter to most).
    """

    code: ClassVar[str] = "S02"
    title: ClassVar[str] = "Too few test runs"
    severity: ClassVar[Literal["warn", "fail"]] = "warn"

    least_runs: float = 20.0
    max_half_width: float = 0.1

    def __call__(self, view: SurrogateView) -> Finding:
        """Count independent runs, and look at the interval on the gain."""
        groups, X = view.test.groups, view.test.X
        n = np.unique(row_hashes(X)).size if groups is None else np.unique(groups).size
        unit = "runs with inputs of their own" if groups is None else "groups of runs"
        half, decided, told = self._width(view)
        few, wide = n < self.least_runs, half > self.max_half_width and not decided
        told = f"The test part holds {n:,} {unit}{told}."
        if not (few or wide):
            return finding(self, "pass", told, measured=n, threshold=self.least_runs, unit="runs")
        needed = self.least_runs
        if wide and math.isfinite(half):
            # The width falls with the root of the number of runs.
            needed = max(needed, n * (half / self.max_half_width) ** 2)
        amount = f"about {math.ceil(needed):,} test runs"
        if wide and not math.isfinite(half):  # no root law without a width
            amount = f"several times as many test runs as these {n:,}: how many cannot be said"
        return finding(
            self,
            "warn",
            told + (" The study cannot tell a difference of a tenth." if wide else ""),
            measured=n if few else half if math.isfinite(half) else None,
            threshold=self.least_runs if few else self.max_half_width,
            unit="runs" if few else "-",
            interval=None,
            cause="Too few runs were set aside for the test, or a few of them carry most of the "
            "error.",
            fix=(
                f"Give {amount} (--test, from a design of their own).",
                "Or take the verdict as it is: its interval counts how few they are."
                if decided
                else "Or accept that methods this close cannot be told apart, and take the simpler "
                "one.",
            ),
        )

    def _width(self, view) -> tuple[float, bool, str]:
        """Return the half width of the gain, whether its sign is decided, and words for it."""
        gain = view.gain
        if gain is None:
            return 0.0, True, ""
        half = 0.5 * (gain.high - gain.low)
        half = half if math.isfinite(half) else math.inf
        decided = gain.low > 0.0 or gain.high < 0.0
        low, high = (_signed(end) for end in (gain.low, gain.high))
        if math.isfinite(half):
            return half, decided, f", which put the gain over {gain.against} at {low} to {high}"
        if gain.high < 1.0:
            return half, decided, f", which put the gain over {gain.against} at {high} or less"
        # No gain is above 100 %: such an end says nothing.
        return half, decided, f", which put no bound on the gain over {gain.against}"


@dataclasses.dataclass(frozen=True)
class OutsideDomain:
    """Test runs outside of what was learned from (S03).

    Attributes
    ----------
    max_share : float [-]
        Share of test runs outside the domain of the fit that may pass. The density alone refuses
        1 % of runs of the same distribution, and a box estimated from the runs some more (ours).
    max_p : float [-]
        Chance of so many outside if the test runs came from the distribution of the validation
        runs (Fisher's exact test), below which they do not (ours: one false word in a hundred).
    """

    code: ClassVar[str] = "S03"
    title: ClassVar[str] = "Test runs outside the domain"
    severity: ClassVar[Literal["warn", "fail"]] = "warn"

    max_share: float = 0.05
    max_p: float = 0.01

    def __call__(self, view: SurrogateView) -> Finding:
        """Count test runs outside, and compare the error there with that inside."""
        domain = Domain.fit(view.fit.X)
        outside = ~domain.inside(view.test.X)
        n, count = len(outside), int(outside.sum())
        held = ~domain.inside(view.validation.X)
        table = [[count, n - count], [int(held.sum()), int((~held).sum())]]
        p = float(stats.fisher_exact(table, alternative="greater").pvalue)
        share = count / n
        bad = share > self.max_share and p < self.max_p
        told = (
            f"{count:,} of {n:,} test runs ({percent(share)}) are outside the domain of the runs "
            f"that were learned from, against {percent(float(held.mean()))} of the validation runs"
        )
        told += self._growth(view, outside)
        if share > self.max_share and not bad:
            told += f"; more than {percent(self.max_share)}, but beside the validation runs no news"
        return finding(
            self,
            "warn" if bad else "pass",
            told + "." + (self._where(view, domain) if bad else ""),
            measured=share,
            threshold=self.max_share,
            interval=_clopper(count, n),
            cause="The test design reaches further than the design that was learned from: "
            "a surrogate interpolates, and what it says outside is a guess."
            if bad
            else "",
            fix=(
                "Run the simulator in the region of use, and learn from these runs too.",
                "Use the surrogate inside its domain only: `predict(X, return_valid=True)` says "
                "where that is.",
                "Judge it by the error inside and outside, not by the average.",
            )
            if bad
            else (),
        )

    def _growth(self, view, outside) -> str:
        if min(outside.sum(), (~outside).sum()) < FEWEST:
            return ""
        each = losses(view, view.predictions, view.test.Y).mean(axis=0)
        groups = view.test.groups
        sides = [
            by_unit(each[part], None if groups is None else groups[part])
            for part in (outside, ~outside)
        ]
        ratio, low, high = rms_ratio(*sides)
        ends = f" ({low:.2g} to {high:.2g})" if math.isfinite(high) else ""
        return f"; the error there is {ratio:.2g}{ends} times that inside"

    def _where(self, view, domain) -> str:
        X = view.test.X
        share = ((domain.low > X) | (domain.high < X)).mean(axis=0)
        named = [
            f"{view.test.inputs[j]} ({percent(share[j])} of runs, learned from "
            f"{domain.low[j]:.4g} to {domain.high[j]:.4g})"
            for j in np.argsort(-share)[:3]
            if share[j] > self.max_share
        ]
        if not named:
            return " They lie between the runs, but further from them than these from each other."
        return f" Beyond the range: {', '.join(named)}."


@dataclasses.dataclass(frozen=True)
class Unchecked:
    """What was brought from outside could not be checked in full (S13)."""

    code: ClassVar[str] = "S13"
    title: ClassVar[str] = "What could not be checked"
    severity: ClassVar[Literal["warn", "fail"]] = "warn"

    def __call__(self, view: SurrogateView) -> Finding:
        """List what the candidate says could not be checked."""
        told = dict.fromkeys(
            text for e in view.candidate for text in getattr(e, "unchecked", None) or ()
        )
        if view.fit_predictions is None and not told:
            told["The predictions were made elsewhere: how, and from which runs, is not known."] = (
                None
            )
        if not told:
            raise NotApplicable("The candidate was fitted in this study, on the fit part alone.")
        return finding(
            self,
            "warn",
            " ".join(told),
            cause="What was brought was made outside this study.",
            fix=(
                "Bring an object with `fit` and `predict`: the study then fits it on the fit part.",
                "Or make sure, by the records, that it has seen none of the test runs.",
            ),
        )


def _signed(share: float) -> str:
    """Return a gain in per cent, with its sign: ``"+12 %"``; of three digits and more, whole."""
    value = 100.0 * share
    text = f"{value:+,.2g} %" if abs(value) < 100.0 else f"{value:+,.0f} %"
    return text.replace("-", "\N{MINUS SIGN}")


def _clopper(count: int, n: int) -> tuple[float, float]:
    """Return the exact 95 % interval on a share."""
    low = stats.beta.ppf(0.025, count, n - count + 1) if count else 0.0
    high = stats.beta.ppf(0.975, count + 1, n - count) if count < n else 1.0
    return float(low), float(high)
