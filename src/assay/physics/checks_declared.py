"""Checks of the declaration and of the reference, before any network is looked at."""

import dataclasses
from typing import ClassVar

from assay.checks import NotApplicable, finding
from assay.physics.checks_solution import network_of
from assay.physics.posed import posed

# Told elsewhere: by the trivial-solution check, which looks at the outcome.
_REMARKS = ("zero-solves-equation",)


@dataclasses.dataclass(frozen=True)
class IllPosed:
    """Conditions are missing, contradict each other, or a term cannot be felt."""

    code: ClassVar[str] = "P01"
    title: ClassVar[str] = "Ill-posed problem"
    severity: ClassVar[str] = "fail"

    def __call__(self, view):
        """Count and compare the conditions, and size the terms."""
        notes = [note for note in posed(view.problem) if note.code not in _REMARKS]
        bad = [note for note in notes if note.severity == "fail"]
        doubtful = [note for note in notes if note.severity == "warn"]
        if not bad and not doubtful:
            return finding(
                self, "pass", "The conditions are as many as the equation needs, and agree.",
                measured=0, threshold=0, unit="faults",
            )  # fmt: skip
        told = bad or doubtful
        return finding(
            self, "fail" if bad else "warn", " ".join(note.sentence for note in told),
            measured=len(told), threshold=0, unit="faults",
            cause="Without the right conditions an equation has many solutions or none, and a "
            "network finds one of them with a small loss.",
            fix=tuple(dict.fromkeys(note.cure for note in told if note.cure)),
        )  # fmt: skip


@dataclasses.dataclass(frozen=True)
class ReferenceNotConverged:
    """What solutions are held against is not known well enough.

    Parameters
    ----------
    share : float [-]
        The reference's own error over the network's: above it the network's error is not told.
    """

    code: ClassVar[str] = "P02"
    title: ClassVar[str] = "Reference not converged"
    severity: ClassVar[str] = "fail"

    share: float = 0.5

    def __call__(self, view):
        """Compare the error of the reference with the errors of both sides."""
        own, smallest = view.reference.error, float(view.errors.min())
        ratio = own / smallest
        told = {"measured": ratio, "threshold": self.share}
        numbers = f"The reference is known to {own:.1e}, the network is off by {smallest:.1e}"
        if ratio <= self.share:
            return finding(self, "pass", numbers + ".", **told)
        # At the level of rounding nothing more can be asked of a reference.
        outcome = "pass" if own <= 1e-10 else "fail"
        return finding(
            self, outcome, numbers + ": that is the reference's own error.", **told,
            cause="" if outcome == "pass" else "The classical solver ran out of levels or time.",
            fix=() if outcome == "pass" else (
                "Give the classical side more time (`seconds=`).",
                "Give the exact solution where one is known (`exact=`).",
            ),
        )  # fmt: skip


@dataclasses.dataclass(frozen=True)
class UnequalTerms:
    """Before training, the terms of the loss are of very different size.

    Parameters
    ----------
    most : float [-]
        Of the residual term over the condition term at the start; in raw units an oscillator of
        1 Hz begins at about 40, scaled below 1.
    """

    code: ClassVar[str] = "P03"
    title: ClassVar[str] = "Terms of unequal size"
    severity: ClassVar[str] = "warn"

    most: float = 5.0

    def __call__(self, view):
        """Compare the first values of the terms."""
        network = network_of(view)
        history = network.history_
        residual, condition = float(history["residual"][0]), float(history["condition"][0])
        if condition <= 0:
            raise NotApplicable("No condition is a term of the loss: they are built in.")
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
