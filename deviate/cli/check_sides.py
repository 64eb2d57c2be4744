"""Both sides of a check in one job: the code at a commit and that of the working tree, run in pairs."""

import dataclasses
import itertools
import shlex
from collections.abc import Sequence
from pathlib import Path

import typer

from deviate import project, records, replay, workflows
from deviate.cli import options
from deviate.cli.app import width
from deviate.cli.carry import Output, carry_out
from deviate.cli.preview import announcement
from deviate.cli.run import DEFAULT_RUNS, DEFAULT_VARIANT, thread_limit
from deviate.errors import InputError
from deviate.model import Experiment
from deviate.project import Prepared, default_python, project_root, refuse_unknown_programs
from deviate.records import Plan
from deviate.workflows import (
    Begun,
    Gate,
    Growth,
    Judging,
    Request,
    asked_metrics,
    checked_out,
    find_reference,
    foresee_check,
    margins_of,
    prepare_at,
)


def run_both_sides(
    words: Sequence[str],
    ref: str,
    asked: options.RunOptions,
    gate: Gate,
    judging: Judging,
    *,
    is_quiet: bool,
    takes_stdout: bool,
) -> tuple[Experiment, ...]:
    """Run what is missing of both sides, replicate by replicate in random order; the commit is the baseline.

    Raises:
        InputError: there is no such commit or script, nothing can be recorded on one of the sides, or what is asked
            of the runs cannot be answered.
    """
    here = Path.cwd().resolve()
    root = project_root(here)
    output = Output(takes_stdout, is_quiet)
    reference = find_reference(root, ref)
    python = next(iter(options.interpreters([asked.python] if asked.python else None, has_container=False)), None)
    ours = project.prepare(project.find_target(words, here, python, default=default_python()))
    refuse_unknown_programs(ours.target)
    request = _request(asked, ours)
    if told := foresee_check(request.runs, is_paired=judging.is_paired):
        typer.echo(f"Warning: {told}", err=True)
    names = gate.metrics or asked_metrics(ours.selection.metrics, gate, ours.analysis.script, judging.directions)
    margins_of(names, gate.margins)
    for name in names:
        for warning in workflows.foresee(ours, dataclasses.replace(judging, metric=name), Growth()):
            typer.echo(f"Warning: {warning}", err=True)
    folder = records.deviate_folder(root)
    with checked_out(root, reference, folder) as checkout:
        theirs = prepare_at(checkout, words, here, python)
        output.say(announcement(ours, request, width()))
        at = f"{reference.name}, commit {reference.commit[:10]}"
        output.say(f"Baseline {shlex.join(words) or theirs.analysis.script} at {at}")
        for note in (*checkout.notes, *theirs.notes):
            output.say(f"Note     {note}")
        stem = asked.name or Path(ours.analysis.script).stem
        begun = [
            workflows.begin(theirs, request, folder, name=_free(theirs, request, folder, reference.experiment(stem))),
            workflows.begin(ours, request, folder, name=asked.name or _free(ours, request, folder, stem)),
        ]
    return _carried_out(begun, request, output, folder)


def _carried_out(begun: Sequence[Begun], request: Request, output: Output, folder: Path) -> tuple[Experiment, ...]:
    for note in [note for it in begun for note in it.notes]:
        output.say(f"Note     {note}")
    variants = [it.name for it in request.variants]
    carry_out(begun, request.settings, output, variants=variants, runs=request.runs)
    return workflows.read(folder, [f"{it.name}:{variants[0]}" for it in begun])


def _request(asked: options.RunOptions, ours: Prepared) -> Request:
    variants = replay.choose_variants(
        asked.variants.split(",") if asked.variants else ours.config.variants or (DEFAULT_VARIANT,), ours.variants
    )
    settings = options.settings(
        executor="local", option=None, jobs=asked.jobs, gpus=asked.gpus, per_gpu=1, gpus_per_run=1,
        timeout=asked.timeout, stall_timeout=None, retries=1, max_failures=None, ignore_failure=None,
        requeue="fresh", keep="all",
    )  # fmt: skip
    return Request(
        runs=asked.runs or ours.config.runs or DEFAULT_RUNS,
        variants=variants,
        name=asked.name,
        seed=asked.seed or 0,
        settings=settings,
        environment=options.variables(asked.env),
        n_threads=thread_limit(settings),
    )


def _free(prepared: Prepared, request: Request, folder: Path, stem: str) -> str:
    """The name of an experiment on record that these runs can be more of, else one that is free.

    The code of a commit never changes, but what git ignores does, and so do commands. Nor are runs added to those that
    were compared: that would be a look that no plan foresaw, after which nothing can be shown any more.
    """
    known = {plan.name: plan for plan in records.list_experiments(folder)}
    names = itertools.chain([stem], (f"{stem}-{number}" for number in itertools.count(2)))
    return next(name for name in names if name not in known or _fits(known[name], prepared, request, folder))


def _fits(plan: Plan, prepared: Prepared, request: Request, folder: Path) -> bool:
    if not plan.looks and any(it.is_comparison and it.n_runs < request.runs for it in plan.reported):
        return False
    try:
        workflows.refuse_misfit(prepared, request, folder, plan.name)
    except InputError:
        return False
    return True
