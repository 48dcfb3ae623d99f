"""What can go wrong, as a tree.

* AssayError: everything this library raises on purpose
  + DataError: the data could not be used (a file, a column, a row, a shape)
  + StudyError: the study could not be run as asked
  + ModelError: a saved model could not be read or does not fit the data

Every message says where, what was required, what was given; `hint` says what to do. The command
line prints them as ``error: ...`` and ``hint: ...`` and exits with 1.
"""

import difflib as _difflib
from collections.abc import Iterable


class AssayError(Exception):
    """Base of every error that Assay raises on purpose.

    Parameters
    ----------
    message : str
        Where, what was required and what was given, in one line.
    hint : str, optional
        What to do about it, in one line.
    """

    def __init__(self, message: str, *, hint: str = ""):
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self):
        return f"{self.message} Hint: {self.hint}" if self.hint else self.message


class DataError(AssayError, ValueError):
    """The data could not be used: a file, a column, a row or a shape."""


class StudyError(AssayError, ValueError):
    """The study could not be run as it was asked for."""


class ModelError(AssayError, ValueError):
    """A saved model could not be read, or does not fit the data."""


def did_you_mean(name: str, valid: Iterable[str]) -> str:
    """Return ``"Did you mean 'x'? Available: ..."`` for an unknown name."""
    valid = sorted(map(str, valid))
    close = _difflib.get_close_matches(str(name), valid, n=1)
    shown = ", ".join(valid[:20]) + (f", and {len(valid) - 20} more" if len(valid) > 20 else "")
    return (f"Did you mean '{close[0]}'? " if close else "") + f"Available: {shown}."
