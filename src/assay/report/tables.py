"""The tables of a report as rows of text, for the page and the terminal alike."""

import dataclasses
from collections.abc import Sequence
from typing import Any

from assay.report import numbers
from assay.report.words import capital, one_line
from assay.result import Contender, ExtraTable, MetricInfo, Result

DIRECTIONS = {"lower": "lower is better", "higher": "higher is better", "target": "as asked for"}


@dataclasses.dataclass(frozen=True)
class Cell:
    """A number as text; `interval` and `spread` are empty where there is none."""

    value: str
    interval: str = ""
    spread: str = ""


@dataclasses.dataclass(frozen=True)
class Head:
    """The head of a column of numbers."""

    title: str
    unit: str
    direction: str = ""


@dataclasses.dataclass(frozen=True)
class Row:
    """One method: the candidate, the strongest baseline or another."""

    name: str
    is_candidate: bool
    is_strongest: bool
    cells: tuple[Cell, ...]
    fit: str
    predict: str
    parameters: str
    status: str


@dataclasses.dataclass(frozen=True)
class Table:
    """A table of methods: heads, rows, notes on its metrics, and what the spreads are over.

    `item` is what a prediction is of: a point of an equation, or an item of the data.
    """

    heads: tuple[Head, ...]
    rows: tuple[Row, ...]
    notes: tuple[str, ...]
    spread_over: str = "seeds"
    item: str = "item"


def ordered(result: Result) -> list[Contender]:
    """Return the candidate, the strongest baseline, then the others in the order given."""
    against = result.gain.against if result.gain else None
    baselines = sorted(result.baselines, key=lambda b: b.name != against)
    return [result.candidate, *baselines]


def methods(result: Result, role: str) -> Table | None:
    """Return the table of the metrics of one role, or None where the study has none."""
    infos = [m for m in result.metrics if m.role == role]
    if not infos and role != "operating":
        return None
    contenders = ordered(result)
    columns = [_column(info, contenders) for info in infos]
    against = result.gain.against if result.gain else None
    rows = tuple(
        Row(
            name=one_line(contender.name, 120),
            is_candidate=place == 0,
            is_strongest=place > 0 and contender.name == against,
            cells=tuple(column[place] for column in columns),
            fit=numbers.seconds(contender.cost.fit_s),
            predict=numbers.microseconds(contender.cost.predict_us),
            parameters=numbers.count(contender.cost.parameters),
            status=one_line(contender.status, 400),
        )
        for place, contender in enumerate(contenders)
    )
    heads = tuple(Head(capital(m.title, 120), _unit(m.unit), DIRECTIONS[m.better]) for m in infos)
    notes = tuple(f"{capital(m.title, 120)}: {m.note}" for m in infos if m.note)
    item = "point" if result.need == "physics" else "item"
    return Table(heads, rows, notes, "files" if result.studies else "seeds", item)


def costs(result: Result) -> list[tuple[str, str, str, str, str, str]]:
    """Return (name, fit, times the strongest, per item, times, parameters) for each method.

    The ratios are to the strongest baseline, or to the first where none is named.
    """
    contenders = ordered(result)
    base = contenders[1].cost if len(contenders) > 1 else None
    return [
        (
            one_line(c.name, 120),
            numbers.seconds(c.cost.fit_s),
            _ratio(c.cost.fit_s, base and base.fit_s),
            numbers.microseconds(c.cost.predict_us),
            _ratio(c.cost.predict_us, base and base.predict_us),
            numbers.count(c.cost.parameters),
        )
        for c in contenders
    ]


def extra(table: ExtraTable, limit: int) -> dict[str, Any]:
    """Return a further table with its numbers as text, at most `limit` rows of it."""
    shown = table.rows[:limit]
    digits = [
        numbers.column_digits([v for v in c if _numeric(v)]) for c in zip(*shown, strict=True)
    ]
    numeric = [any(_numeric(v) for v in c) for c in zip(*shown, strict=True)]
    rows = [
        [
            (numbers.number(v, d) if _numeric(v) or v is None else one_line(v, 200))
            for v, d in zip(row, digits, strict=True)
        ]
        for row in shown
    ]
    return {
        "title": table.title,
        "heads": [Head(capital(title, 120), _unit(unit)) for title, unit in table.columns],
        "numeric": numeric or [False] * len(table.columns),
        "rows": rows,
        "more": len(table.rows) - len(shown),
        "note": table.note,
    }


def _numeric(value: Any) -> bool:
    return not isinstance(value, str | bytes | bool) and hasattr(value, "__float__")


def _column(info: MetricInfo, contenders: Sequence[Contender]) -> list[Cell]:
    values = [c.metrics.get(info.key) for c in contenders]
    intervals = [c.intervals.get(info.key) for c in contenders]
    digits = numbers.column_digits(values, intervals)
    if digits is not None:
        # The two that are compared must not be rounded to the digits of those far behind.
        digits = max(digits, numbers.column_digits(values[:2], intervals[:2]) or 0)
    cells = []
    for contender, value, interval in zip(contenders, values, intervals, strict=True):
        spread = contender.spread.get(info.key)
        known = numbers.is_number(value)
        said = numbers.number(spread, digits) if numbers.is_number(spread) and known else ""
        within = numbers.interval(interval, digits) if known else ""
        cells.append(Cell(numbers.number(value, digits), within, said))
    return cells


def _unit(unit: str) -> str:
    return "" if unit in ("", "-") else one_line(unit, 40)


def _ratio(value: float | None, base: float | None) -> str:
    if not (numbers.is_number(value) and numbers.is_number(base)) or base <= 0:
        return ""
    return numbers.times(value / base)
