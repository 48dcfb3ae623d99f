"""What a person wants to look at: errors row by row, column by column, and the training."""

import numpy as np

from assay.figure import (
    COLOURS,
    FigureSpec,
    add_histogram,
    add_legend,
    new_axes,
    shorten,
    thin_curve,
    thin_points,
)

_SHOWN_COLUMNS = 14


def _has_pca(result):
    return "row_error_pca" in result.arrays


def draw_errors(result, figure):
    """Draw the distribution of row errors of the candidate and of PCA."""
    ours, theirs = result.arrays["row_error"], result.arrays["row_error_pca"]
    pooled = np.concatenate([ours, theirs])
    positive = pooled[pooled > 0]
    log = positive.size == pooled.size and pooled.max() / pooled.min() > 30
    low, high = np.quantile(pooled, [0.0005, 0.9995])
    edges = np.geomspace(low, high, 44) if log else np.linspace(low, max(high, low + 1e-12), 44)
    axes = new_axes(
        figure,
        xlabel="squared error of a test row [scaled units²]",
        ylabel="share of rows [%]",
        xscale="log" if log else "linear",
    )
    for errors, colour, name in (
        (theirs, COLOURS.baseline, "PCA"),
        (ours, COLOURS.candidate, shorten(result.candidate.name, 28)),
    ):
        add_histogram(axes, np.clip(errors, edges[0], edges[-1]), edges, colour=colour, label=name)
    add_legend(axes)


def caption_errors(result):
    """Say what the histograms show."""
    return (
        "Reconstruction errors of the sealed test rows with a code of "
        f"{result.settings['code_size']} numbers; further left is better."
    )


def draw_pairs(result, figure):
    """Draw the candidate's error of each row against PCA's."""
    ours, theirs = result.arrays["row_error"], result.arrays["row_error_pca"]
    keep = thin_points(len(ours), limit=1500)
    x, y = np.maximum(theirs[keep], 1e-12), np.maximum(ours[keep], 1e-12)
    axes = new_axes(
        figure,
        xlabel="error with PCA [scaled units²]",
        ylabel="error with the candidate [scaled units²]",
        xscale="log",
        yscale="log",
    )
    axes.plot(x, y, ".", color=COLOURS.candidate, markersize=3, alpha=0.5)
    ends = [min(x.min(), y.min()), max(x.max(), y.max())]
    axes.plot(ends, ends, color=COLOURS.threshold, linewidth=1.0, linestyle="--", label="equal")
    add_legend(axes, location="upper left")


def caption_pairs(result):
    """Say what the points show."""
    ours, theirs = result.arrays["row_error"], result.arrays["row_error_pca"]
    return (
        f"Each point is a test row; below the dashed line the candidate is better. It is for "
        f"{np.mean(ours < theirs):.0%} of the rows."
    )


def draw_columns(result, figure):
    """Draw the error of each column."""
    arrays = result.arrays
    ours, theirs = arrays["column_error"], arrays["column_error_pca"]
    order = np.argsort(theirs)[::-1][:_SHOWN_COLUMNS][::-1]
    axes = new_axes(figure, xlabel="mean squared error [scaled units²]")
    axes.grid(visible=False, axis="y")
    places = np.arange(len(order))
    axes.barh(places - 0.2, theirs[order], 0.38, color=COLOURS.baseline, label="PCA")
    name = shorten(result.candidate.name, 28)
    axes.barh(places + 0.2, ours[order], 0.38, color=COLOURS.candidate, label=name)
    axes.set_yticks(places, [shorten(arrays["column_name"][i], 24) for i in order])
    add_legend(axes, location="lower right")


def caption_columns(result):
    """Say what the bars show."""
    total = len(result.arrays["column_name"])
    shown = min(total, _SHOWN_COLUMNS)
    which = "The columns" if shown == total else f"The {shown} columns of {total}"
    return f"{which} that PCA reconstructs worst, and how the candidate does on them."


def _has_history(result):
    return "history_train" in result.arrays


def draw_history(result, figure):
    """Draw training and held-out loss."""
    arrays = result.arrays
    axes = new_axes(figure, xlabel="training step [-]", ylabel="loss [-]", yscale="log")
    steps = arrays["history_step"]
    train = thin_curve(steps, arrays["history_train"])
    axes.plot(*train, color=COLOURS.candidate, label="training")
    held = arrays.get("history_validation")
    if held is not None and np.isfinite(held).any():
        curve = thin_curve(steps, held)
        axes.plot(*curve, color=COLOURS.accent, linestyle="--", label="held-out rows")
    add_legend(axes)


def caption_history(result):
    """Say what the curves show."""
    return f"Loss while the candidate was trained (first seed). {result.candidate.status}"


FIGURES = (
    FigureSpec("errors", "Errors row by row", caption_errors, draw_errors, applies=_has_pca),
    FigureSpec("pairs", "Candidate against PCA", caption_pairs, draw_pairs, applies=_has_pca),
    FigureSpec("columns", "Column by column", caption_columns, draw_columns, applies=_has_pca),
    FigureSpec("training", "Training", caption_history, draw_history, applies=_has_history),
)
