"""Which columns a user means: names and patterns, and what numbers in names say."""

import fnmatch
import re

import numpy as np

from assay.errors import StudyError, did_you_mean

# Fewer columns with rising numbers in their names may be quantities that someone has numbered.
_FEWEST_POINTS = 4
_MANY_OUTPUTS = 12
_NUMBERED = re.compile(r"^(.*?[_@=: \[(])(-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)[\])]?$")


def matching(wanted, names, *, aliases=(), what: str, source: str) -> list[int]:
    """Return the positions of the columns that names or patterns (``u_*``) stand for.

    Parameters
    ----------
    wanted : sequence of str
        A name counts as a name first, so that ``u[0]`` or ``u*`` may be one; then, where only one
        name fits, without regard to case; then as a pattern with ``*``, ``?`` and ``[...]``.
    names, aliases : sequence of str
        As the table has them, and as its file wrote them (with units).
    what : str
        What the columns are to be, for messages: "output".
    source : str

    Returns
    -------
    list of int
        In the order asked for; columns that one pattern stands for in the order of the table.

    Raises
    ------
    StudyError
        If a name or pattern stands for nothing.

    Examples
    --------
    >>> matching(["b", "u_*"], ["u_1", "b", "u_2"], what="output", source="runs.csv")
    [1, 0, 2]
    """
    found: list[int] = []
    for want in wanted:
        hits = _hits(str(want), list(names), list(aliases))
        if not hits:
            raise StudyError(
                f"'{source}' has no column that fits the {what} '{want}'.",
                hint=did_you_mean(str(want), names),
            )
        found += hits
    return list(dict.fromkeys(found))


def _hits(want: str, names: list[str], aliases: list[str]) -> list[int]:
    for known in (names, aliases):
        if want in known:
            return [known.index(want)]
    folded = [i for i, name in enumerate(names) if name.casefold() == want.strip().casefold()]
    if len(folded) == 1:
        return folded
    return [i for i, name in enumerate(names) if fnmatch.fnmatchcase(name, want)]


def numbers_in(names) -> tuple[np.ndarray, str] | None:
    """Return the coordinate that the names of a series carry, and its name; None where none.

    Columns are points of one series if all share a stem that ends in a separator (``_ @ = : [ (``
    or a space) and are followed by rising numbers: at least four, and more than twelve where the
    numbers only count (``u_1, u_2, u_3``), because then they may well be separate quantities.

    Parameters
    ----------
    names : sequence of str

    Examples
    --------
    >>> numbers_in(["u_0.1", "u_0.2", "u_0.5", "u_1"])
    (array([0.1, 0.2, 0.5, 1. ]), 'u')
    >>> numbers_in(["force_1", "force_2", "force_3", "force_4"]) is None
    True
    """
    found = [_NUMBERED.match(name) for name in names]
    if len(found) < _FEWEST_POINTS or not all(found) or len({m[1] for m in found}) > 1:
        return None
    at = np.array([float(m[2]) for m in found])
    step = np.diff(at)
    if not np.isfinite(at).all() or (step <= 0).any():
        return None
    counts = bool((step == 1).all()) and at[0] in (0.0, 1.0)
    if counts and len(at) <= _MANY_OUTPUTS:
        return None
    return at, found[0][1].rstrip("_@=: [(")
