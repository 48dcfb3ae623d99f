"""What a person wants to look at: where the errors are, what the error bars hold, what runs buy."""

import numpy as np

from assay.figure import COLOURS, FigureSpec, add_legend, new_axes, shorten, thin_points
from assay.surrogate.figures_trust import (
    best_of,
    candidate_of,
    caption_coverage,
    caption_domain,
    caption_learning,
    caption_training,
    draw_coverage,
    draw_domain,
    draw_learning,
    draw_training,
    has_coverage,
    has_curve,
    has_history,
    has_rows,
    unit_of,
)

_SHOWN_OUTPUTS = 14


# --- predicted against true -----------------------------------------------------------------


def _shown(result):
    """Return truth and both predictions of the output that is drawn, and its label."""
    arrays = result.arrays
    j = arrays["shown_output"]
    columns = (arrays[k][:, j] for k in ("true", "predicted", "predicted_best"))
    label, unit = str(arrays["output_name"][j]), arrays.get("coordinate_unit", "")
    # Of a series the label may be a place, and the unit stands apart.
    place = " = " in label or label.startswith("at ")
    axis = f"[{unit}]" if unit else ("output" if place else label)
    return *columns, label, axis


def draw_predicted(result, figure):
    """Draw predictions against the truth, and what is left over, of both methods."""
    true, ours, best, label, axis = _shown(result)
    keep = thin_points(len(true), limit=600)
    name = axis if "coordinate" in result.arrays else label
    ends = np.array([true.min(), true.max()])
    left = new_axes(figure, xlabel=f"true {name}", ylabel=f"predicted {name}", position=(1, 2, 1))
    right = new_axes(
        figure, xlabel=f"true {name}", ylabel=f"predicted - true {name}", position=(1, 2, 2)
    )
    for values, colour, who in (
        (best, COLOURS.baseline, best_of(result)),
        (ours, COLOURS.candidate, candidate_of(result)),
    ):
        dots = {"color": colour, "markersize": 4, "alpha": 0.55}
        left.plot(true[keep], values[keep], ".", label=who, **dots)
        right.plot(true[keep], (values - true)[keep], ".", **dots)
    left.plot(ends, ends, color=COLOURS.threshold, linewidth=1.0, linestyle="--")
    right.axhline(0.0, color=COLOURS.threshold, linewidth=1.0, linestyle="--")
    if "sigma" in result.arrays and "coordinate" in result.arrays:
        for side in (-1.0, 1.0):
            right.axhline(side * result.arrays["sigma"], color=COLOURS.muted, linestyle=":")
    figure.legend(
        *left.get_legend_handles_labels(), loc="outside upper center", ncols=2, frameon=False,
        labelcolor=COLOURS.ink,
    )  # fmt: skip


def caption_predicted(result):
    """Say what the points show."""
    label = _shown(result)[3]
    several = result.arrays["true"].shape[1] > 1
    which = f" ({label}, where the candidate's error is largest)" if several else ""
    return (
        f"Each point is a test run{which}: the prediction, and on the right its error. On the "
        "dashed lines the prediction is the truth."
    )


# --- errors run by run ----------------------------------------------------------------------


def draw_pairs(result, figure):
    """Draw the error of each test run: the candidate against the strongest baseline."""
    arrays, unit = result.arrays, unit_of(result)
    keep = thin_points(len(arrays["row_error"]), limit=1500)
    tiny = 1e-12
    ours = np.maximum(arrays["row_error"][keep], tiny)
    best = np.maximum(arrays["row_error_best"][keep], tiny)
    axes = new_axes(
        figure,
        xlabel=f"error, {best_of(result)} [{unit}]",
        ylabel=f"error, {candidate_of(result)} [{unit}]",
        xscale="log",
        yscale="log",
    )
    axes.plot(best, ours, ".", color=COLOURS.candidate, markersize=4, alpha=0.5)
    pooled = np.concatenate([ours, best])
    low, high = np.quantile(pooled, 0.002), pooled.max()
    axes.plot([low, high], [low, high], color=COLOURS.threshold, linestyle="--", label="equal")
    if "sigma" in arrays and low < arrays["sigma"] < high:
        for line in (axes.axhline, axes.axvline):
            line(arrays["sigma"], color=COLOURS.muted, linewidth=0.9, linestyle=":")
        axes.plot([], [], color=COLOURS.muted, linewidth=0.9, linestyle=":", label="sigma")
    add_legend(axes, location="upper left")


def caption_pairs(result):
    """Say what the points show."""
    arrays = result.arrays
    share = np.mean(arrays["row_error"] < arrays["row_error_best"])
    what = "error" if arrays["true"].shape[1] == 1 else "RMS error over the outputs"
    return (
        f"Each point is a test run, by its {what}; below the dashed line the candidate is better. "
        f"It is for {100 * share:.0f} % of the runs."
    )


# --- errors over the series or by output ----------------------------------------------------


def _several(result):
    return has_rows(result) and len(result.arrays["output_rms"]) > 1


def draw_outputs(result, figure):
    """Draw the RMS error over the coordinate of a series, or output by output."""
    arrays = result.arrays
    if "coordinate" in arrays:
        return _draw_series(result, figure)
    ours, best = arrays["output_rms"], arrays["output_rms_best"]
    order = np.argsort(best)[::-1][:_SHOWN_OUTPUTS][::-1]
    axes = new_axes(figure, xlabel=f"RMS error [{unit_of(result)}]")
    axes.grid(visible=False, axis="y")
    places = np.arange(len(order))
    axes.barh(places - 0.2, best[order], 0.38, color=COLOURS.baseline, label=best_of(result))
    axes.barh(places + 0.2, ours[order], 0.38, color=COLOURS.candidate, label=candidate_of(result))
    axes.set_yticks(places, [shorten(arrays["output_name"][i], 24) for i in order])
    add_legend(axes, above=True)
    return None


def _draw_series(result, figure):
    arrays = result.arrays
    x = np.asarray(arrays["coordinate"], float)
    order = np.argsort(x)
    positive = x[order][0] > 0 and x[order][-1] / x[order][0] > 30
    axes = new_axes(
        figure,
        xlabel=arrays["coordinate_name"] or "place in the series",
        ylabel=f"RMS error [{unit_of(result)}]",
        xscale="log" if positive else "linear",
        yscale="log",
    )
    for key, colour, who, style in (
        ("output_rms_best", COLOURS.baseline, best_of(result), "-"),
        ("output_rms", COLOURS.candidate, candidate_of(result), "-"),
    ):
        axes.plot(
            x[order], np.maximum(arrays[key][order], 1e-12), style, color=colour, label=who,
            marker="o", markersize=2.5,
        )  # fmt: skip
    if "sigma" in arrays:
        axes.axhline(
            arrays["sigma"], color=COLOURS.threshold, linestyle="--", linewidth=1.0, label="sigma"
        )
    add_legend(axes)


def caption_outputs(result):
    """Say what the lines or bars show."""
    arrays = result.arrays
    if "coordinate" in arrays:
        where = str(arrays["output_name"][arrays["shown_output"]])
        return f"Error over the series; the candidate's is largest at {where}."
    total = len(arrays["output_rms"])
    which = (
        "The outputs"
        if total <= _SHOWN_OUTPUTS
        else f"The {_SHOWN_OUTPUTS} outputs of {total} that the baseline predicts worst"
    )
    return f"{which}, first seed. Units are those of the table of methods."


FIGURES = (
    FigureSpec(
        "predicted", "Predicted against true", caption_predicted, draw_predicted,
        size=(5.0, 3.0), applies=has_rows,
    ),
    FigureSpec("pairs", "Run by run", caption_pairs, draw_pairs, applies=has_rows),
    FigureSpec("outputs", "Where the error is", caption_outputs, draw_outputs, applies=_several),
    FigureSpec(
        "coverage", "What the error bars hold", caption_coverage, draw_coverage,
        applies=has_coverage,
    ),
    FigureSpec(
        "learning", "What more runs would buy", caption_learning, draw_learning, applies=has_curve
    ),
    FigureSpec(
        "domain", "Error and distance from the runs", caption_domain, draw_domain,
        applies=has_rows,
    ),
    FigureSpec("training", "Training", caption_training, draw_training, applies=has_history),
)  # fmt: skip
