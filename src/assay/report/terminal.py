"""The result in a terminal: verdict, table, and the findings that are not passes.

One list of lines serves both `text`, which reads without colour, and `show`, which adds it.
"""

import re
import textwrap
from collections.abc import Iterator
from typing import Any

from assay.report import tables, words
from assay.report.words import one_line
from assay.result import Finding, Result

WIDTH = 88
# (text, style) pieces of one line; a style is a key of STYLES.
Line = tuple[tuple[str, str], ...]

STYLES = {
    "": "",
    "strong": "bold",
    "dim": "dim",
    "earned": "bold green",
    "not_earned": "bold yellow",
    "undecided": "bold blue",
    "invalid": "bold red",
    "fail": "bold red",
    "warn": "yellow",
    "error": "magenta",
    "candidate": "bold cyan",
}


def text(result: Result, width: int = WIDTH) -> str:
    """Return the result as plain text of at most `width` columns (80 or more).

    Examples
    --------
    >>> print(text(result))  # doctest: +SKIP
    """
    lines = ("".join(piece for piece, _ in line).rstrip() for line in _lines(result, width))
    return "\n".join(lines)


def show(result: Result, console: Any) -> None:
    """Print the result on a ``rich.console.Console``, with colour where the console has it."""
    from rich.text import Text

    for line in _lines(result, min(max(console.width, 60), 100)):
        # Text objects, not markup: a column may be called "[red]".
        said = Text.assemble(*((piece, STYLES[style]) for piece, style in line))
        console.print(said, soft_wrap=True, highlight=False)


def _lines(result: Result, width: int) -> Iterator[Line]:
    yield from _wrapped(f"{result.need}: {one_line(result.title, 400)}", width, style="strong")
    yield ()
    word = words.VERDICTS[result.verdict].upper()
    yield ((word, result.verdict),)
    yield from _wrapped(words.sentence(result), width)
    yield from _gain(result, width)
    yield ()
    yield from _table(result, width)
    yield ()
    yield from _findings(result, width)
    if result.ledger:
        yield ()
        yield from _wrapped(f"Ledger: {one_line(result.ledger.sentence)}", width)
    for note in result.notes:
        yield ()
        yield from _wrapped(f"Note: {one_line(note)}", width)


def _gain(result: Result, width: int) -> Iterator[Line]:
    if result.gain is None:
        return
    factors = words.in_factors(result)
    estimate, within = words.gain_text(result.gain, factors=factors)
    loss, against = one_line(result.gain.loss, 120), one_line(result.gain.against, 60)
    said = f"{words.capital(loss) or 'Loss'}: {estimate}" if factors else f"Gain {estimate}"
    if within:
        said += f" ({100 * result.gain.level:g} % interval {within})"
    if factors:
        said += f" than with {against}" if "times" in estimate else f", against {against}"
    else:
        said += f" against {against}{f', loss: {loss}' if loss else ''}"
    if result.verdict == "invalid":
        said += "; not to be relied on"
    yield from _wrapped(f"{said}.", width)


def _table(result: Result, width: int) -> Iterator[Line]:
    """Yield the table of methods; where it is narrow, intervals move and ranking metrics go."""
    layouts = [
        (roles, where)
        for where in ("beside", "below", "nowhere")
        for roles in (("operating", "ranking"), ("operating",))
    ]
    for roles, where in layouts:
        parts = [t for t in (tables.methods(result, role) for role in roles) if t is not None]
        grid = _columns(parts, where)
        widths = _widths(grid)
        if _total(widths) <= width:
            break
    while _total(widths) > width and len(widths) > 4:
        # Still too wide: the last metric goes; the report has them all.
        grid = [[*line[:-3], *line[-2:]] for line in grid]
        widths = _widths(grid)
    n_heads = len(grid) - 2 * len(parts[0].rows)
    for line in grid[:n_heads]:
        yield ((f"  {_aligned(line, widths)}", "dim"),)
    lines = zip(parts[0].rows, grid[n_heads::2], grid[n_heads + 1 :: 2], strict=True)
    for row, line, below in lines:
        mark = ">" if row.is_candidate else "*" if row.is_strongest else " "
        style = "candidate" if row.is_candidate else "strong" if row.is_strongest else ""
        yield ((f"{mark} {_aligned(line, widths)}", style),)
        if any(below):
            yield ((f"  {_aligned(below, widths)}", "dim"),)
    legend = "> candidate"
    if any(row.is_strongest for row in parts[0].rows):
        legend += "   * strongest baseline"
    if where == "nowhere":
        legend += "   intervals are in the report"
    yield ((f"  {legend}", "dim"),)


def _columns(parts: list[tables.Table], where: str) -> list[list[str]]:
    """Return the lines of the table as cells: the head, then two lines a method.

    The second line holds the intervals of the candidate and the strongest baseline, if they are
    to stand ``"below"``; it is empty otherwise.
    """
    titles, units = ["method"], [""]
    for head in (head for part in parts for head in part.heads):
        lines = textwrap.wrap(one_line(head.title, 40), 16) or [""]
        titles.append(lines[0])
        rest = " ".join(lines[1:])
        units.append(" ".join(filter(None, (rest, f"[{head.unit}]" if head.unit else ""))))
    grid = [[*titles, "fit", f"per {parts[0].item}"]]
    if any(units):
        grid.append([*units, "", ""])
    for aligned in zip(*(part.rows for part in parts), strict=True):
        row = aligned[0]
        cells = [cell for part in aligned for cell in part.cells]
        within = [_compact(cell.interval) for cell in cells]
        beside = [f" ({text})" if text and where == "beside" else "" for text in within]
        values = [f"{cell.value}{text}" for cell, text in zip(cells, beside, strict=True)]
        grid.append([one_line(row.name, 26), *values, row.fit, row.predict])
        shown = where == "below" and (row.is_candidate or row.is_strongest)
        grid.append(["", *(text if shown else "" for text in within), "", ""])
    return grid


def _compact(interval: str) -> str:
    """Return ``"0.05–0.08"`` for ``"0.05 to 0.08"``; with a minus sign it stays as it is."""
    return interval if "-" in interval else interval.replace(" to ", "\N{EN DASH}")


def _widths(grid: list[list[str]]) -> list[int]:
    return [max(map(len, column)) for column in zip(*grid, strict=True)]


def _total(widths: list[int]) -> int:
    return sum(widths) + 2 * (len(widths) - 1) + 2  # two columns for the mark in front


def _aligned(cells: list[str], widths: list[int]) -> str:
    first, *others = zip(cells, widths, strict=True)
    return "  ".join([first[0].ljust(first[1]), *(cell.rjust(wide) for cell, wide in others)])


def _findings(result: Result, width: int) -> Iterator[Line]:
    yield from _wrapped(f"Checks: {words.tally(result.findings)}.", width, style="strong")
    groups = words.ordered_findings(result.findings)
    for outcome in ("fail", "warn", "error"):
        for finding in groups[outcome]:
            yield from _finding(finding, width)


def _finding(finding: Finding, width: int) -> Iterator[Line]:
    word = words.OUTCOMES[finding.outcome].upper()
    style = finding.outcome if finding.outcome in STYLES else ""
    code = one_line(finding.code, 20)
    title = one_line(finding.title, width - len(f"  {word:<8} {code} "))
    yield ((f"  {word:<8}", style), (f" {code} {title}", "strong"))
    said = one_line(finding.sentence)
    if measured := words.measured(finding):
        said += f" Measured {measured}"
        said += f", limit {limit}." if (limit := words.threshold(finding)) else "."
    yield from _wrapped(said, width, indent=4)
    if finding.cause:
        yield from _wrapped(f"Cause: {one_line(finding.cause)}", width, indent=4)
    for place, fix in enumerate(finding.fix, 1):
        yield from _wrapped(f"Fix {place}: {one_line(fix)}", width, indent=4)


def _wrapped(said: str, width: int, *, indent: int = 0, style: str = "") -> Iterator[Line]:
    margin = " " * indent
    # A number and its per cent sign stay on one line; in what is printed it is a plain space.
    said = re.sub(r"(?<=\d) (?=%)", "\N{NO-BREAK SPACE}", one_line(said))
    for line in textwrap.wrap(said, width, initial_indent=margin, subsequent_indent=margin):
        yield ((line.replace("\N{NO-BREAK SPACE}", " "), style),)
