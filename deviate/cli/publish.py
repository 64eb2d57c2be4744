"""Findings to where the user wants them: the terminal, and files."""

import dataclasses
import functools
import inspect
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from deviate import records, report, workflows
from deviate.cli.app import Csv, Html, Json, Latex, Markdown, is_coloured, nearest, width
from deviate.cli.targets import takes_stdout
from deviate.errors import InputError, RecordError
from deviate.model import Experiment, Findings
from deviate.report import COLUMN_IN
from deviate.workflows import refuse_paper_folder, write_paper

FORMS = ("html", "latex", "markdown", "json", "csv")
Paper = Annotated[
    Path | None,
    typer.Option(
        metavar="FOLDER", help="Write what a paper takes: table, macros, figures, references, checklist, an example."
    ),
]
Siunitx = Annotated[bool, typer.Option("--siunitx", help="Align the numbers of LaTeX tables by the package siunitx.")]
ColumnWidth = Annotated[
    float | None,
    typer.Option(min=1, max=20, metavar="INCHES", help=f"Width of the figures of --paper. Default: {COLUMN_IN:g}."),
]
DlVariance = Annotated[
    Path | None,
    typer.Option(
        "--dl-variance",
        metavar="FOLDER",
        help="Write analysis_result.csv and analysis_raw.csv with the columns of the artifact of Pham et al. (2020).",
    ),
]


@dataclasses.dataclass(frozen=True, slots=True)
class Documents:
    """Where the findings are written to, by the name of the renderer; `-` is standard output, None is nowhere.

    Attributes:
        paper: the folder of a paper. column_width: of its figures, in inches; None for the usual one.
        dl_variance: the folder of the two tables with the columns of that artifact.

    Raises:
        InputError: two of them go to standard output, which has room for one only; the folder of a paper cannot be
            written into; an option says how to write what nothing asks for.
    """

    html: Path | None = None
    latex: Path | None = None
    markdown: Path | None = None
    json: Path | None = None
    csv: Path | None = None
    paper: Path | None = None
    siunitx: bool = False
    column_width: float | None = None
    dl_variance: Path | None = None

    def __post_init__(self) -> None:
        if self.siunitx and not (self.latex or self.paper):
            raise InputError("--siunitx is for a table in LaTeX", "add --latex FILE or --paper FOLDER")
        if self.column_width is not None and not self.paper:
            raise InputError("--column-width is for the figures of a paper", "add --paper FOLDER")
        if self.paper is not None:
            refuse_paper_folder(self.paper)
        if self.dl_variance is not None:
            refuse_paper_folder(self.dl_variance, "tables")
        takes_stdout(self.targets())

    @property
    def takes_stdout(self) -> bool:
        return takes_stdout(self.targets())

    def targets(self) -> dict[str, Path]:
        """What was asked for, by form."""
        named = ((form, getattr(self, form)) for form in FORMS)
        return {form: target for form, target in named if target is not None}


NO_DOCUMENTS = Documents()
OPTIONS: dict[str, tuple[Any, object]] = {
    "html": (Html, None),
    "latex": (Latex, None),
    "markdown": (Markdown, None),
    "json_file": (Json, None),
    "csv_file": (Csv, None),
    "paper": (Paper, None),
    "siunitx": (Siunitx, False),
    "column_width": (ColumnWidth, None),
    "dl_variance": (DlVariance, None),
}
"""Parameter to annotation and default, in the order of `Documents`."""


def with_documents(command: Callable[..., None]) -> Callable[..., None]:
    """A command that has an option for each document in place of its parameter `documents`."""
    signature = inspect.signature(command)
    own = {name: it for name, it in signature.parameters.items() if name != "documents"}
    added = [
        inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=default, annotation=annotation)
        for name, (annotation, default) in OPTIONS.items()
    ]
    parameters: list[inspect.Parameter] = []
    for name, it in signature.parameters.items():
        parameters += added if name == "documents" else [it]

    @functools.wraps(command)
    def run(**given: Any) -> None:
        documents = Documents(*(given[name] for name in OPTIONS))
        command(**{name: given[name] for name in own}, documents=documents)

    run.__annotations__ = {it.name: it.annotation for it in parameters}
    run.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    return run


def publish(findings: Findings, experiments: Sequence[Experiment], folder: Path, documents: Documents) -> None:
    """Print the verdict, and write what was asked for and the report.

    Where the report has its usual place and cannot be written there, as in a folder that is somebody else's, the rest
    is given all the same.
    """
    view = report.build_report(findings)
    for form, target in documents.targets().items():
        workflows.write(report.render(view, form, has_siunitx=documents.siunitx), target, sys.stdout)
    kept = f"Report   {nearest(documents.html)}" if documents.html else _keep(findings, view, experiments, folder)
    if not documents.takes_stdout:
        typer.echo(report.render(view, "terminal", width=width(), is_coloured=is_coloured()), nl=False)
        typer.echo(kept)
    if documents.dl_variance is not None:
        from deviate.report import dl_variance_files

        write_paper(dl_variance_files(findings), documents.dl_variance)
        typer.echo(f"Tables   {nearest(documents.dl_variance)}", err=documents.takes_stdout)
    if documents.paper is not None:  # last, for its figures take their time
        from deviate.report.paper import Style, paper_files

        style = Style(documents.siunitx, documents.column_width or COLUMN_IN)
        write_paper(paper_files(findings, view, style), documents.paper)
        told = f"Paper    {nearest(documents.paper)}: example.tex shows how its files are used"
        typer.echo(told, err=documents.takes_stdout)


def _keep(findings: Findings, view: "report.Report", experiments: Sequence[Experiment], folder: Path) -> str:
    """Write the page to its usual place, and its data beside it; gives what to say of it."""
    place = workflows.report_path(folder, experiments)
    try:
        records.make_deviate_folder(folder)
        workflows.write(report.render(view, "html"), place, sys.stdout)
        workflows.write_tables(report.table_files(findings), place.parent)
    except RecordError as error:
        return f"Note     no page was kept: {error.message}; --html FILE writes it elsewhere"
    return f"Report   {nearest(place)}"
