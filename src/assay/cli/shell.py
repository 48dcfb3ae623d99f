"""How a command speaks and ends: exit codes, error lines, progress, printable text."""

import contextlib
import signal
import sys
import threading
import time
import unicodedata
import warnings
from collections.abc import Callable, Iterator
from types import FrameType

EXIT_OK = 0
EXIT_FAILED = 1
EXIT_USAGE = 2
EXIT_INTERRUPTED = 130
# What a script needs to know is the verdict; see docs/command-line.md.
EXIT_OF_VERDICT = {"earned": 0, "not_earned": 3, "invalid": 4, "undecided": 5}
EXIT_OUTSIDE = 3
SILENT_S = 20.0  # after which a file, which shows no bar, is told that the work goes on

Progress = Callable[[str, float], None]


def soften_streams() -> None:
    """Make any text printable: what a terminal's encoding lacks is written as an escape.

    Warnings of libraries become one line each, without the source line that Python adds.
    """
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    warnings.showwarning = _one_line_warning


def _one_line_warning(message, category, filename, lineno, file=None, line=None):
    del filename, lineno, file, line
    say(f"warning: {one_line(str(message))} ({category.__name__})")


def printable(text: str) -> str:
    r"""Return `text` with everything that could command a terminal written as an escape.

    File names, column names and values come from outside: an escape sequence in one could recolour,
    overwrite or retitle the terminal, and a bidirectional control could reorder what is read.

    Parameters
    ----------
    text : str
        Any text; newlines and tabs stay.

    Returns
    -------
    str
        Without control, format, surrogate and private-use characters.

    Examples
    --------
    >>> printable("pump\x1b[31m")
    'pump\\x1b[31m'
    >>> printable("Förderhöhe [m]")
    'Förderhöhe [m]'
    """
    return "".join(c if _is_harmless(c) else _escape(c) for c in text)


def _is_harmless(character: str) -> bool:
    # Cc controls, Cf format (bidirectional marks, zero width), Cs surrogates, Co private use;
    # Zl and Zp break lines in some terminals only.
    kind = unicodedata.category(character)
    return character in "\n\t" or kind not in {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"}


def _escape(character: str) -> str:
    point = ord(character)
    if point < 0x100:
        return f"\\x{point:02x}"
    return f"\\u{point:04x}" if point < 0x10000 else f"\\U{point:08x}"


def one_line(text: str) -> str:
    r"""Return `text` printable and on one line.

    Parameters
    ----------
    text : str
        Any text.

    Returns
    -------
    str
        With every run of white space as one space.

    Examples
    --------
    >>> one_line("two\nlines\x07")
    'two lines\\x07'
    """
    return printable(" ".join(text.split()))


def say(text: str) -> None:
    """Write a line to stderr, where everything goes that is not the result."""
    print(printable(text), file=sys.stderr, flush=True)


def note(text: str) -> None:
    """Write ``note: ...``, one line, to stderr: what a study does with the data is told first."""
    say(f"note: {one_line(text)}")


def fail(message: str, *, hint: str = "", code: int = EXIT_FAILED) -> int:
    """Write ``error: ...`` and ``hint: ...``, one line each, to stderr and return `code`."""
    say(f"error: {one_line(message)}")
    if hint:
        say(f"hint: {one_line(hint)}")
    return code


@contextlib.contextmanager
def _interruptible() -> Iterator[Callable[[], None]]:
    """Make sure that Ctrl-C is not lost; yield what raises KeyboardInterrupt if it was pressed.

    Python raises it wherever it happens to be, and where that is a callback of a library (JAX has
    one in the garbage collector) the exception is ignored. So it is also remembered, and raised
    again at the next report of progress.
    """
    pressed = []

    def remember(number: int, frame: FrameType | None) -> None:
        pressed.append(number)
        signal.default_int_handler(number, frame)

    def stop_if_asked() -> None:
        if pressed:
            raise KeyboardInterrupt

    before = signal.getsignal(signal.SIGINT)
    ours = threading.current_thread() is threading.main_thread()
    # A handler that is not Python's own (None, or ignored under nohup) is somebody's decision.
    if not ours or before is not signal.default_int_handler:
        yield stop_if_asked
        return
    signal.signal(signal.SIGINT, remember)
    try:
        yield stop_if_asked
    finally:
        signal.signal(signal.SIGINT, before)


def _now_and_then(stop_if_asked: Callable[[], None]) -> Progress:
    """Return what says how far the work is, where nothing was said for `SILENT_S`."""
    said = time.monotonic()

    def report(text: str, share: float) -> None:
        nonlocal said
        stop_if_asked()
        if time.monotonic() - said >= SILENT_S:
            said = time.monotonic()
            say(f"{100.0 * share:.0f} %: {one_line(text)}")

    return report


@contextlib.contextmanager
def working(*, quiet: bool) -> Iterator[Progress]:
    """Run a long piece of work: yield what it calls with a sentence and the share done [0, 1].

    A bar is drawn on stderr only where a person looks at it; a file gets a plain line now and then,
    so that it tells of long work that it goes on. Whatever a library prints meanwhile
    goes to stderr too, so that stdout holds the result and nothing else.

    Parameters
    ----------
    quiet : bool
        Draw nothing, terminal or not.
    """
    with contextlib.redirect_stdout(sys.stderr), _interruptible() as stop_if_asked:
        if quiet:
            yield lambda text, share: stop_if_asked()
            return
        if not sys.stderr.isatty():
            yield _now_and_then(stop_if_asked)
            return
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
        from rich.text import Text

        bar = Progress(
            # Text objects and not markup: a method's name may come from a user.
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            TimeElapsedColumn(),
            console=Console(file=sys.stderr),
            transient=True,
        )
        with bar:
            task = bar.add_task("starting", total=1.0)

            def report(text: str, share: float) -> None:
                stop_if_asked()
                bar.update(task, description=str(Text(one_line(text))), completed=share)

            yield report
