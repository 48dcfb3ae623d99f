"""Figures on the fit: training term by term, sizes of terms, readings, what was found."""

import numpy as np

from assay.figure import COLOURS, add_legend, new_axes, shorten, thin_curve, thin_points

_NAME = 26  # characters of a method's name in a legend


def network_of(result):
    """Return what the candidate is called in a legend."""
    name = result.candidate.name
    return "network" if "network" in name else shorten(name, _NAME)


def solver_of(result):
    """Return what the first baseline is called in a legend."""
    name = result.baselines[0].name if result.baselines else "classical solver"
    return shorten(f"{name[:1].lower()}{name[1:]}", 34)


# --- training -------------------------------------------------------------------------------


def has_history(result):
    """Whether the candidate keeps its losses."""
    return len(result.arrays.get("history_loss", ())) > 1


def draw_training(result, figure):
    """Draw the terms of the loss against the steps."""
    arrays = result.arrays
    axes = new_axes(figure, xlabel="step [-]", ylabel="loss [-]", yscale="log")
    step = arrays["history_step"]
    parts = [arrays.get(f"history_{key}", (0.0,)) for key in ("residual", "condition", "reading")]
    alone = sum(bool(np.any(np.asarray(part) > 0)) for part in parts) < 2  # the sum is the term
    for key, colour, who, width in (
        ("loss", COLOURS.muted, "sum", 3.0),
        ("residual", COLOURS.candidate, "equation", 1.5),
        ("condition", COLOURS.anomaly, "conditions", 1.5),
        ("reading", COLOURS.accent, "readings", 1.5),
    ):
        values = np.asarray(arrays.get(f"history_{key}", ()), float)
        if not len(values) or not np.nanmax(values) > 0 or (key == "loss" and alone):
            continue
        values = np.where(values > 0, values, np.nan)
        x, y = thin_curve(step, values)
        axes.plot(x, y, color=colour, linewidth=width, alpha=0.5 if key == "loss" else 1, label=who)
    add_legend(axes, above=True)


def caption_training(result):
    """Say what the lines show, and why training stopped."""
    status = result.candidate.status
    arrays = result.arrays
    hard = not np.any(np.asarray(arrays.get("history_condition", 0.0)) > 0)
    built = " The conditions are built into the network and have no term." if hard else ""
    return (
        f"Terms of the loss, scaled, first seed.{built}" + (f" {status}" if status else "")
    ).strip()


# --- sizes of the terms ---------------------------------------------------------------------


def has_terms(result):
    """Whether an equation has terms to compare, and they were scaled."""
    arrays = result.arrays
    return len(arrays.get("term_names", ())) > 1 and arrays["term_scaled"]


def draw_terms(result, figure):
    """Draw the size of each term as declared and scaled, joined by a line."""
    arrays = result.arrays
    before, after = arrays["term_before"], arrays["term_after"]
    axes = new_axes(figure, xlabel="size of the term (scaled: [-])", xscale="log")
    places = np.arange(len(before))
    for place in places:
        axes.plot([before[place], after[place]], [place] * 2, color=COLOURS.grid, linewidth=1.5)
    axes.plot(before, places, "o", color=COLOURS.baseline, markersize=6, label="as declared")
    axes.plot(after, places, "D", color=COLOURS.candidate, markersize=5, label="scaled")
    axes.set_yticks(places, [shorten(name, 20) for name in arrays["term_names"]])
    axes.set_ylabel("term", color=COLOURS.ink)
    axes.set_ylim(len(places) - 0.5, -0.5)
    axes.grid(visible=False, axis="y")
    add_legend(axes, above=True)


def caption_terms(result):
    """Say what the points show."""
    before = result.arrays["term_before"]
    return (
        f"How large each term of the equation is. As declared they reach {before.max():.3g}; the "
        "network is trained on the scaled ones, whose largest is 1."
    )


# --- readings -------------------------------------------------------------------------------


def has_readings(result):
    """Whether there are readings of fields."""
    return "reading_values" in result.arrays


def draw_readings(result, figure):
    """Draw readings with the fitted curves, or predicted against read in more variables."""
    arrays = result.arrays
    if arrays["points"].shape[1] > 1:
        return _draw_against(result, figure)
    shown = sorted(set(arrays["reading_field"].tolist()))[:4]
    for row, j in enumerate(shown):
        axes = new_axes(
            figure,
            xlabel=str(arrays["variable_labels"][0]) if row == len(shown) - 1 else "",
            ylabel=str(arrays["field_labels"][j]),
            position=(len(shown), 1, row + 1),
        )
        x = arrays["points"][:, 0]
        axes.plot(x, arrays["solver_fields"][:, j], color=COLOURS.baseline, label=solver_of(result))
        axes.plot(x, arrays["fields"][:, j], "--", color=COLOURS.candidate,
                  label=network_of(result))  # fmt: skip
        mine = arrays["reading_field"] == j
        sigma = arrays["reading_sigma"][mine]
        axes.errorbar(
            arrays["reading_points"][mine, 0], arrays["reading_values"][mine],
            yerr=1.96 * sigma if np.isfinite(sigma).all() else None, fmt="o", markersize=4,
            color=COLOURS.anomaly, linewidth=1.0, label="readings",
        )  # fmt: skip
    figure.legend(
        *figure.axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=3,
        frameon=False, labelcolor=COLOURS.ink,
    )  # fmt: skip
    return None


def _draw_against(result, figure):
    """Draw what is left of the readings of the first field, of both methods."""
    arrays = result.arrays
    j = int(arrays["reading_field"][0])
    mine = np.flatnonzero(arrays["reading_field"] == j)
    mine = mine[thin_points(len(mine), limit=800)]
    read = arrays["reading_values"][mine]
    label, unit = arrays["field_labels"][j], arrays["field_units"][j]
    axes = new_axes(
        figure, xlabel=f"read {label}", ylabel=f"fitted - read{f' [{unit}]' if unit else ''}"
    )
    for key, colour, who in (
        ("reading_solver", COLOURS.baseline, solver_of(result)),
        ("reading_network", COLOURS.candidate, network_of(result)),
    ):
        axes.plot(
            read, arrays[key][mine] - read, ".", color=colour, markersize=4, alpha=0.5, label=who
        )
    axes.axhline(0.0, color=COLOURS.threshold, linewidth=1.0, linestyle="--")
    sigma = arrays["reading_sigma"][mine]
    if np.isfinite(sigma).all():
        for side in (-1.96, 1.96):
            axes.axhline(side * sigma[0], color=COLOURS.muted, linewidth=0.9, linestyle=":")
    add_legend(axes, above=True)


def caption_readings(result):
    """Say what the points show."""
    arrays = result.arrays
    known = np.isfinite(arrays["reading_sigma"]).all()
    if arrays["points"].shape[1] > 1:
        band = " The dotted lines hold 95 % where the noise is as declared." if known else ""
        return f"What each method leaves of the readings.{band} First seed."
    band = " Bars are 95 % of the declared noise." if known else ""
    return f"The readings with the fitted solutions.{band} First seed."


# --- what was found -------------------------------------------------------------------------


def has_found(result):
    """Whether parameters were found."""
    return "found_network" in result.arrays


def draw_found(result, figure):
    """Draw each parameter: the seeds of the network beside the interval of least squares."""
    arrays = result.arrays
    found, shown = arrays["found_network"], min(arrays["found_network"].shape[1], 4)
    for i in range(shown):
        axes = new_axes(figure, xlabel=str(arrays["found_labels"][i]), position=(shown, 1, i + 1))
        low, high = arrays["found_low"][i], arrays["found_high"][i]
        if np.isfinite([low, high]).all():
            axes.plot([low, high], [0, 0], color=COLOURS.baseline, linewidth=1.8)
        axes.plot([arrays["found_solver"][i]], [0], "o", color=COLOURS.baseline, markersize=6)
        axes.plot(found[:, i], np.ones(len(found)), "D", color=COLOURS.candidate, markersize=5)
        axes.set_yticks([0, 1], ["classical", "network"])
        axes.set_ylabel("method", color=COLOURS.ink)
        axes.set_ylim(1.6, -0.6)
        axes.grid(visible=False, axis="y")
        axes.grid(visible=True, axis="x", color=COLOURS.grid, linewidth=0.8)


def caption_found(result):
    """Say what the points show."""
    n = len(result.arrays["found_network"])
    return (
        f"The classical estimate with its 95 % interval, and one diamond for each of the {n} "
        "trainings of the network. Diamonds outside the interval disagree with the readings or "
        "have not settled."
    )
