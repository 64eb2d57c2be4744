"""`deviate resume`: what is missing of an experiment."""

import dataclasses
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from deviate import pipeline
from deviate.cli.app import command, complete_experiments
from deviate.cli.cost import outlook_of
from deviate.cli.execute import Output, conclude
from deviate.cli.options.groups import in_machine, in_output, in_runs
from deviate.cli.options.origins import origins
from deviate.cli.options.results import AnalysisFlags, Documents
from deviate.cli.options.runs import BUDGET, JOBS, TIMEOUT, default_jobs
from deviate.cli.options.values import seconds
from deviate.records.layout import records_folder
from deviate.replay.experiments import PreparedExperiment, fair_order, find
from deviate.report.format import clean, counted, replicates


@command(
    "resume",
    epilog="Example: deviate resume train --jobs 4",
)
def resume_command(
    *,
    name: Annotated[str, typer.Argument(metavar="NAME", autocompletion=complete_experiments, help="The experiment.")],
    jobs: int | None = JOBS,
    gpus: str | None = in_machine(None, "GPUs for the runs: auto, none, or numbers: 0,1. Default: as before."),
    timeout: str | None = TIMEOUT,
    retries: int | None = in_machine(None, "How often a lost run is restarted. Default: as before.", min=0),
    budget: str | None = BUDGET,
    dry_run: bool = in_runs(None, "Show which runs are missing; run and write nothing.", default=False),
    analysis: Annotated[AnalysisFlags, "metric", "aggregate", "confidence"],
    documents: Documents,
    quiet: bool = in_output(None, "Show the result only.", "--quiet", "-q", default=False),
) -> None:
    """Run what is missing of an experiment, from its frozen code and with its settings; then report.

    Completed runs are kept; a run that was interrupted starts again with the same seeds.
    """
    from deviate.replay.slots import choose_gpus

    output = Output(documents.takes_stdout, quiet and not dry_run)
    experiment = find(records_folder(Path.cwd().resolve()), name)
    before = experiment.plan.settings
    devices = choose_gpus(gpus, are_here=before.executor == "local") if gpus else before.gpus
    n_jobs = default_jobs(devices, before.per_gpu, before.gpus_per_run) if gpus else before.jobs
    settings = dataclasses.replace(
        before,
        jobs=jobs or n_jobs,
        gpus=devices,
        timeout_s=seconds(timeout, "--timeout") or before.timeout_s,
        retries=before.retries if retries is None else retries,
    )
    budget_s = seconds(budget, "--budget")
    if dry_run:
        for line in _missing_lines(experiment):
            output.say(line)
    outlook = outlook_of([experiment], settings)
    if cost := outlook.text():
        output.say(f"Cost     {cost}")
    if shortage := outlook.shortage():
        typer.echo(f"Warning: {shortage}", err=True)
    if dry_run:
        return
    pipeline.resume(experiment, settings, budget_s, output, origins=origins())
    conclude(
        [experiment], [variant.name for variant in experiment.plan.variants], analysis.options(), output, documents
    )


def _missing_lines(experiment: PreparedExperiment) -> Iterator[str]:
    """Which runs of each variant would be executed, damaged ones included; one line if there are none."""
    from deviate.replay.adopt import settled_attempt

    orders = fair_order([experiment])
    missing = [order.spec for order in orders if settled_attempt(order.run, order.spec) is None]
    if not missing:
        yield f"Missing  none: {counted(len(orders), 'run')} on record"
    for variant in experiment.plan.variants:
        if those := tuple(spec.replicate for spec in missing if spec.variant == variant.name):
            yield f"Missing  {clean(variant.name)}: {len(those):,} of {variant.n_runs:,}, {replicates(those)}"
