"""Checks of the fields alone: late times, fast parts, and an answer that is simply wrong."""

import dataclasses
from typing import Any, ClassVar

import numpy as np

from assay.checks import NotApplicable, finding
from assay.symptoms import percent


def rms(fields: np.ndarray) -> float:
    """Return the root mean square of all values."""
    return float(np.sqrt(np.mean(np.square(fields))))


def relative(view: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return truth (n, n_fields) and predictions (n_seeds, n, n_fields) in sizes of the fields."""
    truth = view.reference.fields
    sizes = np.sqrt(np.mean(truth**2, axis=0))
    whole = float(np.sqrt(np.mean(sizes**2)))
    sizes = np.where(sizes > 1e-12 * whole, sizes, whole or 1.0)
    return truth / sizes, view.predictions / sizes


@dataclasses.dataclass(frozen=True)
class LateTimes:
    """The solution is right at first and wrong later (P07).

    Parameters
    ----------
    most : float [-]
        Error in the last fifth of time over that in the first twentieth. Networks that lose
        convection (beta = 30) behind a correct start have 5 and more.
    matters : float [-]
        Error of the last fifth, over the size of the whole field, below which nobody minds.
    lost : float [-]
        The same error, from which late times are not solved at all and the check fails.
    """

    code: ClassVar[str] = "P07"
    title: ClassVar[str] = "Late times unsettled"
    severity: ClassVar[str] = "fail"

    most: float = 3.0
    matters: float = 0.05
    lost: float = 0.5

    def __call__(self, view):
        """Compare errors at the end and at the start of time, in the median over seeds."""
        problem = view.problem
        if problem.time is None:
            raise NotApplicable("The problem has no time.")
        t = view.reference.points[:, problem.space.variables.index(problem.time)]
        low, high = problem.box[problem.time]
        part = (t - low) / (high - low)
        truth, found = relative(view)
        early, late = (
            float(np.median([rms((fields - truth)[rows]) for fields in found]))
            for rows in (part <= 0.05, part >= 0.8)
        )
        ratio = late / max(early, 1e-300)
        told = {"measured": late, "threshold": self.matters}
        numbers = f"{percent(early)} of the field's size early, {percent(late)} late"
        if late <= self.matters or ratio <= self.most:
            return finding(self, "pass", f"The error is {numbers}.", **told)
        lost = late > self.lost
        end = "late times are lost" if lost else "late times are not settled"
        return finding(
            self, "fail" if lost else "warn", f"The error is {numbers}: {end}.", **told,
            cause="Information has to travel from the start; late points were satisfied with "
            "something else before it arrived.",
            fix=(
                "March in windows of time (`windows=4`).",
                "Give more points, and more steps.",
                "Use Fourier features where the solution oscillates (`features=`).",
            ),
        )  # fmt: skip


@dataclasses.dataclass(frozen=True)
class SpectralBias:
    """Slow parts of the solution are right, fast ones are missing (P08).

    Parameters
    ----------
    least : float [-]
        Share of the fast part, one less the power of its error over its own, below which it is
        missing.
    slow : float [-]
        The same share of the slow part, from which that is right: where it is not, the solution is
        wrong for another reason.
    there : float [-]
        Share of the solution's power that must be fast for the question to arise.
    """

    code: ClassVar[str] = "P08"
    title: ClassVar[str] = "Spectral bias"
    severity: ClassVar[str] = "warn"

    least: float = 0.5
    slow: float = 0.9
    there: float = 0.005

    def __call__(self, view):
        """Compare the spectra along each variable, below and above the reference's median."""
        problem, reference = view.problem, view.reference
        shape = tuple(len(np.unique(x)) for x in reference.points.T)
        if np.prod(shape) != len(reference.points):
            raise NotApplicable("The reference is not known on a grid.")
        shares = []
        for i, field in enumerate(problem.fields):
            truth, found = (
                reference.fields[:, i].reshape(shape),
                view.predictions[:, :, i].reshape(-1, *shape),
            )
            for axis, name in enumerate(problem.box):
                power = _power(truth, axis)
                cut = 1 + int(np.argmax(np.cumsum(power) >= 0.5 * power.sum()))
                # The windows of the transform spread every line over its two neighbours.
                cut = min(2 * cut, cut + 2)
                if not power[cut:].sum() > self.there * power.sum():
                    continue
                off = np.array([_power(one - truth, axis) for one in found])
                kept = [
                    float(np.median(1.0 - off[:, part].sum(axis=1) / power[part].sum()))
                    for part in (slice(None, cut), slice(cut, None))
                ]
                shares.append((*kept, f"{field} along {name}"))
        if not shares:
            raise NotApplicable("The solution has no fast parts beside slow ones.")
        biased = [share for share in shares if share[0] >= self.slow]
        slow, fast, where = min(biased or shares, key=lambda share: share[1])
        told = {"measured": fast, "threshold": self.least}
        numbers = f"{percent(max(slow, 0.0))} of the slow part, {percent(max(fast, 0.0))} of the "
        numbers += f"fast part ({where})"
        if not biased or fast >= self.least:
            return finding(self, "pass", f"The network has {numbers}.", **told)
        return finding(
            self, "warn", f"The network has {numbers}: the fast part is missing.", **told,
            cause="Networks with smooth activations learn slow parts first (Rahaman and others "
            "2019).",
            fix=(
                "Give the frequencies as inputs: Fourier features (`features=`).",
                "Use Gauss-Newton (`optimiser=\"gauss_newton\"`), which is less partial to them.",
                "Divide the time into windows (`windows=`).",
            ),
        )  # fmt: skip


@dataclasses.dataclass(frozen=True)
class NotSolved:
    """The answer is wrong by a large part of its size, in every run (P16).

    Parameters
    ----------
    most : float [-]
        Relative L2 error of the best run; zero everywhere has 1.
    """

    code: ClassVar[str] = "P16"
    title: ClassVar[str] = "Not solved"
    severity: ClassVar[str] = "fail"

    most: float = 0.5

    def __call__(self, view):
        """Look at the smallest error."""
        if view.misses is not None and view.misses[0] < view.misses[1]:
            raise NotApplicable("The readings are met better than by the fit it is held against.")
        best, worst, n = float(view.errors.min()), float(view.errors.max()), len(view.errors)
        told = {"measured": best, "threshold": self.most}
        if best <= self.most:
            return finding(self, "pass", f"The smallest error is {best:.2g}.", **told)
        runs = "The run is" if n == 1 else f"All {n} runs are"
        spread = f"{best:.2g}" if n == 1 else f"{best:.2g} to {worst:.2g}"
        losses = [
            float(one.history_["loss"][-1]) for one in view.candidate if hasattr(one, "history_")
        ]
        loss = f", with a loss of {min(losses):.1e}" if losses else ""
        return finding(
            self, "fail",
            f"{runs} wrong: a relative error of {spread}{loss}. This is not a solution of the "
            "problem.",
            **told,
            cause="A small loss is not a small error; the other findings may say what went wrong.",
            fix=(
                "Follow what the other findings say.",
                "Give more points and steps, or windows in time (`windows=4`).",
                "Use the classical solution that stands beside it.",
            ),
        )  # fmt: skip


def _power(values, axis):
    """Return the power spectrum along an axis, without the mean, averaged over the others."""
    values = values - values.mean(axis=axis, keepdims=True)
    window = np.hanning(values.shape[axis])
    shaped = window.reshape([-1 if i == axis else 1 for i in range(values.ndim)])
    power = np.abs(np.fft.rfft(values * shaped, axis=axis)) ** 2
    return np.moveaxis(power, axis, -1).reshape(-1, power.shape[axis]).mean(axis=0)
