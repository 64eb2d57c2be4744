"""Both sides of a check in one job: the code at a commit and the working tree, run in pairs."""

import dataclasses
import shlex
from collections.abc import Sequence
from pathlib import Path

import typer

from deviate.base.git import project_root
from deviate.cli.app import width
from deviate.cli.execute import Output
from deviate.cli.gate import Gate, asked_metrics, margins_of, warn_of_few_runs
from deviate.cli.options.origins import plan_origins
from deviate.cli.options.runs import DEFAULT_RUNS, ExecutionFlags, LaunchFlags, SideFlags, VariantFlags
from deviate.cli.preview import announce, announcement
from deviate.errors import InputError
from deviate.model.records import Experiment
from deviate.model.texts import numbered
from deviate.project.begin import begin_experiment, refuse_misfit
from deviate.project.prepare import PreparedScript
from deviate.project.refs import checked_out, find_reference, prepare_at
from deviate.project.validate import validate_metrics, validate_request
from deviate.records.experiments import read
from deviate.records.plans import Plan
from deviate.replay.experiments import PreparedExperiment, Request
from deviate.stats.options import AnalysisOptions


def run_both_sides(
    words: Sequence[str],
    ref: str,
    flags: SideFlags,
    gate: Gate,
    options: AnalysisOptions,
    *,
    is_quiet: bool,
    takes_stdout: bool,
) -> tuple[Experiment, ...]:
    """Execute missing runs of both sides by replicate, in random order; the commit is the baseline.

    Raises:
        InputError: there is no such commit or script, nothing can be recorded on one of the sides, or what is asked
            of the runs cannot be answered.
    """
    from deviate.records.layout import deviate_folder

    cwd = Path.cwd().resolve()
    root = project_root(cwd)
    output = Output(takes_stdout, is_quiet)
    reference = find_reference(root, ref)
    launch = LaunchFlags(python=[flags.python] if flags.python else None, env=flags.env)
    python = next(iter(launch.pythons()), None)
    ours = launch.prepare_target(words, cwd, python)
    request = _request(flags, launch, ours, words)
    names = gate.metrics or asked_metrics(
        ours.selection.metrics, gate, ours.analysis.script, options.directions, ours.selection.primary
    )
    margins_of(names, gate.margins)
    folder = deviate_folder(root)
    for warning in validate_request(ours, request, options, folder):
        typer.echo(f"Warning: {warning}", err=True)
    for name in names:
        for warning in validate_metrics(ours, request, dataclasses.replace(options, metric=name)):
            typer.echo(f"Warning: {warning}", err=True)
    with checked_out(root, reference, folder) as checkout:
        theirs = prepare_at(checkout, words, cwd, python)
        if not output.is_quiet:
            announce(announcement(ours, request, width()), output.people)
        at = f"{reference.name}, commit {reference.commit[:10]}"
        output.say(f"Baseline {shlex.join(words) or theirs.analysis.script} at {at}")
        for note in (*checkout.notes, *theirs.notes):
            output.say(f"Note     {note}")
        stem = flags.name or Path(ours.analysis.script).stem
        experiments = [
            begin_experiment(theirs, request, folder, name=_free(theirs, request, folder, reference.experiment(stem))),
            begin_experiment(ours, request, folder, name=flags.name or _free(ours, request, folder, stem)),
        ]
    n_runs = min(max(request.runs, *(one.n_runs for one in experiment.plan.variants)) for experiment in experiments)
    if too_few := warn_of_few_runs(n_runs, is_paired=options.is_paired):
        typer.echo(f"Warning: {too_few}", err=True)
    return _carried_out(experiments, request, output, folder)


def _carried_out(
    experiments: Sequence[PreparedExperiment], request: Request, output: Output, folder: Path
) -> tuple[Experiment, ...]:
    for note in [note for experiment in experiments for note in experiment.notes]:
        output.say(f"Note     {note}")
    variants = [variant.name for variant in request.variants]
    output.execute(experiments, request.settings, variants=variants, runs=request.runs)
    return read(folder, [f"{experiment.name}:{variants[0]}" for experiment in experiments])


def _request(flags: SideFlags, launch: LaunchFlags, ours: PreparedScript, words: Sequence[str]) -> Request:
    settings = ExecutionFlags(jobs=flags.jobs, gpus=flags.gpus, timeout=flags.timeout).settings()
    return launch.complete(
        Request(
            runs=flags.runs or ours.config.runs or DEFAULT_RUNS,
            variants=VariantFlags(variants=flags.variants).choose(ours),
            name=flags.name,
            seed=flags.seed or 0,
            settings=settings,
            origins=plan_origins(ours, has_command=bool(words)),
        )
    )


def _free(prepared: PreparedScript, request: Request, folder: Path, stem: str) -> str:
    """A recorded experiment that these runs can extend, or else an unused name.

    The code of a commit never changes, but ignored files and commands do. Runs are also not added to experiments that
    were compared before, as that would be an unplanned look, after which nothing can be concluded.
    """
    from deviate.records.plans import list_experiments

    plans = {plan.name: plan for plan in list_experiments(folder)}
    return next(name for name in numbered(stem) if name not in plans or _fits(plans[name], prepared, request, folder))


def _fits(plan: Plan, prepared: PreparedScript, request: Request, folder: Path) -> bool:
    if not plan.looks and any(showing.is_comparison and showing.n_runs < request.runs for showing in plan.reported):
        return False
    try:
        refuse_misfit(prepared, request, folder, plan.name)
    except InputError:
        return False
    return True
