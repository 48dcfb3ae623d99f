"""From scores to figures: one method at its threshold, over its seeds."""

import dataclasses

import numpy as np

from assay.anomaly.events import score_events
from assay.anomaly.feeds import Feed
from assay.anomaly.metrics import auc, average_precision, operating_point
from assay.anomaly.view import Judged
from assay.result import Contender, Cost, ExtraTable, MetricInfo
from assay.study import Trained

METRICS = (
    MetricInfo(
        "false_alarm_rate",
        "false alarms",
        "-",
        "target",
        note="share of normal test rows that alarm; near what was asked for, if all is well",
    ),
    MetricInfo(
        "detection_rate", "detected", "-", "higher", note="share of anomalous test rows that alarm"
    ),
    MetricInfo(
        "loss",
        "missed + false",
        "-",
        "lower",
        note="share of anomalies missed plus share of normal rows that alarm, which the verdict is "
        "about; 0 is perfect, 1 is what never alarming and always alarming get",
    ),
    MetricInfo("events_detected", "events found", "-", "higher", role="detail"),
    MetricInfo("median_delay_s", "median delay", "s", "lower", role="detail"),
    MetricInfo("alarm_rate", "alarms", "-", "target", note="share of all test rows that alarm"),
    MetricInfo(
        "auc",
        "AUC",
        "-",
        "higher",
        role="ranking",
        note="how often an anomaly scores higher than a normal row; guessing gets 0.5",
    ),
    MetricInfo(
        "average_precision",
        "average precision",
        "-",
        "higher",
        role="ranking",
        note="share of anomalies among the rows that would alarm, averaged over thresholds; "
        "guessing gets their share among all rows",
    ),
    MetricInfo("threshold", "threshold", "score", "target", role="detail"),
    MetricInfo("alarms_per_day", "expected false alarms a day", "1/day", "lower", role="detail"),
)


@dataclasses.dataclass(frozen=True, eq=False)
class Scored:
    """One fitted method with its scores and what they cost."""

    trained: Trained
    judged: Judged
    predict_us: float


def figures_of(
    judged: Judged, test: Feed, blocks: np.ndarray | None
) -> tuple[dict[str, float], dict[str, tuple[float, float]]]:
    """Return metrics and intervals of one detector on the opened test part.

    Parameters
    ----------
    judged : Judged
    test : Feed
        Its labels may be None: then only alarms are counted.
    blocks : (n,) int array or None
        What was drawn independently; None: rows.
    """
    alarms = judged.threshold.alarms(judged.test)
    metrics = {
        "alarm_rate": float(alarms.mean()),
        "threshold": judged.threshold.value,
    }
    intervals = {}
    if judged.threshold.per_day is not None:
        metrics["alarms_per_day"] = judged.threshold.per_day
        intervals["alarms_per_day"] = (judged.threshold.per_day_low, judged.threshold.per_day_high)
    if test.labels is None:
        return metrics, intervals
    point = operating_point(judged.test, test.labels, judged.threshold.value, units=blocks)
    for key, rate in (("false_alarm_rate", point.false_alarm), ("detection_rate", point.detection)):
        if rate is not None:
            metrics[key], intervals[key] = rate.estimate, (rate.low, rate.high)
    if point.false_alarm is None or point.detection is None:
        return metrics, intervals
    metrics["loss"] = 1.0 - metrics["detection_rate"] + metrics["false_alarm_rate"]
    area = auc(judged.test, test.labels, units=blocks)
    metrics["auc"], intervals["auc"] = area.estimate, (area.low, area.high)
    metrics["average_precision"] = average_precision(judged.test, test.labels)
    if test.times is not None:
        events = score_events(alarms, test.labels, groups=test.groups, times=test.times)
        if events.found is not None:
            metrics["events_detected"] = events.found.estimate
            intervals["events_detected"] = (events.found.low, events.found.high)
        if events.median_delay_s is not None:
            metrics["median_delay_s"] = events.median_delay_s
    return metrics, intervals


def contender(scored: list[Scored], test: Feed, blocks: np.ndarray | None) -> Contender:
    """Sum up one method: means over its seeds, intervals over rows, spread over seeds."""
    each = [figures_of(s.judged, test, blocks) for s in scored]
    keys = [k for k in each[0][0] if all(k in metrics for metrics, _ in each)]
    values = {k: np.array([metrics[k] for metrics, _ in each]) for k in keys}
    intervals = {
        k: tuple(np.mean([found[k] for _, found in each], axis=0).tolist())
        for k in keys
        if all(k in found for _, found in each)
    }
    first = scored[0].trained
    estimator = first.estimator
    return Contender(
        name=first.method.name,
        metrics={k: float(v.mean()) for k, v in values.items()},
        cost=Cost(
            float(np.mean([s.trained.fit_s for s in scored])),
            float(np.mean([s.predict_us for s in scored])),
            getattr(estimator, "n_parameters_", None),
        ),
        intervals=intervals,
        spread={k: float(v.std(ddof=1)) for k, v in values.items() if len(scored) > 1},
        settings=estimator.settings(),
        status=getattr(estimator, "status_", ""),
        about=first.method.about,
    )


def by_kind(scored: list[Scored], test: Feed, names: list[str]) -> ExtraTable | None:
    """Return detection per kind of anomaly for some methods, or None where no kinds are named."""
    if test.kinds is None or test.labels is None or not test.labels.any():
        return None
    points = [
        operating_point(
            s.judged.test, test.labels, s.judged.threshold.value, kinds=test.kinds
        ).by_kind
        for s in scored
    ]
    rows = []
    for kind in sorted(points[0], key=lambda k: -points[0][k].n):
        shown = [100.0 * p[kind].estimate for p in points]
        rows.append((kind or "(not named)", points[0][kind].n, *shown))
    return ExtraTable(
        "Detection by kind of anomaly",
        (("kind", ""), ("rows", "-"), *((name, "% detected") for name in names)),
        tuple(rows),
        "At the threshold of each method.",
    )
