"""Figures of a report: every raw point with estimates, curves of every run, spreads of variants, as text of SVG."""

from deviate.report.figures.breakdowns import draw_breakdown
from deviate.report.figures.curves import draw_curves
from deviate.report.figures.estimation import draw_estimation
from deviate.report.figures.forest import draw_forest
from deviate.report.figures.outcomes import draw_difference, draw_survival
from deviate.report.figures.planning import draw_planning
from deviate.report.figures.profiles import draw_profiles
from deviate.report.figures.ranks import draw_ranks

__all__ = [
    "draw_breakdown",
    "draw_curves",
    "draw_difference",
    "draw_estimation",
    "draw_forest",
    "draw_planning",
    "draw_profiles",
    "draw_ranks",
    "draw_survival",
]
