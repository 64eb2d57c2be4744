"""What `--paper FOLDER` holds: table, commands, references, checklist, figures, and a document that uses them."""

from collections.abc import Iterator
from dataclasses import dataclass

from deviate.report.paper.bibliography import references_source
from deviate.report.paper.checklist import checklist_source
from deviate.report.paper.example import example_source
from deviate.report.paper.macros import macros_of, macros_source
from deviate.report.pictures import COLUMN_IN, paper_pdf, paper_svg, pictures
from deviate.report.renderers import render
from deviate.report.view import View

MOST_FIGURES = 48
"""Each is drawn twice, at some tenths of a second."""


@dataclass(frozen=True, slots=True)
class Style:
    """How a paper wants it: S columns of siunitx, and figures as wide as a column of it."""

    has_siunitx: bool = False
    column_width_in: float = COLUMN_IN


DEFAULT = Style()


def paper_files(view: View, style: Style = DEFAULT) -> Iterator[tuple[str, bytes]]:
    """Path in the folder and content, one after the other, as figures are drawn."""
    found = pictures(view)
    shown = found[:MOST_FIGURES]
    macros = macros_of(view)
    texts = {
        "table.tex": render(view, "latex", has_siunitx=style.has_siunitx),
        "macros.tex": macros_source(macros),
        "references.bib": references_source(view),
        "checklist.md": checklist_source(view),
        "example.tex": example_source(
            view,
            macros,
            shown,
            n_left_out=len(found) - len(shown),
            has_siunitx=style.has_siunitx,
            column_width_in=style.column_width_in,
        ),
    }
    yield from ((name, text.encode()) for name, text in texts.items())
    for picture in shown:
        yield f"figures/{picture.name}.pdf", paper_pdf(picture, style.column_width_in)
        yield f"figures/{picture.name}.svg", paper_svg(picture, style.column_width_in).encode()
