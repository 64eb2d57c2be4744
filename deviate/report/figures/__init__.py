"""Figures of a report: every raw point with estimates, curves of every run, spreads of variants, as text of SVG."""

from typing import TYPE_CHECKING

from deviate.base.lazy import load_on_first_use

if TYPE_CHECKING:
    from deviate.report.figures.drawing import Plot as Plot
    from deviate.report.figures.drawing import drawing as drawing
    from deviate.report.figures.drawing import page_figure as page_figure

load_on_first_use(
    __name__,
    {
        "deviate.report.figures.drawing": (
            "Plot",
            "drawing",
            "page_figure",
        ),
    },
)
