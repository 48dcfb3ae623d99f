"""What a physics study tells: the table, the sentences, and what the figures draw."""

import math
from typing import Any

import numpy as np

from assay.physics.drawn import arrays_of, term_name
from assay.physics.found import found_tables
from assay.physics.problem import Problem
from assay.physics.wording import counted, duration, times
from assay.result import Column, DataSummary, ExtraTable, MetricInfo
from assay.study import Story

METRICS = (
    MetricInfo("error", "relative L2 error", "-", "lower"),
    MetricInfo(
        "seconds",
        "time to solve",
        "s",
        "lower",
        "detail",
        note="Median over seeds, compiling left out where it is known; of the classical solver, "
        "that of its finest level.",
    ),
)


def metrics_of(problem: Problem) -> tuple[MetricInfo, ...]:
    """Return the columns of the table: one more for each parameter that is to be found."""
    units = problem.units
    found = tuple(
        MetricInfo(f"found_{name}", name, units.get(name, "-"), "target", "detail")
        for name in problem.unknown
    )
    return (*METRICS, *found)


def inverse_metrics(problem: Problem, estimators: list[Any]) -> dict[str, np.ndarray]:
    """Return the found parameters of each estimator that has some."""
    each = [getattr(estimator, "parameters_", None) for estimator in estimators]
    if not problem.unknown or any(one is None for one in each):
        return {}
    return {f"found_{name}": np.array([one[name] for one in each]) for name in problem.unknown}


def summary_of(problem: Problem, source: str) -> DataSummary:
    """Return the declaration as the report shows data: one column a variable, and notes."""
    columns = tuple(
        Column(
            name, problem.units.get(name, ""), low, high, (low + high) / 2, (high - low) / 12**0.5
        )
        for name, (low, high) in problem.box.items()
    )
    known = ", ".join(
        f"{k} = {v:g}{_unit(problem, k)}"
        for k, v in problem.known.items()
        if k not in problem.unknown
    )
    conditions = "; ".join(face.label for face in problem.faces) or "none"
    periodic = "".join(f"; periodic in {name}" for name in problem.periodic)
    notes = [f"Fields: {', '.join(problem.fields)}. Conditions: {conditions}{periodic}."]
    if known:
        notes.append(f"Known parameters: {known}.")
    for name, unknown in problem.unknown.items():
        ends = f"between {unknown.low:g} and {unknown.high:g}{_unit(problem, name)}"
        notes.append(f"To be found: {name}, {ends}.")
    for name, coefficient in problem.coefficients.items():
        notes.append(f"To be found: the coefficient {name} as a function of {coefficient.of}.")
    for reading in problem.readings:
        sigma = "unknown noise"
        if reading.sigma is not None:
            sigma = f"noise {reading.sigma:g}{_unit(problem, reading.name)}"
        notes.append(f"{len(reading.values):,} readings of {reading.name}, {sigma}.")
    rows = sum(len(reading.values) for reading in problem.readings)
    return DataSummary((source,), rows, columns, tuple(notes))


def _unit(problem, name):
    """Return the declared unit with a space before it, or nothing."""
    unit = problem.units.get(name, "")
    return "" if unit in ("", "-") else f" {unit}"


def title_of(problem: Problem) -> str:
    """Return the line over a report: the name, and how much is in it."""
    size = f"{counted(len(problem.box), 'variable')}, {counted(len(problem.fields), 'field')}"
    unknown = len(problem.unknown) + len(problem.coefficients)
    return f"{problem.name} ({size}{f', {unknown} to be found' if unknown else ''})"


def tell(need: Any, test: Any, candidate: list[Any], baselines: list[Any], gain: Any) -> Story:
    """Return the story of one physics study.

    Parameters
    ----------
    need : PhysicsNeed
    test : Reference
    candidate, baselines : lists of Scored
    gain : Gain or None
    """
    problem: Problem = need.problem
    first, solver = candidate[0], baselines[0]
    title = title_of(problem)
    notes = [*_cost_notes(candidate, solver), *getattr(first.trained.estimator, "unchecked", ())]
    if test.solution is not None:
        notes.append(
            f"The reference is itself a solution by {test.source}, with an estimated error of "
            f"{test.error:.1e}; smaller errors cannot be told apart."
        )
    tables = [_speed_table(candidate, solver)] if solver.levels else []
    tables += found_tables(problem, candidate, solver)
    tables += scales_tables(first)
    arrays = arrays_of(need, test, candidate, baselines)
    return Story(title, metrics_of(problem), tuple(notes), arrays, tuple(tables))


def _cost_notes(candidate, solver):
    from assay.physics.need import equal_error, equal_time

    error = float(np.exp(np.mean(np.log([s.error for s in candidate]))))
    spent = float(np.median([s.seconds for s in candidate]))
    if not solver.levels:
        return []
    then = equal_time(solver, spent)
    needed = equal_error(solver, error)
    told = [
        f"In the network's time ({duration(spent)}) the error of the classical solver is "
        f"{then:.1e}, that of the network {error:.1e}: {_compared(error, then)}."
    ]
    if needed is None:
        told.append("The classical solver did not reach the network's error in its budget.")
        return told
    told.append(
        f"For the network's error the classical solver takes {duration(needed)}; the network takes "
        f"{times(spent / max(needed, 1e-9))} as long."
    )
    query = float(np.median([1e-6 * s.predict_us * len(s.fields) for s in candidate]))
    return [*told, _family(queries_to_pay(spent, needed, query), needed, query)]


def queries_to_pay(training: float, solve: float, query: float) -> int | None:
    """Return from which query on a network for a whole family costs less than solving each member.

    Parameters
    ----------
    training : float [s]
        Of the network, once.
    solve : float [s]
        One classical solution of the same error.
    query : float [s]
        One answer of the network.

    Returns
    -------
    int, or None where an answer of the network takes as long as a solution

    Examples
    --------
    >>> queries_to_pay(60.0, 0.2, 0.001)
    302
    """
    return max(1, math.ceil(training / (solve - query))) if solve > query else None


def _family(pays, solve, query):
    told = "A network trained for one set of parameters answers for that set only. "
    cost = f"({duration(solve)} by the classical solver at this error, {duration(query)} by it)"
    if pays is None:
        told += f"Not even one for a family of solves would pay by its answers {cost}. "
    else:
        told += (
            "One that was trained for a family of solves in the same time, with the parameters as "
            f"further variables, would pay from query {pays:,} on {cost}. "
        )
    return told + (
        "Else a network pays where parameters are found together with the field from sparse "
        "readings, or where a mesh is the bottleneck."
    )


def _compared(error, then):
    if error >= then:
        return f"{times(error / then)} the error"
    return f"the solver has {times(then / error)} the error"


def _speed_table(candidate, solver):
    rows = [
        (f"classical, level {i}", seconds, error)
        for i, (seconds, error) in enumerate(solver.levels)
    ]
    rows += [(f"network, seed {i}", s.seconds, s.error) for i, s in enumerate(candidate)]
    return ExtraTable(
        "Error and time", (("method", ""), ("time", "s"), ("relative L2 error", "-")),
        tuple(rows), "Compiling is left out on both sides where it is known.",
    )  # fmt: skip


def scales_tables(scored: Any) -> tuple[ExtraTable, ...]:
    """Return the table of the sizes of the terms, of a network that was trained on them."""
    scales = getattr(scored.trained.estimator, "scales_", None)
    if scales is None:
        return ()
    rows = tuple(
        (row["equation"], term_name(row["term"]), row["before"], row["after"])
        for row in scales.rows()
    )
    table = ExtraTable(
        "Sizes of the terms", (("equation", ""), ("term", ""), ("declared", ""), ("scaled", "-")),
        rows, "The network is trained on the scaled ones." if scales.scaled else
        "Scaling was switched off: the network is trained on the terms as declared.",
    )  # fmt: skip
    return (table,)
