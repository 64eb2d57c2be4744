"""Which code draws which plot, and the one way of a plot to a page."""

from collections.abc import Callable
from functools import partial

from matplotlib.figure import Figure

from deviate.report.figures.breakdowns import breakdown
from deviate.report.figures.curves import curves
from deviate.report.figures.estimation import estimation
from deviate.report.figures.forest import forest
from deviate.report.figures.growth import growth
from deviate.report.figures.matrix import matrix
from deviate.report.figures.outcomes import difference, survival
from deviate.report.figures.overhead import kernels
from deviate.report.figures.planning import planning
from deviate.report.figures.profiles import profiles
from deviate.report.figures.ranks import ranks
from deviate.report.figures.steps import steps
from deviate.report.figures.sweep import sweep
from deviate.report.figures.write import Draw, page_svg
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

DRAW: dict[type, Callable[..., Figure]] = {
    EstimationPlot: estimation,
    ForestPlot: forest,
    RankPlot: ranks,
    ProfilePlot: profiles,
    SurvivalPlot: survival,
    DifferencePlot: difference,
    BreakdownPlot: breakdown,
    PlanningPlot: planning,
    MatrixPlot: matrix,
    StepsPlot: steps,
    KernelPlot: kernels,
    SweepPlot: sweep,
    GrowthPlot: growth,
}
MOST_POINTS = 200
"""Of each curve: what a column shows at 600 dots per inch, with the lowest and the highest value of every stretch."""


def page_figure(plot: Plot, n_points: int = MOST_POINTS, salt: str = "") -> str:
    """The plot as an `<svg>` element; with a salt its ids differ from those of the same plot elsewhere on a page.

    Args:
        n_points: of each curve, about.
    """
    return page_svg(drawing(plot, n_points), f"{salt}{plot.key}", plot.title, plot.description)


def drawing(plot: Plot, n_points: int = MOST_POINTS) -> Draw:
    return partial(curves, plot, n_points=n_points) if isinstance(plot, CurvePlot) else partial(DRAW[type(plot)], plot)
