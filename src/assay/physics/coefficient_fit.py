"""Coefficients that vary, by least squares through the solver: what a second network must beat."""

import time
from typing import Any, ClassVar

import numpy as np

from assay.errors import StudyError
from assay.physics.inverse_baseline import EDGE, LeastSquaresFit, fine_enough
from assay.physics.misfit import Misfit
from assay.physics.smooth_fit import smooth_fit
from assay.physics.splines import spelled_out, splines_of


class CoefficientFit(LeastSquaresFit):
    r"""Least squares for coefficients that vary, each a spline, with as much smoothness as pays.

    A coefficient has 8 nodes where it depends on one variable and 5 x 5 on two. The strength of
    the smoothness is chosen by generalised cross-validation, so that few or noisy readings give a
    smooth coefficient and many good ones a detailed one. Unknown numbers are found with it.

    Parameters
    ----------
    tolerance : float [-]
        Of the solver; it is refined until its error is a hundredth of the noise, or reaches this.
    seconds : float [s]
        Budget of one solve.
    random_state : int
        Nothing is drawn.

    Attributes
    ----------
    parameters_, standard_errors_, intervals_ : dict
        Of the unknown numbers, as `LeastSquaresFit`.
    freedom_ : float
        Readings less the numbers that they determine.
    misfit_ : float [-]
        Sum of squares over `freedom_`; about 1 where model and noise are right.
    residuals_, solution_, solves_, status_
        As `LeastSquaresFit`.

    Raises
    ------
    StudyError
        In `fit`, if a coefficient depends on more than two variables, or there are fewer readings
        than unknown numbers and nodes.

    Examples
    --------
    >>> from assay.physics import Initial, Measured, Problem, UnknownField
    >>> t = np.linspace(0.05, 2.0, 40)
    >>> decay = Problem(lambda d: d.u_t + d.k * d.u, {"t": (0.0, 2.0)},
    ...     conditions=(Initial("u", 1.0),), coefficients={"k": UnknownField("t", 0.0, 3.0)},
    ...     readings=(Measured("u", {"t": t}, np.exp(-t), 0.01),))
    >>> fit = CoefficientFit().fit(decay)
    >>> bool(abs(fit.coefficients([[1.0]])[0, 0] - 1.0) < 0.05)
    True
    """

    name: ClassVar[str] = "Least squares with splines"
    about: ClassVar[str] = "Classical fit of a varying coefficient: a spline, smooth by GCV."

    def fit(self, problem: Any) -> "CoefficientFit":
        """Find the coefficients, and the unknown numbers beside them, from the readings."""
        clock = time.perf_counter()
        self.problem_, self.names_ = problem, tuple(problem.unknown)
        self.splines_ = splines_of(problem)
        misfit = Misfit(
            spelled_out(problem, self.splines_),
            tolerance=max(fine_enough(problem), self.tolerance), seconds=self.seconds,
        )  # fmt: skip
        found = smooth_fit(misfit, self._roughness(misfit))
        self.misfit_function_, self.best_ = misfit, found.shares
        self.freedom_ = max(found.freedom, 1.0)
        self.solution_, self.residuals_ = misfit.solve(found.shares), found.rows
        chi2 = float(found.rows @ found.rows)
        self.misfit_ = chi2 / self.freedom_
        self.variance_ = 1.0 if misfit.known_noise else max(self.misfit_, 1e-300)
        failures = misfit.failures
        slopes = misfit.jacobian(found.shares, found.rows)
        self.blocked_ = misfit.failures > failures
        slopes = np.zeros_like(slopes) if self.blocked_ else slopes
        self.covariance_ = np.linalg.inv((slopes.T @ slopes + found.prior) / self.variance_)
        self._tell(misfit, chi2)
        self.solves_ = misfit.solves
        self.fit_seconds_ = time.perf_counter() - clock
        return self

    def coefficients(self, points: Any) -> np.ndarray:
        """Return the coefficients (n, n_coefficients) at points (n, n_variables)."""
        return self._at(points)[:, :, 1]

    def coefficient_intervals(self, points: Any) -> np.ndarray:
        """Return 95 % intervals (n, n_coefficients, 2) at points (n, n_variables).

        They hold for a coefficient as smooth as the one that was found, cut at its range.
        """
        return self._at(points)[:, :, ::2]

    def profile(self, name: str) -> Any:
        """Refuse: a profile refits the nodes freely, and they are held by their smoothness."""
        raise StudyError(
            f"There is no profile of {name!r} beside a coefficient that varies.",
            hint="Use `intervals_`, or declare the coefficient by a few unknown numbers.",
        )

    def misfit_at(self, parameters: dict[str, float]) -> float:
        """Return the reduced misfit (-) of given unknown numbers, the coefficients as found."""
        self._require_fit()
        misfit = self.misfit_function_
        shares = misfit.shares({**misfit.values(self.best_), **parameters})
        if (shares < -1e-9).any() or (shares > 1 + 1e-9).any():
            return float("inf")
        return misfit.chi2(np.clip(shares, 0.0, 1.0)) / self.freedom_

    def settings(self) -> dict[str, Any]:
        """Return what was used, as plain values."""
        self._require_fit()
        nodes = {f"nodes of {s.name}": len(s.names) for s in self.splines_}
        return {"tolerance": self.misfit_function_.tolerance, "solves": self.solves_, **nodes}

    # --- pieces ------------------------------------------------------------------------------

    def _roughness(self, misfit):
        parts = []
        for spline in self.splines_:
            rough = spline.roughness()
            part = np.zeros((len(rough), len(misfit.names)))
            part[:, [misfit.names.index(name) for name in spline.names]] = rough
            parts.append(part)
        return np.concatenate(parts)

    def _at(self, points):
        """Return low, estimate and high (n, n_coefficients, 3)."""
        import jax

        from assay.physics.residuals import from_share

        self._require_fit()
        points, variables = np.asarray(points, np.float64), list(self.problem_.box)
        names, columns = self.misfit_function_.names, []
        for spline in self.splines_:
            rows = [names.index(name) for name in spline.names]
            places = points[:, [variables.index(v) for v in spline.coefficient.of]]
            with jax.enable_x64(True):  # noqa: FBT003
                basis = np.asarray(jax.vmap(lambda p, s=spline: s.basis(tuple(p)))(places))
            centre = basis @ self.best_[rows]
            block = self.covariance_[np.ix_(rows, rows)]
            error = 1.96 * np.sqrt(np.sum((basis @ block) * basis, axis=1))
            shares = np.clip(np.stack([centre - error, centre, centre + error], 1), 0.0, 1.0)
            with jax.enable_x64(True):  # noqa: FBT003
                columns.append(np.asarray(from_share(spline.coefficient, shares)))
        return np.stack(columns, axis=1)

    def _tell(self, misfit, chi2):
        values, errors = misfit.values(self.best_), np.sqrt(np.diag(self.covariance_))
        self.parameters_ = {name: values[name] for name in self.names_}
        self.standard_errors_, self.intervals_ = {}, {}
        for name in self.names_:
            i = misfit.names.index(name)
            slope = misfit.value_slope(name, values[name])
            self.standard_errors_[name] = float(errors[i] * slope) if errors[i] < 1 else np.inf
            ends = []
            for side in (-1.96, 1.96):
                moved = self.best_.copy()
                moved[i] = np.clip(moved[i] + side * errors[i], 0.0, 1.0)
                ends.append(misfit.values(moved)[name])
            self.intervals_[name] = tuple(ends)
        self.minima_, self.rivals_ = ((chi2, self.parameters_),), ()
        self.edge_ = tuple(
            name for name, s in zip(misfit.names, self.best_, strict=True)
            if name in self.names_ and not EDGE < s < 1 - EDGE
        )  # fmt: skip
        nodes = sum(len(spline.names) for spline in self.splines_)
        used = len(misfit.y) - self.freedom_
        self.status_ = (
            f"{used:.1f} numbers were determined by {len(misfit.y)} readings, for "
            f"{nodes} nodes; misfit {self.misfit_:.2f} a degree of freedom."
        )


COEFFICIENT_BASELINES = (CoefficientFit(),)
