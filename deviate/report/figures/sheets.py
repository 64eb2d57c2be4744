"""Which code draws which plot of a sheet."""

from functools import partial

from deviate.report.figures.growth import growth
from deviate.report.figures.overhead import kernels
from deviate.report.figures.sweep import sweep
from deviate.report.figures.write import Draw, page_svg
from deviate.report.plots import GrowthPlot, KernelPlot, SweepPlot


def sheet_figure(plot: KernelPlot | SweepPlot | GrowthPlot) -> str:
    """The plot as an `<svg>` element."""
    return page_svg(_drawing(plot), plot.key, plot.title, plot.description)


def _drawing(plot: KernelPlot | SweepPlot | GrowthPlot) -> Draw:
    match plot:
        case KernelPlot():
            return partial(kernels, plot)
        case SweepPlot():
            return partial(sweep, plot)
        case GrowthPlot():
            return partial(growth, plot)
