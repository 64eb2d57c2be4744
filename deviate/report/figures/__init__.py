"""Figures of a report: every raw point with estimates, curves of every run, spreads of variants, as text of SVG."""

from typing import TYPE_CHECKING

from deviate.base.lazy import load_on_first_use

if TYPE_CHECKING:
    from deviate.report.figures.write import page_figure as page_figure
    from deviate.report.figures.write import paper_pdf as paper_pdf
    from deviate.report.figures.write import paper_png as paper_png
    from deviate.report.figures.write import paper_svg as paper_svg

load_on_first_use(__name__)
