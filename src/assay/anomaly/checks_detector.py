"""Checks of the detector on trial: collapsed, copying, or no more than a norm."""

import dataclasses
from collections.abc import Callable
from typing import Any, ClassVar, Literal

import numpy as np
from scipy import stats

from assay.anomaly.metrics import distinct_share
from assay.anomaly.ranking import auc_difference
from assay.anomaly.row_norm import RowNorm
from assay.anomaly.view import AnomalyView
from assay.checks import NotApplicable, finding
from assay.errors import AssayError
from assay.fingerprint import row_hashes
from assay.result import Finding
from assay.symptoms import MOST_ROWS, copy_errors, percent, some, some_of
from assay.training_end import LateFall, training_finding


@dataclasses.dataclass(frozen=True)
class Collapsed:
    """The detector gives (nearly) all rows the same score, or never learnt (A04).

    Attributes
    ----------
    least_distinct : float [-]
        Distinct scores per distinct row. A detector over real numbers reaches 1; the collapsed
        ones known in the field gave one score to whole tables (ours: half is far from both).
    """

    code: ClassVar[str] = "A04"
    title: ClassVar[str] = "Collapsed detector"
    severity: ClassVar[Literal["warn", "fail"]] = "fail"

    least_distinct: float = 0.5

    def __call__(self, view: AnomalyView) -> Finding:
        """Count distinct scores, and compare with the untrained network."""
        rows = some_of(len(view.test.X), MOST_ROWS, np.random.default_rng(view.seed))
        X = view.test.X[rows]
        different = np.unique(row_hashes(X)).size
        if different < 10:
            raise NotApplicable("Fewer than 10 different test rows.")
        scores = np.array([j.test[rows] for j in view.candidate])
        share = min(distinct_share(row) * len(rows) / different for row in scores)
        share = min(share, 1.0)
        count = round(share * different)
        said = f"The {different:,} different test rows have {count:,} different scores"
        measured = {"measured": share, "threshold": self.least_distinct}
        if share < self.least_distinct:
            return self._few(view, said, measured, only=count)
        untrained = self._untrained(view, X)
        if untrained is None:
            return finding(self, "pass", f"{said}.", **measured)
        if any(
            np.allclose(a, b, rtol=1e-6, atol=0.0) for a, b in zip(scores, untrained, strict=True)
        ):
            return finding(
                self,
                "fail",
                "The trained network scores every test row as the untrained one does: its "
                "parameters did not move.",
                measured=0.0,
                threshold=0.0,
                cause="Training did not run, or its steps were thrown away.",
                fix=(
                    "Check that the loss falls in the report's curve.",
                    "Raise the learning rate.",
                ),
            )
        return self._against_untrained(view, rows, scores, untrained, said, measured)

    def _few(self, view, said, measured, *, only) -> Finding:
        """Tell a rule with a few levels, which may be sound, from a dead network."""
        network = any(hasattr(j.estimator, "untrained_score") for j in view.candidate)
        dead = only <= 1 or network
        return finding(
            self,
            "fail" if dead else "warn",
            f"{said}: "
            + ("the detector has collapsed." if dead else "it cannot rank rows finely."),
            **measured,
            cause="The network maps all rows to one point (a constant is an easy optimum), or all "
            "its units are dead."
            if dead
            else "A rule with a few levels, or scores that were rounded.",
            fix=(
                "Lower the learning rate, use an activation with a slope everywhere, train again.",
                "Check the scaling: one column with a huge range can hide all others.",
            )
            if dead
            else ("Hand over the scores before rounding or thresholding.",),
        )

    def _untrained(self, view, X) -> np.ndarray | None:
        able = [getattr(j.estimator, "untrained_score", None) for j in view.candidate]
        if not all(map(callable, able)):
            return None
        try:
            return np.array([np.asarray(score(X), dtype=np.float64) for score in able])
        except AssayError:
            return None  # A loaded model no longer has the weights before training.

    def _against_untrained(self, view, rows, scores, untrained, said, measured) -> Finding:
        labels = view.test.labels
        if labels is None or not labels[rows].any() or labels[rows].all():
            return finding(self, "pass", f"{said}.", **measured)
        ours, theirs, low, high = auc_difference(
            scores, untrained, labels[rows], units=view.blocks[rows]
        )
        told = (
            f"{said}; AUC is {ours:.3f} after training and {theirs:.3f} before it (difference "
            f"{low:+.3f} to {high:+.3f})"
        )
        if low > 0.0:
            return finding(self, "pass", f"{told}.", **measured)
        return finding(
            self,
            "warn",
            f"{told}: training has not been shown to help.",
            measured=ours - theirs,
            threshold=0.0,
            interval=(low, high),
            cause="The score follows what is there before training, such as the size of the row; "
            "or there are too few anomalies to tell.",
            fix=(
                "Compare with the row norm in the table: a limit on each sensor may do the job.",
                "Train longer, or with a smaller code.",
            ),
        )


@dataclasses.dataclass(frozen=True)
class IdentityDetector:
    """The detector reconstructs whatever it is given, so that no fault stands out (A05).

    Attributes
    ----------
    least_noise_error : float [-]
        Error on uniform noise in the training box, as a share of the mean row's: an identity map
        is at 0, a code of k of d numbers at about 1 - k / d (ours: 0.1).
    least_ratio : float [-]
        Error on rows whose columns come from different rows, in units of the error on normal rows:
        at 1 the detector cannot tell them apart (ours: 1.1).
    """

    code: ClassVar[str] = "A05"
    title: ClassVar[str] = "Identity map"
    severity: ClassVar[Literal["warn", "fail"]] = "warn"

    least_noise_error: float = 0.1
    least_ratio: float = 1.1

    def __call__(self, view: AnomalyView) -> Finding:
        """Reconstruct noise and mixed rows."""
        able = [reconstruct_of(j.estimator) for j in view.candidate]
        if any(f is None for f in able):
            raise NotApplicable("The candidate does not score by reconstruction.")
        if view.fit.X.shape[1] < 2:
            raise NotApplicable("There is one column only: nothing holds columns together.")
        try:
            found = [copy_errors(f, view.fit.X, view.calibration.X, view.seed) for f in able]
        except AssayError as reason:
            raise NotApplicable(f"The candidate reconstructs no other rows: {reason}") from None
        noise = float(np.mean([f.noise for f in found]))
        ratio = float(np.mean([f.ratio for f in found]))
        blind = ratio < self.least_ratio
        said = (
            f"On uniform noise the error is {percent(noise)} of the variance, and rows with "
            f"columns from different rows have {ratio:.2g} times the error of normal rows"
        )
        if noise < self.least_noise_error:
            return finding(
                self,
                "warn",
                f"{said}: it copies what it is given, faults included.",
                measured=noise,
                threshold=self.least_noise_error,
                cause="The code is not smaller than the row, or the network is so large that it "
                "learnt the identity.",
                fix=(
                    "Make the code smaller than the number of columns.",
                    "Use the denoising autoencoder.",
                ),
            )
        if blind:
            return finding(
                self,
                "warn",
                f"{said}: it knows nothing about how columns belong together.",
                measured=ratio,
                threshold=self.least_ratio,
                unit="times the normal error",
                cause="The network answers with the mean row, or the columns are unrelated.",
                fix=(
                    "Train longer, or with a larger code, and look at the loss curve.",
                    "If the columns are unrelated, a limit on each of them is the right detector.",
                ),
            )
        return finding(self, "pass", f"{said}.", measured=noise, threshold=self.least_noise_error)


@dataclasses.dataclass(frozen=True)
class NothingOverNorm:
    """The score is the size of the row in disguise (A08).

    Attributes
    ----------
    max_correlation : float [-]
        Spearman's rank correlation with the norm of the standardised row from which the two are
        the same ranking. Published "PCA" and "VAE" scores were found at 0.99 (ours: 0.98).
    """

    code: ClassVar[str] = "A08"
    title: ClassVar[str] = "Nothing over the norm of the row"
    severity: ClassVar[Literal["warn", "fail"]] = "warn"

    max_correlation: float = 0.98

    def __call__(self, view: AnomalyView) -> Finding:
        """Correlate the ranks, and compare the AUCs where there are labels."""
        rng = np.random.default_rng(view.seed)
        rows = some_of(len(view.test.X), MOST_ROWS, rng)
        X = view.test.X[rows]
        if np.unique(row_hashes(X)).size < 10:
            raise NotApplicable("Fewer than 10 different test rows.")
        norm = RowNorm().fit(some(view.fit.X, MOST_ROWS, rng)).anomaly_score(X)
        scores = np.array([j.test[rows] for j in view.candidate])
        if any(np.ptp(row) == 0 for row in scores) or np.ptp(norm) == 0:
            raise NotApplicable("All scores are equal: see A04.")
        same = float(np.mean([stats.spearmanr(row, norm).statistic for row in scores]))
        said = f"The ranks of the scores correlate at {same:.3f} with the norm of the row"
        fix = (
            "Use the row norm, or a limit on each sensor: it costs nothing and needs no training.",
            "Give the network a smaller code, or more normal rows, and compare again.",
        )
        if same >= self.max_correlation:
            return finding(
                self,
                "warn",
                f"{said}: it is the same ranking.",
                measured=same,
                threshold=self.max_correlation,
                cause="The error of a network that has learnt little grows with the distance from "
                "the mean.",
                fix=fix,
            )
        labels = view.test.labels
        if labels is None or not labels[rows].any() or labels[rows].all():
            return finding(self, "pass", f"{said}.", measured=same, threshold=self.max_correlation)
        ours, theirs, low, high = auc_difference(
            scores, norm, labels[rows], units=view.blocks[rows]
        )
        told = (
            f"{said}; AUC is {ours:.3f} against {theirs:.3f} for the norm (difference "
            f"{low:+.3f} to {high:+.3f})"
        )
        nothing = low <= 0.0
        return finding(
            self,
            "warn" if nothing else "pass",
            f"{told}: no more than chance." if nothing and high > 0 else f"{told}.",
            measured=ours - theirs,
            threshold=0.0,
            interval=(low, high),
            cause="These anomalies show in the size of single readings, and not in how columns "
            "belong together; or there are too few of them to tell."
            if nothing
            else "",
            fix=fix if nothing else (),
        )


@dataclasses.dataclass(frozen=True)
class TrainingNotFinished:
    """Training broke down (fail) or ended before the loss had ceased to fall (warn) (A09).

    Attributes
    ----------
    max_late_drop : float [-]
        Share of itself by which the training loss may fall from the middle of training to its end.
        Autoencoders that were trained to the end on real tables show 0.03 to 0.11 (ours: 0.15).
    max_late_share : float [-]
        The same fall as a share of the whole fall since the start, for losses that do not go to
        zero: 0.00 to 0.07 where more steps changed nothing, 0.18 where four times the steps took
        the AUC of a detector from 0.87 to 0.93 (ours: 0.1).
    """

    code: ClassVar[str] = "A09"
    title: ClassVar[str] = "Training not finished"
    severity: ClassVar[Literal["warn", "fail"]] = "fail"

    max_late_drop: float = 0.15
    max_late_share: float = 0.1

    def __call__(self, view: AnomalyView) -> Finding:
        """Read how each run ended."""
        most = LateFall(self.max_late_drop, self.max_late_share)
        return training_finding(self, [j.estimator for j in view.candidate], most=most)


@dataclasses.dataclass(frozen=True)
class Unchecked:
    """What was brought from outside could not be checked in full (A10)."""

    code: ClassVar[str] = "A10"
    title: ClassVar[str] = "What could not be checked"
    severity: ClassVar[Literal["warn", "fail"]] = "warn"

    def __call__(self, view: AnomalyView) -> Finding:
        """List what the candidate says could not be checked."""
        estimators = [j.estimator for j in view.candidate]
        if all(e is None for e in estimators):
            told: tuple[str, ...] = (
                "The scores were made elsewhere: how, and on which rows, could not be checked.",
            )
        else:
            told = tuple(
                dict.fromkeys(
                    text for e in estimators for text in getattr(e, "unchecked", None) or ()
                )
            )
        if not told:
            raise NotApplicable("The candidate was fitted in this study, on the fit part alone.")
        return finding(
            self,
            "warn",
            " ".join(told),
            cause="What was brought was made outside this study.",
            fix=(
                "Bring an object with `fit` and a score: the study then fits it on the fit part.",
                "Or make sure, by the records, that it has seen none of the test rows.",
            ),
        )


def reconstruct_of(estimator: Any) -> Callable | None:
    """Return the estimator's way from rows to reconstructed rows, if it has one."""
    found = getattr(estimator, "reconstruct", None)
    return found if callable(found) else None
