"""`deviate list`: what is on record."""

import shlex
from pathlib import Path

import typer

from deviate import pipeline, records
from deviate.cli.app import app


@app.command("list", epilog="Example: deviate list")
def list_command() -> None:
    """List the experiments on record."""
    folder = pipeline.records_folder(Path.cwd().resolve())
    plans = records.list_experiments(folder)
    if not plans:
        typer.echo(f"No experiments under {folder}. Run one: deviate run train.py")
    for plan in plans:
        for experiment in records.read_experiment(records.find_experiment(folder, plan.name)):
            done = sum(run.status == "completed" for run in experiment.runs)
            told = f"{plan.name}  {experiment.variant}  {done}/{experiment.n_planned} completed"
            typer.echo(f"{told}  {shlex.join(plan.command)}")
