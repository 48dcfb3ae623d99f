"""Checks of the network and its training: precision, capacity, end, spread, the unknown."""

import dataclasses
from typing import ClassVar

import numpy as np
from sklearn.base import clone

from assay.checks import NotApplicable, finding
from assay.physics.capacity import fit_to_reference, loss_fall
from assay.physics.checks_solution import network_of
from assay.physics.solution import relative_l2
from assay.symptoms import percent
from assay.train.descent import Stop

# The time of a second run in double precision: twice the bytes, and a new compilation.
SLOWER, EXTRA_SECONDS = 3.0, 30.0


@dataclasses.dataclass(frozen=True)
class PrecisionFloor:
    """The same run in double precision does much better (P09).

    Parameters
    ----------
    most : float [-]
        Smallest error in single precision over the error of the first seed in double. L-BFGS on an
        oscillator in raw units has 100 to 500; Adam, which rounding does not limit, 0.8 to 1.3.
    matters : float [-]
        Error below which nobody minds.
    """

    code: ClassVar[str] = "P09"
    title: ClassVar[str] = "Precision floor"
    severity: ClassVar[str] = "fail"

    most: float = 3.0
    matters: float = 0.001

    def __call__(self, view):
        """Run the first seed again in double precision, where it was in single."""
        network = network_of(view)
        if network.precision != "float32":
            return finding(
                self, "pass", "The network was trained in double precision.",
                measured=1.0, threshold=self.most,
            )  # fmt: skip
        # The best of the seeds: a lucky one in double precision proves nothing.
        single = float(view.errors.min())
        if single <= self.matters:
            return finding(
                self, "pass", f"Single precision was enough: the error is {single:.1e}.",
                measured=1.0, threshold=self.most,
            )  # fmt: skip
        budget = SLOWER * network.fit_seconds_ + EXTRA_SECONDS
        again = clone(network).set_params(precision="float64", seconds=budget).fit(view.problem)
        double = relative_l2(again.predict(view.reference.points), view.reference.fields)
        ratio = single / max(double, view.reference.error)
        told = {"measured": ratio, "threshold": self.most}
        numbers = (
            f"The smallest error is {single:.1e} in single precision, and {double:.1e} in double "
            "(first seed)"
        )
        if ratio <= self.most:
            return finding(self, "pass", numbers + ".", **told)
        return finding(
            self, "fail", f"{numbers}: the arithmetic, not the network, set the limit.", **told,
            cause="Near the end, steps and gradients are smaller than the rounding of single "
            "precision, and the optimiser stops or wanders.",
            fix=('Train in double precision: `precision="float64"`, the default.',),
        )  # fmt: skip


@dataclasses.dataclass(frozen=True)
class NetworkTooSmall:
    """The network cannot represent the solution even where it is told it (P10).

    Parameters
    ----------
    share : float [-]
        Error of the supervised fit over the error of the trained network: near 1, training did
        all that this network can do.
    matters : float [-]
        Error below which nobody minds.
    """

    code: ClassVar[str] = "P10"
    title: ClassVar[str] = "Network too small"
    severity: ClassVar[str] = "warn"

    share: float = 0.3
    matters: float = 0.02

    def __call__(self, view):
        """Fit the same network to the reference by plain regression."""
        network = network_of(view)
        error = float(np.min(view.errors))
        if error <= self.matters:
            return finding(
                self, "pass", f"The network represents the solution: its error is {error:.1e}.",
                measured=error, threshold=self.matters,
            )  # fmt: skip
        if network.windows != 1:
            raise NotApplicable("Each window of time has a network of its own.")
        best, ended = fit_to_reference(network, view.reference)
        told = {"measured": best, "threshold": self.matters}
        numbers = f"Told the reference, the same network is off by {best:.1e}"
        if best <= self.matters or best <= self.share * error:
            return finding(
                self, "pass",
                f"{numbers}; trained on the equation, by {error:.1e}: it is large enough, and "
                "training is what failed.",
                **told,
            )  # fmt: skip
        if not ended or best > error:
            # A regression that did not end, or ended in a poor minimum, says nothing of the size.
            raise NotApplicable(f"{numbers}, but that regression did not succeed in its time.")
        return finding(
            self, "warn", f"{numbers}; trained on the equation, by {error:.1e}.", **told,
            cause="It has too few units, or inputs that vary too slowly, for this solution.",
            fix=(
                "Give it more units or layers (`hidden=(40, 40, 40)`).",
                "Give it the frequencies of the solution (`features=`).",
            ),
        )  # fmt: skip


@dataclasses.dataclass(frozen=True)
class TrainingNotFinished:
    """The loss was still falling when the steps or the time ran out, or it broke down (P11).

    Parameters
    ----------
    falling : float [-]
        Loss in the last fifth of the steps over that in the fifth before (medians), below which it
        was still falling.
    matters : float [-]
        Error below which nobody minds.
    """

    code: ClassVar[str] = "P11"
    title: ClassVar[str] = "Training not finished"
    severity: ClassVar[str] = "fail"

    falling: float = 0.9
    matters: float = 0.001

    def __call__(self, view):
        """Look at why each run stopped."""
        network_of(view)
        stops = [network.stop_ for network in view.candidate]
        broken, n = sum(stop is Stop.NONFINITE for stop in stops), len(stops)
        falls = [
            loss_fall(network.history_)
            for network in view.candidate
            if network.stop_ in (Stop.BUDGET, Stop.SECONDS)
        ]
        open_ended = sum(fall < self.falling for fall in falls)
        worst = float(view.errors.max())
        if broken:
            return finding(
                self, "fail", f"Training broke down in {broken} of {n} runs.",
                measured=broken, threshold=0, unit="runs",
                cause="A term overflowed or divided by zero.",
                fix=("Look at the equation where the fields are large.",
                     "Lower the rate of Adam (`learning_rate=`)."),
            )  # fmt: skip
        told = {"measured": min(falls, default=1.0), "threshold": self.falling}
        if not open_ended or worst <= self.matters:
            how = "The largest error" if open_ended else "The loss had settled; the largest error"
            return finding(self, "pass", f"{how} is {worst:.1e}.", **told)
        return finding(
            self, "warn",
            f"In {open_ended} of {n} runs the loss was still falling at the end "
            f"(to {percent(min(falls))} over the last fifth).",
            **told,
            cause="Too few steps for this problem.",
            fix=("Give more steps (`steps=`) or time (`seconds=`).",
                 'Use Gauss-Newton (`optimiser="gauss_newton"`), the default for small networks.'),
        )  # fmt: skip


@dataclasses.dataclass(frozen=True)
class SeedSpread:
    """Another seed gives another answer (P12).

    Parameters
    ----------
    most : float [-]
        Largest over smallest error.
    matters : float [-]
        Largest error below which nobody minds.
    """

    code: ClassVar[str] = "P12"
    title: ClassVar[str] = "Spread over seeds"
    severity: ClassVar[str] = "warn"

    most: float = 10.0
    matters: float = 0.01

    def __call__(self, view):
        """Compare the errors of the seeds."""
        if len(view.errors) < 2:
            raise NotApplicable("There is one seed only.")
        small, large = float(view.errors.min()), float(view.errors.max())
        told = {"measured": large / max(small, 1e-300), "threshold": self.most}
        numbers = f"Over {len(view.errors)} seeds the error runs from {small:.1e} to {large:.1e}"
        if large <= self.matters or large <= self.most * small:
            return finding(self, "pass", numbers + ".", **told)
        return finding(
            self, "warn", f"{numbers}: whether it works is a matter of luck ("
            f"{percent(float(np.mean(view.errors > self.matters)))} of the runs are off by more "
            f"than {percent(self.matters)}).",
            **told,
            cause="Training ends in different minima.",
            fix=("Report the spread, never the best seed.", "Build conditions in; scale; use "
                 "windows: whatever another finding above names."),
        )  # fmt: skip


@dataclasses.dataclass(frozen=True)
class Unchecked:
    """What a user brought could not be checked in all respects (P15)."""

    code: ClassVar[str] = "P15"
    title: ClassVar[str] = "Unchecked candidate"
    severity: ClassVar[str] = "warn"

    def __call__(self, view):
        """Say what is not known of a brought candidate."""
        unchecked = tuple(getattr(view.candidate[0], "unchecked", ()))
        if not unchecked:
            raise NotApplicable("The candidate was trained in this study.")
        return finding(
            self, "warn", " ".join(unchecked),
            cause="A function was handed over.",
            fix=("Bring an object with `fit(problem)`, which the study trains itself.",),
        )  # fmt: skip
