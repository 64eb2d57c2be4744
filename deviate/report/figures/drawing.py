"""Maps each kind of plot to the function that draws it."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from matplotlib.figure import Figure

from deviate.report.figures.breakdowns import draw_breakdown
from deviate.report.figures.curves import draw_curves
from deviate.report.figures.estimation import draw_estimation
from deviate.report.figures.forest import draw_forest
from deviate.report.figures.growth import draw_growth
from deviate.report.figures.matrix import draw_matrix
from deviate.report.figures.outcomes import draw_difference, draw_survival
from deviate.report.figures.overhead import draw_kernels
from deviate.report.figures.planning import draw_planning
from deviate.report.figures.profiles import draw_profiles
from deviate.report.figures.ranks import draw_ranks
from deviate.report.figures.steps import draw_steps
from deviate.report.figures.surface import Surface
from deviate.report.figures.sweep import draw_sweep
from deviate.report.plots import (
    BreakdownPlot,
    CurvePlot,
    DifferencePlot,
    EstimationPlot,
    ForestPlot,
    GrowthPlot,
    KernelPlot,
    MatrixPlot,
    PlanningPlot,
    Plot,
    ProfilePlot,
    RankPlot,
    StepsPlot,
    SurvivalPlot,
    SweepPlot,
)

DRAWERS: Mapping[type, Callable[[Any, Surface], Figure]] = MappingProxyType(
    {
        EstimationPlot: draw_estimation,
        ForestPlot: draw_forest,
        RankPlot: draw_ranks,
        ProfilePlot: draw_profiles,
        SurvivalPlot: draw_survival,
        DifferencePlot: draw_difference,
        BreakdownPlot: draw_breakdown,
        PlanningPlot: draw_planning,
        MatrixPlot: draw_matrix,
        StepsPlot: draw_steps,
        KernelPlot: draw_kernels,
        SweepPlot: draw_sweep,
        GrowthPlot: draw_growth,
    }
)

MOST_POINTS = 200
"""Of each curve: what a column shows at 600 dots per inch, with the lowest and the highest value of every stretch."""


def draw(plot: Plot, surface: Surface, n_points: int = MOST_POINTS) -> Figure:
    """Draw the plot on a surface, whose style must be active; curves are thinned to about `n_points` points each."""
    return draw_curves(plot, surface, n_points) if isinstance(plot, CurvePlot) else DRAWERS[type(plot)](plot, surface)
