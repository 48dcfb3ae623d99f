"""What a person wants to look at: scores against the threshold, operating points, time, columns."""

import numpy as np

from assay.figure import (
    COLOURS,
    FigureSpec,
    add_histogram,
    add_legend,
    add_threshold,
    new_axes,
    shorten,
    thin_curve,
)

_SHOWN_COLUMNS = 12


def _log_edges(*scores, bins=44):
    """Return bin edges over all scores, and whether a logarithmic axis shows them better."""
    pooled = np.concatenate([np.asarray(s, float) for s in scores if len(s)])
    low, high = np.quantile(pooled, [0.0005, 0.9995])
    positive = pooled[pooled > 0]
    if positive.size == pooled.size and high > 0 and high / max(low, 1e-300) > 50:
        return np.geomspace(low, high * 1.001, bins), "log"
    return np.linspace(low, high if high > low else low + 1.0, bins), "linear"


def _histogram(result, figure, scores, threshold, name, position):
    labels = result.arrays.get("row_label")
    calibration = result.arrays["calibration_score"] if name is None else None
    shown = [scores] if calibration is None else [scores, calibration]
    edges, scale = _log_edges(*shown)
    title = shorten(result.candidate.name if name is None else name, 34)
    axes = new_axes(
        figure,
        xlabel=f"anomaly score of {title} [-]",
        ylabel="share of rows [%]",
        xscale=scale,
        position=position,
    )
    # Scores beyond the drawn range belong in the last bin: an alarm must not vanish off the edge.
    inside = np.clip(scores, edges[0], edges[-1])
    if labels is None:
        add_histogram(axes, inside, edges, colour=COLOURS.candidate, label="new rows")
    else:
        add_histogram(axes, inside[~labels], edges, colour=COLOURS.normal, label="normal rows")
        add_histogram(axes, inside[labels], edges, colour=COLOURS.anomaly, label="anomalies")
    add_threshold(axes, threshold, label="threshold")
    add_legend(axes)


def draw_scores(result, figure):
    """Draw the candidate's test scores, and the strongest baseline's beside them."""
    arrays = result.arrays
    both = "best_score" in arrays and result.gain is not None
    columns = 2 if both else 1
    threshold = float(arrays["threshold"])
    _histogram(result, figure, arrays["row_score"], threshold, None, (1, columns, 1))
    if both:
        _histogram(
            result,
            figure,
            arrays["best_score"],
            float(arrays["best_threshold"]),
            result.gain.against,
            (1, columns, 2),
        )


def caption_scores(result):
    """Say what the histograms show."""
    if "row_label" not in result.arrays:
        return "Scores of the new rows; what lies right of the dashed threshold raises an alarm."
    return (
        "Scores of the sealed test rows. Anomalies left of the dashed threshold are missed, normal "
        "rows right of it are false alarms. The threshold was set on other, normal rows."
    )


def has_scores(result):
    """Return whether the rows have one threshold; over several files each has its own."""
    return "threshold" in result.arrays


def draw_operating(result, figure):
    """Draw detection against false alarms at the threshold, one point a method."""
    axes = new_axes(figure, xlabel="false-alarm rate [%]", ylabel="detection rate [%]")
    asked = 100 * float(result.settings["false_alarm_rate"])
    points = _operating_points(result)
    right = min(max([asked * 2, *(1.15 * x for _, x, _ in points)]), 104)
    others = 0
    for who, x, y in points:
        ours = who is result.candidate
        best = result.gain is not None and who.name == result.gain.against
        colour = COLOURS.candidate if ours else COLOURS.baseline
        for key, along in (("false_alarm_rate", "x"), ("detection_rate", "y")):
            if key in who.intervals and (ours or best):
                low, high = (100 * v for v in who.intervals[key])
                span = ([low, high], [y, y]) if along == "x" else ([x, x], [low, high])
                axes.plot(*span, color=colour, linewidth=1.2, alpha=0.7)
        # Names stand in the legend: beside the points they would cover others.
        plain = not (ours or best)
        name = "others" if plain else shorten(who.name, 20)
        axes.plot(
            [x],
            [y],
            "o" if ours else "s",
            color=colour,
            markersize=7 if ours else 5,
            markerfacecolor="none" if plain else colour,
            label="" if plain and others else name,
        )
        others += plain
    add_threshold(axes, asked)
    axes.set_xlim(-0.02 * right, right)
    axes.set_ylim(-3, 103)
    add_legend(axes, above=True)


def _operating_points(result):
    """Return (method, false alarms [%], detection [%]) of each method that has both."""
    points = []
    for who in (*result.baselines, result.candidate):
        x, y = who.metrics.get("false_alarm_rate"), who.metrics.get("detection_rate")
        if x is not None and y is not None and np.isfinite([x, y]).all():
            points.append((who, 100 * x, 100 * y))
    return points


def caption_operating(result):
    """Say what the operating points show."""
    told = (
        "Each method at its own threshold, all set on the same normal rows for the same asked "
        "rate (the dashed line). Up is better; right of the line are more false alarms than were "
        "asked for. The round point is the candidate, the filled square the strongest baseline"
    )
    if any("detection_rate" in who.intervals for who in (result.candidate, *result.baselines)):
        return f"{told}; both with their 95 % intervals."
    return f"{told}; means over the files."


def has_operating_points(result):
    """Return whether detection and false alarms of any method are known."""
    return bool(_operating_points(result))


def has_time(result):
    """Return whether the test rows have times."""
    return "row_time" in result.arrays


def draw_time(result, figure):
    """Draw the score over time with the labelled spans and the threshold."""
    arrays = result.arrays
    times = np.asarray(arrays["row_time"])
    order = np.argsort(times, kind="stable")
    if np.issubdtype(times.dtype, np.datetime64):
        seconds = (times[order] - times[order][0]) / np.timedelta64(1, "s")
        unit, size = time_unit(float(seconds[-1]))
        at, unit = seconds / size, f"time since {_minute(times[order][0])} [{unit}]"
    else:
        at, unit = times[order].astype(float), "time [as in the file]"
    score = np.asarray(arrays["row_score"], float)[order]
    positive = bool((score > 0).all())
    axes = new_axes(
        figure,
        xlabel=unit,
        ylabel="anomaly score [-]",
        yscale="log" if positive else "linear",
    )
    if "row_label" in arrays:
        label = np.asarray(arrays["row_label"], bool)[order]
        edges = np.flatnonzero(np.diff(np.concatenate([[False], label, [False]]).astype(int)))
        for i, (start, stop) in enumerate(zip(edges[::2], edges[1::2], strict=True)):
            axes.axvspan(
                at[start],
                at[min(stop, len(at) - 1)],
                color=COLOURS.anomaly,
                alpha=0.16,
                linewidth=0,
                label="labelled anomaly" if i == 0 else "",
            )
            if i > 300:  # more spans than pixels: the rest would not be seen
                break
    axes.plot(*thin_curve(at, score), color=COLOURS.candidate, linewidth=0.9, label="score")
    add_threshold(axes, float(arrays["threshold"]), label="threshold", along="y")
    add_legend(axes, above=True)


def time_unit(seconds):
    """Return the unit in which a record of so many seconds is best drawn, and its size [s]."""
    units = (("s", 1.0), ("min", 60.0), ("h", 3600.0), ("d", 86_400.0))
    return next((u for u in reversed(units) if seconds >= 3 * u[1]), units[0])


def _minute(time):
    return str(np.datetime64(time, "m")).replace("T", " ")


def caption_time(result):
    """Say what the curve shows."""
    del result
    return "The candidate's score over the test record; alarms are above the dashed threshold."


def has_columns(result):
    """Return whether the candidate can say which columns raise its score."""
    return "column_alarm" in result.arrays


def draw_columns(result, figure):
    """Draw which columns make up the score of the alarms, against normal rows."""
    arrays = result.arrays
    alarm, normal = arrays["column_alarm"], arrays["column_normal"]
    order = np.argsort(alarm)[::-1][:_SHOWN_COLUMNS][::-1]
    names = [shorten(result.arrays["column_name"][i], 24) for i in order]
    axes = new_axes(figure, xlabel="share of the score [%]")
    axes.grid(visible=False, axis="y")
    places = np.arange(len(order))
    axes.barh(places + 0.2, 100 * alarm[order], 0.38, color=COLOURS.anomaly, label="alarms")
    axes.barh(places - 0.2, 100 * normal[order], 0.38, color=COLOURS.normal, label="normal rows")
    axes.set_yticks(places, names)
    room = max(4 - len(order), 0) / 2  # so that one column is a bar and not a wall
    axes.set_ylim(-0.6 - room, len(order) - 0.4 + room)
    add_legend(axes, above=True)


def caption_columns(result):
    """Say what the bars show."""
    del result
    return (
        "Which columns the candidate's score comes from: in the rows that alarmed, and in the "
        "normal rows the threshold was set on. Where to look first when an alarm comes."
    )


def has_history(result):
    """Return whether the candidate keeps its loss curve."""
    return "history_train" in result.arrays


def draw_history(result, figure):
    """Draw training and validation loss."""
    arrays = result.arrays
    axes = new_axes(figure, xlabel="training step [-]", ylabel="loss [-]", yscale="log")
    steps = arrays["history_step"]
    axes.plot(
        *thin_curve(steps, arrays["history_train"]), color=COLOURS.candidate, label="training"
    )
    if np.isfinite(arrays.get("history_validation", np.nan)).any():
        axes.plot(
            *thin_curve(steps, arrays["history_validation"]),
            color=COLOURS.accent,
            linestyle="--",
            label="held-out rows",
        )
    add_legend(axes)


def caption_history(result):
    """Say what the curves show."""
    return f"Loss while the candidate was trained (first seed). {result.candidate.status}"


FIGURES = (
    FigureSpec(
        "scores", "Scores and threshold", caption_scores, draw_scores, (10.0, 3.3), has_scores
    ),
    FigureSpec(
        "operating",
        "At the threshold",
        caption_operating,
        draw_operating,
        applies=has_operating_points,
    ),
    FigureSpec(
        "columns", "Where the score comes from", caption_columns, draw_columns, applies=has_columns
    ),
    FigureSpec("time", "Over time", caption_time, draw_time, size=(10.0, 3.0), applies=has_time),
    FigureSpec("training", "Training", caption_history, draw_history, applies=has_history),
)
