"""Figures of a report: every raw point with estimates, curves of every run, spreads of variants, as text of SVG."""

from deviate.report.figures.drawing import Plot, drawing, page_figure

__all__ = ["Plot", "drawing", "page_figure"]
