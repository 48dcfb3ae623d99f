"""Rendering a need's figures to SVG and PNG.

The SVG is deterministic and small, its text stays text, and its colours become CSS variables
when it is placed in a page (`page_svg`), so that it follows light and dark mode.
"""

import dataclasses
import importlib
import importlib.util
import io
import re
import warnings
from typing import Any

from assay.figure import COLOURS, FigureSpec
from assay.result import Result

FONT = "system-ui, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"

# Above this an SVG is no longer a drawing but a list of points: the page then shows a picture.
LARGEST_SVG = 250_000

# What savefig and the artists read while a figure is drawn. `parse_math` is off because a column
# may be called "price $ per $unit".
STYLE = {
    "axes.labelsize": 9.5,
    "axes.titlesize": 9.5,
    "axes.titlecolor": COLOURS.ink,
    "axes.unicode_minus": True,
    "figure.facecolor": "none",
    "font.family": ["sans-serif"],
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 9.5,
    "legend.fontsize": 9.0,
    "lines.linewidth": 1.5,
    "patch.linewidth": 0.8,
    "savefig.facecolor": "none",
    "svg.fonttype": "none",
    "text.color": COLOURS.ink,
    "text.parse_math": False,
    "xtick.labelsize": 9.0,
    "ytick.labelsize": 9.0,
}


@dataclasses.dataclass(frozen=True)
class Rendered:
    """A figure that was drawn; `svg` is empty and `problem` says why where that failed.

    `png` is there when it was asked for, or when the SVG is too large for a page.
    """

    key: str
    title: str
    caption: str
    svg: str
    size: tuple[float, float]
    png: bytes = b""
    problem: str = ""


def specs_of(need: str) -> tuple[FigureSpec, ...]:
    """Return ``assay.<need>.figures.FIGURES``, or nothing where a need has no figures."""
    name = f"assay.{need}.figures"
    if not need.isidentifier() or importlib.util.find_spec(f"assay.{need}") is None:
        return ()
    if importlib.util.find_spec(name) is None:
        return ()
    return tuple(importlib.import_module(name).FIGURES)


def render(
    result: Result, specs: tuple[FigureSpec, ...] | None = None, *, png: bool = False
) -> list[Rendered]:
    """Draw every figure that applies to `result`.

    Parameters
    ----------
    result : Result
    specs : tuple of FigureSpec, optional
        Default: the figures of the result's need.
    png : bool
        Also render each figure as a picture at 200 dpi on the page's paper.

    Returns
    -------
    list of Rendered
        One that could not be drawn has an empty `svg` and says why in `problem`: a figure never
        costs a reader the report.
    """
    chosen = specs_of(result.need) if specs is None else specs
    return [drawn for spec in chosen if (drawn := _render_one(result, spec, png=png)) is not None]


def page_svg(rendered: Rendered) -> str:
    """Return the figure's SVG for a page: colours as CSS variables, font and size by the page."""
    svg = rendered.svg[rendered.svg.index("<svg") :]
    for field in dataclasses.fields(COLOURS):
        svg = svg.replace(f": {getattr(COLOURS, field.name)}", f": var(--fig-{field.name})")
    svg = svg.replace(f"font-family: {FONT}; ", "")
    svg = re.sub(r"<defs>\s*<style.*?</style>\s*</defs>", "", svg, count=1, flags=re.DOTALL)
    head, body = svg.split(">", 1)
    box = re.search(r'viewBox="[^"]*"', head)
    label = f"{rendered.key}-title {rendered.key}-caption"
    return (
        f'<svg role="img" aria-labelledby="{label}" {box.group(0) if box else ""} '
        f'xmlns:xlink="http://www.w3.org/1999/xlink" xmlns="http://www.w3.org/2000/svg">{body}'
    )


def file_svg(rendered: Rendered) -> str:
    """Return the figure's SVG for a file: on paper, because a viewer may be dark."""
    return rendered.svg.replace('style="fill: none"', f'style="fill: {COLOURS.paper}"', 1)


def _render_one(result: Result, spec: FigureSpec, *, png: bool) -> Rendered | None:
    title, caption = spec.title, ""
    try:
        if not spec.applies(result):
            return None
        caption = spec.caption(result)
        svg, picture = _draw(result, spec, png=png)
    except Exception as crash:
        problem = f"This figure could not be drawn ({type(crash).__name__}: {crash})."
        return Rendered(spec.key, title, caption, "", spec.size, problem=problem)
    return Rendered(spec.key, title, caption, svg, spec.size, picture)


def _draw(result: Result, spec: FigureSpec, *, png: bool) -> tuple[str, bytes]:
    import matplotlib
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    style = STYLE | {"svg.hashsalt": f"assay-{spec.key}"}
    with matplotlib.rc_context(style), warnings.catch_warnings():
        # The page's font draws the text; that matplotlib's own lacks a glyph changes nothing.
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        figure = Figure(figsize=spec.size, layout="constrained")
        FigureCanvasSVG(figure)
        spec.draw(result, figure)
        _plain_ticks(figure)
        svg = _svg(figure)
        figure.set_layout_engine("none")  # laid out once: the picture looks the same
        picture = _png(figure) if png or len(svg) > LARGEST_SVG else b""
    return svg, picture


def _plain_ticks(figure: Any) -> None:
    """Write ticks of log axes without mathtext, which is off, and dates no longer than needed."""
    from matplotlib.dates import AutoDateFormatter, ConciseDateFormatter
    from matplotlib.ticker import LogFormatter, LogFormatterMathtext

    class Plain(LogFormatter):
        """Writes 0.01 and 100 where the base class writes 1e-02; it chooses what is labelled."""

        def __call__(self, x, pos=None):
            return f"{x:g}".replace("-", "\N{MINUS SIGN}") if super().__call__(x, pos) else ""

    for axis in (axis for axes in figure.axes for axis in (axes.xaxis, axes.yaxis)):
        if isinstance(axis.get_major_formatter(), LogFormatterMathtext):
            axis.set_major_formatter(Plain())
            axis.set_minor_formatter(Plain())
        elif isinstance(axis.get_major_formatter(), AutoDateFormatter):
            axis.set_major_formatter(ConciseDateFormatter(axis.get_major_locator()))


def _svg(figure: Any) -> str:
    buffer = io.StringIO()
    figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    svg = buffer.getvalue()
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = re.sub(r"<!--.*?-->", "", svg, flags=re.DOTALL)
    svg = re.sub(r'<g id="[^"]*">', "<g>", svg)  # the same in every figure: no id is unique twice
    svg = re.sub(r"'DejaVu Sans'(, [^;\"]*)?(?=[;\"])", FONT, svg)
    svg = re.sub(r"[\x00-\x08\x0b\x0c\x0e-\x1f]", "\N{REPLACEMENT CHARACTER}", svg)
    return re.sub(r"\n\s*", "\n", svg)


def _png(figure: Any) -> bytes:
    buffer = io.BytesIO()
    figure.savefig(
        buffer, format="png", dpi=200, facecolor=COLOURS.paper, metadata={"Software": None}
    )
    return buffer.getvalue()
