"""The streams that a command writes to, where their other end is closed, full or gone."""

import logging
import os
import sys


def open_streams() -> None:
    """Give a command streams to write to where the caller has closed them (``>&-``).

    Matplotlib's remarks about its own cache folder (a home that cannot be written) are left out:
    they are about nothing that the user asked for.
    """
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))
    logging.getLogger("matplotlib").setLevel(logging.ERROR)


def tell(text: str) -> None:
    """Write what a command has to say to stdout.

    A reader that has seen enough (``assay check ... | head``) changes nothing about how the command
    ends: its exit code stays the answer.

    Parameters
    ----------
    text : str
        Without a newline at its end.

    Raises
    ------
    OSError
        When the text cannot be written for another reason, such as a full disk.

    Examples
    --------
    >>> tell("INSIDE")
    INSIDE
    """
    try:
        sys.stdout.write(f"{text}\n")
        sys.stdout.flush()
    except BrokenPipeError:
        leave()
    except OSError:
        leave()
        raise


def leave() -> None:
    """Point stdout to nowhere, so that what is left in its buffer does not fail again at exit."""
    sink = os.open(os.devnull, os.O_WRONLY)
    os.dup2(sink, sys.__stdout__.fileno())
    os.close(sink)
