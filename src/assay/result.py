"""The outcome of a study: frozen dataclasses of NumPy arrays and plain values.

Everything that a report shows is in here, so that rendering computes nothing.
"""

import dataclasses
from typing import Any, Literal

VerdictWord = Literal["earned", "not_earned", "undecided", "invalid"]
Outcome = Literal["pass", "warn", "fail", "not_applicable", "error"]


@dataclasses.dataclass(frozen=True)
class Finding:
    """What one check found.

    `severity` is what a failure means: a failed check of severity ``"fail"`` makes the study
    INVALID, one of severity ``"warn"`` is reported beside the verdict. `interval` is the 95 %
    interval on `measured` where there is one; `unit` is ``"-"`` for pure numbers.
    """

    code: str
    title: str
    outcome: Outcome
    severity: Literal["warn", "fail"]
    measured: float | None
    threshold: float | None
    sentence: str
    cause: str = ""
    fix: tuple[str, ...] = ()
    interval: tuple[float, float] | None = None
    unit: str = "-"


@dataclasses.dataclass(frozen=True)
class MetricInfo:
    """What a metric means: its key in `Contender.metrics`, a title, a unit and a direction.

    `role` is ``"operating"`` for what a user gets in service, ``"ranking"`` for figures that
    average over operating points nobody runs (AUC), ``"detail"`` for the rest.
    """

    key: str
    title: str
    unit: str
    better: Literal["lower", "higher", "target"]
    role: Literal["operating", "ranking", "detail"] = "operating"
    note: str = ""


@dataclasses.dataclass(frozen=True)
class Cost:
    """What a method costs: seconds to fit (mean over seeds), microseconds per item, parameters."""

    fit_s: float
    predict_us: float
    parameters: int | None = None


@dataclasses.dataclass(frozen=True)
class Contender:
    """One method on trial or one baseline, with what it reached on the test part.

    `metrics` holds one number a key (means over seeds), `intervals` the 95 % interval over test
    items where there is one, `spread` the standard deviation over seeds where there are several.
    """

    name: str
    metrics: dict[str, float]
    cost: Cost
    intervals: dict[str, tuple[float, float]] = dataclasses.field(default_factory=dict)
    spread: dict[str, float] = dataclasses.field(default_factory=dict)
    settings: dict[str, Any] = dataclasses.field(default_factory=dict)
    status: str = ""
    about: str = ""


@dataclasses.dataclass(frozen=True)
class Gain:
    """Relative gain of the candidate [-]: 0.2 is a fifth less loss; with its 95 % interval.

    `against` names the baseline; `more_data` is the estimated factor of test data that would
    decide an undecided gain (None where it is decided or no amount would).
    """

    estimate: float
    low: float
    high: float
    against: str
    loss: str = ""
    level: float = 0.95
    more_data: float | None = None


@dataclasses.dataclass(frozen=True)
class Part:
    """One part of the split: its name, number of rows, where from, and what it was used for."""

    name: str
    rows: int
    source: str
    use: str


@dataclasses.dataclass(frozen=True)
class SplitSummary:
    """How the data were split: the parts, the rule in a sentence, the unit that is resampled."""

    parts: tuple[Part, ...]
    rule: str
    unit: str = "row"


@dataclasses.dataclass(frozen=True)
class Column:
    """One column that entered the study: name, unit ("" unknown), range and centre."""

    name: str
    unit: str
    low: float
    high: float
    mean: float
    std: float


@dataclasses.dataclass(frozen=True)
class DataSummary:
    """Which files, which columns, and what was done to how many rows.

    `notes` are sentences about what the reader did or noticed, in order; nothing is ever
    dropped or filled without one.
    """

    sources: tuple[str, ...]
    rows: int
    columns: tuple[Column, ...]
    notes: tuple[str, ...] = ()
    profile: dict[str, Any] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True)
class LedgerSummary:
    """How often the test rows have been opened, this time included.

    `entries` are earlier openings of the same or overlapping rows: dictionaries with `time`
    (ISO 8601), `study` (its identity) and `rows` (how many of ours it shared).
    """

    path: str
    rows_hash: str
    openings: int
    entries: tuple[dict[str, Any], ...]
    sentence: str


@dataclasses.dataclass(frozen=True)
class ExtraTable:
    """A further table of a need: by kind of anomaly, by file ...

    `columns` are (title, unit) pairs; `rows` hold strings, numbers or None, one a column.
    """

    title: str
    columns: tuple[tuple[str, str], ...]
    rows: tuple[tuple[Any, ...], ...]
    note: str = ""


@dataclasses.dataclass(frozen=True)
class Result:
    """All that a study found.

    Attributes
    ----------
    need, title : str
        The need (``"anomaly"``) and a line that says what was studied.
    verdict : {"earned", "not_earned", "undecided", "invalid"}
    sentence : str
        The verdict in a sentence or two that a reader understands who reads nothing else.
    gain : Gain or None
        Against the strongest baseline (None where there was nothing to compare, e.g. no labels).
    gains : tuple of Gain
        Against each baseline.
    candidate : Contender
    baselines : tuple of Contender
    metrics : tuple of MetricInfo
        The columns of the table, in order.
    findings : tuple of Finding
    split, data, ledger
        How the data were split, what they are, how often the test part has been opened.
    settings : dict
        Everything that is needed to run the study again.
    versions : dict
        Versions of Assay, Python and the libraries that computed numbers.
    arrays : dict of str to numpy.ndarray
        What the figures draw (scores, labels, times ...). Not in ``result.json``.
    tables : tuple of ExtraTable
        Further tables (detection by kind of anomaly, results by file ...).
    notes : tuple of str
        What the reader must know beside the verdict (what could not be checked ...).
    studies : tuple of (str, Result)
        Where several files had a study each: the name and the result of each.
    model : object
        The fitted candidate, with ``save(folder)``. Not in ``result.json``.
    baseline_model : object
        The fitted strongest baseline, with ``save(folder)``; None where the need has none to save.
        Not in ``result.json``.
    """

    need: str
    title: str
    verdict: VerdictWord
    sentence: str
    gain: Gain | None
    gains: tuple[Gain, ...]
    candidate: Contender
    baselines: tuple[Contender, ...]
    metrics: tuple[MetricInfo, ...]
    findings: tuple[Finding, ...]
    split: SplitSummary
    data: DataSummary
    ledger: LedgerSummary | None
    settings: dict[str, Any]
    versions: dict[str, str]
    started: str
    seconds: float
    notes: tuple[str, ...] = ()
    tables: tuple[ExtraTable, ...] = ()
    arrays: dict[str, Any] = dataclasses.field(default_factory=dict, repr=False)
    studies: tuple[tuple[str, "Result"], ...] = dataclasses.field(default=(), repr=False)
    model: Any = dataclasses.field(default=None, repr=False, compare=False)
    baseline_model: Any = dataclasses.field(default=None, repr=False, compare=False)

    @property
    def model_to_use(self) -> Any:
        """The fitted method that the verdict advises: candidate if earned, else the baseline.

        None where the study is invalid or could not compare, and where that method is not kept.
        """
        if self.gain is None or self.verdict == "invalid":
            return None
        return self.model if self.verdict == "earned" else self.baseline_model

    def __str__(self):
        # The only upward imports of the house: a result can show itself (docs/decisions.md).
        from assay.report.terminal import text

        return text(self)

    def report(self, path) -> None:
        """Write the one-page report to `path` (a self-contained HTML file)."""
        from assay.report.html import write

        write(self, path)

    def save(self, folder) -> None:
        """Write ``result.json``, ``report.html``, ``figures/`` and the models into `folder`."""
        from assay.report.folder import write

        write(self, folder)
