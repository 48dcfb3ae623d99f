"""What a person wants to look at: the solution, its error, and what the error costs."""

import numpy as np

from assay.figure import COLOURS, FigureSpec, add_legend, new_axes
from assay.physics.figures_fit import (
    caption_found,
    caption_readings,
    caption_terms,
    caption_training,
    draw_found,
    draw_readings,
    draw_terms,
    draw_training,
    has_found,
    has_history,
    has_readings,
    has_terms,
    network_of,
    solver_of,
)

TINY = 1e-17  # what is drawn in place of an error of zero, on a logarithmic axis
_SHOWN_FIELDS = 4


# --- the grid -------------------------------------------------------------------------------


def _lines(arrays):
    """Return the places along each variable of the even grid."""
    return [np.unique(column) for column in arrays["points"].T]


def _cut(arrays, values):
    """Return fields on at most two variables, which ones, and where the third one is cut.

    The third variable is time, at its end, or else the last one, in its middle.
    """
    lines = _lines(arrays)
    values = values.reshape(*map(len, lines), -1)
    kept = list(range(len(lines)))
    if len(lines) < 3:
        return values, kept, ""
    axis = arrays["time"] if arrays["time"] >= 0 else len(lines) - 1
    index = len(lines[axis]) - 1 if axis == arrays["time"] else len(lines[axis]) // 2
    kept.remove(axis)
    where = f", at {arrays['variables'][axis]} = {lines[axis][index]:g}"
    return np.take(values, index, axis=axis), kept, where


def _with_unit(text, unit):
    return f"{text} [{unit}]" if unit else text


def _is_grid(result):
    arrays = result.arrays
    return "points" in arrays and np.prod([len(x) for x in _lines(arrays)]) == len(arrays["points"])


def _is_curve(result):
    return _is_grid(result) and result.arrays["points"].shape[1] == 1


def _is_map(result):
    return _is_grid(result) and result.arrays["points"].shape[1] > 1


# --- one variable: curves -------------------------------------------------------------------


def draw_curves(result, figure):
    """Draw the reference, the network and the classical solution, and below their errors."""
    arrays = result.arrays
    x, shown = arrays["points"][:, 0], min(len(arrays["field_names"]), _SHOWN_FIELDS)
    xlabel = str(arrays["variable_labels"][0])
    truth = "exact" if arrays["exact"] else "reference"
    for j in range(shown):
        upper = new_axes(figure, ylabel=str(arrays["field_labels"][j]), position=(2, shown, j + 1))
        lower = new_axes(
            figure,
            xlabel=xlabel,
            ylabel=_with_unit("error", arrays["field_units"][j]),
            yscale="log",
            position=(2, shown, shown + j + 1),
        )
        upper.sharex(lower)
        upper.tick_params(labelbottom=False)
        true = arrays["reference"][:, j]
        upper.plot(x, true, color=COLOURS.threshold, linewidth=3.0, alpha=0.3, label=truth)
        for key, colour, style, who in (
            ("solver_fields", COLOURS.baseline, "-", solver_of(result)),
            ("fields", COLOURS.candidate, "--", network_of(result)),
        ):
            upper.plot(x, arrays[key][:, j], style, color=colour, label=who)
            off = np.maximum(np.abs(arrays[key][:, j] - true), TINY)
            lower.plot(x, off, color=colour, linewidth=1.0)
        _few_decades(lower)
    figure.legend(
        *figure.axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=3,
        frameon=False, labelcolor=COLOURS.ink,
    )  # fmt: skip


def _few_decades(axes):
    """Cut a logarithmic axis of errors at the bottom: where curves cross, an error is zero."""
    values = np.concatenate([line.get_ydata() for line in axes.lines])
    middle = min(np.median(line.get_ydata()) for line in axes.lines)
    axes.set_ylim(max(middle / 100.0, TINY / 2), max(values.max() * 3.0, TINY * 10))


def caption_curves(result):
    """Say what the curves show."""
    more = len(result.arrays["field_names"]) - _SHOWN_FIELDS
    rest = f" {more} more fields are not drawn." if more > 0 else ""
    return (
        "Above the solutions, below the distance of each from the "
        f"{'exact one' if result.arrays['exact'] else 'reference'}, on a logarithmic axis. Lines "
        f"that lie on each other agree to the width of a line.{rest} First seed."
    )


# --- two and three variables: maps ----------------------------------------------------------


def draw_maps(result, figure):
    """Draw the network's field and its error, one row a field."""
    from matplotlib.colors import LinearSegmentedColormap

    arrays = result.arrays
    both = LinearSegmentedColormap.from_list(
        "field", [COLOURS.candidate, COLOURS.paper, COLOURS.anomaly]
    )
    fields, kept, _ = _cut(arrays, arrays["fields"])
    truth, _, _ = _cut(arrays, arrays["reference"])
    ends = [(line[0], line[-1]) for line in (_lines(arrays)[i] for i in kept)]
    shown = min(fields.shape[-1], 2)
    for j in range(shown):
        unit, name = arrays["field_units"][j], str(arrays["field_names"][j])
        off = fields[..., j] - truth[..., j]
        most = np.abs(off).max() or 1.0
        for column, (values, (low, high), colours, label) in enumerate(
            ((fields[..., j], *_scale(truth[..., j], both), _with_unit(f"{name}, network", unit)),
             (off, (-most, most), both, _with_unit(f"error of {name}", unit)))
        ):  # fmt: skip
            axes = new_axes(
                figure,
                xlabel=str(arrays["variable_labels"][kept[0]]),
                ylabel=str(arrays["variable_labels"][kept[1]]),
                position=(shown, 2, 2 * j + column + 1),
            )
            axes.grid(visible=False)
            drawn = axes.imshow(
                values.T, origin="lower", aspect="auto", cmap=colours, vmin=low, vmax=high,
                extent=(*ends[0], *ends[1]), interpolation="nearest",
            )  # fmt: skip
            _bar(figure, drawn, axes, label)


def _scale(values, both):
    """Return the ends of a colour scale and the colours: two where a field has both signs."""
    low, high = float(values.min()), float(values.max())
    if low < 0.0 < high:
        most = max(-low, high)
        return (-most, most), both
    from matplotlib.colors import ListedColormap

    # From the paper on, so that a field far from zero, such as a temperature, shows its variation.
    one = both(np.linspace(0.5, 1.0, 256) if high > 0.0 else np.linspace(0.0, 0.5, 256))
    return (low, high if high > low else low + 1.0), ListedColormap(one)


def _bar(figure, drawn, axes, label):
    bar = figure.colorbar(drawn, ax=axes, location="top", aspect=30, pad=0.03)
    bar.solids.set_rasterized(True)
    bar.set_label(label, color=COLOURS.ink)
    bar.outline.set_edgecolor(COLOURS.grid)
    bar.ax.tick_params(color=COLOURS.muted, labelcolor=COLOURS.muted, width=0.8)
    bar.ax.locator_params(nbins=5)
    bar.formatter.set_powerlimits((-2, 3))
    bar.formatter.set_useMathText(False)
    bar.update_ticks()


def caption_maps(result):
    """Say what the maps show."""
    arrays = result.arrays
    where = _cut(arrays, arrays["fields"])[2]
    more = len(arrays["field_names"]) - 2
    rest = f" {more} more fields are not drawn." if more > 0 else ""
    truth = "exact solution" if arrays["exact"] else "reference"
    return (
        f"Left the field of the network, right what it has too much (red) or too little (blue) "
        f"against the {truth}{where}. The two scales differ.{rest} First seed."
    )


# --- error over time ------------------------------------------------------------------------


def _over_time(result):
    return _is_map(result) and result.arrays["time"] >= 0


def draw_over_time(result, figure):
    """Draw the RMS error over space against time, over the size of the field."""
    arrays = result.arrays
    lines, axis = _lines(arrays), arrays["time"]
    truth = arrays["reference"]
    size = np.maximum(np.sqrt(np.mean(truth**2, axis=0)), 1e-300)
    axes = new_axes(
        figure,
        xlabel=str(arrays["variable_labels"][axis]),
        ylabel="RMS error / RMS of the field [-]",
        yscale="log",
    )
    for key, colour, who in (
        ("solver_fields", COLOURS.baseline, solver_of(result)),
        ("fields", COLOURS.candidate, network_of(result)),
    ):
        off = ((arrays[key] - truth) / size).reshape(*map(len, lines), -1)
        across = tuple(i for i in range(off.ndim) if i != axis)
        rms = np.sqrt(np.mean(off**2, axis=across))
        axes.plot(lines[axis], np.maximum(rms, TINY), color=colour, label=who)
    _few_decades(axes)
    add_legend(axes, above=True)


def caption_over_time(result):
    """Say what the lines show."""
    del result
    return (
        "The error over space at each time. A line that rises means that errors are passed on, or "
        "that late times were never settled."
    )


# --- error against time to solve ------------------------------------------------------------


def _has_levels(result):
    return len(result.arrays.get("level_seconds", ())) > 0


def draw_speed(result, figure):
    """Draw the error against the seconds: levels of the solver as a line, seeds as points."""
    arrays = result.arrays
    axes = new_axes(
        figure, xlabel="time to solve [s]", ylabel="relative L2 error [-]", xscale="log",
        yscale="log",
    )  # fmt: skip
    axes.plot(
        np.maximum(arrays["level_seconds"], 1e-6), arrays["level_errors"], "o-", markersize=4,
        color=COLOURS.baseline, label=solver_of(result),
    )  # fmt: skip
    axes.plot(
        np.maximum(arrays["seconds"], 1e-6), arrays["errors"], "D", markersize=6,
        color=COLOURS.candidate, label=network_of(result),
    )  # fmt: skip
    if not arrays["exact"]:
        axes.axhline(
            arrays["reference_error"], color=COLOURS.muted, linewidth=0.9, linestyle=":",
            label="error of the reference",
        )  # fmt: skip
    add_legend(axes, above=True)


def caption_speed(result):
    """Say what the points show, and how to read them."""
    n = len(result.arrays["errors"])
    return (
        "Down and to the left is better. The line joins the refinements of the classical solver; "
        f"each diamond is a training of the network ({n} seed{'s' if n > 1 else ''}). Compiling is "
        "left out."
    )


FIGURES = (
    FigureSpec("solution", "The solution", caption_curves, draw_curves, size=(5.0, 3.8),
               applies=_is_curve),
    FigureSpec("field", "The solution", caption_maps, draw_maps, size=(5.0, 3.2),
               applies=_is_map),
    FigureSpec("speed", "Error against time to solve", caption_speed, draw_speed,
               applies=_has_levels),
    FigureSpec("time", "Error over time", caption_over_time, draw_over_time, applies=_over_time),
    FigureSpec("readings", "Readings", caption_readings, draw_readings, applies=has_readings),
    FigureSpec("found", "What was found", caption_found, draw_found, applies=has_found),
    FigureSpec("training", "Training", caption_training, draw_training, applies=has_history),
    FigureSpec("terms", "Sizes of the terms", caption_terms, draw_terms, applies=has_terms),
)  # fmt: skip
