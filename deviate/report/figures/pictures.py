"""All figures of a report by name, for papers and notebooks: the same drawings as on its page, on paper."""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

from deviate.report.document import Figure
from deviate.report.form_registry import COLUMN_IN
from deviate.report.plots import MatrixPlot, Plot, RankPlot, StepsPlot, SurvivalPlot
from deviate.report.view import View

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


def pictures(view: View) -> tuple[Picture, ...]:
    """All figures in the order of the page; none is drawn before it is asked for."""
    found: dict[str, Picture] = {}
    for name, plot in _plots(view):
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


def _plots(view: View) -> Iterator[tuple[str, Plot]]:
    for metric in view.metrics:
        if metric.estimation is not None:
            yield f"estimation-{slug(metric.name)}", metric.estimation
    for metric in view.metrics:
        if metric.curve is not None:
            yield f"curves-{slug(metric.name)}", metric.curve
    for part in view.noise.parts:
        yield from ((f"forest-{slug(part.heading)}", figure.plot) for figure in part.figures)
    for figure in view.tasks.figures if view.tasks is not None else ():
        yield "ranks" if isinstance(figure.plot, RankPlot) else "profile", figure.plot
    yield from _of_stability(view)
    yield from _of_outcomes(view)


def _of_stability(view: View) -> Iterator[tuple[str, Plot]]:
    """How alike runs are, on evaluation sets, their classes, and in their weights."""
    for part in (*view.stability.parts, *view.classes.parts):
        folded = (block for fold in part.folds for block in fold.blocks if isinstance(block, Figure))
        for figure in (*part.figures, *folded):
            name, kind = slug(figure.plot.title.partition(":")[0]), KINDS.get(type(figure.plot))
            yield f"{kind}-{name}" if kind else name, figure.plot


def _of_outcomes(view: View) -> Iterator[tuple[str, Plot]]:
    """What became of the runs, and what more of them could see."""
    for figure in view.outcomes.figures:
        plot = figure.plot
        is_survival = isinstance(plot, SurvivalPlot)
        title = plot.title.partition(":")[0] if is_survival else plot.title
        yield f"{'survival' if is_survival else 'difference'}-{slug(title)}", plot
    for kind, section in (("classes", view.breakdowns), ("planning", view.planning)):
        for part in section.parts:
            yield from ((f"{kind}-{slug(part.heading)}", figure.plot) for figure in part.figures)
