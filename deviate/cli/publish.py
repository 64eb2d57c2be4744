"""Writes findings to the terminal and to files."""

import sys
from pathlib import Path

import typer

from deviate import report, workflows
from deviate.cli.app import is_coloured, nearest, width
from deviate.cli.options.documents import Documents
from deviate.cli.sheets import keep
from deviate.pipeline import Answer
from deviate.registry import wing
from deviate.report import COLUMN_IN
from deviate.workflows import write_paper


def publish(answer: Answer, folder: Path, documents: Documents) -> None:
    """Print the verdict, and write the requested files and the report.

    If the report cannot be written to its default path, as in another user's folder, everything else is still written.
    """
    built = report.build_report(answer.findings)
    for form, target in documents.targets().items():
        workflows.write(report.render(built, form, has_siunitx=documents.siunitx), target, sys.stdout)
    if documents.html:
        page_line = f"Report   {nearest(documents.html)}"
    else:
        page_line = keep(built, workflows.report_path(folder, answer.experiments), report.table_files(answer.findings))
    if not documents.takes_stdout:
        typer.echo(report.render(built, "terminal", width=width(), is_coloured=is_coloured()), nl=False)
        typer.echo(page_line)
    if documents.dl_variance is not None:
        write_paper(wing("stability").dl_variance_files(answer.findings), documents.dl_variance)
        typer.echo(f"Tables   {nearest(documents.dl_variance)}", err=documents.takes_stdout)
    if documents.paper is not None:  # last, for its figures take their time
        from deviate.report.paper import Style, paper_files

        style = Style(documents.siunitx, documents.column_width or COLUMN_IN)
        write_paper(paper_files(answer.findings, built, style), documents.paper)
        paper_line = f"Paper    {nearest(documents.paper)}: example.tex shows how its files are used"
        typer.echo(paper_line, err=documents.takes_stdout)
