"""What a person wants to look at: where the errors are, what the error bars hold, what runs buy."""

import numpy as np

from assay.figure import (
    COLOURS,
    FigureSpec,
    add_legend,
    new_axes,
    shorten,
    thin_curve,
    thin_points,
)

_NAME = 26  # characters of a method's name in a legend
_SHOWN_OUTPUTS = 14


def _ours(result):
    return shorten(result.candidate.name, _NAME)


def _best(result):
    return shorten(result.gain.against, _NAME) if result.gain else "best baseline"


def _unit(result):
    return result.arrays["unit"]


def _has_rows(result):
    return "row_error" in result.arrays


# --- predicted against true -----------------------------------------------------------------


def _shown(result):
    """Return truth and both predictions of the output that is drawn, and its label."""
    arrays = result.arrays
    j = arrays["shown_output"]
    columns = (arrays[k][:, j] for k in ("true", "predicted", "predicted_best"))
    label, unit = str(arrays["output_name"][j]), arrays.get("coordinate_unit", "")
    # Of a series the label is a place, and the unit stands apart.
    axis = f"[{unit}]" if unit else ("" if arrays.get("coordinate") is None else "[output]")
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
        (best, COLOURS.baseline, _best(result)),
        (ours, COLOURS.candidate, _ours(result)),
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
    arrays, unit = result.arrays, _unit(result)
    keep = thin_points(len(arrays["row_error"]), limit=1500)
    tiny = 1e-12
    ours = np.maximum(arrays["row_error"][keep], tiny)
    best = np.maximum(arrays["row_error_best"][keep], tiny)
    axes = new_axes(
        figure,
        xlabel=f"error, {_best(result)} [{unit}]",
        ylabel=f"error, {_ours(result)} [{unit}]",
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
        f"It is for {share:.0%} of the runs."
    )


# --- errors over the series or by output ----------------------------------------------------


def _several(result):
    return _has_rows(result) and len(result.arrays["output_rms"]) > 1


def draw_outputs(result, figure):
    """Draw the RMS error over the coordinate of a series, or output by output."""
    arrays = result.arrays
    if "coordinate" in arrays:
        return _draw_series(result, figure)
    ours, best = arrays["output_rms"], arrays["output_rms_best"]
    order = np.argsort(best)[::-1][:_SHOWN_OUTPUTS][::-1]
    axes = new_axes(figure, xlabel=f"RMS error [{_unit(result)}]")
    axes.grid(visible=False, axis="y")
    places = np.arange(len(order))
    axes.barh(places - 0.2, best[order], 0.38, color=COLOURS.baseline, label=_best(result))
    axes.barh(places + 0.2, ours[order], 0.38, color=COLOURS.candidate, label=_ours(result))
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
        ylabel=f"RMS error [{_unit(result)}]",
        xscale="log" if positive else "linear",
        yscale="log",
    )
    for key, colour, who, style in (
        ("output_rms_best", COLOURS.baseline, _best(result), "-"),
        ("output_rms", COLOURS.candidate, _ours(result), "-"),
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


# --- learning curve -------------------------------------------------------------------------


def _has_curve(result):
    return "curve_sizes" in result.arrays or "curve_best_sizes" in result.arrays


def draw_learning(result, figure):
    """Draw the error against the number of runs, and where the target is."""
    from matplotlib.ticker import NullLocator

    arrays = result.arrays
    axes = new_axes(
        figure,
        xlabel="runs learned from [-]",
        ylabel=f"RMS error of validation runs [{_unit(result)}]",
        xscale="log",
        yscale="log",
    )
    ticks = set()
    for key, colour, who in (
        ("curve_best", COLOURS.baseline, _best(result)),
        ("curve", COLOURS.candidate, _ours(result)),
    ):
        if f"{key}_sizes" not in arrays:
            continue
        sizes, rms = arrays[f"{key}_sizes"], arrays[f"{key}_rms"]
        ticks |= set(sizes.tolist())
        mean = np.exp(np.nanmean(np.log(rms), axis=1))
        axes.plot(sizes, mean, "o-", color=colour, markersize=5, label=who)
        axes.plot(np.repeat(sizes, rms.shape[1]), rms.ravel(), ".", color=colour, alpha=0.5)
        needed, low, high = arrays[f"{key}_needed"]
        if sizes[-1] < needed <= 10 * sizes[-1]:
            here = arrays[f"{key}_target"]
            ends = [max(low, sizes[0]), min(high, 10.0 * sizes[-1])]
            axes.plot(ends, [here, here], color=colour, linewidth=1.2, alpha=0.8)
            ticks.add(float(f"{needed:.2g}"))
            axes.plot([needed], [here], "D", color=colour, markersize=5, markerfacecolor="none")
    if "sigma" in arrays:
        axes.axhline(
            arrays["sigma"], color=COLOURS.threshold, linestyle="--", linewidth=1.0, label="sigma"
        )
    axes.set_xticks(sorted(ticks), [f"{t:,.0f}" for t in sorted(ticks)])
    axes.xaxis.set_minor_locator(NullLocator())
    add_legend(axes)


def caption_learning(result):
    """Say what the curves show."""
    target = "sigma" if "sigma" in result.arrays else "half of the present error"
    return (
        "What more runs of the model buy: error on the validation runs after learning from a part "
        f"of the fit runs. A diamond with its 95 % interval marks the runs that reach {target}; "
        "without one, that is out of reach or beyond ten times the runs."
    )


# --- training -------------------------------------------------------------------------------


def _has_history(result):
    return "history_train" in result.arrays


def draw_training(result, figure):
    """Draw training and held-out loss."""
    arrays = result.arrays
    axes = new_axes(
        figure,
        xlabel="training step [-]",
        ylabel="mean squared error [scaled units²]",
        yscale="log",
    )
    steps = arrays["history_step"]
    axes.plot(
        *thin_curve(steps, arrays["history_train"]), color=COLOURS.candidate, label="training"
    )
    held = arrays.get("history_validation")
    if held is not None and np.isfinite(held).any():
        curve = thin_curve(steps, held)
        axes.plot(*curve, color=COLOURS.accent, linestyle="--", label="held-out runs")
    add_legend(axes)


def caption_training(result):
    """Say what the curves show."""
    return (
        "Loss while the candidate was trained (first seed): flat at its end, or it could have "
        f"gone on. {result.candidate.status}"
    )


# --- calibration ----------------------------------------------------------------------------


def _has_coverage(result):
    return "coverage_level" in result.arrays


def draw_coverage(result, figure):
    """Draw the share of outputs inside intervals against what was asked for."""
    arrays = result.arrays
    asked = 100.0 * arrays["coverage_level"]
    axes = new_axes(figure, xlabel="asked for [%]", ylabel="test outputs inside the interval [%]")
    axes.plot([0, 100], [0, 100], color=COLOURS.threshold, linewidth=1.0, linestyle="--")
    band = 196.0 * np.sqrt(arrays["coverage_level"] * (1 - arrays["coverage_level"]))
    half = band / np.sqrt(len(arrays["row_error"]))
    axes.fill_between(
        asked, asked - half, np.minimum(asked + half, 100.0), color=COLOURS.grid, alpha=0.6,
        linewidth=0,
    )  # fmt: skip
    for key, colour, who in (
        ("coverage", COLOURS.candidate, _ours(result)),
        ("coverage_best", COLOURS.baseline, _best(result)),
    ):
        axes.plot([], [], color=colour, linewidth=3.0, label=who)
        for kind, style in (("raw", ":"), ("calibrated", "-")):
            if f"{key}_{kind}" in arrays:
                observed = 100.0 * arrays[f"{key}_{kind}"]
                axes.plot(asked, observed, style, color=colour, marker="o", markersize=3)
    for style, said in ((":", "raw spread"), ("-", "calibrated")):
        axes.plot([], [], style, color=COLOURS.muted, label=said)
    axes.set_xlim(0, 100)
    axes.set_ylim(0, 102)
    add_legend(axes)


def caption_coverage(result):
    """Say what the lines show."""
    del result
    return (
        "Intervals are right where their line is on the dashed one; below it they promise too "
        "much, above it they are too wide. The grey band is the chance of so few test runs; "
        "calibrated lines may leave it somewhat, since the calibration runs are few too."
    )


# --- errors against the distance from the runs ----------------------------------------------


def draw_domain(result, figure):
    """Draw the error of each test run against its distance from the fit runs."""
    arrays = result.arrays
    keep = thin_points(len(arrays["row_error"]), limit=1500)
    distance = np.maximum(arrays["row_distance"][keep], 1e-3)
    error = np.maximum(arrays["row_error"][keep], 1e-12)
    inside = np.asarray(arrays["row_inside_domain"])[keep]
    wide = distance.max() / distance.min() > 30
    axes = new_axes(
        figure,
        xlabel="distance to the nearest fit run [limit of the domain]",
        ylabel=f"error, {_ours(result)} [{_unit(result)}]",
        xscale="log" if wide else "linear",
        yscale="log",
    )
    for which, colour, label in (
        (inside, COLOURS.candidate, "inside the domain"),
        (~inside, COLOURS.anomaly, "outside"),
    ):
        if which.any():
            axes.plot(
                distance[which], error[which], ".", color=colour, markersize=4, alpha=0.6,
                label=label,
            )  # fmt: skip
    if distance.max() > 0.8:
        axes.axvline(1.0, color=COLOURS.threshold, linewidth=1.1, linestyle=(0, (4, 2.5)))
    if "sigma" in arrays:
        axes.axhline(
            arrays["sigma"], color=COLOURS.threshold, linestyle=":", linewidth=1.0, label="sigma"
        )
    add_legend(axes, above=True)


def caption_domain(result):
    """Say what the points show."""
    out = int(np.sum(~np.asarray(result.arrays["row_inside_domain"])))
    said = f"{out:,} test runs lie outside" if out else "No test run lies outside"
    return (
        "Error of each test run against its distance to the nearest fit run; beyond the dashed "
        f"line, or outside the box of the inputs, a run is outside the validity domain. {said}."
    )


FIGURES = (
    FigureSpec(
        "predicted", "Predicted against true", caption_predicted, draw_predicted,
        size=(5.0, 3.0), applies=_has_rows,
    ),
    FigureSpec("pairs", "Run by run", caption_pairs, draw_pairs, applies=_has_rows),
    FigureSpec("outputs", "Where the error is", caption_outputs, draw_outputs, applies=_several),
    FigureSpec(
        "coverage", "What the error bars hold", caption_coverage, draw_coverage,
        applies=_has_coverage,
    ),
    FigureSpec(
        "learning", "What more runs would buy", caption_learning, draw_learning, applies=_has_curve
    ),
    FigureSpec(
        "domain", "Error and distance from the runs", caption_domain, draw_domain,
        applies=_has_rows,
    ),
    FigureSpec("training", "Training", caption_training, draw_training, applies=_has_history),
)  # fmt: skip
