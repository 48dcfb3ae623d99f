"""``assay run``: run a study again from the ``study.toml`` that a former run left."""

import importlib
import inspect
import tomllib
from pathlib import Path
from typing import Any

import click

from assay.cli.options import Common, common, finish, notes_for, prepare
from assay.cli.shell import working
from assay.errors import StudyError, did_you_mean

NEEDS = ("anomaly", "compress", "surrogate", "physics")
# Files may be one or several; in Python they may be anything that can be read as a table.
_FILES = ("normal", "test", "calibration", "data")


@click.command("run")
@click.argument("study", type=click.Path(path_type=Path, readable=False), metavar="STUDY.TOML")
@common
def command(*, common: Common, study: Path) -> int:
    r"""Run a study again from the study.toml of a former run.

    Settings in the file win over defaults; --seed, --seeds and --margin, where you give them, win
    over the file. Without --out the files go beside the former ones, into FOLDER-again.

    \b
      assay run runs/pump/study.toml
    """
    if study.is_dir():
        study = study / "study.toml"
    need, settings = read_study(study)
    asked = click.get_current_context()
    for name in ("seed", "seeds", "margin"):
        source = asked.get_parameter_source(name)
        if name not in settings or source is not click.core.ParameterSource.DEFAULT:
            settings[name] = getattr(common, name)
    home = study.resolve().parent
    folder = common.out or home.with_name(f"{home.name}-again")
    run = importlib.import_module(f"assay.{need}.command").run
    check_settings(settings, run, study)
    if "home" in inspect.signature(run).parameters:
        settings["home"] = home  # names of files may be meant from there
    prepare(folder)
    notes = notes_for(run, quiet=common.quiet)
    with working(quiet=common.quiet) as progress:
        result = run(**settings, out=folder, progress=progress, **notes)
    return finish(result, common, folder)


def read_study(path: Path) -> tuple[str, dict[str, Any]]:
    """Read a ``study.toml``: which need, and the settings of its command.

    Parameters
    ----------
    path : Path

    Returns
    -------
    tuple of (str, dict)

    Raises
    ------
    StudyError
        When the file cannot be read, is no TOML, or names no need that there is.
    """
    cure = "give it the study.toml in the folder of a former run."
    try:
        told = tomllib.loads(path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is no UTF-8 text"
        raise StudyError(f"{path} cannot be read: {reason}.", hint=cure) from error
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise StudyError(f"{path} is no TOML file: {error}.", hint=cure) from error
    need = told.pop("need", None)
    if need not in NEEDS:
        near = did_you_mean(str(need), NEEDS)
        raise StudyError(f"{path} must name its `need`, got {need!r}. {near}", hint=cure)
    return need, told


def check_settings(settings: dict[str, Any], run: Any, path: Path) -> None:
    """Refuse a setting that the command does not take, or one of a wrong type.

    Parameters
    ----------
    settings : dict
        By name, as the file has them.
    run : function
        What will take them; its annotations say what each may be.
    path : Path
        The file, for messages.

    Raises
    ------
    StudyError
        A misspelt setting must not be ignored.
    """
    import msgspec

    taken = inspect.signature(run).parameters
    valid = set(taken) - {"home", "out", "progress", "note"}
    for name in sorted(valid):
        if taken[name].default is inspect.Parameter.empty and name not in settings:
            raise StudyError(
                f"{path} lacks the setting `{name}`.", hint="take the file of a former run."
            )
    for name, value in settings.items():
        if name not in valid:
            raise StudyError(
                f"{path} has an unknown setting `{name}`. {did_you_mean(name, valid)}",
                hint="correct its name, or take the line out.",
            )
        try:
            kind = str | list[str] if name in _FILES else taken[name].annotation
            msgspec.convert(value, kind)
        except msgspec.ValidationError as error:
            raise StudyError(
                f"{path} has a setting `{name}` that cannot be used: {error}.",
                hint="correct its value; docs/command-line.md says what each option takes.",
            ) from error
