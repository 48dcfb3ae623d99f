"""What ``assay compress`` and ``assay run`` call: options as typed."""

from pathlib import Path
from typing import Any

from assay.compress.study import CompressStudy
from assay.errors import StudyError
from assay.result import Result


def run(
    *,
    data: Any,
    test: Any = None,
    code_size: int | None = None,
    candidate: str | None = None,
    candidate_rows: str | None = None,
    scaling: str = "standard",
    time: str | None = None,
    group: str | None = None,
    drop: tuple[str, ...] = (),
    columns: tuple[str, ...] = (),
    margin: float = 0.0,
    seed: int = 0,
    seeds: int | None = None,
    out: Any = None,
    progress: Any = None,
) -> Result:
    """Run a compress study from options as typed; see `CompressStudy` for what they mean.

    Parameters
    ----------
    data, test : list of str or str
        Files.
    code_size : int
    candidate, scaling : str
    candidate_rows : str
        A file of reconstructed test rows made elsewhere.
    time, group : str
        Names of columns.
    drop, columns : tuple of str
    margin : float
    seed, seeds : int
        `seeds` is 3 where it is not given, 1 where rows are brought.
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
    sources = [data] if isinstance(data, str | Path) else list(data)
    if candidate_rows is not None and not test:
        raise StudyError(
            "Rows reconstructed elsewhere can be put on trial only for test rows that are given.",
            hint="Name the test file with --test; the candidate's file holds its rows in order.",
        )
    tests = [test] if isinstance(test, str | Path) else list(test or ())
    study = CompressStudy(
        sources if len(sources) > 1 else sources[0],
        (tests if len(tests) > 1 else tests[0]) if tests else None,
        code_size=code_size,
        candidate=candidate if candidate_rows is None else Path(candidate_rows),
        scaling=scaling,
        time=time,
        group=group,
        drop=tuple(drop),
        columns=tuple(columns),
    )
    return study.run(
        seed,
        seeds=seeds if seeds is not None else (1 if candidate_rows else 3),
        margin=margin,
        folder=out,
        progress=progress,
    )
