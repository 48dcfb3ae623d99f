"""Checks of what a network satisfies: zero instead of a solution, conditions, the equation."""

import dataclasses
from typing import Any, ClassVar

import numpy as np

from assay.checks import NotApplicable, finding
from assay.physics.checks_fields import relative, rms
from assay.physics.diagnosis import (
    conditions_at,
    constant_is_solution,
    trivial_from,
    zero_condition_loss,
)
from assay.physics.points import in_box
from assay.physics.scaling import scales_of
from assay.symptoms import percent

FRESH = 2000  # points between the points of training


def network_of(view: Any) -> Any:
    """Return the first seed's network; a candidate without a declaration cannot be asked."""
    candidate = view.candidate[0]
    if not hasattr(candidate, "scales_"):
        raise NotApplicable("The candidate is not a network of Assay, so its terms are not known.")
    return candidate


@dataclasses.dataclass(frozen=True)
class TrivialSolution:
    """Zero (or a constant) solves the equation, and the network found that instead (P04).

    Parameters
    ----------
    least_size : float [-]
        Of the fields over the reference's: collapsed oscillators are at 0.01, convection that dies
        out behind a correct start at 0.24 to 0.56.
    least_error : float [-]
        Error from which the answer is wrong altogether; zero everywhere has 1.
    """

    code: ClassVar[str] = "P04"
    title: ClassVar[str] = "Trivial solution"
    severity: ClassVar[str] = "fail"

    least_size: float = 0.15
    least_error: float = 0.8

    def __call__(self, view):
        """Compare the size of the fields, seed by seed, with the reference's."""
        truth, found = relative(view)
        if rms(truth) <= 1e-12:
            raise NotApplicable("The true solution is zero itself.")
        if not constant_is_solution(view.problem):
            raise NotApplicable("Zero does not solve this equation.")
        constants = constant_is_solution(view.problem, 0.7311)  # any number: none is special
        what = "constant" if constants else "zero"
        if constants:
            # Another constant is then as trivial as zero.
            found = found - found.mean(axis=1, keepdims=True)
            truth = truth - truth.mean(axis=0)
        sizes = np.array([rms(fields) for fields in found]) / max(rms(truth), 1e-300)
        fell = (sizes < self.least_size) & (view.errors > self.least_error)
        smallest, n = float(sizes.min()), len(sizes)
        told = {"measured": smallest, "threshold": self.least_size}
        moves = "move by" if constants else "are"
        if not fell.any():
            return finding(
                self, "pass",
                f"The fields {moves} {percent(smallest)} of the reference's size or more: "
                f"not {what}.",
                **told,
            )  # fmt: skip
        return finding(
            self, "fail",
            f"In {int(fell.sum())} of {n} runs the network is close to {what} everywhere "
            f"({percent(smallest)} of the reference's size){_since(view, fell)}: {what} solves the "
            "equation, and the conditions did not hold it off.",
            **told, **_remedy(view, fell),
        )  # fmt: skip


def _remedy(view, fell):
    """Return cause and cures: other ones where the conditions are built in already."""
    soft = [getattr(view.candidate[i], "soft_", ("?",)) for i in np.flatnonzero(fell)]
    if not any(soft):
        return {
            "cause": "All conditions are built in, but they hold only where they are given: the "
            "training did not carry the solution from there into the box.",
            "fix": (
                "Give the training more steps (`steps=`) or time.",
                "Take a shorter box, or march through time in windows (`windows=`): over many "
                "periods or decay times the equation holds the network only near the conditions.",
                "Check the units of the box: is it as long as you mean?",
            ),
        }
    return {
        "cause": "The residual outweighs the conditions, and shrinking the output is the quickest "
        "way to shrink it.",
        "fix": (
            'Let the equation be scaled (`scaling="auto"`, the default).',
            'Build the conditions in (`conditions="hard"`), so that zero cannot be reached.',
            'Give the conditions a larger weight (`weights={"condition": 100.0}`).',
        ),
    }


def _since(view, fell):
    """Return since which step the runs that collapsed have been there, in words."""
    steps = []
    for network in (one for one, is_zero in zip(view.candidate, fell, strict=True) if is_zero):
        zero = zero_condition_loss(network) if hasattr(network, "data_") else None
        if zero is not None:
            steps.append(trivial_from(network.history_, zero))
    steps = [step for step in steps if step is not None]
    return f", since step {max(steps)} at the latest" if steps else ""


@dataclasses.dataclass(frozen=True)
class ConditionsDoNotBind:
    """A condition is missed by a part of its size that cannot be called fulfilled (P05).

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
    """The residual is small at the points of training and large between them (P06).

    Parameters
    ----------
    most : float [-]
        Root mean square at fresh points over that at the points of training.
    matters : float [-]
        Residual at fresh points, in sizes of the equation's largest term, below which nobody minds.
    """

    code: ClassVar[str] = "P06"
    title: ClassVar[str] = "Residual between the points"
    severity: ClassVar[str] = "warn"

    most: float = 5.0
    matters: float = 0.001

    def __call__(self, view):
        """Compare the residual at fresh points with that at the points of training."""
        network = network_of(view)
        # With windows the points are those of the last one: so are the fresh ones.
        frame = network.pieces_[-1].setup.shared.frame
        ends = zip(np.asarray(frame.low, float), np.asarray(frame.high, float), strict=True)
        box = dict(zip(view.problem.box, ends, strict=True))
        used = np.asarray(network.data_.items[0]["x"], np.float64)
        fresh = in_box(box, FRESH, "sobol", seed=view.seed + 7919)
        sizes = 1.0 if network.scales_.scaled else np.array(scales_of(view.problem).residuals)
        inside, between = (rms(network.residuals(x) / sizes) for x in (used, fresh))
        ratio = between / max(inside, 1e-300)
        told = {"measured": ratio, "threshold": self.most}
        numbers = (
            f"{inside:.1e} at the {len(used):,} points of training, {between:.1e} between them"
        )
        if ratio <= self.most or between <= self.matters:
            return finding(self, "pass", f"The residual is {numbers}.", **told)
        return finding(
            self, "warn",
            f"The residual is {numbers}: the equation is solved at the points alone.",
            **told,
            cause="There are fewer points than the network has freedom, or than the solution has "
            "swings.",
            fix=(
                f"Give more points (`points={4 * len(used)}`).",
                "Draw them again during training (`resample=50`).",
            ),
        )  # fmt: skip
