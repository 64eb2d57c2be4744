"""What `--paper FOLDER` holds: tables, commands, references, checklist, figures, and a document that uses them."""

from collections.abc import Iterator
from dataclasses import dataclass

from deviate.model import Findings
from deviate.report.document import Report
from deviate.report.figures.pictures import pictures
from deviate.report.forms import render
from deviate.report.forms.latex import table_source
from deviate.report.forms.latex_floats import label_of
from deviate.report.medium import COLUMN_IN
from deviate.report.paper.bibliography import references_source
from deviate.report.paper.checklist import checklist_source
from deviate.report.paper.example import example_source
from deviate.report.paper.macros import macros_of, macros_source

MOST_FIGURES = 48
"""Each is drawn twice, at some tenths of a second."""


@dataclass(frozen=True, slots=True)
class Style:
    """The paper's style: whether siunitx columns are used, and the width of figures."""

    has_siunitx: bool = False
    column_width_in: float = COLUMN_IN


DEFAULT = Style()


def paper_files(findings: Findings, report: Report, style: Style = DEFAULT) -> Iterator[tuple[str, bytes]]:
    """Yield the path and content of each file; figures are drawn one at a time."""
    all_pictures = pictures(report)
    drawn = all_pictures[:MOST_FIGURES]
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
            drawn,
            further=tuple(further),
            n_left_out=len(all_pictures) - len(drawn),
            has_siunitx=style.has_siunitx,
            column_width_in=style.column_width_in,
        ),
    }
    yield from ((name, text.encode()) for name, text in texts.items())
    # matplotlib takes half a second to import, which a report without figures should not wait for.
    from deviate.report.figures import paper_pdf, paper_svg

    for picture in drawn:
        yield f"figures/{picture.name}.pdf", paper_pdf(picture.plot, style.column_width_in)
        yield f"figures/{picture.name}.svg", paper_svg(picture.plot, style.column_width_in).encode()


def further_tables(report: Report) -> dict[str, str]:
    """Additional tables on stability by file name, where there are results."""
    tables = report.further().items()
    return {f"{name}.tex": table_source(table, f"{label_of(report)}-{name}") for name, table in tables if table}
