"""`deviate clean`: gives back disk space, and keeps logs and records."""

import enum
from pathlib import Path
from typing import Annotated

import typer

from deviate import records, workflows
from deviate.cli import complete
from deviate.cli.app import FAILED, command
from deviate.cli.options.analysis import Aggregate, Metric
from deviate.report import counted, size_text


class Keep(enum.StrEnum):
    """Whose work copies stay."""

    best = "best"
    none = "none"


@command(
    "clean",
    epilog="Example: deviate clean train --keep best --dry-run",
)
def clean_command(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[NAME...]", autocompletion=complete.experiments, help="Experiments. Default: all, and the cache."
        ),
    ] = None,
    keep: Annotated[
        Keep, typer.Option(help="best: of each variant, keep those of the runs with the best and the worst score.")
    ] = Keep.none,
    metric: Metric = None,
    aggregate: Aggregate = None,
    captured: Annotated[
        bool,
        typer.Option(
            "--captured", help="Remove captured outputs and weights too: reports lose what they tell of them."
        ),
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what and how much; remove nothing.")] = False,
) -> None:
    """Remove the work copies of runs that have ended, with all files that the runs wrote there.

    Logs and records stay, so that reports and comparisons stay as they are; captured outputs and weights are records,
    and go with --captured alone. An experiment that is being run is left alone.
    """
    folder = workflows.records_folder(Path.cwd().resolve())
    chosen = list(dict.fromkeys(names or [plan.name for plan in records.list_experiments(folder)]))
    tidied = [
        *workflows.tidy(
            folder, chosen, keep.value, metric=metric, aggregate=aggregate, takes_captured=captured, is_dry=dry_run
        ),
        *([] if names else [workflows.tidy_cache(folder, is_dry=dry_run)]),
    ]
    for it in tidied:
        if parts := _parts(it):
            typer.echo(f"{it.name}  {', '.join(parts)}  {size_text(it.n_bytes)}")
        if it.problem:
            typer.echo(f"{it.name} {it.problem}", err=True)
    freed = size_text(sum(it.n_bytes for it in tidied))
    typer.echo(f"{freed} would be freed; nothing was removed." if dry_run else f"{freed} freed.")
    if names and any(it.problem for it in tidied):
        raise typer.Exit(FAILED)


def _parts(it: workflows.Tidied) -> list[str]:
    copies = (it.n_copies, "work copy" if it.n_copies == 1 else "work copies")
    return [
        *([f"{copies[0]} {copies[1]}"] if it.n_copies else []),
        *([f"{it.n_kept} kept"] if it.n_kept else []),
        *([f"captured files of {counted(it.n_captured, 'run')}"] if it.n_captured else []),
        *([counted(it.n_others, "other folder")] if it.n_others else []),
    ]
