"""The machine's view of a result: ``result.json``. docs/result-json.md describes every key."""

import json
from typing import Any

from assay.report.plain import plain
from assay.report.saved import Saved, saved_models
from assay.report.words import folder_name
from assay.result import Contender, Finding, Gain, Result

# Raised when a key changes its meaning or goes; new keys leave it as it is.
FORMAT = 1


def to_dict(result: Result) -> dict[str, Any]:
    """Return `result` as dictionaries, lists, strings and finite numbers.

    A number that does not exist or is not finite is None. Arrays and the model are left out.

    Examples
    --------
    >>> to_dict(result)["verdict"]  # doctest: +SKIP
    'not_earned'
    """
    return {
        "format": FORMAT,
        "need": result.need,
        "title": plain(result.title),
        "verdict": result.verdict,
        "sentence": plain(result.sentence),
        "gain": None if result.gain is None else _gain(result.gain),
        "gains": [_gain(gain) for gain in result.gains],
        "candidate": _contender(result.candidate),
        "baselines": [_contender(baseline) for baseline in result.baselines],
        "metrics": [plain(metric) for metric in result.metrics],
        "findings": [_finding(finding) for finding in result.findings],
        "split": plain(result.split),
        "data": plain(result.data),
        "ledger": plain(result.ledger),
        "studies": [
            {"name": plain(name), "verdict": study.verdict, "sentence": plain(study.sentence)}
            | {"gain": None if study.gain is None else _gain(study.gain)}
            | {"folder": f"studies/{folder_name(place, name)}"}
            for place, (name, study) in enumerate(result.studies, 1)
        ],
        "models": [_model(one) for one in saved_models(result)],
        "tables": [_table(table) for table in result.tables],
        "notes": plain(result.notes),
        "settings": plain(result.settings),
        "versions": plain(result.versions),
        "started": plain(result.started),
        "seconds": plain(result.seconds),
    }


def dumps(result: Result) -> str:
    """Return `result` as JSON text, indented, in UTF-8 characters, ending with a new line."""
    return json.dumps(to_dict(result), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _model(one: Saved) -> dict[str, Any]:
    return {
        "folder": one.folder,
        "method": plain(one.method),
        "role": one.role,
        "advised": one.advised,
    }


def _gain(gain: Gain) -> dict[str, Any]:
    return {
        "estimate": plain(gain.estimate),
        "low": plain(gain.low),
        "high": plain(gain.high),
        "against": plain(gain.against),
        "loss": plain(gain.loss),
        "level": plain(gain.level),
        "more_data": plain(gain.more_data),
    }


def _contender(contender: Contender) -> dict[str, Any]:
    return {
        "name": plain(contender.name),
        "about": plain(contender.about),
        "status": plain(contender.status),
        "metrics": plain(contender.metrics),
        "intervals": plain(contender.intervals),
        "spread": plain(contender.spread),
        "cost": plain(contender.cost),
        "settings": plain(contender.settings),
    }


def _finding(finding: Finding) -> dict[str, Any]:
    return {
        "code": finding.code,
        "title": plain(finding.title),
        "outcome": finding.outcome,
        "severity": finding.severity,
        "measured": plain(finding.measured),
        "interval": plain(finding.interval),
        "threshold": plain(finding.threshold),
        "unit": plain(finding.unit),
        "sentence": plain(finding.sentence),
        "cause": plain(finding.cause),
        "fix": plain(finding.fix),
    }


def _table(table: Any) -> dict[str, Any]:
    return {
        "title": plain(table.title),
        "columns": [{"title": plain(title), "unit": plain(unit)} for title, unit in table.columns],
        "rows": plain(table.rows),
        "note": plain(table.note),
    }
