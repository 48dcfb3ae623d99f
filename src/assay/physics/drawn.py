"""The arrays that the figures of a physics study draw."""

from typing import Any

import numpy as np


def arrays_of(need: Any, test: Any, candidate: list[Any], baselines: list[Any]) -> dict[str, Any]:
    """Return what the figures need, as plain arrays.

    Parameters
    ----------
    need : PhysicsNeed
    test : Reference
    candidate, baselines : lists of Scored
    """
    problem, first, solver = need.problem, candidate[0], baselines[0]
    variables = problem.space.variables
    arrays = {
        "points": test.points,
        "reference": test.fields,
        "reference_error": test.error,
        "exact": test.solution is None,
        "fields": first.fields,
        "solver_fields": solver.fields,
        "variables": np.array(variables, dtype=object),
        "variable_labels": _labels(variables, problem.units),
        "field_names": np.array(problem.fields, dtype=object),
        "field_labels": _labels(problem.fields, problem.units),
        "field_units": np.array([problem.units.get(f, "") for f in problem.fields], dtype=object),
        "time": -1 if problem.time is None else variables.index(problem.time),
        "errors": np.array([s.error for s in candidate]),
        "seconds": np.array([s.seconds for s in candidate]),
        "level_seconds": np.array([s for s, _ in solver.levels]),
        "level_errors": np.array([e for _, e in solver.levels]),
    }
    estimator = first.trained.estimator
    history = getattr(estimator, "history_", None) or {}
    arrays |= {f"history_{key}": np.asarray(values) for key, values in history.items()}
    arrays |= _terms(getattr(estimator, "scales_", None))
    arrays |= _readings(problem, estimator, solver.trained.estimator)
    return arrays | _found(problem, candidate, solver.trained.estimator)


def _labels(names: tuple[str, ...], units: dict[str, str]) -> np.ndarray:
    """Return names with their units: ``t [s]``; a unit that was not declared is left out."""
    said = [f"{name} [{units[name]}]" if (units or {}).get(name) else name for name in names]
    return np.array(said, dtype=object)


def term_name(term: str) -> str:
    """Return what a term of an equation is called: the one that holds no field has no name.

    Examples
    --------
    >>> term_name("u_t"), term_name("1")
    ('u_t', 'source (no field in it)')
    """
    return "source (no field in it)" if term == "1" else term


def _terms(scales: Any) -> dict[str, Any]:
    rows = [] if scales is None else scales.rows()
    if not rows:
        return {}
    several = len({row["equation"] for row in rows}) > 1
    terms = [term_name(row["term"]) for row in rows]
    if several:
        terms = [f"{term} ({row['equation']})" for term, row in zip(terms, rows, strict=True)]
    return {
        "term_names": np.array(terms, dtype=object),
        "term_before": np.array([row["before"] for row in rows]),
        "term_after": np.array([row["after"] for row in rows]),
        "term_scaled": bool(scales.scaled),
    }


def _readings(problem: Any, network: Any, solver: Any) -> dict[str, Any]:
    """Return the readings of fields beside what both methods say at the same places."""
    kept = [reading for reading in problem.readings if reading.name in problem.fields]
    if not kept:
        return {}
    places, fields = [], []
    for reading in kept:
        places.append(np.stack([reading.at[name] for name in problem.box], axis=1))
        fields.append(np.full(len(reading.values), problem.fields.index(reading.name)))
    points, field = np.concatenate(places), np.concatenate(fields)
    rows = np.arange(len(points))
    sigma = [np.full(len(r.values), np.nan if r.sigma is None else r.sigma) for r in kept]
    return {
        "reading_points": points,
        "reading_field": field,
        "reading_values": np.concatenate([reading.values for reading in kept]),
        "reading_sigma": np.concatenate(sigma),
        "reading_network": np.asarray(network.predict(points))[rows, field],
        "reading_solver": np.asarray(solver.predict(points))[rows, field],
    }


def _found(problem: Any, candidate: list[Any], solver: Any) -> dict[str, Any]:
    """Return the parameters that were found, by each seed and by the classical fit."""
    names = tuple(problem.unknown)
    each = [getattr(s.trained.estimator, "parameters_", None) for s in candidate]
    theirs = getattr(solver, "parameters_", None)
    if not names or theirs is None or any(one is None for one in each):
        return {}
    within = getattr(solver, "intervals_", {})
    ends = [within.get(name, (np.nan, np.nan)) for name in names]
    return {
        "found_labels": _labels(names, problem.units),
        "found_network": np.array([[one[name] for name in names] for one in each]),
        "found_solver": np.array([theirs[name] for name in names]),
        "found_low": np.array([low for low, _ in ends]),
        "found_high": np.array([high for _, high in ends]),
    }
