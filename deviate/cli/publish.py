"""Findings to where the user wants them: the terminal, and files."""

import dataclasses
import sys
from collections.abc import Sequence
from pathlib import Path

import typer

from deviate import pipeline, report
from deviate.cli.app import is_coloured, nearest, width
from deviate.errors import InputError
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
    """Print the verdict, and write what was asked for and the report."""
    view = report.build_view(findings)
    targets = {"html": pipeline.report_path(folder, experiments), **documents.targets()}
    for form, target in targets.items():
        pipeline.write(report.render(view, form), target, sys.stdout)
    if documents.takes_stdout:
        return
    typer.echo(report.render(view, "terminal", width=width(), is_coloured=is_coloured()), nl=False)
    typer.echo(f"Report   {nearest(targets['html'])}")
