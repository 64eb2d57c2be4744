"""Figures of a report: estimation plots with every raw point, and curves of every run, as text of SVG."""

from deviate.report.figures.curves import draw_curves
from deviate.report.figures.estimation import draw_estimation

__all__ = ["draw_curves", "draw_estimation"]
