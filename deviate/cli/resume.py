"""`deviate resume`: what is missing of an experiment."""

import dataclasses
from pathlib import Path
from typing import Annotated

import typer

from deviate import replay, workflows
from deviate.cli import complete, options
from deviate.cli.app import Aggregate, Confidence, Metric, command
from deviate.cli.carry import Output, carry_out, conclude
from deviate.cli.publish import NO_DOCUMENTS, Documents, with_documents
from deviate.workflows import Judging


@command("resume", epilog="Example: deviate resume train --jobs 4")
@with_documents
def resume_command(
    name: Annotated[str, typer.Argument(metavar="NAME", autocompletion=complete.experiments, help="The experiment.")],
    jobs: options.Jobs = None,
    gpus: Annotated[str | None, typer.Option(help="Devices for the runs, if others than before.")] = None,
    timeout: options.Timeout = None,
    retries: Annotated[int | None, typer.Option(min=0, help="How often a lost run is started anew.")] = None,
    budget: options.Budget = None,
    metric: Metric = None,
    aggregate: Aggregate = None,
    confidence: Confidence = 0.95,
    documents: Documents = NO_DOCUMENTS,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress, only the result.")] = False,
) -> None:
    """Run what an experiment lacks, from its frozen code and with its settings; then report.

    What is on record is not run again; a run that was cut off begins anew with the same seeds.
    """
    output = Output(documents.takes_stdout, quiet)
    begun = workflows.find(workflows.records_folder(Path.cwd().resolve()), name)
    before = begun.plan.settings
    devices = replay.choose_gpus(gpus) if gpus else before.gpus
    n_jobs = options.default_jobs(devices, before.per_gpu, before.gpus_per_run) if gpus else before.jobs
    settings = dataclasses.replace(
        before,
        jobs=jobs or n_jobs,
        gpus=devices,
        timeout_s=options.seconds(timeout, "--timeout") or before.timeout_s,
        retries=before.retries if retries is None else retries,
    )
    workflows.keep_settings(begun, settings)
    for note in workflows.resume_notes(begun):
        output.say(f"Note     {note}")
    carry_out([begun], settings, output, budget_s=options.seconds(budget, "--budget"))
    judging = Judging(confidence=confidence, metric=metric, aggregate=aggregate)
    conclude([begun], [variant.name for variant in begun.plan.variants], judging, output, documents)
