"""What `--paper FOLDER` holds: tables, commands, references, checklist, figures, and a document that uses them."""

from collections.abc import Iterator
from dataclasses import dataclass

from deviate.report.figures.pictures import paper_pdf, paper_svg, pictures
from deviate.report.form_registry import COLUMN_IN
from deviate.report.forms import render
from deviate.report.forms.latex import label_of, table_source
from deviate.report.paper.bibliography import references_source
from deviate.report.paper.checklist import checklist_source
from deviate.report.paper.example import example_source
from deviate.report.paper.macros import macros_of, macros_source
from deviate.report.parts.stability.tables import group_tables, stability_tables
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
    macros, further = macros_of(view), further_tables(view)
    texts = {
        "table.tex": render(view, "latex", has_siunitx=style.has_siunitx),
        **further,
        "macros.tex": macros_source(macros),
        "references.bib": references_source(view),
        "checklist.md": checklist_source(view),
        "example.tex": example_source(
            view,
            macros,
            shown,
            further=tuple(further),
            n_left_out=len(found) - len(shown),
            has_siunitx=style.has_siunitx,
            column_width_in=style.column_width_in,
        ),
    }
    yield from ((name, text.encode()) for name, text in texts.items())
    for picture in shown:
        yield f"figures/{picture.name}.pdf", paper_pdf(picture, style.column_width_in)
        yield f"figures/{picture.name}.svg", paper_svg(picture, style.column_width_in).encode()


def further_tables(view: View) -> dict[str, str]:
    """Tables on stability by file, as far as there is something to tell."""
    findings, labels = view.findings, [it.label for it in view.experiments]
    found = {"stability": stability_tables(findings, labels), "groups": group_tables(findings, labels)}
    return {f"{name}.tex": table_source(it, f"{label_of(view)}-{name}") for name, it in found.items() if it}
