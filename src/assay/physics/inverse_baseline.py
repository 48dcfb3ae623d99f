"""Unknown parameters by least squares through the classical solver: what a network must beat."""

import time
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator

from assay.errors import StudyError
from assay.physics.misfit import Misfit
from assay.physics.profile import CHI2_95, Profile, profile_of

# Points of a Latin hypercube at which the search may begin, besides the declared start, for
# ordinary and for partial differential equations: those cost a thousand times as much.
STARTS = (8, 4)
TRIED = 3  # of them are followed downhill: the two best, and one far from where those end
SCREEN = 1e-3  # tolerance of the solver for choosing starts
EDGE = 1e-3  # of the range: nearer to its end, an estimate is on the edge
SAME = 1e-2  # of the range: minima that are nearer are one
APART = 0.25  # of the range: a start that is farther from a minimum may lead to another
WEAK = 0.1  # precision, in shares of the range, that stands for "within a few ranges of here"


class LeastSquaresFit(BaseEstimator):
    r"""Multi-start least squares through the solver, with standard errors and profiles.

    Minimises :math:`\sum_i ((u(x_i; \theta) - y_i) / \sigma_i)^2` over the range of the unknowns,
    on their declared scale. The covariance is that of the linearised model,
    :math:`(J^T J)^{-1}`, times the reduced misfit where the noise is not given.

    Parameters
    ----------
    tolerance : float [-]
        Of the solver; it is refined until its error is a hundredth of the noise, or reaches this.
    seconds : float [s]
        Budget of one solve.
    random_state : int
        Of the starts.

    Attributes
    ----------
    parameters_ : dict of str to float
    standard_errors_ : dict of str to float
        Infinite where the readings do not bound the unknown.
    intervals_ : dict of str to (float, float)
        95 %, symmetric on the declared scale, cut at the declared range.
    minima_ : tuple of (float, dict)
        Chi-square and parameters of the distinct minima that were found, best first.
    rivals_ : tuple of dict
        Parameters of other minima that explain the readings as well (chi-square within 3.84).
    edge_ : tuple of str
        Unknowns that ended on the edge of their range.
    blocked_ : bool
        Whether the solver fails next to the estimate, so that no standard error is known.
    exact_ : bool
        Whether the readings, whose noise was not given, show none: then the intervals are the
        solver's error.
    misfit_ : float [-]
        Sum of squares over the degrees of freedom; about 1 where model and noise are right.
    residuals_ : array of shape (n_readings,) [-]
        Model minus reading over the standard deviation, at the estimate.
    solution_ : Solution
        At the estimate.
    solves_ : int

    Examples
    --------
    >>> from assay.physics.gallery_inverse import oscillator_inverse
    >>> fit = LeastSquaresFit().fit(oscillator_inverse(seed=0))
    >>> low, high = fit.intervals_["zeta"]
    >>> bool(low < 0.1 < high)
    True
    """

    name: ClassVar[str] = "Least squares through the solver"
    about: ClassVar[str] = "Classical fit of the unknowns: every trial is a classical solution."

    def __init__(self, tolerance=1e-8, seconds=60.0, random_state=0):
        self.tolerance = tolerance
        self.seconds = seconds
        self.random_state = random_state

    def fit(self, problem: Any) -> "LeastSquaresFit":
        """Find the unknowns from the readings.

        Raises
        ------
        StudyError
            If there are no readings, fewer than unknowns, or no start can be solved.
        """
        clock = time.perf_counter()
        self.problem_, self.names_ = problem, tuple(problem.unknown)
        fine = max(fine_enough(problem), self.tolerance)
        coarse = Misfit(problem, tolerance=max(SCREEN, fine), seconds=self.seconds)
        ends = self._search(coarse)
        misfit = Misfit(problem, tolerance=fine, seconds=self.seconds)
        best, chi2 = misfit.descend(ends[0][0], tolerance=1e-9)
        left = np.sqrt(chi2 / len(misfit.y))
        self.exact_ = bool(not misfit.known_noise and left < 100 * fine / 0.01)
        if self.exact_:
            # The readings are nearly exact: the solver must not be what limits the answer.
            finer = Misfit(problem, tolerance=max(self.tolerance, 1e-3 * fine),
                           seconds=self.seconds)  # fmt: skip
            finer.solves, misfit = misfit.solves, finer
            best, chi2 = misfit.descend(best, tolerance=1e-10)
        self.misfit_function_, self.best_ = misfit, best
        self.solves_ = coarse.solves
        self._take(ends, clock)
        return self

    def predict(self, points: Any) -> np.ndarray:
        """Return the fields (n, n_fields) at points (n, n_variables), at the estimate."""
        self._require_fit()
        return self.solution_.at(points)

    def profile(self, name: str) -> Profile:
        """Return the profile likelihood of an unknown: what the readings allow, others refitted.

        Unlike the standard error it needs no linear model, and it tells a flat direction (an
        unknown that trades off with another) from a well-determined one.

        Parameters
        ----------
        name : str

        Raises
        ------
        StudyError
            If nothing was fitted, or the name is none of the unknowns.
        """
        from assay.errors import did_you_mean

        self._require_fit()
        if name not in self.names_:
            raise StudyError(f"{name!r} is no unknown.", hint=did_you_mean(name, self.names_))
        spread = float(self.search_errors_[self.names_.index(name)])
        return profile_of(
            self.misfit_function_, self.best_, name, spread=spread, unit=self.variance_
        )

    def misfit_at(self, parameters: dict[str, float]) -> float:
        """Return the reduced misfit (-) of given values of the unknowns, solved classically.

        Infinite outside their ranges, or where the solver fails.
        """
        self._require_fit()
        shares = self.misfit_function_.shares(parameters)
        if (shares < -1e-9).any() or (shares > 1 + 1e-9).any():
            return float("inf")
        n, k = len(self.misfit_function_.y), len(self.names_)
        return self.misfit_function_.chi2(np.clip(shares, 0.0, 1.0)) / max(n - k, 1)

    def settings(self) -> dict[str, Any]:
        """Return what was used, as plain values."""
        self._require_fit()
        return {
            "tolerance": self.misfit_function_.tolerance,
            "starts": _n_starts(self.problem_) + 1,
            "followed": TRIED,
            "solves": self.solves_,
        }

    # --- pieces ------------------------------------------------------------------------------

    def _search(self, misfit):
        """Return (shares, chi-square) of the minima that the best starts lead to, best first."""
        starts, ends = self._starts(misfit), []
        while starts and len(ends) < TRIED:
            # One that begins far from the minima that are known is likelier to find another.
            far = [s for s in starts if all(np.abs(s - e).max() > APART for e, _ in ends)]
            chosen = (far or starts)[0] if len(ends) == TRIED - 1 else starts[0]
            starts = [s for s in starts if s is not chosen]
            evaluations = 8 if len(ends) == TRIED - 1 else 15
            ends.append(misfit.descend(chosen, evaluations=evaluations, tolerance=1e-3))
        return sorted(ends, key=lambda end: end[1])

    def _starts(self, misfit):
        """Return the starts that can be solved, best first: the declared one and drawn ones."""
        from scipy.stats import qmc

        rng = np.random.default_rng(self.random_state)
        drawn = qmc.LatinHypercube(len(misfit.names), rng=rng).random(_n_starts(misfit.problem))
        clock = time.perf_counter()
        costs = [(misfit.chi2(misfit.start), 0)]
        # Corners of the range can be far more costly than the start: they do not get long.
        whole, misfit.seconds = (
            misfit.seconds,
            float(np.clip(5.0 * (time.perf_counter() - clock), 3.0, misfit.seconds)),
        )
        points = [misfit.start, *drawn]
        costs += [(misfit.chi2(s), i) for i, s in enumerate(points) if i]
        misfit.seconds = whole
        costs = sorted(pair for pair in costs if np.isfinite(pair[0]))
        if not costs:
            raise StudyError(
                "The classical solver fails at every start of the search.",
                hint="Narrow the ranges of the unknowns to what the equation can bear.",
            )
        return [points[i] for _, i in costs]

    def _take(self, ends, clock):
        from scipy.stats import norm, t

        misfit, best = self.misfit_function_, self.best_
        self.solution_ = misfit.solve(best)
        self.residuals_ = (misfit.model(self.solution_) - misfit.y) / misfit.sigma
        n, k = len(misfit.y), len(self.names_)
        chi2 = float(self.residuals_ @ self.residuals_)
        self.misfit_ = chi2 / max(n - k, 1)
        self.variance_ = 1.0 if misfit.known_noise else max(self.misfit_, 1e-300)
        failures = misfit.failures
        jac = misfit.jacobian(best)
        self.blocked_ = misfit.failures > failures
        jac = np.zeros_like(jac) if self.blocked_ else jac  # then nothing is known of the errors
        # The weak precision keeps a direction that no reading sees from looking certain.
        normal = jac.T @ jac / self.variance_ + np.eye(k) * WEAK**2
        self.covariance_ = np.linalg.inv(normal)
        self.search_errors_ = np.sqrt(np.diag(self.covariance_))
        factor = norm.ppf(0.975) if misfit.known_noise else t.ppf(0.975, max(n - k, 1))
        self.parameters_ = misfit.values(best)
        bound = self._solver_bound(jac)
        self.standard_errors_, self.intervals_ = {}, {}
        for i, name in enumerate(self.names_):
            error = self.search_errors_[i]
            slope = misfit.value_slope(name, self.parameters_[name])
            self.standard_errors_[name] = float(error * slope) if error < 1.0 else float("inf")
            pair = []
            for side in (-1.0, 1.0):
                moved = best.copy()
                moved[i] = np.clip(best[i] + side * (factor * error + bound[i]), 0.0, 1.0)
                pair.append(misfit.values(moved)[name])
            self.intervals_[name] = tuple(pair)
        self.edge_ = tuple(
            name for name, s in zip(self.names_, best, strict=True) if not EDGE < s < 1 - EDGE
        )
        self._minima(ends, chi2)
        self.solves_ += misfit.solves
        self.fit_seconds_ = time.perf_counter() - clock
        self.status_ = self._sentence()

    def _solver_bound(self, jac):
        """Return how far the solver's error can move each unknown, in shares of its range.

        Beside exact readings what is left of the misfit is the solver's error, which neighbours
        share: nothing averages out. Where there is noise, the solver is far below it.
        """
        if not self.exact_:
            return np.zeros(jac.shape[1])
        size = float(np.sqrt(np.mean(self.misfit_function_.y**2)))
        off = self.solution_.error * size / self.misfit_function_.sigma + np.abs(self.residuals_)
        return np.abs(self.covariance_ @ jac.T / self.variance_) @ off

    def _minima(self, ends, chi2):
        misfit, apart = self.misfit_function_, []
        for shares, cost in ends:
            if all(np.abs(shares - s).max() >= SAME for s, _ in [(self.best_, 0), *apart]):
                apart.append((shares, cost))
        self.minima_ = ((chi2, self.parameters_), *((c, misfit.values(s)) for s, c in apart))
        near = chi2 + CHI2_95 * self.variance_
        self.rivals_ = tuple(values for cost, values in self.minima_[1:] if cost < near)

    def _sentence(self):
        found = ", ".join(
            f"{name} = {value:.4g} +- {self.standard_errors_[name]:.1g}"
            for name, value in self.parameters_.items()
        )
        told = f"{found}; misfit {self.misfit_:.2f} a degree of freedom"
        if not self.misfit_function_.known_noise:
            told = f"{found}; the noise was estimated from the misfit"
        if self.exact_:
            told = f"{found}; the readings show no noise: the intervals hold the solver's error"
        if self.blocked_:
            told += "; the classical solver fails beside the estimate: no error is known"
        if self.edge_:
            told += f"; {', '.join(self.edge_)} on the edge of the range"
        if self.rivals_:
            told += f"; {len(self.rivals_)} other minimum (or more) explains the readings as well"
        return told + "."

    def _require_fit(self):
        if not hasattr(self, "solution_"):
            raise StudyError("Nothing was fitted yet.", hint="Call fit(problem) first.")


def _n_starts(problem):
    return STARTS[min(len(problem.box), 2) - 1]


def fine_enough(problem):
    """Return a solver tolerance well below the noise, so that it does not steer the fit."""
    sizes = [float(np.sqrt(np.mean(r.values**2))) or 1.0 for r in problem.readings]
    noise = [r.sigma / s if r.sigma else 1e-3 for r, s in zip(problem.readings, sizes, strict=True)]
    return float(np.clip(0.01 * min(noise, default=1e-3), 1e-12, 1e-4))


INVERSE_BASELINES = (LeastSquaresFit(),)
