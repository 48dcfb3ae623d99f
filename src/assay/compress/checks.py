"""The known failures of compressing networks, and the order in which a report shows them."""

import dataclasses
from typing import ClassVar, Literal

import numpy as np

from assay.checks import NotApplicable, finding
from assay.compress.view import CompressView
from assay.result import Finding
from assay.shared_rows import leak_finding
from assay.symptoms import MOST_ROWS, copy_errors, percent, some
from assay.training_end import LateFall, training_finding
from assay.verdict import paired_gain


@dataclasses.dataclass(frozen=True)
class IdentityMap:
    """The network copies its input instead of compressing it (C01).

    Attributes
    ----------
    least_noise_error : float [-]
        Noise holds nothing to learn, so that a code of k of d numbers must leave about 1 - k / d
        of its variance, and principal components leave that much [1]_. Half of it is our limit:
        a smooth map with such a code does not get there, a copy is at 0.
    certain_noise_error : float [-]
        Below a tenth of it no code of that size can be behind the rows: the study is invalid.

    References
    ----------
    .. [1] I. T. Jolliffe, Principal Component Analysis, 2nd ed., Springer 2002, section 2.1.
    """

    code: ClassVar[str] = "C01"
    title: ClassVar[str] = "Identity map"
    severity: ClassVar[Literal["warn", "fail"]] = "fail"

    least_noise_error: float = 0.5
    certain_noise_error: float = 0.1

    def __call__(self, view: CompressView) -> Finding:
        """Reconstruct noise and compare with what a code of this size must lose."""
        d, k = view.fit.shape[1], view.code_size
        able = [e for e in view.candidate if not getattr(e, "only_test", False)]
        found = [copy_errors(e.reconstruct, view.fit, view.validation, view.seed) for e in able]
        noise = float(np.mean([f.noise for f in found])) if found else None
        cure = (
            f"Choose a code smaller than the {d} columns: --code-size {max(d // 4, 1)} is a start.",
            "Add noise to the inputs in training (the denoising option).",
        )
        if k >= d:
            told = "" if noise is None else f" On pure noise the error is {percent(noise)}."
            return finding(
                self,
                "warn",
                f"The code of {k} numbers is not smaller than the {d} columns, so that nothing has "
                f"to be compressed.{told}",
                measured=noise,
                threshold=0.0,
                cause="An overcomplete network can copy every row, whatever is in it.",
                fix=cure,
            )
        if noise is None:
            raise NotApplicable("Only finished rows were brought: no other rows can be coded.")
        must = 1.0 - k / d
        limit = self.least_noise_error * must
        said = (
            f"On uniform noise the error is {percent(noise)} of the variance; a code of {k} of {d} "
            f"numbers has to leave about {percent(must)}"
        )
        if noise >= limit:
            return finding(self, "pass", f"{said}.", measured=noise, threshold=limit)
        return finding(
            self,
            "fail" if noise < self.certain_noise_error * must else "warn",
            f"{said}: it copies rows past its code.",
            measured=noise,
            threshold=limit,
            cause="Something carries the row around the code: a skip connection, or a code that is "
            "larger than was said.",
            fix=("Take out connections that go around the code.", *cure),
        )


@dataclasses.dataclass(frozen=True)
class DeadCode:
    """Numbers of the code that never move (C02).

    Attributes
    ----------
    least_share : float [-]
        Variance of a code dimension over validation rows, as a share of the largest. Units whose
        mean moves with a variance below 0.01 count as inactive where the scale is 1 [1]_; codes
        of a plain autoencoder have no such scale, and PCA's own last useful components are often
        at a few thousandths of the first, so the default is ten times stricter.

    References
    ----------
    .. [1] Y. Burda, R. Grosse, R. Salakhutdinov, Importance weighted autoencoders, ICLR 2016,
       section 5.1.
    """

    code: ClassVar[str] = "C02"
    title: ClassVar[str] = "Dead code dimensions"
    severity: ClassVar[Literal["warn", "fail"]] = "warn"

    least_share: float = 1e-3

    def __call__(self, view: CompressView) -> Finding:
        """Count code dimensions without variance, in the worst run."""
        able = [e for e in view.candidate if callable(getattr(e, "transform", None))]
        if not able:
            raise NotApplicable("The candidate shows no codes.")
        rows = some(view.validation, MOST_ROWS, np.random.default_rng(view.seed))
        dead, size = [], 0
        for estimator in able:
            try:
                codes = np.asarray(estimator.transform(rows), dtype=np.float64)
            except AttributeError:
                raise NotApplicable("The candidate shows no codes.") from None
            variance = codes.reshape(len(rows), -1).var(axis=0)
            size = variance.size
            still = variance <= self.least_share * variance.max()
            dead.append(np.flatnonzero(still) + 1)
        worst = max(dead, key=len)
        runs = f"in the worst of {len(dead)} runs" if len(dead) > 1 else "in its one run"
        if not len(worst):
            return finding(
                self,
                "pass",
                f"All {size} numbers of the code move with the rows.",
                measured=0,
                threshold=0,
                unit="of the code",
            )
        named = ", ".join(map(str, worst[:8])) + (" ..." if len(worst) > 8 else "")
        return finding(
            self,
            "warn",
            f"{len(worst)} of {size} numbers of the code do not move ({named}), {runs}: their "
            f"variance is below {self.least_share:g} of the largest. PCA at {size - len(worst)} "
            "numbers would be the fair comparison.",
            measured=len(worst),
            threshold=0,
            unit="of the code",
            cause="Units that died in training (ReLU without slope, a learning rate too large), or "
            "a code larger than the data need.",
            fix=(
                f"Ask for a code of {max(size - len(worst), 1)} numbers and compare again.",
                "Use an activation with a slope everywhere (tanh, GELU, SiLU).",
                "Lower the learning rate or the weight decay.",
            ),
        )


@dataclasses.dataclass(frozen=True)
class TrainingNotConverged:
    """Training broke down (fail) or ended before the loss had ceased to fall (warn) (C03).

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

    code: ClassVar[str] = "C03"
    title: ClassVar[str] = "Training not converged"
    severity: ClassVar[Literal["warn", "fail"]] = "fail"

    max_late_drop: float = 0.15
    max_late_share: float = 0.1

    def __call__(self, view: CompressView) -> Finding:
        """Read how each run ended."""
        return training_finding(
            self, view.candidate, most=LateFall(self.max_late_drop, self.max_late_share)
        )


@dataclasses.dataclass(frozen=True)
class NearlyLinear:
    """Principal components are enough for these rows (C04).

    Attributes
    ----------
    max_explained : float [-]
        Share of the variance that PCA keeps, from which nothing worth a network is left: a
        residual of 1 % is at the accuracy of common sensors (ours).
    least_gain : float [-]
        Gain in mean squared error below which the candidate is as good as PCA (ours: 5 % of the
        error is 2.5 % of its root).
    """

    code: ClassVar[str] = "C04"
    title: ClassVar[str] = "Data nearly linear"
    severity: ClassVar[Literal["warn", "fail"]] = "warn"

    max_explained: float = 0.99
    least_gain: float = 0.05

    def __call__(self, view: CompressView) -> Finding:
        """Compare PCA with the mean row, and the candidate with PCA, on the test rows."""
        floor = float(np.mean(view.floor_errors))
        if not floor > 0.0:
            raise NotApplicable("The test rows do not vary at all.")
        explained = 1.0 - float(np.mean(view.pca_errors)) / floor
        said = f"PCA with {view.code_size} components keeps {percent(explained)} of the variance"
        cause = "The columns are linked by laws that are nearly linear over the range of the data."
        fix = (
            "Use PCA: it is in closed form, has no seed and is easy to explain.",
            "If the little that is left matters, ask for a smaller code, where a curve can win.",
        )
        if explained >= self.max_explained:
            return finding(
                self,
                "warn",
                f"{said} of the test rows: hardly anything is left for a network to gain.",
                measured=explained,
                threshold=self.max_explained,
                cause=cause,
                fix=fix,
            )
        gain = paired_gain(view.candidate_errors, view.pca_errors, against="PCA")
        told = f"the candidate's mean squared error is {percent(abs(gain.estimate))} "
        told += "below PCA's" if gain.estimate > 0 else "above PCA's"
        unbounded = not np.isfinite([gain.low, gain.high]).all()
        as_good = gain.estimate < self.least_gain
        return finding(
            self,
            "warn" if as_good else "pass",
            f"{said}, and {told}." + (" PCA does as well." if as_good else ""),
            measured=gain.estimate,
            threshold=self.least_gain,
            interval=None if unbounded else (gain.low, gain.high),
            cause="" if not as_good else f"{cause} Or the network was not trained well: see C03.",
            fix=fix if as_good else (),
        )


@dataclasses.dataclass(frozen=True)
class LeakBetweenParts:
    """Test rows that were seen before the test, exactly or nearly (C05).

    Attributes
    ----------
    max_share : float [-]
        Share of leaked test rows beyond chance from which the study is invalid. 1 % (ours): a
        perfectly remembered per cent lowers a mean error by one per cent, less than any gain
        worth a network.
    tolerance : float [-]
        Near duplicates are closer than this share of the usual distance between neighbours
        (the default of `assay.leaks.leaks`).
    """

    code: ClassVar[str] = "C05"
    title: ClassVar[str] = "Leakage between parts"
    severity: ClassVar[Literal["warn", "fail"]] = "fail"

    max_share: float = 0.01
    tolerance: float = 0.05

    def __call__(self, view: CompressView) -> Finding:
        """Look for test rows among the rows of the fit and of the validation."""
        return leak_finding(
            self,
            (view.fit, view.validation),
            view.test,
            max_share=self.max_share,
            tolerance=self.tolerance,
            seed=view.seed,
        )


# A new check joins here; docs/checks has a page for each. The order is that of the report.
CHECKS = (
    IdentityMap(),
    DeadCode(),
    TrainingNotConverged(),
    NearlyLinear(),
    LeakBetweenParts(),
)
