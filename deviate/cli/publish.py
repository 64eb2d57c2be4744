"""Findings to where the user wants them: the terminal, and files."""

import dataclasses
import sys
from collections.abc import Sequence
from pathlib import Path

import typer

from deviate import pipeline, records, report
from deviate.cli.app import is_coloured, nearest, width
from deviate.errors import InputError, RecordError
from deviate.model import Experiment, Findings


@dataclasses.dataclass(frozen=True, slots=True)
class Documents:
    """Where the findings are written to, by the name of the renderer; `-` is standard output, None is nowhere.

    Raises:
        InputError: two of them go to standard output, which has room for one only.
    """

    html: Path | None = None
    latex: Path | None = None
    markdown: Path | None = None
    json: Path | None = None
    csv: Path | None = None

    def __post_init__(self) -> None:
        taking = [form for form, target in self.targets().items() if str(target) == "-"]
        if len(taking) > 1:
            raise InputError(f"{' and '.join(taking)} cannot both go to standard output", "name a file for one of them")

    @property
    def takes_stdout(self) -> bool:
        return any(str(target) == "-" for target in self.targets().values())

    def targets(self) -> dict[str, Path]:
        """What was asked for, by form."""
        named = ((field.name, getattr(self, field.name)) for field in dataclasses.fields(self))
        return {form: target for form, target in named if target is not None}


def publish(findings: Findings, experiments: Sequence[Experiment], folder: Path, documents: Documents) -> None:
    """Print the verdict, and write what was asked for and the report.

    Where the report has its usual place and cannot be written there, as in a folder that is somebody else's, the rest
    is given all the same.
    """
    view = report.build_view(findings)
    for form, target in documents.targets().items():
        pipeline.write(report.render(view, form), target, sys.stdout)
    kept = f"Report   {nearest(documents.html)}" if documents.html else _keep(view, experiments, folder)
    if documents.takes_stdout:
        return
    typer.echo(report.render(view, "terminal", width=width(), is_coloured=is_coloured()), nl=False)
    typer.echo(kept)


def _keep(view: report.View, experiments: Sequence[Experiment], folder: Path) -> str:
    """Write the page to its usual place, and its data beside it; gives what to say of it."""
    place = pipeline.report_path(folder, experiments)
    try:
        records.make_deviate_folder(folder)
        pipeline.write(report.render(view, "html"), place, sys.stdout)
        pipeline.write_tables(report.tables(view.findings), place.parent)
    except RecordError as error:
        return f"Note     no page was kept: {error.message}; --html FILE writes it elsewhere"
    return f"Report   {nearest(place)}"
