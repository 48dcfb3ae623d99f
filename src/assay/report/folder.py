"""Writing a result as a folder, all of it or nothing.

Everything is written into a hidden folder beside the target and put in place by renaming, so
that a run that is killed half way leaves the earlier folder as it was.
"""

import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from assay.errors import StudyError
from assay.report import figures, html, json, words
from assay.report.plain import toml
from assay.report.saved import BASELINE, CANDIDATE, saved_models
from assay.result import Result

# What Assay writes. Anything else in the folder is the user's and is carried over.
_FILES = ("result.json", "report.html", "study.toml", "scores.csv", "figures", "studies")
OURS = (*_FILES, CANDIDATE, BASELINE)


def write(result: Result, folder: str | os.PathLike) -> Path:
    """Write `result` into `folder`; return its path.

    The folder then holds ``result.json``, ``report.html``, ``study.toml``, ``figures/``
    (SVG and PNG), ``studies/`` where several files had a study each, ``model/`` (the candidate)
    and ``baseline/`` (the strongest one) where they can be saved, and ``scores.csv`` where the
    result holds columns of test rows (arrays named ``row_...``).

    Parameters
    ----------
    result : Result
    folder : path
        New, empty, or an earlier Assay folder, whose files are then replaced; other files in it
        stay.

    Raises
    ------
    StudyError
        When `folder` is a file or holds something else, or cannot be written. It is then as it
        was before.
    """
    folder = Path(folder).resolve()
    check_target(folder)
    stage = None
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        stage = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
        _fill(result, stage)
        stage.chmod(0o777 & ~_umask())  # mkdtemp makes it private; a result is not
        _put_in_place(stage, folder)
    except OSError as problem:
        raise StudyError(
            f"The folder '{folder}' could not be written: {problem.strerror or problem}.",
            hint="Choose a folder on a disk with space where you may write.",
        ) from problem
    finally:
        if stage is not None:
            shutil.rmtree(stage, ignore_errors=True)
    return folder


def check_target(folder: str | os.PathLike) -> None:
    """Raise `StudyError` unless `folder` is new, empty or an earlier Assay folder.

    A command calls it before a long study, so that the refusal does not come at its end.
    """
    folder = Path(folder)
    if not folder.exists() and not folder.is_symlink():
        return
    if not folder.is_dir():
        raise StudyError(
            f"'{folder}' is a file; a study is written into a folder.",
            hint="Name a new folder, for example --out runs/first.",
        )
    names = {path.name for path in folder.iterdir()}
    if names and not names & {"study.toml", "result.json"}:
        raise StudyError(
            f"The folder '{folder}' holds {len(names)} entries and none of them is a study of "
            "Assay, so nothing in it is replaced.",
            hint="Name a new folder, or one that an earlier study was written into.",
        )


def _fill(result: Result, stage: Path) -> None:
    drawn = figures.render(result, png=True)
    _write_texts(result, stage, drawn)
    if drawn:
        (stage / "figures").mkdir()
    for figure in drawn:
        if figure.svg:
            _text(stage / "figures" / f"{figure.key}.svg", figures.file_svg(figure))
            (stage / "figures" / f"{figure.key}.png").write_bytes(figure.png)
    for place, (name, study) in enumerate(result.studies, 1):
        inner = stage / "studies" / words.folder_name(place, name)
        inner.mkdir(parents=True)
        # Figures of single files are in their pages only: a bench of 30 files has a hundred.
        _write_texts(study, inner, figures.render(study))


def _write_texts(result: Result, stage: Path, drawn: list[figures.Rendered]) -> None:
    _text(stage / "result.json", json.dumps(result))
    _text(stage / "study.toml", toml(result.settings))
    _text(stage / "report.html", html.render(result, drawn, in_folder=True))
    for one in saved_models(result):
        one.model.save(stage / one.folder)
    table = score_table(result.arrays)
    if table is not None:
        table.write_csv(stage / "scores.csv")


def score_table(arrays: dict[str, Any]) -> Any:
    """Return the arrays named ``row_...`` as a polars frame, one row a test row, or None.

    ``row_number`` becomes the column ``row``; the others lose their ``row_``.

    Raises
    ------
    StudyError
        When the columns differ in length.
    """
    import polars

    columns = {name: np.asarray(a) for name, a in arrays.items() if name.startswith("row_")}
    columns = {name: a for name, a in columns.items() if a.ndim == 1}
    if not columns:
        return None
    lengths = {name: len(a) for name, a in columns.items()}
    if len(set(lengths.values())) > 1:
        raise StudyError(
            f"The columns of scores.csv differ in length: {lengths}.",
            hint="Report this message: every `row_` array must have one entry a test row.",
        )
    series = []
    for name, values in columns.items():
        title = "row" if name == "row_number" else name.removeprefix("row_")
        if values.dtype.kind in "OUS":
            values = [None if v is None else str(v) for v in values.tolist()]
        series.append(polars.Series(title, values))
    return polars.DataFrame(series)


def _put_in_place(stage: Path, folder: Path) -> None:
    """Rename `stage` to `folder`; what the user kept in the old folder moves along."""
    if not folder.exists():
        stage.rename(folder)
        return
    backup = Path(tempfile.mkdtemp(prefix=f".{folder.name}-old-", dir=folder.parent))
    folder.rename(backup / "old")
    try:
        stage.rename(folder)
    except OSError:
        (backup / "old").rename(folder)
        backup.rmdir()
        raise
    for kept in (backup / "old").iterdir():
        if kept.name not in OURS:
            kept.rename(folder / kept.name)
    shutil.rmtree(backup)


def _text(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", errors="replace", newline="\n")


def _umask() -> int:
    # There is no way to read the umask without setting it.
    mask = os.umask(0)
    os.umask(mask)
    return mask
