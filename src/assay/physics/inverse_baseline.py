"""Unknown parameters by least squares through the classical solver: what a network must beat."""

import time
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator

from assay.errors import AssayError, StudyError
from assay.physics.classical import solve_classical

STARTS = 8  # points of a Latin hypercube at which the search may begin, besides the declared start
TRIED = 3  # of them, the best ones are followed to the end
CHI2_95 = 3.841458820694124


class LeastSquaresFit(BaseEstimator):
    r"""Multi-start least squares through the solver, with standard errors.

    Minimises :math:`\sum_i ((u(x_i; \theta) - y_i) / \sigma_i)^2` over the range of the unknowns,
    on their declared scale. The covariance is that of the linearised model,
    :math:`(J^T J)^{-1}`, times the reduced misfit where the noise is not given.

    Parameters
    ----------
    tolerance : float [-]
        Of the solver; it is refined until its error is a tenth of the noise, or reaches this.
    seconds : float [s]
        Budget of one solve.
    random_state : int
        Of the starts.

    Attributes
    ----------
    parameters_ : dict of str to float
    standard_errors_ : dict of str to float
    intervals_ : dict of str to (float, float)
        95 %, symmetric on the declared scale.
    minima_ : tuple of (float, dict)
        Misfit and parameters where each search ended, best first.
    misfit_ : float [-]
        Sum of squares over the degrees of freedom; about 1 where model and noise are right.
    solution_ : Solution
        At the estimate.
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
        from scipy.optimize import least_squares

        clock = time.perf_counter()
        self.problem_, self.names_ = problem, tuple(problem.unknown)
        self._require(problem)
        self.sigma_ = np.concatenate(
            [np.full(len(r.values), 1.0 if r.sigma is None else r.sigma) for r in problem.readings]
        )
        low, high, start = self._search_range()
        self.solver_tolerance_ = self._fine_enough(start)
        rng = np.random.default_rng(self.random_state)
        from scipy.stats import qmc

        drawn = low + (high - low) * qmc.LatinHypercube(len(low), rng=rng).random(STARTS)
        costs = [(self._cost(z), i) for i, z in enumerate([start, *drawn])]
        costs = sorted(pair for pair in costs if np.isfinite(pair[0]))
        if not costs:
            raise StudyError(
                "The classical solver fails at every start of the search.",
                hint="Narrow the ranges of the unknowns to what the equation can bear.",
            )
        ends = []
        for _, i in costs[:TRIED]:
            z0 = np.clip([start, *drawn][i], low + 1e-9, high - 1e-9)
            ends.append(
                least_squares(self._rows, z0, bounds=(low, high), x_scale=high - low, xtol=1e-10,
                              ftol=1e-10, diff_step=1e-3, max_nfev=40)
            )  # fmt: skip
        ends.sort(key=lambda end: end.cost)
        self._take(ends, clock)
        return self

    def predict(self, points: Any) -> np.ndarray:
        """Return the fields (n, n_fields) at points (n, n_variables), at the estimate."""
        if not hasattr(self, "solution_"):
            raise StudyError("Nothing was fitted yet.", hint="Call fit(problem) first.")
        return self.solution_.at(points)

    def settings(self) -> dict[str, Any]:
        """Return what was used, as plain values."""
        return {"tolerance": self.solver_tolerance_, "starts": STARTS + 1, "followed": TRIED}

    # --- pieces ------------------------------------------------------------------------------

    def _require(self, problem):
        n = sum(len(r.values) for r in problem.readings)
        if problem.coefficients:
            raise StudyError(
                "Least squares through the solver finds numbers, not coefficients that vary.",
                hint="Declare the coefficient by a few unknown numbers in the equation.",
            )
        if n < len(problem.unknown):
            raise StudyError(
                f"{len(problem.unknown)} unknowns need at least as many readings, got {n}.",
                hint="Give readings=(Measured(...),).",
            )
        for reading in problem.readings:
            if reading.name not in problem.fields:
                raise StudyError(
                    f"Readings must be of a field, got {reading.name!r}.", hint="Measure a field."
                )

    def _search_range(self):
        unknown = self.problem_.unknown.values()
        scale = [np.log if u.scale == "log" else float for u in unknown]
        pairs = list(zip(unknown, scale, strict=True))
        return (
            np.array([f(getattr(u, end)) for u, f in pairs]) for end in ("low", "high", "start")
        )

    def _values(self, z):
        pairs = zip(self.problem_.unknown.items(), z, strict=True)
        return {n: float(np.exp(v) if u.scale == "log" else v) for (n, u), v in pairs}

    def _solve(self, z, tolerance):
        return solve_classical(
            self.problem_, self._values(z), tolerance=tolerance, seconds=self.seconds
        )

    def _model(self, solution):
        parts = []
        for reading in self.problem_.readings:
            points = np.stack([reading.at[name] for name in self.problem_.box], axis=1)
            parts.append(solution.at(points)[:, self.problem_.fields.index(reading.name)])
        return np.concatenate(parts)

    def _readings(self):
        return np.concatenate([r.values for r in self.problem_.readings])

    def _rows(self, z):
        try:
            model = self._model(self._solve(z, self.solver_tolerance_))
        except AssayError:
            return np.full(len(self.sigma_), 1e6)  # a wall: the search steps back
        return (model - self._readings()) / self.sigma_

    def _cost(self, z):
        rows = self._rows(z)
        cost = float(rows @ rows)
        return np.inf if cost >= 1e12 * len(rows) else cost

    def _fine_enough(self, start):
        """Return a solver tolerance well below the noise, so that it does not steer the fit."""
        size = float(np.sqrt(np.mean(self._readings() ** 2))) or 1.0
        noise = min((r.sigma for r in self.problem_.readings if r.sigma), default=1e-3 * size)
        del start
        return float(np.clip(0.01 * noise / size, self.tolerance, 1e-5))

    def _take(self, ends, clock):
        best = ends[0]
        n, k = len(self.sigma_), len(self.names_)
        chi2 = 2.0 * best.cost
        self.misfit_ = chi2 / max(n - k, 1)
        known = all(r.sigma is not None for r in self.problem_.readings)
        normal = best.jac.T @ best.jac
        covariance = np.linalg.pinv(normal) * (1.0 if known else self.misfit_)
        half = np.sqrt(np.diag(covariance))
        self.covariance_, self.search_errors_ = covariance, half
        self.parameters_ = self._values(best.x)
        self.standard_errors_, self.intervals_ = {}, {}
        for i, (name, unknown) in enumerate(self.problem_.unknown.items()):
            value, log = self.parameters_[name], unknown.scale == "log"
            self.standard_errors_[name] = float(half[i] * (value if log else 1.0))
            z = best.x[i] + np.sqrt(CHI2_95) * half[i] * np.array([-1.0, 1.0])
            self.intervals_[name] = tuple(float(v) for v in (np.exp(z) if log else z))
        self.minima_ = tuple((float(2.0 * end.cost), self._values(end.x)) for end in ends)
        self.solution_ = self._solve(best.x, max(self.tolerance, 0.1 * self.solver_tolerance_))
        self.fit_seconds_ = time.perf_counter() - clock
        found = ", ".join(
            f"{name} = {value:.4g} +- {self.standard_errors_[name]:.1g}"
            for name, value in self.parameters_.items()
        )
        self.status_ = f"{found}; misfit {self.misfit_:.2f} a degree of freedom."


INVERSE_BASELINES = (LeastSquaresFit(),)
