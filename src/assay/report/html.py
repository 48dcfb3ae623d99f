"""The report as one HTML file that needs nothing else: no script, no font, no request.

The words come from `assay.report.words`, the tables from `assay.report.tables`; the template
escapes every value (jinja2 with autoescape), and a content security policy in the page forbids
what could still get through.
"""

import base64
import os
import re
import tempfile
from pathlib import Path
from typing import Any

from assay.errors import StudyError
from assay.report import figures, graphics, numbers, plain, tables, words
from assay.report.figures import LARGEST_SVG, Rendered
from assay.report.saved import saved_models, told
from assay.result import Finding, Gain, Result

TEMPLATES = Path(__file__).parent / "templates"

# The page stays under 2 MB whatever the study: figures beyond the budget and rows beyond these
# numbers are in the folder and in result.json, and the page says so.
FIGURE_BUDGET = 1_200_000
MOST_COLUMNS = 300
MOST_ROWS = 200
MOST_NOTES = 60
MOST_SOURCES = 20
LONGEST_TEXT = 1_500
LONGEST_VALUE = 300


def write(result: Result, path: str | os.PathLike) -> Path:
    """Write the page to `path`, all of it or nothing; return the path.

    Raises
    ------
    StudyError
        When the file cannot be written.
    """
    path = Path(path)
    page = render(result)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, stage = tempfile.mkstemp(prefix=f".{path.name}-", dir=path.parent)
        try:
            with os.fdopen(handle, "w", encoding="utf-8", errors="replace", newline="\n") as file:
                file.write(page)
            Path(stage).chmod(0o644)
            Path(stage).replace(path)
        except BaseException:
            Path(stage).unlink(missing_ok=True)
            raise
    except OSError as problem:
        raise StudyError(
            f"The report '{path}' could not be written: {problem.strerror or problem}.",
            hint="Name a file, for example pump.html, in a folder where you may write.",
        ) from problem
    return path


def render(result: Result, drawn: list[Rendered] | None = None, *, in_folder: bool = False) -> str:
    """Return the page as text.

    Parameters
    ----------
    result : Result
    drawn : list of Rendered, optional
        The figures where they have been drawn already (`assay.report.figures.render`).
    in_folder : bool
        The page lies in a study's folder, so that it can link to the studies of single files.
    """
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "clean": lambda text, limit=None: _unbroken(words.clean(text, limit)),
        "coded": _coded,
        "line": lambda text, limit=160: _unbroken(words.one_line(text, limit)),
        "sentence": lambda text, limit=None: _unbroken(words.as_sentence(text, limit)),
        "capital": words.capital,
        "minus": lambda text: _unbroken(_minus(str(text))),
        "count": numbers.count,
        "duration": numbers.seconds,
    }
    template = environment.get_template("page.html.j2")
    css = (TEMPLATES / "page.css").read_text("utf-8")
    drawn = figures.render(result) if drawn is None else drawn
    view = _view(result, drawn) | {"in_folder": in_folder}
    return template.render(r=result, css=css, longest=LONGEST_TEXT, **view)


def _coded(text: str) -> Any:
    """Return escaped text in which what stands between backticks is code."""
    import markupsafe

    escaped = str(markupsafe.escape(text))
    return markupsafe.Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", escaped))


def _view(result: Result, drawn: list[Rendered]) -> dict[str, Any]:
    """Return what the template shows beside the result itself."""
    groups = words.ordered_findings(result.findings)
    findings = {outcome: [_finding(f) for f in found] for outcome, found in groups.items()}
    return {
        "started": words.one_line(result.started, 40)[:16].replace("T", " "),
        "word": words.VERDICTS[result.verdict],
        "sentence": _unbroken(words.clean(words.sentence(result), LONGEST_TEXT)),
        "meaning": _unbroken(words.meaning(result)),
        "blocking": [f for f in groups["fail"] if f.severity == "fail"],
        "gain": _headline(result),
        "operating": tables.methods(result, "operating"),
        "ranking": tables.methods(result, "ranking"),
        "detail": tables.methods(result, "detail"),
        "ranking_note": words.RANKING_NOTE,
        "forest": _forest(result),
        "studies": [
            _study(i, name, s, factors=words.in_factors(result))
            for i, (name, s) in enumerate(result.studies, 1)
        ],
        "contenders": [_about(c) for c in tables.ordered(result)],
        "extra": [tables.extra(table, MOST_ROWS) for table in result.tables],
        "saved": saved_models(result),
        "told": told,
        "tally": words.tally(result.findings),
        "outcomes": words.OUTCOMES,
        "findings": findings,
        "figures": _figures(drawn),
        "columns": _columns(result),
        "profile": _profile(result),
        "costs": tables.costs(result),
        "settings": _settings(_chosen(result.settings)),
        "unset": [k for k, v in plain.flat(result.settings)[:MOST_ROWS] if _is_unset(v)],
        "most": {"notes": MOST_NOTES, "sources": MOST_SOURCES, "rows": MOST_ROWS},
    }


def _unbroken(text: str) -> str:
    """Return `text` with no line break between a number and its per cent sign."""
    return re.sub(r"(?<=\d) (?=%)", "\N{NO-BREAK SPACE}", text)


def _minus(text: str) -> str:
    """Return `text` with a minus sign before numbers; exponents and words keep their hyphen."""
    return re.sub(r"(?<![\w.])-(?=\d)", "\N{MINUS SIGN}", text)


def _headline(result: Result) -> dict[str, Any] | None:
    gain, factors = result.gain, words.in_factors(result)
    if gain is None:
        return None
    estimate, within = words.gain_text(gain, factors=factors)
    axis = graphics.axis([gain], factors=factors)
    return {
        "estimate": estimate,
        "interval": within,
        "level": f"{100 * gain.level:g}",
        "axis": axis,
        "bar": graphics.bar(gain, axis),
        "against": gain.against,
        "loss": gain.loss,
        "factors": factors,
    }


def _forest(result: Result) -> dict[str, Any] | None:
    """Return the gains against each baseline on one axis, the strongest baseline first."""
    if not result.gains:
        return None
    against = result.gain.against if result.gain else None
    gains = sorted(result.gains, key=lambda g: (g.against != against, _last_if_missing(g)))
    factors = words.in_factors(result)
    axis = graphics.axis(gains, factors=factors)
    digits = min(map(words.gain_digits, gains))
    rows = []
    for gain in gains:
        estimate, within = words.gain_text(gain, digits, factors=factors)
        row = {"name": gain.against, "estimate": estimate, "interval": within}
        rows.append(
            row | {"bar": graphics.bar(gain, axis), "is_strongest": gain.against == against}
        )
    own = next((g for g in gains if g.against == against), None)
    pooled = own is not None and words.gain_text(own) != words.gain_text(result.gain)
    return {"axis": axis, "rows": rows, "pooled": pooled, "factors": factors}


def _study(place: int, name: str, study: Result, *, factors: bool) -> dict[str, str]:
    estimate, within = numbers.MISSING, ""
    if study.gain:
        estimate, within = words.gain_text(study.gain, factors=factors)
    return {
        "name": name,
        "word": words.VERDICTS[study.verdict],
        "against": study.gain.against if study.gain else numbers.MISSING,
        "estimate": estimate,
        "interval": within,
        "page": f"studies/{words.folder_name(place, name)}/report.html",
    }


def _last_if_missing(gain: Gain) -> float:
    return gain.estimate if numbers.is_number(gain.estimate) else float("inf")


def _about(contender: Any) -> dict[str, Any]:
    return {
        "name": contender.name,
        "about": contender.about,
        "status": contender.status,
        "settings": _settings(contender.settings),
    }


def _finding(finding: Finding) -> dict[str, Any]:
    return {
        "it": finding,
        "measured": words.measured(finding),
        "threshold": words.threshold(finding),
    }


def _figures(drawn: list[Rendered]) -> list[dict[str, Any]]:
    """Return the figures as trusted SVG, or as a picture where the SVG is too large."""
    from markupsafe import Markup

    shown, spent = [], 0
    for figure in drawn:
        entry = {"it": figure, "svg": None, "picture": None, "wide": figure.size[0] > 6}
        if figure.svg and len(figure.svg) <= LARGEST_SVG:
            content = figures.page_svg(figure)
            entry["svg"] = Markup(content)  # ours: matplotlib escaped the text in it
        else:
            content = base64.b64encode(figure.png).decode()
            entry["picture"] = content
        if spent + len(content.encode()) > FIGURE_BUDGET:
            entry |= {"svg": None, "picture": None}
        else:
            spent += len(content.encode())
        shown.append(entry)
    return shown


def _columns(result: Result) -> dict[str, Any]:
    """Return the columns of the data as text, each with digits that suit its spread."""
    rows = []
    for column in result.data.columns[:MOST_COLUMNS]:
        digits = _spread_digits(column.std, column.low, column.high)
        values = (column.low, column.mean, column.high, column.std)
        rows.append(
            {
                "name": column.name,
                "unit": column.unit,
                "values": [numbers.number(value, digits) for value in values],
            }
        )
    return {"rows": rows, "total": len(result.data.columns)}


def _spread_digits(std: float, low: float, high: float) -> int | None:
    if not all(map(numbers.is_number, (std, low, high))) or max(abs(low), abs(high)) >= 1e6:
        return None
    if std == 0:
        return None
    digits = numbers.digits_after_point(std) - 1
    return max(digits, 0) if digits <= 6 else None


def _settings(settings: dict[str, Any]) -> list[tuple[str, str]]:
    """Return nested settings as (dotted name, text), cut to what a page can hold."""
    rows = []
    for name, value in plain.flat(settings)[:MOST_ROWS]:
        rows.append((words.one_line(name, 120), _value(plain.plain(value))))
    return rows


def _is_unset(value: Any) -> bool:
    return value is None or (isinstance(value, str | list | tuple | dict) and not value)


def _chosen(settings: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in plain.flat(settings) if not _is_unset(value)}


def _profile(result: Result) -> list[tuple[str, str]]:
    """Return the profile of the columns, those that stand still by their names."""
    names = [column.name for column in result.data.columns]
    profile = dict(result.data.profile)
    for key in ("constant", "near_constant"):
        if isinstance(profile.get(key), list) and all(j in range(len(names)) for j in profile[key]):
            profile[key] = [names[j] for j in profile[key]]
    return [
        (words.PROFILE.get(name) or words.capital(name.replace("_", " ")), value)
        for name, value in _settings(profile)
    ]


def _value(value: Any) -> str:
    if value is None:
        return "not set"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, list):
        shown = ", ".join(_value(item) for item in value[:30])
        more = f", and {len(value) - 30:,} more" if len(value) > 30 else ""
        return words.one_line(shown, LONGEST_VALUE) + more if value else "none"
    if isinstance(value, dict):
        return words.one_line(value, LONGEST_VALUE) if value else "none"
    return words.one_line(value, LONGEST_VALUE)
