"""What `--paper FOLDER` holds: tables, commands, references, checklist, figures, and a document that uses them."""

from collections.abc import Iterator
from dataclasses import dataclass

from deviate.model import Findings
from deviate.report.document import Report
from deviate.report.figures.pictures import paper_pdf, paper_svg, pictures
from deviate.report.forms import render
from deviate.report.forms.latex import label_of, table_source
from deviate.report.medium import COLUMN_IN
from deviate.report.paper.bibliography import references_source
from deviate.report.paper.checklist import checklist_source
from deviate.report.paper.example import example_source
from deviate.report.paper.macros import macros_of, macros_source

MOST_FIGURES = 48
"""Each is drawn twice, at some tenths of a second."""


@dataclass(frozen=True, slots=True)
class Style:
    """How a paper wants it: S columns of siunitx, and figures as wide as a column of it."""

    has_siunitx: bool = False
    column_width_in: float = COLUMN_IN


DEFAULT = Style()


def paper_files(findings: Findings, report: Report, style: Style = DEFAULT) -> Iterator[tuple[str, bytes]]:
    """Path in the folder and content, one after the other, as figures are drawn."""
    found = pictures(report)
    shown = found[:MOST_FIGURES]
    macros, further = macros_of(findings, report), further_tables(report)
    texts = {
        "table.tex": render(report, "latex", has_siunitx=style.has_siunitx),
        **further,
        "macros.tex": macros_source(macros),
        "references.bib": references_source(findings, report),
        "checklist.md": checklist_source(findings, report),
        "example.tex": example_source(
            report,
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


def further_tables(report: Report) -> dict[str, str]:
    """Tables on stability by file, as far as there is something to tell."""
    tables = report.further().items()
    return {f"{name}.tex": table_source(it, f"{label_of(report)}-{name}") for name, it in tables if it}
