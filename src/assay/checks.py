"""Checks for the known failures: what a check is, and running them.

A check is a frozen dataclass with class attributes `code`, `title` and `severity`, thresholds as
fields with a cited default, and a call that takes a need's view of a study (all that was split,
fitted and scored) and returns one `Finding`. Registries are plain tuples in each need's folder.
"""

import dataclasses
from collections.abc import Iterable
from typing import Any, ClassVar, Literal, Protocol

from assay.result import Finding, Outcome


class NotApplicable(Exception):
    """Raised by a check that has nothing to say about this study; the text says why."""


class Check(Protocol):
    """What a check looks like; see `assay.anomaly.checks` for real ones."""

    code: ClassVar[str]
    title: ClassVar[str]
    severity: ClassVar[Literal["warn", "fail"]]

    def __call__(self, view: Any) -> Finding:
        """Measure one failure on a need's view of the study."""
        ...


def finding(
    check: Check,
    outcome: Outcome,
    sentence: str,
    *,
    measured: float | None = None,
    threshold: float | None = None,
    interval: tuple[float, float] | None = None,
    unit: str = "-",
    cause: str = "",
    fix: tuple[str, ...] = (),
) -> Finding:
    """Build the finding of `check`, so that code, title and severity are written once."""
    return Finding(
        code=check.code,
        title=check.title,
        outcome=outcome,
        severity=check.severity,
        measured=None if measured is None else float(measured),
        threshold=None if threshold is None else float(threshold),
        interval=None if interval is None else (float(interval[0]), float(interval[1])),
        sentence=sentence,
        cause=cause,
        fix=fix,
        unit=unit,
    )


def run_checks(checks: Iterable[Check], view: Any) -> tuple[Finding, ...]:
    """Run every check on `view`; one that crashes becomes an error, never a pass."""
    found = []
    for check in checks:
        try:
            found.append(check(view))
        except NotApplicable as reason:
            found.append(finding(check, "not_applicable", str(reason)))
        except Exception as crash:
            found.append(
                finding(
                    check,
                    "error",
                    f"The check itself failed ({type(crash).__name__}: {crash}), so it says "
                    "nothing about this study.",
                    fix=("Report this message: a check must never crash.",),
                )
            )
    return tuple(found)


def with_threshold(check: Check, **fields: Any) -> Check:
    """Return `check` with other thresholds (fields), leaving the given one as it is."""
    return dataclasses.replace(check, **fields)
