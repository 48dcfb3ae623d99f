"""What a need's figures are made of: a specification, the colours, and helpers for drawing.

A need lists its figures in ``assay.<need>.figures.FIGURES``, a tuple of `FigureSpec`; the report
renders them (`assay.report.figures`). The drawers use the colours below and no others: each is a
sentinel that the page replaces by a CSS variable, so that a figure follows light and dark mode.

Nothing heavy is imported here: matplotlib arrives with the figure that a drawer is handed.
"""

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np

from assay.result import Result


@dataclasses.dataclass(frozen=True)
class Colours:
    """The colours of every figure, by meaning; the values are those of the light page."""

    ink: str = "#1e2227"
    muted: str = "#5d646c"
    grid: str = "#e1e0da"
    paper: str = "#fcfbf8"
    candidate: str = "#1d66a6"
    baseline: str = "#8c6a2c"
    normal: str = "#6d8296"
    anomaly: str = "#c4461c"
    threshold: str = "#2b2f36"
    accent: str = "#6f4a9b"


COLOURS = Colours()


def _always(result: Result) -> bool:
    del result  # the default of a predicate over results
    return True


@dataclasses.dataclass(frozen=True)
class FigureSpec:
    """One figure of a need.

    Parameters
    ----------
    key : str
        File name without ending and anchor in the page: lower case, digits, hyphens.
    title : str
        A few words, shown above the figure.
    caption : callable
        ``caption(result) -> str``: what the figure shows and what to look for, in a sentence or
        two of plain text. It is also what a screen reader hears in place of the figure.
    draw : callable
        ``draw(result, figure)`` draws into an empty ``matplotlib.figure.Figure`` that is styled
        and laid out by the report; start with `new_axes`. No ``pyplot``, no ``rcParams``.
    size : tuple of float
        Width and height [in]. Two figures of the default width stand side by side on a page.
    applies : callable
        ``applies(result) -> bool``: whether the result holds what the figure needs.
    """

    key: str
    title: str
    caption: Callable[[Result], str]
    draw: Callable[[Result, Any], None]
    size: tuple[float, float] = (5.0, 3.2)
    applies: Callable[[Result], bool] = _always


def new_axes(
    figure: Any,
    *,
    xlabel: str = "",
    ylabel: str = "",
    xscale: str = "linear",
    yscale: str = "linear",
    position: tuple[int, int, int] = (1, 1, 1),
) -> Any:
    """Add axes to `figure`: two spines, a faint horizontal grid, labels in ink.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
    xlabel, ylabel : str
        With the unit in square brackets where there is one.
    xscale, yscale : {"linear", "log", "symlog"}
    position : tuple of int
        Rows, columns and number (from 1) of the axes, as in ``figure.add_subplot``.

    Returns
    -------
    matplotlib.axes.Axes
    """
    axes = figure.add_subplot(*position)
    axes.set_facecolor("none")
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        axes.spines[side].set_color(COLOURS.muted)
        axes.spines[side].set_linewidth(0.8)
    axes.set_xscale(xscale)
    axes.set_yscale(yscale)
    axes.tick_params(which="both", color=COLOURS.muted, labelcolor=COLOURS.muted, width=0.8)
    axes.set_xlabel(xlabel, color=COLOURS.ink)
    axes.set_ylabel(ylabel, color=COLOURS.ink)
    axes.grid(visible=True, axis="y", color=COLOURS.grid, linewidth=0.8)
    axes.set_axisbelow(True)
    return axes


def add_legend(axes: Any, *, location: str = "best", columns: int = 1, above: bool = False) -> None:
    """Add a frameless legend in ink; nothing when there is no labelled artist.

    With `above` it stands on one line over the axes, where the data leave no room inside.
    """
    handles, _ = axes.get_legend_handles_labels()
    if not handles:
        return
    place = {"loc": location, "ncols": columns}
    if above:
        place = {"loc": "lower right", "ncols": len(handles), "bbox_to_anchor": (1.0, 1.0)}
        place |= {"borderaxespad": 0.2}
    axes.legend(frameon=False, labelcolor=COLOURS.ink, **place)


def add_threshold(axes: Any, value: float, *, label: str = "", along: str = "x") -> None:
    """Draw a dashed line at `value` of the x axis (``along="x"``) or the y axis (``"y"``)."""
    line = axes.axvline if along == "x" else axes.axhline
    line(value, color=COLOURS.threshold, linewidth=1.1, linestyle=(0, (4, 2.5)), label=label)


def add_histogram(
    axes: Any,
    values: Any,
    edges: Any,
    *,
    colour: str,
    label: str,
    share: bool = True,
) -> None:
    """Draw a filled step histogram; `share` plots the share of values [%] and not their number.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
    values : array-like, shape (n,)
        Values outside `edges` are left out of the drawing but stay in the total.
    edges : array-like, shape (n_bins + 1,)
        Rising bin edges, in the unit of `values`.
    colour : str
        One of `COLOURS`.
    label : str
        For the legend.
    share : bool
        Whether heights are the share of all values [%]; else their number.
    """
    values = np.asarray(values, float).ravel()
    counts, edges = np.histogram(values, bins=np.asarray(edges, float))
    heights = 100.0 * counts / max(values.size, 1) if share else counts.astype(float)
    axes.stairs(heights, edges, fill=True, color=colour, alpha=0.35, linewidth=0)
    axes.stairs(heights, edges, color=colour, linewidth=1.2, label=label)


def add_intervals(
    axes: Any,
    names: Any,
    estimates: Any,
    lows: Any,
    highs: Any,
    *,
    colours: Any,
) -> None:
    """Draw one dot with its interval a name, the first name on top.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
    names : sequence of str, length n
    estimates, lows, highs : array-like, shape (n,)
        In the unit of the x axis; a row whose estimate is not finite is named and left empty.
    colours : sequence of str, length n
        Taken from `COLOURS`.
    """
    for place, (name, x, low, high, colour) in enumerate(
        zip(names, estimates, lows, highs, colours, strict=True)
    ):
        del name
        if np.isfinite(x):
            if np.isfinite(low) and np.isfinite(high):
                axes.plot([low, high], [place, place], color=colour, linewidth=1.6)
            axes.plot([x], [place], "o", color=colour, markersize=5)
    axes.set_yticks(range(len(names)), [shorten(name, 28) for name in names])
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0, labelcolor=COLOURS.ink)
    axes.grid(visible=False, axis="y")
    axes.grid(visible=True, axis="x", color=COLOURS.grid, linewidth=0.8)


def thin_curve(x: Any, y: Any, *, limit: int = 1500) -> tuple[np.ndarray, np.ndarray]:
    """Return at most `limit` points of a curve that keep every peak.

    Each of ``limit / 2`` buckets of neighbouring points gives its lowest and its highest value,
    so that a spike one sample wide is still drawn. Non-finite `y` are left out.

    Parameters
    ----------
    x, y : array-like, shape (n,)
    limit : int
        At least 2.

    Examples
    --------
    >>> x, y = thin_curve(range(10_000), [0.0] * 9_999 + [5.0], limit=100)
    >>> len(x) <= 100, y.max()
    (True, np.float64(5.0))
    """
    x, y = np.asarray(x), np.asarray(y, float)
    keep = np.isfinite(y)
    x, y = x[keep], y[keep]
    if y.size <= limit:
        return x, y
    edges = np.linspace(0, y.size, max(limit // 2, 1) + 1).astype(int)[:-1]
    # reduceat has no argmin; a sort inside the buckets costs O(n log n) and keeps both extremes.
    bucket = np.searchsorted(edges, np.arange(y.size), side="right") - 1
    order = np.lexsort((y, bucket))
    first = np.searchsorted(bucket, np.arange(edges.size), side="left")
    last = np.append(first[1:], y.size) - 1
    picked = np.unique(np.concatenate([order[first], order[last]]))
    return x[picked], y[picked]


def thin_points(n: int, *, limit: int = 2000, seed: int = 0) -> np.ndarray:
    """Return at most `limit` of the indices 0 ... n - 1, drawn without replacement, rising.

    Examples
    --------
    >>> thin_points(5)
    array([0, 1, 2, 3, 4])
    >>> len(thin_points(1_000_000))
    2000
    """
    if n <= limit:
        return np.arange(n)
    return np.sort(np.random.default_rng(seed).choice(n, size=limit, replace=False))


def shorten(text: Any, limit: int) -> str:
    """Return `text` on one line, cut in the middle to `limit` characters.

    Examples
    --------
    >>> shorten("pressure_upstream_of_the_valve", 15)
    'pressur…e_valve'
    """
    text = " ".join(str(text).split())
    if len(text) <= limit:
        return text
    tail = (limit - 1) // 2
    return f"{text[: limit - 1 - tail]}…{text[len(text) - tail :]}"
