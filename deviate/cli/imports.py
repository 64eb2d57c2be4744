"""`deviate import`: results from elsewhere become an experiment like any other."""

from pathlib import Path
from typing import Annotated

import typer

from deviate import records, workflows
from deviate.cli.app import command, nearest
from deviate.cli.options import option
from deviate.cli.options.results import Importer
from deviate.errors import InputError
from deviate.report import clean


@command(
    "import",
    epilog="Example: deviate import lightning_logs/version_* --name baseline",
)
def import_command(
    files: Annotated[
        list[str], typer.Argument(metavar="FILE...", help="Files, folders or patterns with the runs of an experiment.")
    ],
    name: Annotated[str | None, option("NAME", "Name of the experiment. Default: that of the files.")] = None,
    importer: Importer = None,
) -> None:
    """Import results from elsewhere as an experiment, for list, show, report and compare.

    Reads CSV (wide or long), JSON, TensorBoard, offline wandb, MLflow, Lightning, Keras and DEVIATE 2021.
    """
    table = workflows.published_table(files)
    if table is not None:
        typer.echo(table, nl=False)
        return
    folder = workflows.records_folder(Path.cwd().resolve())
    if name is not None:
        records.free_place(folder, name)
    results = workflows.read_files(files, form=importer)
    if name is not None and len(results) > 1:
        names = ", ".join(result.name for result in results)
        raise InputError(f"--name {name}: there are {len(results)} experiments: {names}", "leave --name out")
    for note in dict.fromkeys(note for imported in results for note in imported.notes):
        typer.echo(f"Read     {clean(note)}")
    called = (name,) if name is not None else records.folder_names(results)
    for folder_name in called:  # of several experiments all are imported, or none
        records.free_place(folder, folder_name)
    for imported, its_name in zip(results, called, strict=True):
        path = records.write_imported(folder, imported, its_name)
        metrics = sorted({metric for run in imported.runs for metric in run.series})
        typer.echo(f"Imported {path.name}: {len(imported.runs)} runs, {', '.join(metrics)}")
        typer.echo(f"         {nearest(path)}")
