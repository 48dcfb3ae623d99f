"""Checks of inverse problems: whether unknowns can be known, whether data and equation agree."""

import dataclasses
from typing import ClassVar

import numpy as np

from assay.checks import NotApplicable, finding
from assay.symptoms import percent


def _fit_of(view):
    fit = view.solver
    if not view.problem.unknown or not hasattr(fit, "standard_errors_"):
        raise NotApplicable("Nothing is to be found in this problem.")
    return fit


def _share(fit, name, unknown):
    """Return how much of its range an unknown still has, all equally good minima together."""
    f = np.log if unknown.scale == "log" else float
    ends = [*fit.intervals_[name], *(values[name] for values in fit.rivals_)]
    low, high = np.clip((min(ends), max(ends)), unknown.low, unknown.high)
    return float((f(high) - f(low)) / (f(unknown.high) - f(unknown.low)))


@dataclasses.dataclass(frozen=True)
class Unidentifiable:
    """The readings do not determine a parameter (P13).

    Parameters
    ----------
    most : float [-]
        Width of the 95 % interval over the declared range, on the declared scale. Other minima
        that explain the readings as well count as part of it.
    """

    code: ClassVar[str] = "P13"
    title: ClassVar[str] = "Unidentifiable parameter"
    severity: ClassVar[str] = "fail"

    most: float = 0.5

    def __call__(self, view):
        """Compare the interval of the classical fit with the range before the readings."""
        fit = _fit_of(view)
        shares = {name: _share(fit, name, u) for name, u in view.problem.unknown.items()}
        worst = max(shares, key=shares.get)
        told = {"measured": shares[worst], "threshold": self.most}
        if shares[worst] <= self.most:
            if fit.edge_:
                return _at_the_end(self, fit, told)
            return finding(
                self, "pass",
                f"The readings narrow {worst}, the least certain unknown, to "
                f"{percent(shares[worst])} of its range.",
                **told,
            )  # fmt: skip
        bad = [name for name, share in shares.items() if share > self.most]
        return finding(
            self, "fail",
            f"The readings do not determine {', '.join(bad)}: the interval of {worst} is still "
            f"{percent(shares[worst])} of its range.",
            **told,
            cause="Several values explain the readings equally well: too few readings, at places "
            "or times where the parameter does not matter, or two parameters that trade off.",
            fix=(
                "Measure where the parameter matters, or another field.",
                "Fix one of the parameters that trade off, or state a narrower range.",
            ),
        )  # fmt: skip


def _at_the_end(check, fit, told):
    names = ", ".join(f"{name} ({fit.parameters_[name]:.4g})" for name in fit.edge_)
    return finding(
        check, "warn",
        f"The best value is at the end of the declared range: {names}.", **told,
        cause="The range leaves the true value out, or the equation is wrong and the unknown takes "
        "up what it lacks.",
        fix=(
            "Check signs and units of the equation, the conditions and the readings.",
            "Declare a wider range, if values beyond it are possible.",
        ),
    )  # fmt: skip


@dataclasses.dataclass(frozen=True)
class DataInConflict:
    """The equation cannot explain the readings within their noise (P14).

    Parameters
    ----------
    chance : float [-]
        Probability of so large a misfit where equation and noise are right.
    most_spread : float [-]
        Root mean square of the misfit over the spread of the readings, where their noise is not
        given. The mean of the readings has 1, noise alone brings no right equation above it.
    """

    code: ClassVar[str] = "P14"
    title: ClassVar[str] = "Data and equation in conflict"
    severity: ClassVar[str] = "fail"

    chance: float = 1e-4
    most_spread: float = 1.5

    def __call__(self, view):
        """Test the misfit of the classical fit against the noise, or else the readings' spread."""
        from scipy.stats import chi2

        fit = _fit_of(view)
        if any(reading.sigma is None for reading in view.problem.readings):
            return self._by_spread(view.problem, fit)
        n = sum(len(reading.values) for reading in view.problem.readings)
        free = max(n - len(view.problem.unknown), 1)
        p = float(chi2.sf(fit.misfit_ * free, free))
        threshold = float(chi2.isf(self.chance, free)) / free
        told = {"measured": fit.misfit_, "threshold": threshold}
        numbers = f"The misfit is {fit.misfit_:.2f} a degree of freedom (1 is expected)"
        if p >= self.chance:
            return finding(self, "pass", numbers + ".", **told)
        return finding(
            self, "fail", f"{numbers}: no value of the unknowns explains the readings.", **told,
            cause="A term is missing or has a wrong sign, a condition is wrong, units are mixed, "
            "or the noise is larger than stated.",
            fix=(
                "Look at the misfit over time and place: a pattern tells which term is missing.",
                "Check signs and units of the equation, and `sigma` of the readings.",
            ),
        )  # fmt: skip

    def _by_spread(self, problem, fit):
        ends = np.cumsum([len(reading.values) for reading in problem.readings])[:-1]
        # Without a noise the rows were divided by a guess of it: undo that.
        misses = np.split(fit.residuals_ * fit.misfit_function_.sigma, ends)
        parts = [
            float(np.sqrt(np.mean(miss**2)) / np.std(reading.values))
            for miss, reading in zip(misses, problem.readings, strict=True)
            if np.ptp(reading.values) > 0.0
        ]
        if not parts:
            raise NotApplicable("The noise of the readings is not given, and all are equal.")
        worst = max(parts)
        told = {"measured": worst, "threshold": self.most_spread}
        if worst <= self.most_spread:
            return finding(
                self, "pass",
                f"The solution leaves {worst:.2g} of the readings' spread; without `sigma` only "
                "more than that spread is called a conflict.",
                **told,
            )  # fmt: skip
        return finding(
            self, "fail",
            f"The best solution misses the readings by {worst:.3g} times their own spread: their "
            "mean alone would be nearer. No value of the unknowns explains them.",
            **told,
            cause="A term is missing or has a wrong sign, a condition is wrong, or units are "
            "mixed.",
            fix=(
                "Look at the misfit over time and place: a pattern tells which term is missing.",
                "Check signs and units of the equation, the conditions and the readings.",
                "Give the readings their `sigma`: then smaller conflicts are seen too.",
            ),
        )  # fmt: skip


@dataclasses.dataclass(frozen=True)
class FoundElsewhere:
    """The network's parameters are not those of least squares (P17).

    Parameters
    ----------
    most : float [-]
        Distance from the least-squares estimate over half the width of its 95 % interval.
    clear : float [-]
        The same distance from which the finding is a failure, where the network's values explain
        the readings worse.
    matters : float [-]
        Distance over the declared range, on the declared scale, below which nobody minds.
    """

    code: ClassVar[str] = "P17"
    title: ClassVar[str] = "Network and least squares disagree"
    severity: ClassVar[str] = "fail"

    most: float = 1.0
    clear: float = 3.0
    matters: float = 0.002

    def __call__(self, view):
        """Hold each seed's parameters against the least-squares interval."""
        fit = _fit_of(view)
        each = [getattr(network, "parameters_", None) for network in view.candidate]
        if not each or any(one is None for one in each):
            raise NotApplicable("The candidate says nothing of the parameters.")
        far = [
            max((self._distance(fit, n, u, one[n]), n) for n, u in view.problem.unknown.items())
            for one in each
        ]
        worst, name = max(far)
        told = {"measured": worst, "threshold": self.most}
        n_far, n = sum(distance > self.most for distance, _ in far), len(far)
        if not n_far:
            return finding(
                self, "pass",
                f"The network's parameters agree with least squares; the farthest, {name}, is at "
                f"{percent(worst)} of the distance that its interval allows.",
                **told,
            )  # fmt: skip
        values = each[far.index((worst, name))]
        ours, theirs = fit.misfit_at(values), fit.misfit_
        better = ours < theirs
        outcome = "fail" if worst > self.clear and not better else "warn"
        return finding(
            self, outcome,
            f"In {n_far} of {n} runs the network's parameters lie outside the least-squares "
            f"interval: {name} is {values[name]:.4g} against {_said(fit, name)}. "
            + _who(ours, theirs),
            **told,
            cause="The search of least squares ended in a poorer minimum." if better else
            "The network ended in another minimum, its training has not finished, or what it "
            "misses of the equation is not small beside the noise.",
            fix=(
                ("Give least squares a better start: `Unknown(..., start=)`, or narrower ranges.",)
                if better else
                ("Believe the values that explain the readings when they are solved classically.",
                 "Give the network more steps (`steps=`) and points, or let the readings count "
                 "more (`weights={'reading': 100.0}`).")
            ),
        )  # fmt: skip

    def _distance(self, fit, name, unknown, value):
        """Return how far a value is from the nearest good minimum, in what its interval allows."""
        f = np.log if unknown.scale == "log" else float
        whole = f(unknown.high) - f(unknown.low)
        low, high = (f(end) for end in fit.intervals_[name])
        minima = [fit.parameters_[name], *(values[name] for values in fit.rivals_)]
        away = min((f(value) - f(centre) for centre in minima), key=abs)
        centre = f(fit.parameters_[name])
        allowed = high - centre if away > 0 else centre - low
        # An interval that ends at the range allows what is there.
        return float(abs(away) / max(allowed, self.matters * whole))


def _said(fit, name):
    low, high = fit.intervals_[name]
    return f"{fit.parameters_[name]:.4g} ({low:.4g} to {high:.4g})"


def _who(ours, theirs):
    """Return which of two sets of values the readings prefer, by their misfits."""
    if not np.isfinite(ours):
        return "Solved classically with the network's values, the equation has no solution."
    told = f"Solved classically, the misfit is {ours:.3g} with its values and {theirs:.3g} with "
    return f"{told}those of least squares: believe the {'former' if ours < theirs else 'latter'}."
