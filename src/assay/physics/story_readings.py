"""What an inverse study without a known solution tells: the readings, and who meets them."""

from typing import Any

import numpy as np

from assay.physics.drawn import arrays_of
from assay.physics.found import found_tables
from assay.physics.story import metrics_of, scales_tables, title_of
from assay.physics.wording import times
from assay.result import MetricInfo
from assay.study import Story


def tell_readings(
    need: Any, parts: Any, test: Any, reference: Any, candidate: list[Any], baselines: list[Any]
) -> Story:
    """Return the story of a study whose methods are graded on readings.

    Parameters
    ----------
    need : ReadingsNeed
    parts : Parts
        `parts.fit` is the problem with the readings that were fitted.
    test : Readings
        What the methods were graded on.
    reference : Reference
        The classical solution at the estimate, for the figures.
    candidate, baselines : lists of ScoredReadings
    """
    first, solver = candidate[0], baselines[0]
    notes = [*_notes(parts, test, reference, candidate, solver)]
    notes += getattr(first.trained.estimator, "unchecked", ())
    tables = [*found_tables(parts.fit, candidate, solver), *scales_tables(first)]
    arrays = arrays_of(need, reference, candidate, baselines)
    infos = metrics_of(need.problem)
    what = "held-back readings" if test.held_back else "fitted readings"
    error = MetricInfo(
        "error", f"RMS miss, {what}", "SD", "lower",
        note=f"Root mean square of (field - reading), in {test.unit}.",
    )  # fmt: skip
    return Story(title_of(need.problem), (error, *infos[1:]), tuple(notes), arrays,
                 tuple(tables))  # fmt: skip


def _notes(parts, test, reference, candidate, solver):
    """Return who meets the readings how well, and what the figures are drawn against."""
    ours = float(np.exp(np.mean([np.log(s.error) for s in candidate])))
    n, what = len(test.values), "standard deviations" if test.known_noise else "of their spread"
    if not n:
        yield "There are no readings of fields, so the methods cannot be graded on any."
    elif test.held_back:
        fitted = sum(len(reading.values) for reading in parts.fit.readings)
        wider = times(float(np.sqrt((fitted + n) / fitted)))
        expected = " (noise alone gives about 1)" if test.known_noise else ""
        yield (
            f"{n} readings were held back, {fitted} fitted. What the network leaves of the former "
            f"is {ours:.3g} {what} (root mean square), what {solver.trained.method.name.lower()} "
            f"leaves is {solver.error:.3g}{expected}. Fitted to all of them, the intervals would "
            f"be narrower by a factor of about {wider.removesuffix(' times')}: "
            f"`{type(solver.trained.estimator).__name__}().fit(problem)` does that."
        )
    else:
        expected = " Less than 1 is expected, since they were fitted." if test.known_noise else ""
        yield (
            f"All {n} readings of fields were fitted: fewer than 40 are too few to hold some back. "
            f"Solved classically at the estimate, the equation leaves {solver.error:.3g} {what} of "
            f"them (root mean square), the network leaves {ours:.3g}.{expected}"
        )
    apart = [float(np.max(_off(s.fields, reference.fields))) for s in candidate]
    yield (
        f"No solution is known: fields are drawn against {reference.source}. The network differs "
        f"from it by {min(apart):.1e} of its size{_to(apart)}."
    )


def _off(fields, truth):
    size = float(np.sqrt(np.mean(truth**2))) or 1.0
    return np.sqrt(np.mean((fields - truth) ** 2, axis=0)) / size


def _to(apart):
    return f" to {max(apart):.1e}, over {len(apart)} seeds" if len(apart) > 1 else ""
