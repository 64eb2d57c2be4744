"""`deviate overhead`: what determinism costs in time."""

import dataclasses
from pathlib import Path
from typing import Annotated

import typer

from deviate import pipeline
from deviate.cli.app import SOME_RUNS_FAILED, command, width
from deviate.cli.execute import Output
from deviate.cli.options.groups import in_command, in_machine, in_output, in_records, in_runs, in_variation
from deviate.cli.options.results import CONFIDENCE, FORMS, Documents
from deviate.cli.options.runs import DEFAULT_RUNS, Command, ExecutionFlags, LaunchFlags, VariantFlags
from deviate.cli.preview import announce, announcement
from deviate.cli.publish import publish_sheet
from deviate.errors import InputError
from deviate.model.records import Experiment
from deviate.project.validate import validate_request
from deviate.records.experiments import read_variants
from deviate.replay.experiments import Request, record_report
from deviate.replay.overhead import find_cost, modes_of, profiled_name, why_no_profiler, window_for
from deviate.report.parts.overhead import overhead_document
from deviate.stats.options import AnalysisOptions

MODES = "impl,control"
PROFILED_RUNS = 3
LONGEST_STEM = 60


@command(
    "overhead",
    epilog="Example: deviate overhead train.py --runs 5 -- --epochs 2",
)
def overhead_command(
    *,
    command: Command = None,
    runs: int = in_runs("N", "Runs of each mode; the first is a warm-up.", "--runs", "-r", min=2, default=DEFAULT_RUNS),
    variants: str = in_variation(
        "FREE,HELD", "Variant with free kernels, variant with deterministic ones.", default=MODES
    ),
    variant_flags: Annotated[VariantFlags, "warn_only", "trackers"],
    profile: bool = in_records(
        None, "Measure kernel times too, in further, profiled runs.", "--profile/--no-profile", default=True
    ),
    profiled_runs: int = in_records(
        "N", "Profiled runs of each mode; the first is a warm-up.", min=2, default=PROFILED_RUNS
    ),
    window: str | None = in_records("START:STOP", "Profiled steps of the main loop, from 0. Default: after a warm-up."),
    name: str | None = in_runs("NAME", "Name of the experiment. Default: the script's, and -overhead."),
    seed: int = in_runs("N", "Seed of the experiment.", default=0),
    launch: Annotated[LaunchFlags, "prepare", "wrap", "env"],
    python: str | None = in_command("PATH", "Interpreter of the script. Default: python on PATH."),
    jobs: int = in_machine("N", "Runs at a time; more than 1 distorts the times.", "--jobs", "-j", min=1, default=1),
    execution: Annotated[ExecutionFlags, "gpus", "timeout", "retries"],
    dry_run: bool = in_runs(None, "Show what would run; run and write nothing.", default=False),
    confidence: float = CONFIDENCE,
    documents: Annotated[Documents, *FORMS],
    quiet: bool = in_output(None, "Show the result only.", "--quiet", "-q", default=False),
) -> None:
    """Run a script in turn with free and with deterministic kernels, and report what determinism costs.

    Wall times come from runs that nothing disturbs; kernel times from further runs under the framework's profiler.
    """
    from deviate.records.layout import records_folder

    targets = documents.targets()
    output = Output(documents.takes_stdout, quiet)
    launch = dataclasses.replace(launch, python=[python] if python else None)
    cwd = Path.cwd().resolve()
    prepared = launch.prepare_target(command or (), cwd, next(iter(launch.pythons()), None))
    modes = modes_of(dataclasses.replace(variant_flags, variants=variants).choose(prepared))
    settings = dataclasses.replace(execution, jobs=jobs).settings()
    name_of_timed = name or f"{Path(prepared.analysis.script).stem[:LONGEST_STEM]}-overhead"
    request = launch.complete(Request(runs=runs, variants=modes, name=name_of_timed, seed=seed, settings=settings))
    window_steps = _window(window)
    folder = records_folder(cwd)
    validate_request(prepared, request, AnalysisOptions(), folder, starts=not dry_run)
    if not quiet or dry_run:
        announce(announcement(prepared, request, width(), name=name_of_timed), output.people)
    if dry_run:
        return
    options = AnalysisOptions(confidence=confidence)
    experiments = pipeline.run({None: (prepared, request)}, folder, options, output)
    timed = read_variants(folder, name_of_timed)
    profiled: tuple[Experiment, ...] = ()
    why = why_no_profiler(timed) if profile else "not asked for (--no-profile)"
    steps = window_steps or (window_for(timed) if not why else "")
    if not why and not steps:
        why = "the runs entered no main loop"
    if not why:
        output.say(f"Profile  steps {steps} of the main loop, {profiled_runs} more runs of each mode")
        profile_window = (("profile", steps),)
        more = dataclasses.replace(
            request, runs=profiled_runs, name=profiled_name(name_of_timed), capture=profile_window
        )
        experiments += pipeline.run({None: (prepared, more)}, folder, options, output)
        profiled = read_variants(folder, experiments[-1].name)
    findings = find_cost(timed, profiled, modes, no_profile=why, confidence=confidence)
    publish_sheet(overhead_document(findings), targets, folder / "reports" / name_of_timed / "overhead.html")
    record_report([experiment.folder for experiment in experiments], is_comparison=False)
    if any(run.status != "completed" for experiment in (*timed, *profiled) for run in experiment.runs):
        raise typer.Exit(SOME_RUNS_FAILED)


def _window(text: str | None) -> str:
    """START:STOP as a spec has it; empty for none. Raises InputError where it is none."""
    if text is None:
        return ""
    first, colon, last = text.partition(":")
    if not (colon and first.isdecimal() and last.isdecimal() and int(first) < int(last)):
        raise InputError(f"--window {text} is no window of steps", "write it as --window 10:110, counting from 0")
    return f"{int(first)}:{int(last)}"
