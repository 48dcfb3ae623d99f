"""What a result says beside the numbers: title, notes, the verdict in words, what is drawn."""

from pathlib import Path
from typing import Any

import numpy as np

from assay.anomaly.feeds import Feed
from assay.anomaly.inputs import Inputs
from assay.anomaly.judging import Scored, by_kind
from assay.estimators import curve_of
from assay.result import Gain, MetricInfo
from assay.study import Parts, Story

_NOT_THE_OPERATING_POINT = (
    "AUC and average precision average over thresholds that nobody runs; what a plant gets are "
    "the false alarms and detections at the threshold."
)
_MOST_DRAWN = 200_000


def story(
    inputs: Inputs,
    options: Any,
    parts: Parts,
    test: Feed,
    candidate: list[Scored],
    baselines: list[Scored],
    gain: Gain | None,
    metrics: tuple[MetricInfo, ...],
) -> Story:
    """Return what is told beside the numbers of an anomaly study."""
    first = candidate[0]
    best = next((b for b in baselines if gain is not None and b.judged.name == gain.against), None)
    shown = [first, *([best] if best is not None else [])]
    kinds = by_kind(shown, test, [s.judged.name for s in shown])
    notes = [first.judged.threshold.sentence]
    if test.labels is None:
        notes.append(
            f"The rows to judge have no labels: {_alarming(first):,} of {len(test):,} alarm, and "
            "whether these are faults is not known."
        )
    else:
        notes.append(_NOT_THE_OPERATING_POINT)
    notes += list(getattr(first.trained.estimator, "unchecked", ()))
    notes += [
        f"{note} Until then rows count as independent, which they are not in a log."
        for note in inputs.notes
        if "hold time stamps" in note
    ]
    notes += [*parts.fit.notes, *parts.validation.notes, *test.notes]
    used = {
        key
        for s in (*candidate, *baselines)
        for key in ("detection_rate", "loss", "auc")
        if test.labels is not None
    }
    told = tuple(m for m in metrics if _applies(m.key, test, used))
    return Story(
        title=options.title or _title(inputs, test),
        metrics=told,
        notes=tuple(notes),
        tables=() if kinds is None else (kinds,),
        arrays=_arrays(inputs, parts, test, first, best),
    )


def _alarming(scored: Scored) -> int:
    return int(scored.judged.threshold.alarms(scored.judged.test).sum())


def _applies(key: str, test: Feed, used: set[str]) -> bool:
    if key in ("threshold", "alarm_rate"):
        return key == "threshold" or test.labels is None
    if key == "alarms_per_day":
        return test.times is not None
    if key in ("events_detected", "median_delay_s"):
        return test.labels is not None and test.times is not None
    return bool(used)


def _title(inputs: Inputs, test: Feed) -> str:
    names = [Path(name).name for name in inputs.test.source.split(", ")]
    where = names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} more"
    d = inputs.test.n_columns
    columns = f"{d:,} column{'s' if d != 1 else ''}"
    if test.labels is None:
        return f"{where}: {len(test):,} rows without labels, {columns}"
    return f"{where}: {int(test.labels.sum()):,} anomalies among {len(test):,} rows, {columns}"


def _arrays(
    inputs: Inputs, parts: Parts, test: Feed, first: Scored, best: Scored | None
) -> dict[str, Any]:
    judged = first.judged
    arrays: dict[str, Any] = {"row_number": test.rows}
    for name in ("times", "groups", "kinds", "labels"):
        value = getattr(test, name)
        if value is not None:
            arrays[f"row_{name[:-1]}"] = value
    arrays["row_score"] = judged.test
    arrays["row_alarm"] = judged.threshold.alarms(judged.test)
    arrays["calibration_score"] = judged.calibration
    arrays["threshold"] = judged.threshold.value
    if best is not None:
        arrays["best_score"] = best.judged.test
        arrays["best_threshold"] = best.judged.threshold.value
    return arrays | _blame(inputs, parts, test, judged) | curve_of(first.trained.estimator)


def _blame(inputs: Inputs, parts: Parts, test: Feed, judged: Any) -> dict[str, Any]:
    """Return each column's mean share of the score, in alarms and in held-out normal rows."""
    estimator = judged.estimator
    alarms = np.flatnonzero(judged.threshold.alarms(judged.test))[:_MOST_DRAWN]
    if not hasattr(estimator, "column_scores") or not len(alarms):
        return {}
    d = inputs.normal.n_columns

    def shares(X):
        parts_of = np.asarray(estimator.column_scores(X), float)
        parts_of = parts_of.reshape(len(X), -1, d).sum(axis=1)
        total = parts_of.sum(axis=1, keepdims=True)
        return np.mean(parts_of / np.where(total > 0, total, 1.0), axis=0)

    return {
        "column_name": np.array(inputs.normal.columns, dtype=object),
        "column_alarm": shares(test.X[alarms]),
        "column_normal": shares(parts.validation.X[:_MOST_DRAWN]),
    }


def sentence(word: str, said: str, told: dict[str, Any], rate: float) -> str:
    """Return the verdict of an anomaly study in words.

    Parameters
    ----------
    word : str
        The verdict.
    said : str
        The rule's own sentence.
    told : dict
        ``gain``, ``candidate``, ``baselines`` and ``findings`` of the result.
    rate : float
        The asked false-alarm rate.
    """
    gain, ours = told["gain"], told["candidate"]
    if word == "invalid":
        return said
    if gain is None:
        alarms = ours.metrics["alarm_rate"]
        return (
            f"No verdict on detection: the rows to judge have no labels of both kinds. At a "
            f"threshold for {_percent(rate)} false alarms, {_percent(alarms)} of them alarm."
        )
    best = next(b for b in told["baselines"] if b.name == gain.against)

    def at(who):
        found, false = who.metrics["detection_rate"], who.metrics["false_alarm_rate"]
        return (
            f"{who.name} finds {_percent(found)} of the anomalies at {_percent(false)} false alarms"
        )

    opening = {
        "earned": f"Use the candidate. {at(ours)}; {at(best)}, the best of the classical methods.",
        "not_earned": f"Use the classical method. {at(best)}; {at(ours)}.",
        "undecided": f"Too close to call with these test rows: {at(ours)}; {at(best)}.",
    }[word]
    rest = said.removeprefix("Undecided: ")
    return f"{opening} {rest[:1].upper()}{rest[1:]}"


def _percent(share: float) -> str:
    return f"{100 * share:.{1 if share < 0.0995 else 0}f} %"
