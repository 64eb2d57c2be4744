"""Converts drawings to SVG text for a page, or to files for a paper; output is deterministic."""

import html
import io
import re
import unicodedata
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from matplotlib.figure import Figure
from matplotlib.text import Text

from deviate.report import plots
from deviate.report.figures.curves import draw_curves
from deviate.report.figures.dependence import draw_planning, draw_sweep
from deviate.report.figures.estimation import draw_estimation
from deviate.report.figures.kernels import draw_kernels
from deviate.report.figures.steps import draw_steps, draw_survival
from deviate.report.figures.surface import PAGE, PALETTE, Surface, paper, style
from deviate.report.medium import COLUMN_IN
from deviate.report.plots import CurvePlot, Plot

DRAWERS: Mapping[type, Callable[[Any, Surface], Figure]] = MappingProxyType(
    {
        plots.EstimationPlot: draw_estimation,
        plots.ForestPlot: draw_estimation,
        plots.RankPlot: draw_estimation,
        plots.ProfilePlot: draw_steps,
        plots.SurvivalPlot: draw_survival,
        plots.DifferencePlot: draw_steps,
        plots.PlanningPlot: draw_planning,
        plots.StepsPlot: draw_steps,
        plots.KernelPlot: draw_kernels,
        plots.SweepPlot: draw_sweep,
    }
)

MOST_POINTS = 200
"""Of each curve: what a column shows at 600 dots per inch, with the lowest and the highest value of every stretch."""


def draw(plot: Plot, surface: Surface, n_points: int = MOST_POINTS) -> Figure:
    """Draw the plot on a surface, whose style must be active; curves are thinned to about `n_points` points each."""
    return draw_curves(plot, surface, n_points) if isinstance(plot, CurvePlot) else DRAWERS[type(plot)](plot, surface)


NO_DATE = dict.fromkeys(("Date", "Creator", "Format", "Type"))


def page_figure(plot: Plot, n_points: int = MOST_POINTS, salt: str = "") -> str:
    """The plot as an `<svg>` element for a page; its key is unique on the page.

    Ids begin with the key or are hashes that it salts; with a salt they differ from those of the same plot elsewhere on
    the page. Colours are CSS variables with a fallback, ink is `currentColor`, and what belongs to one experiment has
    the class `series-K`, where K is its place in the report.

    Args:
        n_points: of each curve, about.
    """
    key = f"{salt}{plot.key}"
    body = _name_points(_svg(plot, PAGE, key, n_points), plot)
    body = re.sub(r"font(-family)?: ([^;\"]*?)'DejaVu Sans'[^;\"]*", _page_font, body)
    body = body.replace(PAGE.ink, "currentColor").replace(PAGE.ground, "var(--ground, #ffffff)")
    for index, fixed in enumerate(PALETTE):
        body = body.replace(fixed, f"var(--series-{index}, {fixed})")
    return _element(body, plot, key)


def _name_points(body: str, plot: Plot) -> str:
    """The figure with the name of each run at its point, for the pointer."""
    groups = plot.groups if isinstance(plot, plots.EstimationPlot) else ()

    def titled(match: re.Match[str]) -> str:
        return f"<g><title>{html.escape(groups[int(match[1])].names[int(match[2])])}</title>"

    return re.sub(r'<g class="run-(\d+)-(\d+)">', titled, body)


def paper_svg(plot: Plot, width_in: float = COLUMN_IN) -> str:
    """The figure as an SVG file, `width_in` inches wide, with letters as outlines.

    Text would ask for a font that most machines lack, and a figure for slides or a word processor should look the same
    on all of them; the PDF has the letters.
    """
    element = _element(_svg(plot, paper(width_in), plot.key), plot, plot.key, "pt")
    return f'<?xml version="1.0" encoding="utf-8"?>\n{element}\n'


def paper_pdf(plot: Plot, width_in: float = COLUMN_IN) -> bytes:
    """A PDF of one page, `width_in` inches wide, text in 8 points, fonts (TrueType) embedded.

    Equal findings give equal bytes.
    """
    surface, buffer = paper(width_in), io.BytesIO()
    about = {"Title": plot.title, "Subject": plot.description, "CreationDate": None, "Creator": None, "Producer": None}
    with style(surface, plot.key):
        figure = draw(plot, surface)
        for text in figure.findobj(Text):
            text.set_text(_visible(text.get_text()))
        figure.savefig(buffer, format="pdf", metadata=about)
    return buffer.getvalue()


def _visible(text: str) -> str:
    """Remove joiners and direction marks, some of which raise IndexError in the PDF backend of matplotlib 3.11."""
    return "".join(letter for letter in text if unicodedata.category(letter) != "Cf")


def paper_png(plot: Plot, width_in: float = COLUMN_IN, dots_per_inch: int = 300) -> bytes:
    """The figure as PNG on a white background, for programs that do not support PDF."""
    surface, buffer = paper(width_in), io.BytesIO()
    with style(surface, plot.key):
        draw(plot, surface).savefig(
            buffer, format="png", dpi=dots_per_inch, facecolor="white", metadata={"Software": None}
        )
    return buffer.getvalue()


def _svg(plot: Plot, surface: Surface, key: str, n_points: int = MOST_POINTS) -> str:
    """The `<svg>` that matplotlib writes, without dates and without ids that are not unique on a page."""
    buffer = io.StringIO()
    with style(surface, key):
        draw(plot, surface, n_points).savefig(buffer, format="svg", metadata=NO_DATE)
    text = re.sub(r"<metadata>.*?</metadata>|<style.*?</style>", "", buffer.getvalue(), flags=re.DOTALL)
    text = re.sub(r'<g id="(series-\d+|run-\d+-\d+)"', r'<g class="\1"', text)
    text = re.sub(r'<g id="[^"]*"', "<g", text)
    text = re.sub(r"<defs>\s*</defs>", "", text)
    text = re.sub(r' transform="rotate\(-0 [^"]*\)"', "", text)
    return re.sub(r"\s*\n\s*", " ", text).replace("xlink:href", "href")


def _element(text: str, plot: Plot, key: str, unit: str = "") -> str:
    """The drawing in a new root element, which names the figure for screen readers."""
    root = re.search(r'<svg[^>]*?viewBox="0 0 ([\d.]+) ([\d.]+)"[^>]*>', text)
    if root is None:
        raise AssertionError("matplotlib wrote an SVG without a viewBox")
    width, height = root[1], root[2]
    title, description = html.escape(plot.title), html.escape(plot.description)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'width="{width}{unit}" height="{height}{unit}" '
        f'role="img" aria-labelledby="{key}-title {key}-desc" stroke-linejoin="round">'
        f'<title id="{key}-title">{title}</title><desc id="{key}-desc">{description}</desc>'
        f"{text[root.end() :].strip()}"
    )


def _page_font(match: re.Match[str]) -> str:
    """Use the font of the page for text; size and weight are unchanged."""
    if match[1]:
        return "font-family: inherit"
    size = re.search(r"[\d.]+px", match[2])
    weight = "bold " if re.search(r"bold|[6-9]00", match[2]) else ""
    return f"font: {weight}{size[0] if size else PAGE.font_size} system-ui, sans-serif"
