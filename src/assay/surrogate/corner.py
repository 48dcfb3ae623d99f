"""Pairs of inputs in a posterior as one figure: draws, the prior, the box, and a truth if known."""

from typing import Any

import numpy as np

from assay.errors import StudyError
from assay.figure import COLOURS, add_histogram, new_axes, thin_points

BINS = 30
PADDING = 0.08  # of the range of the draws
_PANEL = 2.0  # inches


def corner(posterior: Any, *, truth=None, units=None) -> Any:
    """Return the corner figure of a posterior; see `Posterior.figure`.

    Parameters
    ----------
    posterior : Posterior
    truth : (d,) array or None [units of the inputs]
    units : sequence of str or None
    """
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    d = len(posterior.names)
    truth = _checked_truth(truth, d)
    labels = _labels(posterior.names, units)
    flat = posterior.flat
    ends = [_limits(flat[:, j], posterior.box[j], truth and truth[j]) for j in range(d)]
    figure = Figure(
        figsize=(max(3.6, _PANEL * d), max(3.0, _PANEL * d)), layout="constrained",
        facecolor=COLOURS.paper,
    )  # fmt: skip
    FigureCanvasSVG(figure)
    kept = thin_points(len(flat), limit=1500)
    for row in range(d):
        for column in range(row + 1):
            axes = new_axes(
                figure,
                xlabel=labels[column] if row == d - 1 else "",
                ylabel=_ylabel(row, column, labels),
                position=(d, d, row * d + column + 1),
            )
            axes.grid(visible=False, axis="both")
            if row == column:
                _margin(axes, posterior, row, ends[row])
            else:
                axes.plot(
                    flat[kept, column], flat[kept, row], ".", color=COLOURS.candidate,
                    markersize=2.5, alpha=0.35, rasterized=True,
                )  # fmt: skip
                axes.set_ylim(*ends[row])
                _lines(axes.axhline, posterior.box[row], truth and truth[row], ends[row])
            axes.set_xlim(*ends[column])
            _lines(axes.axvline, posterior.box[column], truth and truth[column], ends[column])
            axes.locator_params(nbins=4)
            axes.tick_params(labelsize=8)
            axes.tick_params(axis="x", labelbottom=row == d - 1)
    _legend(figure, truth)
    return figure


def _margin(axes, posterior, j, ends):
    """Draw the histogram of an input, and what the prior expects in the same bins."""
    values, edges = posterior.flat[:, j], np.linspace(*ends, BINS + 1)
    add_histogram(axes, values, edges, colour=COLOURS.candidate, label="")
    shares = np.linspace(0.0, 100.0, len(posterior.prior))
    expected = np.diff(np.interp(edges, posterior.prior[:, j], shares))
    axes.stairs(expected, edges, color=COLOURS.baseline, linewidth=1.2)
    axes.set_ylim(bottom=0.0)


def _limits(values, box, truth):
    low, high = values.min(), values.max()
    if truth is not None:
        low, high = min(low, truth), max(high, truth)
    room = PADDING * (high - low) or 0.5 * PADDING * (box[1] - box[0])
    return low - room, high + room


def _lines(line, box, truth, ends):
    for end in box:
        if ends[0] < end < ends[1]:
            line(end, color=COLOURS.threshold, linewidth=1.1, linestyle=(0, (4, 2.5)))
    if truth is not None:
        line(truth, color=COLOURS.anomaly, linewidth=1.2)


def _legend(figure, truth):
    from matplotlib.lines import Line2D

    known = [
        Line2D([], [], color=COLOURS.candidate, linewidth=3.0, label="posterior"),
        Line2D([], [], color=COLOURS.baseline, linewidth=1.2, label="prior"),
        Line2D([], [], color=COLOURS.threshold, linestyle=(0, (4, 2.5)), label="end of the box"),
    ]
    if truth is not None:
        known.append(Line2D([], [], color=COLOURS.anomaly, linewidth=1.2, label="truth"))
    figure.legend(
        handles=known, loc="outside upper center", ncols=2, frameon=False, labelcolor=COLOURS.ink
    )


def _ylabel(row, column, labels):
    if row == column:
        return "draws [%]"
    return labels[row] if column == 0 else ""


def _labels(names, units):
    if units is None:
        return list(names)
    if isinstance(units, str) or len(units) != len(names):
        raise StudyError(
            f"`units` must be {len(names)} texts, one per input, got {units!r}.",
            hint='Give e.g. ["MPa", "m/yr"]; "-" for an input without a unit.',
        )
    return [f"{name} [{unit}]" for name, unit in zip(names, units, strict=True)]


def _checked_truth(truth, d):
    if truth is None:
        return None
    found = np.asarray(truth, dtype=np.float64)
    if found.shape != (d,) or not np.isfinite(found).all():
        raise StudyError(
            f"`truth` must be {d} finite values, one per input, got {truth!r}.",
            hint="Give the inputs that the data were made with, or leave it out.",
        )
    return found.tolist()
