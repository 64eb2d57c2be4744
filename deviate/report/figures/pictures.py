"""All figures of a report by name, for papers and notebooks: the same drawings as on its page, on paper."""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

from deviate.report.document import Figure, Report, Section
from deviate.report.medium import COLUMN_IN
from deviate.report.plots import (
    BreakdownPlot,
    DifferencePlot,
    ForestPlot,
    MatrixPlot,
    PlanningPlot,
    Plot,
    ProfilePlot,
    RankPlot,
    StepsPlot,
    SurvivalPlot,
)

LONGEST_NAME = 48


KINDS: dict[type, str] = {MatrixPlot: "pairs", StepsPlot: "steps"}


@dataclass(frozen=True, slots=True)
class Picture:
    """One figure of a report.

    Attributes:
        name: of a file, without suffix: lower-case letters, digits and hyphens, unique in the report.
    """

    name: str
    plot: Plot

    @property
    def title(self) -> str:
        """What it shows; not part of the drawing, for a caption says it there."""
        return self.plot.title

    @property
    def caption(self) -> str:
        """How to read it: what points, lines and bands are, in sentences."""
        return self.plot.caption

    @property
    def description(self) -> str:
        """The numbers in words, for those who cannot see it."""
        return self.plot.description

    @property
    def key(self) -> str:
        """What ids in its SVG begin with."""
        return self.plot.key


def pictures(report: Report) -> tuple[Picture, ...]:
    """All figures in the order of the page; none is drawn before it is asked for."""
    found: dict[str, Picture] = {}
    for name, plot in _plots(report):
        unique, n = name, 2
        while unique in found:
            unique, n = f"{name}-{n}", n + 1
        found[unique] = Picture(unique, plot)
    return tuple(found.values())


def paper_pdf(picture: Picture, width_in: float = COLUMN_IN) -> bytes:
    """A PDF of one page that is `width_in` inches wide, text in 8 points; equal bytes for equal findings."""
    # matplotlib takes half a second to import, which a terminal report should not wait for.
    from deviate.report.figures import drawing, write

    return write.paper_pdf(drawing(picture.plot), picture.key, picture.title, picture.description, width_in)


def paper_svg(picture: Picture, width_in: float = COLUMN_IN) -> str:
    """The same as SVG, with letters as outlines: it needs no font."""
    from deviate.report.figures import drawing, write

    return write.paper_svg(drawing(picture.plot), picture.key, picture.title, picture.description, width_in)


def paper_png(picture: Picture, width_in: float = COLUMN_IN) -> bytes:
    """The same in 300 dots per inch on white ground."""
    from deviate.report.figures import drawing, write

    return write.paper_png(drawing(picture.plot), picture.key, width_in)


def page_svg(picture: Picture, salt: str = "") -> str:
    """The figure as an `<svg>` element for a page; with a salt its ids differ from those of other elements there."""
    from deviate.report.figures import page_figure

    return page_figure(picture.plot, salt=salt)


def slug(text: str) -> str:
    """A name as part of the name of a file, on any system and in LaTeX.

    >>> slug("test_acc"), slug("Précision (%)"), slug("精度")
    ('test-acc', 'precision', 'metric')
    """
    ascii_text = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    return re.sub(r"[^a-z0-9]+", "-", ascii_text.lower())[:LONGEST_NAME].strip("-") or "metric"


def _plots(report: Report) -> Iterator[tuple[str, Plot]]:
    for metric in report.metrics:
        if isinstance(metric.estimation, Figure):
            yield f"estimation-{slug(metric.name)}", metric.estimation.plot
    for metric in report.metrics:
        if isinstance(metric.curve, Figure):
            yield f"curves-{slug(metric.name)}", metric.curve.plot
    for section in report.sections:
        for part in (section, *section.parts):
            folded = (block for fold in part.folds for block in fold.blocks if isinstance(block, Figure))
            for figure in (*part.figures, *folded):
                yield _name(figure.plot, section, part), figure.plot


def _name(plot: Plot, section: Section, part: Section) -> str:
    """By what it draws, and of what."""
    match plot:
        case ForestPlot():
            return f"forest-{slug(part.heading)}"
        case RankPlot():
            return "ranks"
        case ProfilePlot():
            return "profile"
        case SurvivalPlot():
            return f"survival-{slug(plot.title.partition(':')[0])}"
        case DifferencePlot():
            return f"difference-{slug(plot.title)}"
        case PlanningPlot():
            return f"planning-{slug(part.heading)}"
        case BreakdownPlot() if section.key == "breakdowns":
            return f"classes-{slug(part.heading)}"
    name, kind = slug(plot.title.partition(":")[0]), KINDS.get(type(plot))
    return f"{kind}-{name}" if kind else name
