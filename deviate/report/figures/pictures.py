"""All figures of a report by name, for papers and notebooks: the same drawings as on its page, on paper."""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from deviate.report.view import View
from deviate.report.view.breakdowns import BreakdownPlot
from deviate.report.view.stability import MatrixPlot, StepsPlot

if TYPE_CHECKING:
    from deviate.report.figures import Plot

LONGEST_NAME = 48

KINDS: dict[type, str] = {MatrixPlot: "pairs", StepsPlot: "steps"}


@dataclass(frozen=True, slots=True)
class Picture:
    """One figure of a report.

    Attributes:
        name: of a file, without suffix: lower-case letters, digits and hyphens, unique in the report.
        plot: its title and caption are not part of the drawing, for the page or the paper has them beside it.
    """

    name: str
    plot: "Plot"


def pictures(view: View) -> tuple[Picture, ...]:
    """All figures in the order of the page; none is drawn before it is asked for."""
    by_name: dict[str, Picture] = {}
    for name, plot in _plots(view):
        unique, n = name, 2
        while unique in by_name:
            unique, n = f"{name}-{n}", n + 1
        by_name[unique] = Picture(unique, plot)
    return tuple(by_name.values())


def slug(text: str) -> str:
    """A name as part of the name of a file, on any system and in LaTeX.

    >>> slug("test_acc"), slug("Précision (%)"), slug("精度")
    ('test-acc', 'precision', 'metric')
    """
    ascii_text = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    return re.sub(r"[^a-z0-9]+", "-", ascii_text.lower())[:LONGEST_NAME].strip("-") or "metric"


def _plots(view: View) -> Iterator["tuple[str, Plot]"]:
    for metric in view.metrics:
        if metric.estimation is not None:
            yield f"estimation-{slug(metric.name)}", metric.estimation
    for metric in view.metrics:
        if metric.curve is not None:
            yield f"curves-{slug(metric.name)}", metric.curve
    for table in view.noise.tables if view.noise is not None else ():
        if table.forest is not None:
            yield f"forest-{slug(table.name)}", table.forest
    if view.tasks is not None and view.tasks.ranks is not None:
        yield "ranks", view.tasks.ranks
    if view.tasks is not None and view.tasks.profile is not None:
        yield "profile", view.tasks.profile
    yield from _of_stability(view)
    yield from _of_outcomes(view)


def _of_stability(view: View) -> Iterator["tuple[str, Plot]"]:
    """How alike runs are, on evaluation sets, their classes, and in their weights."""
    for part in (*view.stability.parts, *view.stability.classes):
        for plot in (*part.plots, *(plot for fold in part.folds for plot in fold.plots)):
            name = slug(plot.title.partition(":")[0])
            yield name if isinstance(plot, BreakdownPlot) else f"{KINDS[type(plot)]}-{name}", plot


def _of_outcomes(view: View) -> Iterator["tuple[str, Plot]"]:
    """What became of the runs, and what more of them could see."""
    for plot in view.outcomes.survival if view.outcomes is not None else ():
        yield f"survival-{slug(plot.title.partition(':')[0])}", plot
    for band in view.outcomes.differences if view.outcomes is not None else ():
        yield f"difference-{slug(band.title)}", band
    for section in view.breakdowns.sections:
        if section.plot is not None:
            yield f"classes-{slug(section.heading)}", section.plot
    for part in view.planning.parts:
        if part.plot is not None:
            yield f"planning-{slug(part.heading)}", part.plot
