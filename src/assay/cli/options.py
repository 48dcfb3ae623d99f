"""What all needs take on the command line, and how the result of a study leaves it."""

import csv
import dataclasses
import functools
import importlib
import inspect
import itertools
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import click

from assay.cli import shell
from assay.cli.streams import tell
from assay.errors import StudyError


@dataclasses.dataclass(frozen=True)
class Common:
    """The options that every study takes.

    `out` is None where the user named no folder; then `folder` proposes one.
    """

    out: Path | None
    seed: int
    seeds: int | None
    margin: float
    as_json: bool
    quiet: bool
    exit_zero: bool

    def folder(self, need: str, sources: Iterable[str] = ()) -> Path:
        """Return where the files go: ``runs/<need>-<first file>`` unless the user named it."""
        if self.out is not None:
            return self.out
        stems = [Path(source).stem for source in sources][:1]
        return Path("runs") / "-".join([need, *stems])


def common(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give `command` the options of all studies, handed over as one `common` argument."""

    @functools.wraps(command)
    def wrapped(
        *,
        out: Path | None,
        seed: int,
        seeds: int | None,
        margin: float,
        as_json: bool,
        quiet: bool,
        exit_zero: bool,
        **own: Any,
    ) -> Any:
        told = Common(out, seed, seeds, margin, as_json, quiet, exit_zero)
        return command(common=told, **own)

    for option in reversed(_COMMON):
        wrapped = option(wrapped)
    return wrapped


_COMMON = (
    click.option(
        "--out",
        type=click.Path(path_type=Path, file_okay=False),
        metavar="DIR",
        help="Folder for the report and everything behind it.  [default: runs/NEED-FILE]",
    ),
    click.option(
        "--seed",
        type=click.IntRange(0, 2**31 - 1),
        default=0,
        show_default=True,
        metavar="N",
        help="First seed.",
    ),
    click.option(
        "--seeds",
        type=click.IntRange(1),
        metavar="N",
        help="How many seeds the network gets.  [default: 3; 1 for what is brought]",
    ),
    click.option(
        "--margin",
        type=click.FloatRange(0, 1, max_open=True),
        default=0.0,
        metavar="G",
        help="Gain that is asked for: 0.1 is a tenth less loss than the baseline.  [default: 0]",
    ),
    click.option("--json", "as_json", is_flag=True, help="Print the result as JSON on stdout."),
    click.option("--quiet", is_flag=True, help="No progress, no summary: only files and errors."),
    click.option("--exit-zero", is_flag=True, help="Exit with 0 whatever the verdict."),
)


class FilesAfterOption(click.Command):
    """A command with options that take every file name after them, as a shell's ``*`` gives them.

    Without this ``--test valve1-*.csv`` would judge the first file and train on all the others.

    Parameters
    ----------
    name : str or None
    greedy : tuple of str
        The options, such as ``("--test",)``; they must be declared with ``multiple=True``.
    **attributes
        What `click.Command` takes.
    """

    def __init__(self, name: str | None, *, greedy: tuple[str, ...], **attributes: Any):
        super().__init__(name, **attributes)
        self.greedy = greedy

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Write the option again before each file name that follows it, then parse as usual."""
        spread: list[str] = []
        following = ""
        for arg, after in itertools.pairwise([*args, "--"]):
            is_option = arg.startswith("-") and arg != "-"
            if arg in self.greedy and after.startswith("-") and after != "-":
                raise click.UsageError(f"Option '{arg}' requires a file name.", ctx)
            if is_option:
                following = arg if arg in self.greedy else ""
            if not (is_option and following):
                spread += [following, arg] if following else [arg]
        return super().parse_args(ctx, spread)


def prepare(folder: Path | None = None) -> None:
    """Do what must come before a long study.

    Parameters
    ----------
    folder : Path, optional
        Where the files will go: a folder that must not be replaced is refused now, not at the end.

    Raises
    ------
    StudyError
        When `folder` holds something that is not ours.
    """
    if folder is not None:
        from assay.report.folder import check_target

        check_target(folder)
    keep_programs()


def keep_programs() -> None:
    """Keep compiled programs between runs, so that the second run of a command starts at once.

    Only the command line does this, because it changes a global setting of JAX.
    """
    from assay.train import enable_compilation_cache

    try:
        enable_compilation_cache()
    except StudyError as reason:  # a read-only home: slower, and no reason to refuse
        shell.say(f"warning: {shell.one_line(reason.message)}")


def study(need: str, folder: Path, common: Common, settings: dict[str, Any]) -> int:
    """Run a study, write its folder, print the result, and return the exit code of its verdict.

    Parameters
    ----------
    need : str
        Its `command.run` is called.
    folder : Path
        Where the files go; see `Common.folder`.
    common : Common
    settings : dict
        What the need takes besides what all take.
    """
    prepare(folder)
    run = importlib.import_module(f"assay.{need}.command").run
    taken = {"seed": common.seed, "seeds": common.seeds, "margin": common.margin, "out": folder}
    taken |= notes_for(run, quiet=common.quiet)
    with shell.working(quiet=common.quiet) as progress:
        result = run(**settings, **taken, progress=progress)
    return finish(result, common, folder)


def notes_for(run: Callable[..., Any], *, quiet: bool) -> dict[str, Any]:
    """Return what a need's `command.run` is to call with notes on the data, where it takes it."""
    takes = "note" in inspect.signature(run).parameters
    return {"note": shell.note} if takes and not quiet else {}


def names(context: click.Context, parameter: click.Parameter, value: Any) -> tuple[str, ...]:
    """Split names that were given with commas, repeated options, or both.

    A name that holds a comma is put in double quotation marks, and one of its own is doubled, as in
    a CSV file.

    Raises
    ------
    click.BadParameter
        Where a quotation mark is not closed, or closed in the middle of a name.

    Examples
    --------
    >>> names(None, None, ("a,b", "c"))
    ('a', 'b', 'c')
    >>> names(None, None, ('"flow rate, in",b',))
    ('flow rate, in', 'b')
    """
    parts = [part for text in value or () for part in _fields(text, context, parameter)]
    return tuple(part.strip() for part in parts if part.strip())


def _fields(text: str, context: click.Context, parameter: click.Parameter) -> list[str]:
    """Return the fields of one line of CSV."""
    if '"' not in text:
        return text.split(",")
    try:
        return [*itertools.chain(*csv.reader([text], skipinitialspace=True, strict=True))]
    except csv.Error as reason:
        raise click.BadParameter(
            f"{text!r} is not quoted as a line of CSV ({reason}): a name that holds a comma is put "
            "in double quotation marks, '\"flow rate, in\",b', and one of its own is doubled.",
            context,
            parameter,
        ) from None


def finish(result: Any, common: Common, folder: Path) -> int:
    """Write the folder, print the result, and return the exit code of its verdict.

    Parameters
    ----------
    result : assay.result.Result
    common : Common
    folder : Path
        Written only now, when there is a whole result: a study that fails leaves nothing.
    """
    result.save(folder)
    if common.as_json:
        from assay.report.json import dumps

        tell(dumps(result))
    elif not common.quiet:
        from rich.console import Console

        from assay.report.saved import saved_models, told
        from assay.report.terminal import show

        console = Console()
        with console.capture() as shown:
            show(result, console)
        lines = [f"Report: {folder / 'report.html'}"]
        lines += [f"Model: {folder / one.folder} ({told(one)})" for one in saved_models(result)]
        tell("\n".join([shown.get(), *map(shell.printable, lines)]))
    return shell.EXIT_OK if common.exit_zero else shell.EXIT_OF_VERDICT[result.verdict]
