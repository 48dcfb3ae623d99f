"""The table of found parameters: network against least squares, each with its interval."""

from typing import Any

import numpy as np

from assay.errors import AssayError
from assay.physics.network_intervals import laplace_intervals
from assay.physics.problem import Problem
from assay.result import ExtraTable

HEADER = (
    ("parameter", ""),
    ("unit", ""),
    ("network", ""),
    ("its 95 % interval", ""),
    ("least squares", ""),
    ("95 % interval", ""),
)


def found_tables(problem: Problem, candidate: list[Any], solver: Any) -> tuple[ExtraTable, ...]:
    """Return the table "Found parameters", or nothing where none were to be found.

    Parameters
    ----------
    problem : Problem
    candidate : list of Scored
        Of the network (or what was brought), one a seed.
    solver : Scored
        Of the least-squares fit.
    """
    networks = [scored.trained.estimator for scored in candidate]
    fit = solver.trained.estimator
    each = [getattr(network, "parameters_", None) for network in networks]
    if not problem.unknown or any(one is None for one in each) or not hasattr(fit, "intervals_"):
        return ()
    intervals = _intervals(networks[0], problem, each)
    means = {name: float(np.mean([one[name] for one in each])) for name in problem.unknown}
    rows = tuple(
        (
            name, problem.units.get(name, "-"), means[name], _pair(intervals.get(name)),
            fit.parameters_[name], _pair(fit.intervals_[name]),
        )
        for name in problem.unknown
    )  # fmt: skip
    return (ExtraTable("Found parameters", HEADER, rows, _note(fit, means, len(each))),)


def _intervals(network, problem, each):
    """Return (low, high) of each unknown of a network, empty where it has no curvature to show.

    The variance is that of the first seed plus (1 + 1/m) times the one between m seeds, as for
    answers that were imputed m times (Rubin 1987, eq. 3.1.5): all seeds read the same readings, so
    that what is between them is the network's own error.
    """
    if not hasattr(network, "normal_matrix"):
        return {}
    try:
        found = laplace_intervals(network)
    except (AssayError, np.linalg.LinAlgError):
        return {}
    return {name: _pooled(problem.unknown[name], one, [values[name] for values in each])
            for name, one in found.items()}  # fmt: skip


def _pooled(unknown, one, values):
    """Return the interval of the mean over seeds."""
    from scipy.stats import norm, t

    to, back = (np.log, np.exp) if unknown.scale == "log" else (np.asarray, np.asarray)
    raw, m = np.asarray(to(np.array(values))), len(values)
    between = (1.0 + 1.0 / m) * float(np.var(raw, ddof=1)) if m > 1 else 0.0
    within = one.spread**2
    # Rubin's degrees of freedom: few seeds know little of their own spread.
    freedom = (m - 1) * (1.0 + within / between) ** 2 if between > 0 else np.inf
    factor = t.ppf(0.975, freedom) if np.isfinite(freedom) else norm.ppf(0.975)
    reach = factor * np.sqrt(within + between)
    low, high = (float(back(raw.mean() + side * reach)) for side in (-1.0, 1.0))
    return max(low, unknown.low), min(high, unknown.high)


def _pair(ends):
    return "-" if ends is None else f"{ends[0]:.4g} to {ends[1]:.4g}"


def _note(fit, means, seeds):
    at_network = fit.misfit_at(means)
    told = (
        f"The network's value is the mean over {seeds} seed(s); its interval is that of the first, "
        "wider by what is between them. "
        "Solved classically with the network's values, "
    )
    if not np.isfinite(at_network):
        return told + "the equation has no solution, or they lie outside their ranges."
    return told + (
        f"the misfit is {at_network:.4g} a degree of freedom; with those of least squares it is "
        f"{fit.misfit_:.4g}."
    )
