"""How far the classical solution is from the readings, as a function of the unknowns."""

from typing import Any

import numpy as np

from assay.errors import AssayError, StudyError
from assay.physics.classical import solve_classical

WALL = 1e6  # standard deviations: what a reading is off where the solver gives up
NOISE_GUESS = 0.01  # of the root mean square of readings whose noise is not given
STEP = 2e-3  # of the range of an unknown: large beside the solver's error, small beside the range


class Misfit:
    r"""Rows :math:`(u(x_i; \theta) - y_i) / \sigma_i` for unknowns in shares of their range.

    A share of 0 is the lower end of an unknown, 1 the upper end, even on the declared scale.

    Parameters
    ----------
    problem : Problem
        With unknown numbers and readings of its fields.
    tolerance : float [-]
        Of the solver.
    seconds : float [s]
        Budget of one solve.

    Attributes
    ----------
    names : tuple of str
        The unknowns.
    known_noise : bool
        Whether every reading has its standard deviation. One that is not given is taken as 1 % of
        the root mean square of the readings; then only ratios of chi-square mean something.
    solves, failures : int
        So far: classical solutions, and those among them that failed or could not be trusted.

    Raises
    ------
    StudyError
        If a coefficient varies, readings are fewer than unknowns, or are not of a field.

    Examples
    --------
    >>> from assay.physics.gallery_inverse import oscillator_inverse
    >>> misfit = Misfit(oscillator_inverse(), tolerance=1e-6)
    >>> round(misfit.values(misfit.start)["zeta"], 6)
    0.5
    """

    def __init__(self, problem: Any, *, tolerance: float, seconds: float = 60.0):
        _require(problem)
        self.problem, self.tolerance, self.seconds = problem, tolerance, seconds
        self.names, self.solves = tuple(problem.unknown), 0
        self.failures = 0
        readings = problem.readings
        self.known_noise = all(r.sigma is not None for r in readings)
        self.y = np.concatenate([r.values for r in readings])
        self.sigma = np.concatenate(
            [np.full(len(r.values), r.sigma or NOISE_GUESS * _rms(r.values)) for r in readings]
        )
        self._ends = tuple(
            (np.log(u.low), np.log(u.high)) if u.scale == "log" else (u.low, u.high)
            for u in problem.unknown.values()
        )

    @property
    def start(self) -> np.ndarray:
        """The declared start (n_unknown,)."""
        return self.shares({name: u.start for name, u in self.problem.unknown.items()})

    def values(self, shares: np.ndarray) -> dict[str, float]:
        """Return the unknowns at shares (n_unknown,) of their ranges."""
        found = {}
        for (name, unknown), (low, high), s in zip(
            self.problem.unknown.items(), self._ends, shares, strict=True
        ):
            raw = low + float(s) * (high - low)
            found[name] = float(np.exp(raw) if unknown.scale == "log" else raw)
        return found

    def shares(self, values: dict[str, float]) -> np.ndarray:
        """Return the shares (n_unknown,) of values of the unknowns."""
        found = []
        for (name, unknown), (low, high) in zip(
            self.problem.unknown.items(), self._ends, strict=True
        ):
            raw = np.log(values[name]) if unknown.scale == "log" else values[name]
            found.append((raw - low) / (high - low))
        return np.array(found)

    def value_slope(self, name: str, value: float) -> float:
        """Return by how much an unknown changes for a whole range, linearised at a value."""
        low, high = self._ends[self.names.index(name)]
        return (high - low) * (value if self.problem.unknown[name].scale == "log" else 1.0)

    def solve(self, shares: np.ndarray) -> Any:
        """Return the classical Solution."""
        self.solves += 1
        return solve_classical(
            self.problem, self.values(shares), tolerance=self.tolerance, seconds=self.seconds
        )

    def rows(self, shares: np.ndarray) -> np.ndarray:
        """Return (n_readings,) rows; a wall where the solver fails or runs out of time."""
        try:
            solution = self.solve(shares)
        except AssayError:
            solution = None
        if solution is None or not solution.error < 0.1:  # one level only, or levels apart
            self.failures += 1
            return np.full(len(self.y), WALL)
        return (self.model(solution) - self.y) / self.sigma

    def model(self, solution: Any) -> np.ndarray:
        """Return what a solution says for each reading: (n_readings,)."""
        parts = []
        for reading in self.problem.readings:
            points = np.stack([reading.at[name] for name in self.problem.box], axis=1)
            parts.append(solution.at(points)[:, self.problem.fields.index(reading.name)])
        return np.concatenate(parts)

    def chi2(self, shares: np.ndarray) -> float:
        """Return the sum of squares of the rows, infinite at a wall."""
        rows = self.rows(shares)
        return np.inf if np.abs(rows).max() >= WALL else float(rows @ rows)

    def jacobian(
        self, shares: np.ndarray, rows: np.ndarray | None = None, free: Any = None
    ) -> np.ndarray:
        """Return slopes (n_readings, n_free) of the rows.

        Parameters
        ----------
        shares : array of shape (n_unknown,)
        rows : array, optional
            At `shares`: then one-sided differences, else central ones, which cost twice as much.
        free : sequence of int, optional
            Which unknowns; all by default.
        """
        columns = []
        for i in range(len(shares)) if free is None else free:
            up, down = shares.copy(), shares.copy()
            up[i], down[i] = min(shares[i] + STEP, 1.0), max(shares[i] - STEP, 0.0)
            if rows is not None:
                other = up if up[i] > shares[i] else down
                columns.append((self.rows(other) - rows) / (other[i] - shares[i]))
            else:
                columns.append((self.rows(up) - self.rows(down)) / (up[i] - down[i]))
        return np.stack(columns, axis=1)

    def descend(
        self,
        shares: np.ndarray,
        *,
        free: Any = None,
        evaluations: int = 25,
        tolerance: float = 1e-6,
    ) -> tuple[np.ndarray, float]:
        """Follow least squares downhill within the ranges; return (shares, chi-square).

        Parameters
        ----------
        shares : array of shape (n_unknown,)
            Where to begin.
        free : sequence of int, optional
            Unknowns that may move; the others stay.
        evaluations : int
            Most steps.
        tolerance : float [-]
            Relative change of chi-square or of the shares at which it stops.
        """
        from scipy.optimize import least_squares

        free = list(range(len(shares))) if free is None else list(free)
        if not free:
            return shares, self.chi2(shares)
        seen: dict[bytes, np.ndarray] = {}

        def full(part):
            whole = shares.copy()
            whole[free] = part
            return whole

        def rows(part):
            key = np.asarray(part).tobytes()
            if key not in seen:
                seen.clear()
                seen[key] = self.rows(full(part))
            return seen[key]

        def slopes(part):
            return self.jacobian(full(part), rows(part), free)

        begin = np.clip(shares[free], 1e-6, 1 - 1e-6)
        end = least_squares(rows, begin, slopes, bounds=(0.0, 1.0), xtol=tolerance,
                            ftol=tolerance, gtol=1e-12, max_nfev=evaluations)  # fmt: skip
        return full(end.x), 2.0 * float(end.cost)


def _rms(values):
    return float(np.sqrt(np.mean(values**2))) or 1.0


def _require(problem):
    n = sum(len(r.values) for r in problem.readings)
    if problem.coefficients:
        raise StudyError(
            "Least squares through the solver finds numbers, not coefficients that vary.",
            hint="CoefficientFit().fit(problem) writes them with a few numbers each.",
        )
    if not problem.unknown:
        raise StudyError("Nothing is to be found.", hint="parameters={'k': Unknown(0.1, 10.0)}")
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
