"""What ``assay anomaly`` and ``assay run`` call: options as typed, one study or one a file."""

import json
from pathlib import Path
from typing import Any

from assay.anomaly.inputs import Reading
from assay.anomaly.pooled import run_files
from assay.anomaly.study import AnomalyStudy
from assay.errors import DataError, StudyError
from assay.result import Result


def run(
    *,
    normal: Any,
    test: Any = None,
    calibration: Any = None,
    label: str | None = None,
    intervals: str | None = None,
    kind: str | None = None,
    drop: tuple[str, ...] = (),
    columns: tuple[str, ...] = (),
    time: str | None = None,
    window: int | None = None,
    step: int | None = None,
    group: str | None = None,
    normal_rows: int | None = None,
    false_alarm_rate: float = 0.05,
    candidate: str | None = None,
    candidate_scores: str | None = None,
    components: float | None = None,
    scaling: str = "standard",
    margin: float = 0.0,
    seed: int = 0,
    seeds: int | None = None,
    out: Any = None,
    progress: Any = None,
) -> Result:
    """Run an anomaly study from options as typed; see `AnomalyStudy` for what they mean.

    Parameters
    ----------
    normal, test, calibration : list of str or str
        Files.
    label, kind, time, group : str
        Names of columns.
    intervals : str
        A JSON file of labelled spans of time, a list of pairs or a mapping of file to such a list.
    drop, columns : tuple of str
    window, step, normal_rows : int
    false_alarm_rate, margin, components : float
    candidate, scaling : str
    candidate_scores : str
        A file of scores made elsewhere.
    seed, seeds : int
        `seeds` is 3 where it is not given, 1 where the candidate is brought.
    out : path
        Where the files of the run will go.
    progress : callable

    Returns
    -------
    Result

    Raises
    ------
    StudyError, DataError
        If the options contradict each other or the data cannot carry the study.
    """
    if candidate is not None and candidate_scores is not None:
        raise StudyError(
            "The candidate is either a network by name or scores made elsewhere.",
            hint="Leave out one of --candidate and --candidate-scores.",
        )
    sources = _listed(normal)
    if not sources:
        raise StudyError("No files to learn from were named.", hint="Name a file of normal rows.")
    brought = candidate if candidate_scores is None else Path(candidate_scores)
    options = {
        "candidate": brought,
        "false_alarm_rate": false_alarm_rate,
        "scaling": scaling,
        "components": components,
        "window": window,
        "step": step,
    }
    reading = Reading(
        label, kind, time, group, tuple(drop), tuple(columns), _spans(intervals), intervals
    )
    settings = {
        "seed": seed,
        "seeds": seeds if seeds is not None else (1 if candidate_scores else 3),
        "margin": margin,
        "folder": out,
        "progress": progress,
    }
    if normal_rows is not None and len(sources) > 1:
        if candidate_scores is not None:
            raise StudyError(
                "Scores made elsewhere can be put on trial for one file at a time.",
                hint="Run one command a file.",
            )
        return run_files(sources, reading, normal_rows, options, settings)
    study = AnomalyStudy.from_reading(
        sources if len(sources) > 1 else sources[0],
        _listed(test) or None,
        reading,
        calibration=_listed(calibration) or None,
        normal_rows=normal_rows,
        **options,
    )
    return study.run(**settings)


def _listed(files: Any) -> list[str]:
    if files is None:
        return []
    return [files] if isinstance(files, str | Path) else list(files)


def _spans(path: str | None) -> Any:
    """Read labelled spans of time from a JSON file."""
    if path is None:
        return None
    try:
        found = json.loads(Path(path).read_text("utf-8-sig"))
    except (OSError, UnicodeDecodeError, ValueError, RecursionError) as error:
        raise DataError(
            f"The labelled intervals in {path} cannot be read: {error}.",
            hint='Give JSON such as [["2014-01-27 14:20:00", "2014-01-29 13:15:00"]].',
        ) from error
    if not isinstance(found, list | dict):
        raise DataError(
            f"{path} must hold a list of [start, end] pairs, or a mapping of file to such a list.",
            hint='Give JSON such as [["2014-01-27 14:20:00", "2014-01-29 13:15:00"]].',
        )
    return found
