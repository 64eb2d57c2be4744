"""Writes documents to the terminal, to files, and to the page at its default path."""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from deviate import records, workflows
from deviate.cli.app import is_coloured, nearest, width
from deviate.cli.options.documents import takes_stdout
from deviate.errors import RecordError
from deviate.report import Document, render

if TYPE_CHECKING:  # with statistics, which runs that are only planned do without
    from deviate.report import TableFile


def publish_sheet(document: Document, targets: Mapping[str, Path], place: Path) -> None:
    """Print a document, and write the requested files and the page.

    Args:
        targets: form to file; `-` is standard output, which the document then has to itself.
        place: of the page, below `.deviate/reports/`, where the user names none.
    """
    for form, target in targets.items():
        workflows.write(render(document, form), target, sys.stdout)
    page_line = f"Report   {nearest(targets['html'])}" if "html" in targets else keep(document, place)
    if not takes_stdout(targets):
        typer.echo(render(document, "terminal", width=width(), is_coloured=is_coloured()), nl=False)
        typer.echo(page_line)


def keep(document: Document, place: Path, tables: "Sequence[TableFile] | None" = None) -> str:
    """Write the page to its usual place, and tables beside it; gives what to say of it."""
    try:
        records.make_deviate_folder(place.parents[2])
        workflows.write(render(document, "html"), place, sys.stdout)
        if tables is not None:
            workflows.write_tables(tables, place.parent)
    except RecordError as error:
        return f"Note     no page was kept: {error.message}; --html FILE writes it elsewhere"
    return f"Report   {nearest(place)}"
