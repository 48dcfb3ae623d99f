"""Checks of the solution that a network found: zero, conditions, points, times, frequencies."""

import dataclasses
from typing import Any, ClassVar

import numpy as np

from assay.checks import NotApplicable, finding
from assay.physics.diagnosis import conditions_at, zero_is_solution
from assay.physics.points import in_box
from assay.symptoms import percent


def network_of(view: Any) -> Any:
    """Return the first seed's network; a candidate without a declaration cannot be asked."""
    candidate = view.candidate[0]
    if not hasattr(candidate, "scales_"):
        raise NotApplicable("The candidate is not a network of Assay, so its terms are not known.")
    return candidate


def _size(fields: np.ndarray) -> float:
    return float(np.sqrt(np.mean(np.square(fields))))


@dataclasses.dataclass(frozen=True)
class TrivialSolution:
    """Zero (or a constant) solves the equation, and the network found that instead.

    Parameters
    ----------
    least_size : float [-]
        Of the fields over the reference's; a decaying solution that is followed at all stays well
        above a third.
    least_error : float [-]
        Error from which the answer is wrong altogether; zero everywhere has 1.
    """

    code: ClassVar[str] = "P04"
    title: ClassVar[str] = "Trivial solution"
    severity: ClassVar[str] = "fail"

    least_size: float = 0.33
    least_error: float = 0.8

    def __call__(self, view):
        """Compare the size of the fields, seed by seed, with the reference's."""
        truth = _size(view.reference.fields)
        if truth <= 1e-12:
            raise NotApplicable("The true solution is zero itself.")
        if not zero_is_solution(view.problem):
            raise NotApplicable("Zero does not solve this equation.")
        # A constant other than zero is as trivial where only derivatives are in the equation.
        moving = [fields - fields.mean(axis=0) for fields in view.predictions]
        pairs = zip(view.predictions, moving, strict=True)
        sizes = np.array([min(_size(whole), _size(move)) / truth for whole, move in pairs])
        fell = (sizes < self.least_size) & (view.errors > self.least_error)
        smallest, n = float(sizes.min()), len(sizes)
        told = {"measured": smallest, "threshold": self.least_size}
        if not fell.any():
            return finding(
                self, "pass",
                f"The fields are {percent(smallest)} of the reference's size or more: not zero.",
                **told,
            )  # fmt: skip
        return finding(
            self, "fail",
            f"In {int(fell.sum())} of {n} runs the network is close to zero everywhere "
            f"({percent(smallest)} of the reference's size): zero solves the equation, and the "
            "conditions did not hold it off.",
            **told,
            cause="The residual outweighs the conditions, and shrinking the output is the quickest "
            "way to shrink it.",
            fix=(
                'Let the equation be scaled (`scaling="auto"`, the default).',
                'Build the conditions in (`conditions="hard"`), so that zero cannot be reached.',
                'Give the conditions a larger weight (`weights={"condition": 100.0}`).',
            ),
        )  # fmt: skip


@dataclasses.dataclass(frozen=True)
class ConditionsDoNotBind:
    """A condition is missed by a part of its size that cannot be called fulfilled.

    Parameters
    ----------
    most : float [-]
        Root mean square over the size of the condition.
    """

    code: ClassVar[str] = "P05"
    title: ClassVar[str] = "Conditions that do not bind"
    severity: ClassVar[str] = "warn"

    most: float = 0.05

    def __call__(self, view):
        """Measure each condition that is not built in, on points of its face."""
        missed = conditions_at(network_of(view))
        if not missed:
            raise NotApplicable("All conditions are built into the network: they hold exactly.")
        label = max(missed, key=missed.get)
        told = {"measured": missed[label], "threshold": self.most}
        if missed[label] <= self.most:
            return finding(
                self, "pass",
                f"The worst condition ({label}) is missed by {percent(missed[label])} of its size.",
                **told,
            )  # fmt: skip
        worse = [name for name, size in missed.items() if size > self.most]
        return finding(
            self, "warn",
            f"{len(worse)} of {len(missed)} conditions are not met; the worst, {label}, is missed "
            f"by {percent(missed[label])} of its size.",
            **told,
            cause="In the sum that is minimised the equation outweighs them, or they contradict "
            "each other.",
            fix=(
                'Build them in: `conditions="hard"`.',
                'Raise their weight: `weights={"condition": 100.0}`.',
            ),
        )  # fmt: skip


@dataclasses.dataclass(frozen=True)
class ResidualBetweenPoints:
    """The residual is small at the points of training and large between them.

    Parameters
    ----------
    most : float [-]
        Root mean square at fresh points over that at the points of training.
    matters : float [-]
        Scaled residual at fresh points below which nobody minds.
    n : int
        Fresh points.
    """

    code: ClassVar[str] = "P06"
    title: ClassVar[str] = "Residual between the points"
    severity: ClassVar[str] = "warn"

    most: float = 5.0
    matters: float = 1e-3
    n: int = 2000

    def __call__(self, view):
        """Compare the residual at fresh points with that at the points of training."""
        network = network_of(view)
        used = np.asarray(network.data_.items[0]["x"], np.float64)
        fresh = in_box(view.problem.box, self.n, "sobol", seed=view.seed + 7919)
        inside, between = (_size(network.residuals(x)) for x in (used, fresh))
        ratio = between / max(inside, 1e-300)
        told = {"measured": ratio, "threshold": self.most}
        numbers = (
            f"{inside:.1e} at the {len(used):,} points of training, {between:.1e} between them"
        )
        if ratio <= self.most or between <= self.matters:
            return finding(self, "pass", f"The scaled residual is {numbers}.", **told)
        return finding(
            self, "warn", f"The scaled residual is {numbers}: {ratio:.0f} times as large.",
            **told,
            cause="The network has more freedom than there are points, and bends between them.",
            fix=(
                "Give more points (`points=`), two to four times as many.",
                "Draw them anew during training (`resample=`).",
            ),
        )  # fmt: skip


@dataclasses.dataclass(frozen=True)
class LateTimes:
    """Early times are solved, late ones are not: errors were passed on, or never settled.

    Parameters
    ----------
    most : float [-]
        Error of the last fifth of time over that of the first fifth.
    matters : float [-]
        Error of the last fifth, over the size of the whole field, below which nobody minds.
    """

    code: ClassVar[str] = "P07"
    title: ClassVar[str] = "Late times unsettled"
    severity: ClassVar[str] = "warn"

    most: float = 10.0
    matters: float = 0.02

    def __call__(self, view):
        """Compare errors in the last and the first fifth of time."""
        problem = view.problem
        if problem.time is None:
            raise NotApplicable("The problem has no time.")
        t = view.reference.points[:, problem.space.variables.index(problem.time)]
        low, high = problem.box[problem.time]
        part = (t - low) / (high - low)
        off = np.sqrt(np.mean((view.predictions - view.reference.fields) ** 2, axis=(0, 2)))
        size = max(_size(view.reference.fields), 1e-300)
        early, late = (_size(off[part <= 0.2]) / size, _size(off[part >= 0.8]) / size)
        ratio = late / max(early, 1e-300)
        told = {"measured": late, "threshold": self.matters}
        numbers = f"{percent(early)} of the field's size early, {percent(late)} late"
        if late <= self.matters or ratio <= self.most:
            return finding(self, "pass", f"The error is {numbers}.", **told)
        return finding(
            self, "warn", f"The error is {numbers}: late times are not settled.",
            **told,
            cause="Information has to travel from the start; late points were satisfied with "
            "something else before it arrived.",
            fix=(
                "March in windows of time (`windows=4`).",
                "Use Fourier features or the periodic embedding where the solution oscillates.",
                "Give more steps.",
            ),
        )  # fmt: skip


@dataclasses.dataclass(frozen=True)
class SpectralBias:
    """Slow parts of the solution are there, fast ones are missing.

    Parameters
    ----------
    least : float [-]
        Power of the fast half of the reference's spectrum that the network must have.
    matters : float [-]
        Error below which nobody minds.
    """

    code: ClassVar[str] = "P08"
    title: ClassVar[str] = "Spectral bias"
    severity: ClassVar[str] = "warn"

    least: float = 0.5
    matters: float = 0.05

    def __call__(self, view):
        """Compare the spectra along each variable: what lies above the reference's median."""
        shape = [len(np.unique(view.reference.points[:, i])) for i in range(len(view.problem.box))]
        if np.prod(shape) != len(view.reference.points):
            raise NotApplicable("The reference is not known on a grid.")
        error = float(np.median(view.errors))
        kept, where = 1.0, ""
        for axis, name in enumerate(view.problem.box):
            for i, field in enumerate(view.problem.fields):
                truth = _power(view.reference.fields[:, i].reshape(shape), axis)
                found = _power(view.predictions[0][:, i].reshape(shape), axis)
                total = truth.sum()
                if total <= 0:
                    continue
                fast = np.cumsum(truth) / total > 0.5
                share = found[fast].sum() / max(truth[fast].sum(), 1e-300)
                if share < kept:
                    kept, where = float(share), f"{field} along {name}"
        told = {"measured": kept, "threshold": self.least}
        if kept >= self.least or error <= self.matters:
            return finding(
                self, "pass",
                f"The fast parts of the solution are there ({percent(kept)} of their power).",
                **told,
            )  # fmt: skip
        return finding(
            self, "warn",
            f"Of the fast half of the solution ({where}) the network has {percent(kept)}.",
            **told,
            cause="Networks with smooth activations learn slow parts first.",
            fix=(
                "Give the frequencies as inputs: Fourier features (`features=`).",
                "Use the exact periodic embedding where the problem is periodic (`Periodic`).",
                "March in shorter windows of time (`windows=`).",
            ),
        )  # fmt: skip


def _power(values, axis):
    """Return the power spectrum along an axis, without the mean, averaged over the others."""
    values = values - values.mean(axis=axis, keepdims=True)
    window = np.hanning(values.shape[axis])
    shaped = window.reshape([-1 if i == axis else 1 for i in range(values.ndim)])
    power = np.abs(np.fft.rfft(values * shaped, axis=axis)) ** 2
    return np.moveaxis(power, axis, -1).reshape(-1, power.shape[axis]).mean(axis=0)
