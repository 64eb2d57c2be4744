"""`deviate worker`: one run of an experiment, for any scheduler."""

from pathlib import Path
from typing import Annotated

import typer

from deviate.cli.app import IN_USE, command, complete_experiments
from deviate.cli.options.groups import in_runs
from deviate.errors import InputError, InUseError
from deviate.records.layout import records_folder
from deviate.records.plans import find_experiment
from deviate.replay.experiments import open_experiment, work
from deviate.replay.first_run import FirstRun


@command(
    "worker",
    epilog="Example: deviate worker train --index $SLURM_ARRAY_TASK_ID",
)
def worker_command(
    experiment: Annotated[
        str,
        typer.Argument(
            metavar="EXPERIMENT",
            autocompletion=complete_experiments,
            help="Name or folder of the experiment.",
        ),
    ],
    index: int | None = in_runs(None, "Number of the run in the plan, from 0.", min=0),
    run: str | None = in_runs(None, "Id of the run, instead of --index."),
) -> None:
    """Execute one run of an experiment that `deviate run --plan-only` has planned.

    Exit code 0: the run is recorded, however it ended; 1: it could not start; 75: try again, as it was lost, or another
    process runs it.
    """
    if (index is None) == (run is None):
        raise InputError("one run is to be named", "give --index or --run")
    path = Path(experiment)
    cwd = Path.cwd().resolve()
    place = path if (path / "experiment.json").is_file() else find_experiment(records_folder(cwd), experiment)
    opened = open_experiment(place)
    try:
        outcome = work(place.absolute(), index=index, run=run)
    except InUseError as error:
        typer.echo(f"{error.message}: {error.hint}", err=True)
        raise typer.Exit(IN_USE) from None
    if outcome.status == "completed":
        FirstRun([opened]).decide(opened)
    was = " (on record already)" if outcome.is_reused else ""
    reason = f": {outcome.reason}" if outcome.reason else ""
    typer.echo(f"{outcome.spec.variant} replicate {outcome.spec.replicate} {outcome.status}{was}{reason}")
    if outcome.status in {"lost", "cancelled"}:
        raise typer.Exit(IN_USE)
