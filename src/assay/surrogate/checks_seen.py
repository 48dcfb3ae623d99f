"""The check for test runs that were learned from."""

import dataclasses
from typing import Any, ClassVar, Literal

import numpy as np
from scipy import stats

from assay.checks import finding
from assay.fingerprint import row_hashes
from assay.result import Finding
from assay.shared_rows import leak_finding
from assay.surrogate.transforms import transform_named
from assay.surrogate.view import SurrogateView
from assay.symptoms import percent

FEWEST_RELATED = 4  # repeats from which a straight line through their outputs says something
SURE = 0.005  # chance on either side that differences which are noise are not taken for it


@dataclasses.dataclass(frozen=True, eq=False)
class Repeats:
    """Test runs with the very inputs of runs that were learned from.

    Attributes
    ----------
    again : (n_test,) bool
        Which test runs.
    at : (k,) int
        For each of them, the first such run among fit and validation laid end to end.
    before, now : (k, m) arrays [units of the outputs]
        Outputs of those runs, and of the test runs.
    """

    again: np.ndarray
    at: np.ndarray
    before: np.ndarray
    now: np.ndarray


@dataclasses.dataclass(frozen=True)
class RunsSeenBefore:
    """Test runs whose inputs were learned from, exactly or nearly (S01).

    A simulator gives the same answer twice, so a test run at a known design is no test of a new
    one, whatever its outputs: equal, rounded, in another unit, or of another version. Only where
    the runs themselves show noise, and the outputs differ by as much as it makes, the design was
    run again: that is said, and does not make the study invalid.

    Attributes
    ----------
    max_share : float [-]
        Share of such test runs from which the study is invalid (ours: an interpolating surrogate
        has no error on them, and one in a hundred lowers a mean error by a hundredth).
    tolerance : float [-]
        Nearly equal runs are closer than this share of the usual distance between neighbours (the
        default of `assay.leaks.leaks`).
    same : float [-]
        Outputs at equal inputs are the same ones up to this share of their spread, where half of
        them or more are (ours: what rounding to four digits leaves). Also: how closely they may
        follow a straight line, from which they are the same in another unit, or shifted.
    slack : float [-]
        Factor by which the noise of the runs may be wrong: a process that learned from 60 noisy
        runs was within it in 19 of 20 designs (ours: 2).
    """

    code: ClassVar[str] = "S01"
    title: ClassVar[str] = "Test runs seen before"
    severity: ClassVar[Literal["warn", "fail"]] = "fail"

    max_share: float = 0.01
    tolerance: float = 0.05
    same: float = 0.001
    slack: float = 2.0

    def __call__(self, view: SurrogateView) -> Finding:
        """Look for the inputs of test runs among those of the fit and of the validation."""
        found = repeats(view)
        if found is None:
            return self._nearly(view, np.ones(len(view.test.X), bool))
        copied = self._copied(view, found)
        told, noisy = [], False
        if copied.any():
            told.append(
                f"{'' if copied.all() else f'{copied.sum():,} of them '}with the same outputs"
            )
        if not copied.all():
            noisy, said = self._rest(view, found.before[~copied], found.now[~copied])
            told.append(f"{'the others ' if copied.any() else ''}with outputs that {said}")
        leaked = int(copied.sum()) if noisy else len(copied)
        answer = self._equal(view, found, ", ".join(told), leaked)
        if answer.outcome != "fail" and not found.again.all():
            # Other test runs may be copies too, whose inputs were rounded.
            nearly = self._nearly(view, ~found.again)
            answer = nearly if nearly.outcome == "fail" else answer
        return answer

    def _nearly(self, view: SurrogateView, rows: np.ndarray) -> Finding:
        """Return what the search for nearly equal inputs finds for some of the test runs."""
        parts = (view.fit, view.validation)
        return leak_finding(
            self,
            tuple(part.X for part in parts),
            view.test.X[rows],
            max_share=self.max_share,
            tolerance=self.tolerance,
            seed=view.seed,
            rows=(_numbers(view), view.test.row_numbers[rows]),
        )

    def _copied(self, view: SurrogateView, found: Repeats) -> np.ndarray:
        """Return which of the repeats have the outputs that are known: (k,) bool."""
        off = np.abs(found.before - found.now)
        near = (off <= self.same * view.fit.Y.std(axis=0)).all(axis=1)
        # A file with fewer digits changes all its copies a little; noise rarely leaves one so near.
        return near if near.mean() >= 0.5 else row_hashes(found.before) == row_hashes(found.now)

    def _rest(self, view: SurrogateView, before: np.ndarray, now: np.ndarray) -> tuple[bool, str]:
        """Return whether noise explains how outputs (k, m) at equal inputs differ, and words."""
        if len(now) >= FEWEST_RELATED and _on_a_line(
            before, now, self.same * view.fit.Y.std(axis=0)
        ):
            return False, "follow from the known ones (shifted, or in another unit)"
        apart = float(np.sqrt(np.mean(((now - before) / view.scale) ** 2)))
        told = f"differ by {percent(apart)} of the spread"
        k = len(now)  # the outputs of a run go together: the run is the unit
        low, high = np.sqrt(stats.chi2.ppf([SURE, 1.0 - SURE], k) / k)
        known = _noises(view, before)
        for noise, source in known:
            ratio = apart / np.sqrt(2.0) / max(noise, np.finfo(float).tiny)
            if low / self.slack <= ratio <= high * self.slack:
                return True, f"{told}, as much as the noise of the runs makes ({source})"
        if not known:
            return False, f"{told}, and no noise of the runs is known"
        wanted = " or ".join(
            f"{percent(float(np.sqrt(2.0)) * noise)} ({source})" for noise, source in known
        )
        return False, f"{told}, and not by the {wanted} that noise would make"

    def _equal(self, view: SurrogateView, found: Repeats, told: str, leaked: int) -> Finding:
        n, count = len(found.again), int(found.again.sum())
        share = count / n
        numbers = _numbers(view)
        pairs = zip(numbers[found.at][:3], view.test.row_numbers[found.again][:3], strict=True)
        examples = ", ".join(f"run {i} and test run {j}" for i, j in pairs)
        low = stats.beta.ppf(0.025, count, n - count + 1)
        high = stats.beta.ppf(0.975, count + 1, n - count) if count < n else 1.0
        return finding(
            self,
            "fail" if leaked / n >= self.max_share else "warn",
            f"{count:,} of {n:,} test runs ({percent(share)}) have the very inputs of runs that "
            f"were learned from, {told}. For example {examples}.",
            measured=share,
            threshold=self.max_share,
            interval=(float(low), float(high)),
            cause="Designs were repeated in the test runs: they measure the noise of the "
            "simulator, and not how well new designs are predicted."
            if leaked == 0
            else "The same runs are in both files, or their designs were run again: at a design "
            "that was learned from, nothing is told about new ones.",
            fix=(
                "Take repeated designs out, or keep them in one part (they are, if one table is "
                "given).",
                "Run the simulator at new inputs for the test.",
            ),
        )


def repeats(view: SurrogateView) -> Repeats | None:
    """Return the test runs with inputs of the fit or the validation; None where there are none."""
    seen = np.concatenate([part.X for part in (view.fit, view.validation)])
    outputs = np.concatenate([part.Y for part in (view.fit, view.validation)])
    hashes, first = np.unique(row_hashes(seen), return_index=True)
    own = row_hashes(view.test.X)
    again = np.isin(own, hashes)
    if not again.any():
        return None
    at = first[np.searchsorted(hashes, own[again])]
    return Repeats(again, at, outputs[at], view.test.Y[again])


def _numbers(view: SurrogateView) -> np.ndarray:
    return np.concatenate([view.fit.row_numbers, view.validation.row_numbers])


def _on_a_line(before: np.ndarray, now: np.ndarray, most: np.ndarray) -> bool:
    """Whether each output now is a straight line of the output before, up to `most` (m,)."""
    for old, new, far in zip(before.T, now.T, most, strict=True):
        if np.ptp(old) == 0.0:
            return False
        centred = old - old.mean()
        left = new - new.mean() - (centred @ new) / (centred @ centred) * centred
        if np.abs(left).max() > far:
            return False
    return True


def _noises(view: SurrogateView, at: np.ndarray) -> list[tuple[float, str]]:
    """Return what is known of the noise [over `view.scale`] of runs with outputs `at`, and how.

    From designs that were repeated among the runs that were learned from; else as the Gaussian
    process sees it, which from few runs can take noise for shape.
    """
    X = np.concatenate([part.X for part in (view.fit, view.validation)])
    Y = np.concatenate([part.Y for part in (view.fit, view.validation)]) / view.scale
    designs, times = np.unique(row_hashes(X), return_inverse=True, return_counts=True)[1:]
    free = int(np.sum(times - 1))
    if free:
        sums = np.zeros((len(times), Y.shape[1]))
        np.add.at(sums, designs, Y)
        left = np.mean((Y - (sums / times[:, None])[designs]) ** 2, axis=1)
        return [(float(np.sqrt(left.sum() / free)), "from repeated designs")]
    variances = [_of_process(baseline, at) for baseline in view.baselines]
    return [
        (float(np.sqrt(np.mean(v / view.scale**2))), "as the Gaussian process sees it")
        for v in variances
        if v is not None
    ][:1]


def _of_process(fitted: Any, at: np.ndarray) -> np.ndarray | None:
    """Return the variance of the noise [units of the outputs squared] that a process has found.

    Behind principal components, what these leave out counts as noise: most of it is.
    """
    inner = getattr(fitted, "model_", None)
    if hasattr(fitted, "components_") and hasattr(inner, "noise_"):
        if inner.transform_ != "identity":
            return None
        noise = (fitted.scale_ * inner.noise_) ** 2 @ fitted.components_**2
        return noise + fitted.truncation_variance_
    noise = getattr(fitted, "noise_", None)
    if noise is None or np.shape(noise) != at.shape[1:]:
        return None
    # On the scale that the process works on; its slope brings it back.
    return (noise / np.exp(transform_named(fitted.transform_).log_slope(at))) ** 2
