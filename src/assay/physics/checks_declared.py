"""Checks of the declaration and of the reference, before any network is looked at."""

import dataclasses
from typing import ClassVar

import numpy as np

from assay.checks import NotApplicable, finding
from assay.physics.checks_solution import network_of
from assay.physics.exact_readings import excluded
from assay.physics.posed import posed
from assay.physics.solution import relative_l2

# Relative error that rounding makes of any reference.
ROUNDING = 1e-10


@dataclasses.dataclass(frozen=True)
class IllPosed:
    """Conditions are missing, contradict each other, or a term cannot be felt (P01)."""

    code: ClassVar[str] = "P01"
    title: ClassVar[str] = "Ill-posed problem"
    severity: ClassVar[str] = "fail"

    def __call__(self, view):
        """Count and compare the conditions, and size the terms."""
        notes = posed(view.problem)
        bad = [note for note in notes if note.severity == "fail"]
        doubtful = [note for note in notes if note.severity == "warn"]
        told = bad or doubtful
        if not told:
            return finding(
                self, "pass", "The conditions are as many as the equation needs, and agree.",
                measured=0, threshold=0, unit="faults",
            )  # fmt: skip
        return finding(
            self, "fail" if bad else "warn", " ".join(note.sentence for note in told),
            measured=len(told), threshold=0, unit="faults",
            cause="Without the right conditions an equation has many solutions or none, and a "
            "network finds something with a small loss all the same." if bad
            else "The problem can be solved, but it may not be the one that was meant.",
            fix=tuple(dict.fromkeys(note.cure for note in told if note.cure)),
        )  # fmt: skip


@dataclasses.dataclass(frozen=True)
class ReferenceNotConverged:
    """What solutions are held against is not known well enough (P02).

    Parameters
    ----------
    share : float [-]
        The reference's own error over the network's: above it the network's error cannot be told
        (two independent errors of which one is half as large change the larger by 12 %).
    settled : float [-]
        Two levels of the solver that agree so well have settled.
    far : float [-]
        Error of a settled solver against the exact solution above which one of them is wrong.
    times, least : float [-]
        The same error over what the solver estimates, and at least, from which there is doubt.
    chance : float [-]
        Of an inverse problem: probability that a true solution misses the readings so much more
        than the classical fit, below which the exact one is not what was measured.
    grows : float [-]
        Error of the solver's finest level over that of its best, from which refining made it worse.
    """

    code: ClassVar[str] = "P02"
    title: ClassVar[str] = "Reference not converged"
    severity: ClassVar[str] = "fail"

    share: float = 0.5
    settled: float = 1e-5
    far: float = 1e-2
    times: float = 30.0
    least: float = 1e-4
    chance: float = 1e-6
    grows: float = 10.0

    def __call__(self, view):
        """Compare the error of the reference with that of the best run."""
        if view.reference.fitted:
            raise NotApplicable("No solution is known: the methods are graded on readings.")
        own, smallest = view.reference.error, float(view.errors.min())
        ratio = own / max(smallest, own, 1e-300)
        told = {"measured": ratio, "threshold": self.share}
        if own <= ROUNDING:
            doubt = self._contradicted(view)
            if doubt is not None:
                return doubt
            return finding(
                self, "pass", f"The reference is known to {own:.1e}, to the rounding.",
                measured=0.0, threshold=self.share,
            )  # fmt: skip
        numbers = f"The reference is known to {own:.1e}, the network is off by {smallest:.1e}"
        if ratio <= self.share:
            return finding(self, "pass", numbers + ".", **told)
        more = ("Give the classical side more time (`seconds=`).",
                "Give the exact solution where one is known (`exact=`).")  # fmt: skip
        if getattr(view.reference.solution, "trusted", False):
            # It is as good as was asked: the network is, too, and no more can be said.
            return finding(
                self, "warn",
                f"{numbers}: it is at least as good as the reference can tell.", **told,
                cause="The reference was asked for no more than this.",
                fix=("Ask it for more (`tolerance=`).", *more),
            )  # fmt: skip
        return finding(
            self, "fail", f"{numbers}: that is the reference's own error.", **told,
            cause="The classical solver ran out of levels or time.", fix=more,
        )  # fmt: skip

    def _contradicted(self, view):
        """Return a failure where a solver that has settled is far from the exact solution."""
        settled = getattr(view.solver, "estimate_", np.inf)
        if view.reference.solution is not None:
            return None
        off = float(view.solver_error)
        if not hasattr(view.solver, "estimate_"):
            return self._not_measured(view)
        grown = self._grown(view)
        if grown is not None:
            return grown
        if not settled <= self.settled:
            return self._failed(off, settled)
        if off <= self.far:
            return self._doubted(off, settled)
        return finding(
            self, "fail",
            f"The classical solver, whose two finest levels agree to {settled:.1e}, is off by "
            f"{off:.2g} of the size of the solution that was declared as exact.",
            measured=off, threshold=self.far,
            cause="The exact solution does not solve the declared equation with its conditions: a "
            "sign, a factor, a unit or a parameter differs between the two.",
            fix=("Compare the equation, the conditions and `exact=` term by term.",
                 "Leave `exact=` out: the classical solver is then the reference."),
        )  # fmt: skip

    def _doubted(self, off, settled):
        """Return a warning where a settled solver is off by many times what it estimates."""
        allowed = max(self.times * settled, self.least)
        if off <= allowed:
            return None
        return finding(
            self, "warn",
            f"The classical solver, whose two finest levels agree to {settled:.1e}, is off by "
            f"{off:.2g} of the size of the solution that was declared as exact: that is far more.",
            measured=off, threshold=allowed,
            cause="The exact solution is an approximation, or belongs to slightly other "
            "parameters, units or conditions; errors are measured against it all the same.",
            fix=("Compare the parameters of `exact=` with those of the equation, digit by digit.",
                 "Leave `exact=` out: the classical solver is then the reference."),
        )  # fmt: skip

    def _not_measured(self, view):
        """Return a failure where the readings of an inverse problem exclude the exact solution."""
        found = excluded(view.problem, view.solver)
        if found is None or found.chance >= self.chance:
            return None
        return finding(
            self, "fail",
            f"The solution that was declared as exact misses the readings by {found.exact:.3g} of "
            f"their standard deviations (root mean square), the classical fit by "
            f"{found.fitted:.3g}: it is not what was measured.",
            measured=found.chance, threshold=self.chance,
            cause="A factor, a unit or a parameter of `exact=` is not that of the measurement.",
            fix=("Compare `exact=` with the readings at their places.",
                 "Leave `exact=` out: the methods are then graded on readings."),
        )  # fmt: skip

    def _grown(self, view):
        """Return a failure where the finest level of the solver is far worse than a coarser one."""
        truth, points = view.reference.fields, view.reference.points
        levels = getattr(view.solver, "levels_", ())
        errors = [relative_l2(level.at(points), truth) for level in levels]
        if len(errors) < 2 or errors[-1] <= max(self.far, self.grows * min(errors)):
            return None
        return finding(
            self, "fail",
            f"The finest level of the classical solver is off by {errors[-1]:.2g} of the size of "
            f"the solution, a coarser one by {min(errors):.2g}: refining made it worse.",
            measured=errors[-1] / min(errors), threshold=self.grows,
            cause="The solver is unstable on this problem, or steps over a jump or a short load.",
            fix=("Divide the box where the equation jumps.", "Smooth the jump over a short time."),
        )  # fmt: skip

    def _failed(self, off, settled):
        """Return a failure where the solver is no baseline: worse than zero everywhere."""
        if off <= 1.0:
            return None
        return finding(
            self, "fail",
            f"The classical solver is off by {off:.2g} of the size of the solution, more than zero "
            f"everywhere would be; its two finest levels differ by {settled:.1e}. To beat it says "
            "nothing.",
            measured=off, threshold=1.0,
            cause="The solver fails on this problem, or ran out of time, or `exact=` belongs to "
            "another one.",
            fix=("Compare the equation, the conditions and `exact=` term by term.",
                 "Give the classical side more time (`seconds=`)."),
        )  # fmt: skip


@dataclasses.dataclass(frozen=True)
class UnequalTerms:
    """Before training, the equation outweighs the conditions in the loss (P03).

    Parameters
    ----------
    most : float [-]
        Of the residual term over the condition term at the start, both with their weights. An
        oscillator of 1 Hz in raw units starts at 2 to 45, of which the geometric mean is 15, and
        collapses; scaled it starts at 0.02.
    """

    code: ClassVar[str] = "P03"
    title: ClassVar[str] = "Terms of unequal size"
    severity: ClassVar[str] = "warn"

    most: float = 5.0

    def __call__(self, view):
        """Compare the first values of the terms, in the geometric mean over the seeds."""
        network = network_of(view)
        first = np.array(
            [[n.history_[key][0] for key in ("residual", "condition")] for n in view.candidate],
            np.float64,
        )
        if not (first[:, 1] > 0).all():
            raise NotApplicable("No condition is a term of the loss: they are built in.")
        residual, condition = np.exp(np.mean(np.log(np.maximum(first, 1e-300)), axis=0))
        ratio = residual / condition
        told = {"measured": ratio, "threshold": self.most}
        numbers = f"At the start the equation counts {residual:.3g}, the conditions {condition:.3g}"
        if ratio <= self.most:
            return finding(self, "pass", numbers + ".", **told)
        scaled = network.scales_.scaled
        return finding(
            self, "warn", f"{numbers}: {ratio:.0f} times as much.", **told,
            cause="What is largest is reduced first, whatever it is worth."
            + ("" if scaled else " The terms are in raw units."),
            fix=(
                *(() if scaled else ('Scale the equation: `scaling="auto"`, the default.',)),
                'Build the conditions in: `conditions="hard"`.',
                'Weigh them: `weights={"condition": 100.0}` or `weights="balanced"`.',
            ),
        )  # fmt: skip
