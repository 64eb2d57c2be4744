"""All figures of a report by name, for papers and notebooks: the same drawings as on its page, on paper."""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from deviate.report.view import View

if TYPE_CHECKING:
    from deviate.report.figures.write import Draw
    from deviate.report.view import CurvePlot, EstimationPlot, ForestPlot, ProfilePlot, RankPlot
    from deviate.report.view.breakdowns import BreakdownPlot
    from deviate.report.view.outcomes import DifferencePlot, SurvivalPlot
    from deviate.report.view.planning import PlanningPlot

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
    )

COLUMN_IN = 3.25
"""Width of a column in inches. Source: ICML 2025 style; NeurIPS has one column of 5.5."""

MOST_POINTS = 200
"""Of each curve: what a column shows at 600 dots per inch, with the lowest and the highest value of every stretch."""

LONGEST_NAME = 48


@dataclass(frozen=True, slots=True)
class Picture:
    """One figure of a report.

    Attributes:
        name: of a file, without suffix: lower-case letters, digits and hyphens, unique in the report.
        title: what it shows; not part of the drawing, for a caption says it there.
        description: the numbers in words, for those who cannot see it.
        key: what ids in its SVG begin with.
    """

    name: str
    title: str
    description: str
    key: str
    draw: "Draw"


def pictures(view: View) -> tuple[Picture, ...]:
    """All figures in the order of the page; none is drawn before it is asked for."""
    found: dict[str, Picture] = {}
    for name, plot, draw in _plots(view):
        unique, n = name, 2
        while unique in found:
            unique, n = f"{name}-{n}", n + 1
        found[unique] = Picture(unique, plot.title, plot.description, plot.key, draw)
    return tuple(found.values())


def paper_pdf(picture: Picture, width_in: float = COLUMN_IN) -> bytes:
    """A PDF of one page that is `width_in` inches wide, text in 8 points; equal bytes for equal findings."""
    from deviate.report.figures import write

    return write.paper_pdf(picture.draw, picture.key, picture.title, picture.description, width_in)


def paper_svg(picture: Picture, width_in: float = COLUMN_IN) -> str:
    """The same as SVG, with letters as outlines: it needs no font."""
    from deviate.report.figures import write

    return write.paper_svg(picture.draw, picture.key, picture.title, picture.description, width_in)


def paper_png(picture: Picture, width_in: float = COLUMN_IN) -> bytes:
    """The same in 300 dots per inch on white ground."""
    from deviate.report.figures import write

    return write.paper_png(picture.draw, picture.key, width_in)


def page_svg(picture: Picture, salt: str = "") -> str:
    """The figure as an `<svg>` element for a page; with a salt its ids differ from those of other elements there."""
    from deviate.report.figures import write

    return write.page_svg(picture.draw, f"{salt}{picture.key}", picture.title, picture.description)


def slug(text: str) -> str:
    """A name as part of the name of a file, on any system and in LaTeX.

    >>> slug("test_acc"), slug("Précision (%)"), slug("精度")
    ('test-acc', 'precision', 'metric')
    """
    ascii_text = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    return re.sub(r"[^a-z0-9]+", "-", ascii_text.lower())[:LONGEST_NAME].strip("-") or "metric"


def _plots(view: View) -> Iterator["tuple[str, Plot, Draw]"]:
    # matplotlib takes half a second to import, which a terminal report should not wait for.
    from deviate.report.figures.curves import curves
    from deviate.report.figures.estimation import estimation
    from deviate.report.figures.forest import forest
    from deviate.report.figures.profiles import profiles
    from deviate.report.figures.ranks import ranks

    for metric in view.metrics:
        if metric.estimation is not None:
            yield f"estimation-{slug(metric.name)}", metric.estimation, partial(estimation, metric.estimation)
    for metric in view.metrics:
        if metric.curve is not None:
            draw = partial(curves, metric.curve, n_points=MOST_POINTS)
            yield f"curves-{slug(metric.name)}", metric.curve, draw
    for table in view.noise.tables if view.noise is not None else ():
        if table.forest is not None:
            yield f"forest-{slug(table.name)}", table.forest, partial(forest, table.forest)
    if view.tasks is not None and view.tasks.ranks is not None:
        yield "ranks", view.tasks.ranks, partial(ranks, view.tasks.ranks)
    if view.tasks is not None and view.tasks.profile is not None:
        yield "profile", view.tasks.profile, partial(profiles, view.tasks.profile)
    yield from _of_outcomes(view)


def _of_outcomes(view: View) -> Iterator["tuple[str, Plot, Draw]"]:
    """What became of the runs, and what more of them could see."""
    from deviate.report.figures.breakdowns import breakdown
    from deviate.report.figures.outcomes import difference, survival
    from deviate.report.figures.planning import planning

    for plot in view.outcomes.survival if view.outcomes is not None else ():
        yield f"survival-{slug(plot.title.partition(':')[0])}", plot, partial(survival, plot)
    for band in view.outcomes.differences if view.outcomes is not None else ():
        yield f"difference-{slug(band.title)}", band, partial(difference, band)
    for section in view.breakdowns.sections:
        if section.plot is not None:
            yield f"classes-{slug(section.heading)}", section.plot, partial(breakdown, section.plot)
    for part in view.planning.parts:
        if part.plot is not None:
            yield f"planning-{slug(part.heading)}", part.plot, partial(planning, part.plot)
