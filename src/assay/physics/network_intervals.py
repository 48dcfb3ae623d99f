"""How certain a network's unknowns are: from the curvature at the end, and by redrawn readings."""

import dataclasses
from typing import Any

import jax
import numpy as np

from assay.errors import StudyError
from assay.physics.network_error import network_error
from assay.physics.residuals import found_numbers
from assay.train.descent import Limits
from assay.train.least_squares import least_squares
from assay.train.rows import all_rows

RIDGE = 1e-12  # of the largest diagonal entry: what rounding has left of the flattest directions
WEAK = 0.1  # precision, in shares of the range, where nothing bounds an unknown
FLAT = 1e-4  # least slope of a share in its raw number, which vanishes on the edge of the range


@dataclasses.dataclass(frozen=True)
class Interval:
    """A 95 % interval of an unknown that a network has found.

    Attributes
    ----------
    value, low, high : float [unit of the unknown]
        The ends are cut at the declared range.
    spread : float [-]
        Standard error on the declared scale: of the logarithm with ``scale="log"``.
    own : float [-]
        The part of it that is the network's own error, in the same unit; the rest is the noise of
        the readings. 0 where it was not looked at.
    """

    value: float
    low: float
    high: float
    spread: float
    own: float = 0.0


def laplace_intervals(pinn: Any) -> dict[str, Interval]:
    r"""Return the interval of each unknown from the curvature of the loss at the end.

    With the normal matrix :math:`N = J^T J` of weights :math:`w` and unknowns :math:`\lambda`,
    one over the variance of a reading each, the noise gives the unknowns the covariance

    .. math:: (N_{\lambda\lambda} - N_{\lambda w} N_{ww}^{-1} N_{w\lambda})^{-1},

    times the reduced misfit where the noise is not given. What the network itself misses, by its
    size, its points or a training that has not ended, is added: see `assay.physics.network_error`.
    The network is held to the equation as tightly as in training, not exactly: the interval is a
    little wider than that of a solver.

    Parameters
    ----------
    pinn : PINN
        Fitted to a problem with unknowns and readings.

    Raises
    ------
    StudyError
        If there are no unknowns or no readings, or the network was loaded (it has no data).

    Examples
    --------
    >>> from assay.physics import PINN, Initial, Measured, Problem, Unknown
    >>> t = np.linspace(0.1, 1.0, 10)
    >>> decay = Problem(lambda d: d.u_t + d.k * d.u, {"t": (0.0, 1.0)},
    ...     conditions=(Initial("u", 1.0),), parameters={"k": Unknown(0.1, 10.0)},
    ...     readings=(Measured("u", {"t": t}, np.exp(-2.0 * t), 0.01),))
    >>> found = laplace_intervals(PINN(hidden=(6,), points=20, steps=40).fit(decay))["k"]
    >>> bool(found.low < 2.0 < found.high)
    True
    """
    names, square = _names(pinn), pinn.normal_matrix()
    variance, factor = _noise(pinn)
    covariance, _ = _marginal(pinn, names, square, variance)
    error = _own_error(pinn, names, square, variance)
    spread = np.sqrt(np.diag(covariance) + np.diag(error))
    return _intervals(pinn, names, spread, factor, np.sqrt(np.diag(error)))


def _marginal(pinn, names, square, variance):
    """Return the covariance (k, k) of the unknowns in shares of their ranges, and directions.

    The directions (n_parameters, k) turn a gradient into a step of the shares.
    """
    k = len(names)
    weights, mixed, own = square[:-k, :-k], square[:-k, -k:], square[-k:, -k:]
    ridge = RIDGE * float(np.diag(weights).max())
    chol = np.linalg.cholesky(weights + ridge * np.eye(len(weights)))
    half = np.linalg.solve(chol, mixed)
    per_share = 1.0 / _share_slopes(pinn, names)
    marginal = (own - half.T @ half) * np.outer(per_share, per_share)
    values, vectors = np.linalg.eigh((marginal + marginal.T) / (2.0 * variance))
    # Rounding can make a flat direction slightly negative: it is flat.
    covariance = (vectors / (np.maximum(values, 0.0) + WEAK**2)) @ vectors.T
    carried = np.concatenate([-np.linalg.solve(chol.T, half), np.eye(k)]) * per_share
    return covariance, carried @ covariance / variance


def _own_error(pinn, names, square, variance):
    """Return the covariance (k, k) of the network's own error, in shares of the ranges."""
    piece, data = pinn.pieces_[-1], _data(pinn)
    readings = [i for i, kind in enumerate(piece.setup.kinds) if kind == "reading"]
    per_row = float(data.weights[readings[0]][0]) ** 2  # `normal_matrix` is divided by it
    unsaid = any(reading.sigma is None for reading in pinn.problem_.readings)
    places = tuple(np.asarray(item["x"], np.float64) for item in data.items)

    def directions(fresh):
        # Points that were overfitted leave directions free, which fresh ones hold.
        both = 0.5 * (square + np.asarray(fresh, np.float64) / per_row)
        return _marginal(pinn, names, both, variance)[1] / per_row

    with jax.enable_x64(pinn.precision == "float64"):
        return network_error(piece.setup, piece.params, data, places, directions, unsaid=unsaid)


def bootstrap_intervals(pinn: Any, *, n: int = 20, steps: int = 50, seed: int = 0):
    """Return the interval of each unknown from fits to readings that are drawn again.

    New readings are the network's own values plus noise of the declared standard deviation (of
    the residuals where it is not given). Each fit starts from the trained network and uses its
    compiled programs.

    Parameters
    ----------
    pinn : PINN
        Fitted to a problem with unknowns and readings.
    n : int >= 3
        Redrawn sets of readings; an interval from 20 is itself uncertain to 16 %.
    steps : int
        Gauss-Newton steps of each fit.
    seed : int

    Returns
    -------
    dict of str to Interval

    Raises
    ------
    StudyError
        As `laplace_intervals`, and for fewer than three draws.
    """
    from scipy.stats import t

    names = _names(pinn)
    if n < 3:
        raise StudyError(f"A bootstrap needs at least 3 draws, got {n!r}.", hint="20 is usual.")
    rng = np.random.default_rng(seed)
    piece, data = pinn.pieces_[-1], _data(pinn)
    kinds = piece.setup.kinds
    scale = np.sqrt(_noise(pinn)[0])
    found = []
    with jax.enable_x64(pinn.precision == "float64"):
        rows = all_rows(piece.setup.terms, piece.params, data)
        limits = Limits(steps=steps)
        for _ in range(n):
            items = list(data.items)
            for i, kind in enumerate(kinds):
                if kind == "reading":
                    items[i] = _redrawn(items[i], rows[i], data.weights[i], scale, rng)
            new = dataclasses.replace(data, items=tuple(items))
            end = least_squares(piece.setup.terms, piece.params, new, limits=limits)
            values = found_numbers(pinn.problem_.unknown, end.params["unknown"])
            found.append([_to_share(pinn, name, values[name]) for name in names])
    spread = np.std(found, axis=0, ddof=1)
    return _intervals(pinn, names, spread, float(t.ppf(0.975, n - 1)))


def _redrawn(item, rows, weight, scale, rng):
    """Return the item of readings with targets at the network's values plus noise."""
    size, target = np.asarray(item["size"]), np.asarray(item["target"])
    model = target + _unweighted(rows, weight) * size
    drawn = model + scale * size * rng.normal(size=len(model))
    return item | {"target": drawn.astype(target.dtype)}


def _unweighted(rows, weight):
    """Return the misfits of readings in their standard deviations; 0 where one does not count."""
    rows, weight = np.asarray(rows)[:, 0], np.asarray(weight)
    return np.divide(rows, weight, out=np.zeros_like(rows), where=weight > 0)


def _noise(pinn):
    """Return (variance of a reading over the one assumed, number of standard errors)."""
    from scipy.stats import norm, t

    problem = pinn.problem_
    if all(reading.sigma is not None for reading in problem.readings) and pinn.scales_.scaled:
        return 1.0, float(norm.ppf(0.975))
    piece, data = pinn.pieces_[-1], _data(pinn)
    with jax.enable_x64(pinn.precision == "float64"):
        rows = all_rows(piece.setup.terms, piece.params, data)
    # A training that was cut short early may hold readings back still: their weight is 0.
    parts = [
        _unweighted(rows[i], data.weights[i])[np.asarray(data.weights[i]) > 0]
        for i, kind in enumerate(piece.setup.kinds)
        if kind == "reading"
    ]
    whole = np.concatenate(parts)
    free = max(len(whole) - len(problem.unknown), 1)
    return max(float(whole @ whole) / free, 1e-300), float(t.ppf(0.975, free))


def _names(pinn):
    """Return the unknowns in the order of the columns of the normal matrix, which is sorted."""
    problem = getattr(pinn, "problem_", None)
    if not getattr(problem, "unknown", None) or not problem.readings:
        raise StudyError(
            "Intervals need a network that was fitted to readings, with something to be found.",
            hint="Problem(..., parameters={'k': Unknown(0.1, 10.0)}, readings=(Measured(...),))",
        )
    _data(pinn)
    return sorted(problem.unknown)


def _data(pinn):
    if getattr(pinn, "data_", None) is None:
        raise StudyError("A loaded model has no data to linearise.", hint="Fit it again.")
    return pinn.data_


def _share_slopes(pinn, names):
    """Return by how much the share of each unknown changes with its raw number."""
    raw = pinn.pieces_[-1].params["unknown"]
    return np.array([max(abs(0.5 * np.cos(float(raw[name]))), FLAT) for name in names])


def _scale(unknown):
    """Return (function to the declared scale, its inverse, ends of the range there)."""
    to, back = (np.log, np.exp) if unknown.scale == "log" else (float, float)
    return to, back, (float(to(unknown.low)), float(to(unknown.high)))


def _to_share(pinn, name, value):
    to, _, (low, high) = _scale(pinn.problem_.unknown[name])
    return (float(to(value)) - low) / (high - low)


def _intervals(pinn, names, spread, factor, own=None):
    """Return intervals from standard errors in shares of the ranges."""
    unknown, made = pinn.problem_.unknown, {}
    own = np.zeros(len(names)) if own is None else own
    for name, error, part in zip(names, spread, own, strict=True):
        u, value = unknown[name], pinn.parameters_[name]
        to, back, (low, high) = _scale(u)
        centre, width = float(to(value)), high - low
        ends = [centre + side * factor * error * width for side in (-1.0, 1.0)]
        made[name] = Interval(
            value, max(float(back(max(ends[0], low))), u.low),
            min(float(back(min(ends[1], high))), u.high), float(error * width), float(part * width),
        )  # fmt: skip
    return {name: made[name] for name in unknown}
