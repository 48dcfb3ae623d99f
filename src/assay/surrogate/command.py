"""What ``assay surrogate`` and ``assay run`` call: options as typed."""

from pathlib import Path
from typing import Any

from assay.errors import StudyError
from assay.result import Result
from assay.surrogate.study import SurrogateStudy


def run(
    *,
    data: Any,
    test: Any = None,
    outputs_file: str | None = None,
    inputs: tuple[str, ...] = (),
    outputs: tuple[str, ...] = (),
    sigma: float | str | list[float | str] | None = None,
    bounds: list[str | list[float]] | None = None,
    candidate: str | None = "mlp",
    candidate_rows: str | None = None,
    members: int = 5,
    weight_decay: float | str | None = None,
    modes: float | None = None,
    group: str | None = None,
    drop: tuple[str, ...] = (),
    learning_curve: bool = True,
    margin: float = 0.0,
    seed: int = 0,
    seeds: int | None = None,
    out: Any = None,
    progress: Any = None,
    note: Any = None,
) -> Result:
    """Run a surrogate study from options as typed; see `SurrogateStudy` for what they mean.

    Parameters
    ----------
    data : list of str or str
        Files of runs; several are pooled.
    test : list of str or str
        Files of test runs; with `outputs_file` two of them, inputs and outputs.
    outputs_file : str
        A file of outputs, run by run as in `data`.
    inputs, outputs, drop : tuple of str
        Names or patterns of columns.
    sigma : float, str or list
        One number, ``"u=2,v=0.1"``, or one number an output.
    bounds : list
        Such as ``["k=1:5"]``, or ``[[1, 5], ...]`` in the order of the inputs.
    candidate : str
    candidate_rows : str
        A file of predictions of the test runs, made elsewhere.
    members : int
    weight_decay : float, or "validation"
    modes : int, or float in (0, 1)
    group : str
        Name of a column.
    learning_curve : bool
    margin : float
    seed, seeds : int
        `seeds` is 3 where it is not given, 1 where predictions are brought.
    out : path
        Where the files of the run will go.
    progress : callable
    note : callable
        Called with a sentence each on rows and columns that are left out, before anything is
        fitted.

    Returns
    -------
    Result

    Raises
    ------
    StudyError, DataError
        If the options contradict each other or the data cannot carry the study.
    """
    tests = [test] if isinstance(test, str | Path) else list(test or ())
    if candidate_rows is not None and not tests:
        raise StudyError(
            "Predictions made elsewhere can be put on trial only for test runs that are given.",
            hint="Name the test file with --test; the predictions hold its runs in order.",
        )
    sources = [data] if isinstance(data, str | Path) else list(data)
    if outputs_file is not None:
        _require_one_each(sources, tests, outputs_file)
    study = SurrogateStudy(
        sources if len(sources) > 1 else sources[0],
        outputs_file,
        test=_as_test(tests, paired=outputs_file is not None),
        inputs=tuple(inputs),
        outputs=tuple(outputs),
        sigma=sigma,
        bounds=bounds,
        candidate=(
            Path(candidate_rows)
            if candidate_rows is not None
            else (candidate or "mlp").replace("-", "_")
        ),
        members=members,
        weight_decay=weight_decay,
        modes=int(modes) if modes is not None and modes >= 1 and modes == int(modes) else modes,
        group=group,
        drop=tuple(drop),
        learning_curve=learning_curve,
    )
    for sentence in study.left_out if note is not None else ():
        note(sentence)
    return study.run(
        seed,
        seeds=seeds if seeds is not None else (1 if candidate_rows else 3),
        margin=margin,
        folder=out,
        progress=progress,
    )


def _require_one_each(sources: list, tests: list, outputs_file: str) -> None:
    if len(sources) > 1:
        raise StudyError(
            f"{len(sources)} files of inputs and one of outputs ('{outputs_file}') were given.",
            hint="Put the inputs into one file, run by run as in the file of outputs.",
        )
    if len(tests) not in (0, 2):
        raise StudyError(
            "With a file of outputs, --test needs two files, inputs and outputs, got "
            f"{len(tests)}.",
            hint="Type: --test INPUTS OUTPUTS.",
        )


def _as_test(tests: list, *, paired: bool) -> Any:
    if not tests:
        return None
    if paired:
        return tuple(tests)
    return tests if len(tests) > 1 else tests[0]
