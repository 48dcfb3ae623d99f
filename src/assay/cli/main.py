"""The entry point: ``assay``, its lazy group of commands, and how a run ends.

Nothing heavy is imported here: ``assay --help`` has to answer before a reader looks up.
"""

import importlib
import os
import sys

import click

from assay import __version__
from assay.cli import shell, streams
from assay.errors import AssayError, did_you_mean

# (command, where it lives, its line in the help): written here so that the help imports none.
COMMANDS = (
    ("anomaly", "assay.cli.anomaly", "Does a network find faults that monitoring misses?"),
    ("compress", "assay.cli.compress", "Does an autoencoder compress better than PCA?"),
    ("surrogate", "assay.cli.surrogate", "Can a network stand in for a slow simulator?"),
    ("physics", "assay.cli.physics", "Does a network solve an equation better than a solver?"),
    ("advise", "assay.cli.advise", "Look at a table: which need, which baseline, enough rows?"),
    ("check", "assay.cli.check", "Is new data inside what a saved model was trained on?"),
    ("run", "assay.cli.run", "Run a study again from its study.toml."),
    ("demo", "assay.cli.demo", "Run a whole study on data that ships with scikit-learn."),
    ("labs", "assay.cli.labs", "The chapters' experiments: quoted against measured."),
    ("list", "assay.cli.list", "List the needs, families, baselines and checks."),
)
_MODULES = {name: module for name, module, _ in COMMANDS}


class LazyGroup(click.Group):
    """A group that imports a command when it is run, and lists them without importing any."""

    def list_commands(self, ctx):
        """Return the names, in the order of the help."""
        del ctx
        return list(_MODULES)

    def get_command(self, ctx, cmd_name):
        """Import the module of a command and return its object `command`."""
        del ctx
        if cmd_name not in _MODULES:
            return None
        command = importlib.import_module(_MODULES[cmd_name]).command
        # A docstring spells it out; to click the character itself keeps the lines of an example.
        command.help = (command.help or "").replace("\\b\n", "\b\n")
        return command

    def resolve_command(self, ctx, args):
        """Find the command; for an unknown one say which there are, and the nearest."""
        if args and args[0] not in _MODULES:
            nearest = did_you_mean(args[0], _MODULES)
            raise click.UsageError(f"There is no command {args[0]!r}. {nearest}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx, formatter):
        """Write the list of commands."""
        del ctx
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, _, line in COMMANDS])


@click.group(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Exit codes: 0 earned, 3 not earned, 4 invalid, 5 undecided; 1 the data or the study "
    "could not be used, 2 wrong use of the command, 130 interrupted.",
)
@click.version_option(__version__, message="%(prog)s %(version)s")
def cli():
    """Find out what a neural network is really worth.

    A classical baseline that it must beat, a test part that is opened once, checks for the known
    failures, and a verdict with an interval.
    """


def main(args: list[str] | None = None) -> int:
    """Run the command line.

    Parameters
    ----------
    args : list of str, optional
        What was typed after ``assay``; by default what this process was started with.

    Returns
    -------
    int
        The exit code. No exception leaves this function unless ``ASSAY_DEBUG`` is set.

    Examples
    --------
    >>> main(["--version"]).bit_length()
    assay ...
    0
    """
    streams.open_streams()
    shell.soften_streams()
    try:
        code = cli.main(args=args, prog_name="assay", standalone_mode=False)
    except SystemExit:  # how click takes a reader of the help that has seen enough
        streams.leave()
        return shell.EXIT_OK
    except (Exception, KeyboardInterrupt) as error:
        if os.environ.get("ASSAY_DEBUG") and not isinstance(error, click.ClickException):
            raise
        return _explain(error)
    return code if isinstance(code, int) else shell.EXIT_OK


def _explain(error: BaseException) -> int:
    """Say what ended the run, in two lines, and return its exit code."""
    if isinstance(error, click.exceptions.NoArgsIsHelpError):
        print(error.ctx.get_help(), file=sys.stderr)
        return shell.EXIT_USAGE
    if isinstance(error, click.ClickException):
        ctx = getattr(error, "ctx", None)
        hint = f"`{ctx.command_path} --help` shows what it takes." if ctx else ""
        return shell.fail(error.format_message(), hint=hint, code=shell.EXIT_USAGE)
    if isinstance(error, click.Abort | KeyboardInterrupt):
        return shell.fail(
            "interrupted.",
            hint="the same command again goes on from where this one was stopped.",
            code=shell.EXIT_INTERRUPTED,
        )
    if isinstance(error, AssayError):
        return shell.fail(error.message, hint=error.hint)
    if isinstance(error, MemoryError):
        return shell.fail(
            "the study needs more memory than there is.",
            hint="give it fewer columns (--columns) or rows, or a machine with more memory.",
        )
    if isinstance(error, OSError) and error.filename is not None:
        return shell.fail(
            f"{error.filename}: {error.strerror or error}.",
            hint="look at the rights, the free space and the spelling of this path.",
        )
    if isinstance(error, OSError) and error.errno is not None:
        return shell.fail(
            f"what the command writes could not be written: {error.strerror or error}.",
            hint="look at the free space where --out and the output of the command go; the same "
            "command again goes on from what is there.",
        )
    return shell.fail(
        f"a defect in Assay ({type(error).__name__}: {error}).",
        hint="run it again with ASSAY_DEBUG=1 to see the traceback, and please report it.",
    )


if __name__ == "__main__":
    sys.exit(main())
