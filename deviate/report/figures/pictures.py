"""All figures of a report by name, for papers and notebooks: the figures of the page, in the style of print."""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

from deviate.model.texts import numbered
from deviate.report.document import Fold, Report, ReportFigure, Section
from deviate.report.plots import Plot

LONGEST_NAME = 48
OF_METRICS = {"points": "estimation-", "curves": "curves-"}
"""How names of figures begin in sections that have one for each metric."""


@dataclass(frozen=True, slots=True)
class Picture:
    """A figure of a report.

    Attributes:
        name: of a file, without suffix: lower-case letters, digits and hyphens, unique in the report.
        plot: its title and caption are not part of the drawing, for the page or the paper has them beside it.
    """

    name: str
    plot: Plot


def pictures(report: Report) -> tuple[Picture, ...]:
    """All figures in the order of the page, drawn on access."""
    by_name: dict[str, Picture] = {}
    for name, plot in _plots(report):
        unique = next(one for one in numbered(name) if one not in by_name)
        by_name[unique] = Picture(unique, plot)
    return tuple(by_name.values())


def slug(text: str) -> str:
    """A name as part of the name of a file, on any system and in LaTeX.

    >>> slug("test_acc"), slug("Précision (%)"), slug("精度")
    ('test-acc', 'precision', 'metric')
    """
    ascii_text = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    return re.sub(r"[^a-z0-9]+", "-", ascii_text.lower())[:LONGEST_NAME].strip("-") or "metric"


def _plots(report: Report) -> Iterator[tuple[str, Plot]]:
    if report.main_figure is not None:
        yield f"estimation-{slug(report.main_figure.plot.title)}", report.main_figure.plot
    for section in report.sections:
        kind = OF_METRICS.get(section.key, "")
        for part in (section, *section.parts):
            folded = (block for fold in part.of(Fold) for block in fold.blocks if isinstance(block, ReportFigure))
            for figure in (*part.figures, *folded):
                yield kind + slug(figure.plot.title) if kind else _name(figure.plot, part), figure.plot


def _name(plot: Plot, part: Section) -> str:
    """File name of a figure, from its kind and content."""
    title = slug(plot.title.partition(":")[0])
    return plot.file_name.format(title=title, whole_title=slug(plot.title), part=slug(part.heading))
