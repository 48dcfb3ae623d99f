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
    r"""Return ``"Did you mean 'x'? Available: ..."`` for an unknown name.

    Names that hold a comma are shown as the command line takes them, in double quotation marks.

    Examples
    --------
    >>> did_you_mean("flow rate", ["flow rate, in", "b"])
    'A name with a comma needs double quotation marks: \'"flow rate, in"\'. Available: ...'
    """
    valid = sorted(map(str, valid))
    typed = [_as_typed(one) for one in valid]
    shown = ", ".join(typed[:20]) + (f", and {len(valid) - 20} more" if len(valid) > 20 else "")
    cut = [one for one in valid if "," in one and name in map(str.strip, one.split(","))]
    close = _difflib.get_close_matches(str(name), valid, n=1)
    meant = f"Did you mean '{close[0]}'? " if close else ""
    if cut:
        meant = f"A name with a comma needs double quotation marks: '{_as_typed(cut[0])}'. "
    return f"{meant}Available: {shown}."


def _as_typed(name: str) -> str:
    """Return a name as a list of names on the command line takes it: quoted as in CSV."""
    if "," not in name and not name.startswith('"'):
        return name
    return '"' + name.replace('"', '""') + '"'
