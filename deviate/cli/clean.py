"""`deviate clean`: gives back disk space, and keeps logs and records."""

import enum
from pathlib import Path
from typing import Annotated

import typer

from deviate.cli.app import FAILED, command, complete_experiments
from deviate.cli.options.groups import in_records, in_runs
from deviate.cli.options.results import AGGREGATE, METRIC
from deviate.records.layout import records_folder
from deviate.replay.cleanup import Cleanup, clean_up, clean_up_cache
from deviate.report.format import counted, size_text


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
            metavar="[NAME...]", autocompletion=complete_experiments, help="Experiments. Default: all, and the cache."
        ),
    ] = None,
    keep: Keep = in_records(
        None, "best: keep the work copies of the best and the worst run of each variant.", default=Keep.none
    ),
    metric: str | None = METRIC,
    aggregate: str | None = AGGREGATE,
    captured: bool = in_records(
        None, "Remove captured outputs and weights too; reports lose what is based on them.", default=False
    ),
    dry_run: bool = in_runs(None, "Show what would be removed; remove nothing.", default=False),
) -> None:
    """Remove the work copies of finished runs, with all files that the runs wrote there.

    Records and logs are kept, so reports do not change; captured outputs and weights are removed by --captured only.
    Experiments that are running are left alone.
    """
    from deviate.records.plans import list_experiments

    folder = records_folder(Path.cwd().resolve())
    chosen = list(dict.fromkeys(names or [plan.name for plan in list_experiments(folder)]))
    cleanups = [
        clean_up(folder, name, keep.value, metric=metric, aggregate=aggregate, takes_captured=captured, is_dry=dry_run)
        for name in chosen
    ]
    if not names:
        cleanups.append(clean_up_cache(folder, is_dry=dry_run))
    for cleanup in cleanups:
        if parts := _parts(cleanup):
            typer.echo(f"{cleanup.name}  {', '.join(parts)}  {size_text(cleanup.n_bytes)}")
        if cleanup.problem:
            typer.echo(f"{cleanup.name} {cleanup.problem}", err=True)
    freed = size_text(sum(cleanup.n_bytes for cleanup in cleanups))
    typer.echo(f"{freed} would be freed; nothing was removed." if dry_run else f"{freed} freed.")
    if names and any(cleanup.problem for cleanup in cleanups):
        raise typer.Exit(FAILED)


def _parts(cleanup: Cleanup) -> list[str]:
    copies = (cleanup.n_copies, "work copy" if cleanup.n_copies == 1 else "work copies")
    return [
        *([f"{copies[0]} {copies[1]}"] if cleanup.n_copies else []),
        *([f"{cleanup.n_kept} kept"] if cleanup.n_kept else []),
        *([f"captured files of {counted(cleanup.n_captured, 'run')}"] if cleanup.n_captured else []),
        *([counted(cleanup.n_others, "other folder")] if cleanup.n_others else []),
    ]
