"""Findings to where the user wants them: the terminal, and files."""

import sys
from collections.abc import Sequence
from pathlib import Path

import typer

from deviate import pipeline, report
from deviate.cli.app import is_coloured, nearest, width
from deviate.errors import InputError
from deviate.model import Experiment, Findings


def publish(
    findings: Findings,
    experiments: Sequence[Experiment],
    folder: Path,
    html: Path | None,
    json_file: Path | None,
    csv_file: Path | None,
) -> None:
    """Print the verdict, and write what was asked for and the report."""
    view = report.build_view(findings)
    path = html or pipeline.report_path(folder, experiments)
    for target, form in ((path, "html"), (json_file, "json"), (csv_file, "csv")):
        if target is not None:
            pipeline.write(report.render(view, form), target, sys.stdout)
    if takes_stdout(html, json_file, csv_file):
        return
    typer.echo(report.render(view, "terminal", width=width(), is_coloured=is_coloured()), nl=False)
    typer.echo(f"Report   {nearest(path)}")


def takes_stdout(html: Path | None, json_file: Path | None, csv_file: Path | None) -> bool:
    """Whether one of the outputs goes to standard output, which has room for one only."""
    targets = {"html": html, "json": json_file, "csv": csv_file}
    taking = [form for form, target in targets.items() if str(target) == "-"]
    if len(taking) > 1:
        raise InputError(f"{' and '.join(taking)} cannot both go to standard output", "name a file for one of them")
    return bool(taking)
