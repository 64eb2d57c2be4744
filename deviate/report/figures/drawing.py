"""Which code draws which plot, and the one way of a plot to a page."""

from functools import partial

from deviate.report.figures.breakdowns import breakdown
from deviate.report.figures.curves import curves
from deviate.report.figures.estimation import estimation
from deviate.report.figures.forest import forest
from deviate.report.figures.matrix import matrix
from deviate.report.figures.outcomes import difference, survival
from deviate.report.figures.planning import planning
from deviate.report.figures.profiles import profiles
from deviate.report.figures.ranks import ranks
from deviate.report.figures.steps import steps
from deviate.report.figures.write import Draw, page_svg
from deviate.report.plots import (
    BreakdownPlot,
    CurvePlot,
    DifferencePlot,
    EstimationPlot,
    ForestPlot,
    MatrixPlot,
    PlanningPlot,
    ProfilePlot,
    RankPlot,
    StepsPlot,
    SurvivalPlot,
)

Plot = (
    EstimationPlot
    | CurvePlot
    | ForestPlot
    | RankPlot
    | ProfilePlot
    | SurvivalPlot
    | DifferencePlot
    | BreakdownPlot
    | PlanningPlot
    | MatrixPlot
    | StepsPlot
)

MOST_POINTS = 200
"""Of each curve: what a column shows at 600 dots per inch, with the lowest and the highest value of every stretch."""


def page_figure(plot: Plot, n_points: int = MOST_POINTS, salt: str = "") -> str:
    """The plot as an `<svg>` element; with a salt its ids differ from those of the same plot elsewhere on a page.

    Args:
        n_points: of each curve, about.
    """
    return page_svg(drawing(plot, n_points), f"{salt}{plot.key}", plot.title, plot.description)


def drawing(plot: Plot, n_points: int = MOST_POINTS) -> Draw:
    match plot:
        case EstimationPlot():
            return partial(estimation, plot)
        case CurvePlot():
            return partial(curves, plot, n_points=n_points)
        case ForestPlot():
            return partial(forest, plot)
        case RankPlot():
            return partial(ranks, plot)
        case ProfilePlot():
            return partial(profiles, plot)
        case SurvivalPlot():
            return partial(survival, plot)
        case DifferencePlot():
            return partial(difference, plot)
        case BreakdownPlot():
            return partial(breakdown, plot)
        case PlanningPlot():
            return partial(planning, plot)
        case MatrixPlot():
            return partial(matrix, plot)
        case StepsPlot():
            return partial(steps, plot)
