"""Writes findings and documents to the terminal, to files, and to the page at its usual place."""

import sys
from collections.abc import Mapping, Sequence
from contextvars import copy_context
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from deviate.base.decisions import timed_stage
from deviate.cli.app import is_coloured, nearest, width
from deviate.cli.options.results import Documents, takes_stdout
from deviate.errors import RecordError
from deviate.pipeline import Conclusion
from deviate.registry import wing
from deviate.report.document import Document, Report
from deviate.report.files import report_path, write, write_paper, write_tables
from deviate.report.format import P_STYLE
from deviate.report.forms.registry import render
from deviate.report.medium import COLUMN_IN

if TYPE_CHECKING:  # with statistics, which runs that are only planned do without
    from deviate.report.data.tables import TableFile


def publish(answer: Conclusion, folder: Path, documents: Documents) -> Report:
    """Print the verdict, write the requested files and the report, and return the document that they show.

    If the report cannot be written to its default path, as in another user's folder, everything else is still written.
    """
    context = copy_context()  # no later command of this process, as of a notebook, has its style
    context.run(P_STYLE.set, "0.031" if documents.p_style == "0.031" else ".031")
    return context.run(_publish, answer, folder, documents)


def _publish(answer: Conclusion, folder: Path, documents: Documents) -> Report:
    from deviate.report.data.tables import table_files
    from deviate.report.parts.build import build_report

    with timed_stage("report", "built the report"):
        built = build_report(answer.findings, documents.row_names)
    for form, target in documents.targets().items():
        write(render(built, form, has_siunitx=documents.siunitx, is_full=documents.full), target, sys.stdout)
    if documents.html:
        page_line = f"Report   {nearest(documents.html)}"
    else:
        place = report_path(folder, answer.experiments)
        page_line = keep(built, place, table_files(answer.findings), is_full=documents.full)
    if not documents.takes_stdout:
        typer.echo(render(built, "terminal", width=width(), is_coloured=is_coloured()), nl=False)
        typer.echo(page_line)
    if documents.dl_variance is not None:
        write_paper(wing("stability.report.dl_variance").dl_variance_files(answer.findings), documents.dl_variance)
        typer.echo(f"Tables   {nearest(documents.dl_variance)}", err=documents.takes_stdout)
    if documents.paper is not None:  # last, for its figures take their time
        from deviate.report.paper.files import PaperStyle, paper_files

        style = PaperStyle(documents.siunitx, documents.column_width or COLUMN_IN)
        write_paper(paper_files(answer.findings, built, style), documents.paper)
        paper_line = f"Paper    {nearest(documents.paper)}: example.tex shows how its files are used"
        typer.echo(paper_line, err=documents.takes_stdout)
    return built


def publish_sheet(document: Document, targets: Mapping[str, Path], place: Path) -> None:
    """Print a document, and write the requested files and the page.

    Args:
        targets: form to file; `-` is standard output, which the document then has to itself.
        place: of the page, below `.deviate/reports/`, where the user names none.
    """
    for form, target in targets.items():
        write(render(document, form), target, sys.stdout)
    page_line = f"Report   {nearest(targets['html'])}" if "html" in targets else keep(document, place)
    if not takes_stdout(targets):
        typer.echo(render(document, "terminal", width=width(), is_coloured=is_coloured()), nl=False)
        typer.echo(page_line)


def keep(document: Document, place: Path, tables: "Sequence[TableFile] | None" = None, *, is_full: bool = False) -> str:
    """Write the page to its usual place, and tables beside it; gives what to say of it."""
    from deviate.records.plans import make_deviate_folder

    try:
        make_deviate_folder(place.parents[2])
        with timed_stage("report", "wrote %s", place):
            write(render(document, "html", is_full=is_full), place, sys.stdout)
            if tables is not None:
                write_tables(tables, place.parent)
    except RecordError as error:
        return f"Note     no page was kept: {error.message}; --html FILE writes it elsewhere"
    return f"Report   {nearest(place)}"
