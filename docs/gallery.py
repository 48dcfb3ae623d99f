"""Draw the solutions of the gallery for docs/gallery.md, by the classical solver.

Run from the root of the repository: python docs/gallery.py [NAME ...]
"""

import sys
from pathlib import Path

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure

from assay.figure import COLOURS, add_legend, new_axes
from assay.physics.classical import solve_classical
from assay.physics.gallery import PROBLEMS
from assay.physics.gallery_inverse import INVERSE
from assay.physics.solution import even_points

FOLDER = Path(__file__).with_name("gallery")
FIELD = LinearSegmentedColormap.from_list(
    "field", [COLOURS.candidate, COLOURS.paper, COLOURS.anomaly]
)


def label(problem, name):
    """Return a name with its unit, where one is declared."""
    unit = problem.units.get(name)
    return f"{name} [{unit}]" if unit else name


def solved(problem):
    """Return the even points and the fields there: exact where known, else by the solver."""
    points = even_points(problem)
    if problem.unknown:
        return points, problem.exact_at(points)
    return points, solve_classical(problem, tolerance=1e-5, seconds=60).at(points)


def draw(problem):
    """Return the figure of one problem: curves of one variable, a map of two."""
    points, fields = solved(problem)
    figure = Figure(figsize=(3.6, 2.4), layout="constrained", facecolor=COLOURS.paper)
    names = tuple(problem.box)
    first = problem.fields[0]
    if len(names) == 1:
        one = len(problem.fields) == 1
        said = label(problem, first) if one else ", ".join(problem.fields)
        axes = new_axes(figure, xlabel=label(problem, names[0]), ylabel=said)
        colours = (COLOURS.candidate, COLOURS.anomaly, COLOURS.baseline)
        for name, values, colour in zip(problem.fields, fields.T, colours, strict=False):
            axes.plot(points[:, 0], values, color=colour, label="" if one else name)
        for reading in problem.readings:
            colour = colours[problem.fields.index(reading.name)]
            axes.plot(reading.at[names[0]], reading.values, ".", color=colour, markersize=5)
        add_legend(axes, above=True)
        return figure
    axes = new_axes(figure, xlabel=label(problem, names[0]), ylabel=label(problem, names[1]))
    axes.grid(visible=False)
    lines = [np.unique(column) for column in points.T]
    values = fields[:, 0].reshape(*map(len, lines)).T
    most = np.abs(values).max()
    shown = axes.imshow(
        values, origin="lower", aspect="auto", cmap=FIELD, vmin=-most, vmax=most,
        extent=(lines[0][0], lines[0][-1], lines[1][0], lines[1][-1]),
    )  # fmt: skip
    for reading in problem.readings:
        keep = slice(0, 300)
        axes.plot(
            reading.at[names[0]][keep], reading.at[names[1]][keep], ".", color=COLOURS.ink,
            markersize=1,
        )  # fmt: skip
    bar = figure.colorbar(shown, ax=axes)
    bar.set_label(label(problem, first))
    bar.outline.set_visible(False)
    return figure


def main():
    """Write one picture a problem."""
    FOLDER.mkdir(exist_ok=True)
    for make in (*PROBLEMS, *INVERSE):
        if sys.argv[1:] and make.__name__ not in sys.argv[1:]:
            continue
        figure = draw(make())
        FigureCanvasAgg(figure)
        figure.savefig(FOLDER / f"{make.__name__}.png", dpi=110, metadata={"Software": None})


if __name__ == "__main__":
    main()
