"""`deviate run`: a script many times."""

import dataclasses
import os
import shlex
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer

from deviate import analysis, project, records, replay, workflows
from deviate.cli import capture_options, options, sweep
from deviate.cli.app import (
    Aggregate,
    Confidence,
    Margin,
    Metric,
    Paired,
    command,
    named_folder,
    width,
)
from deviate.cli.carry import Output, carry_out, conclude
from deviate.cli.preview import announcement
from deviate.cli.publish import NO_DOCUMENTS, Documents, with_documents
from deviate.errors import InputError
from deviate.model import Settings
from deviate.project import Prepared, default_python, refuse_unknown_programs, with_interpreter
from deviate.workflows import Judging, Request

DEFAULT_RUNS = 5
DEFAULT_VARIANT = "algo+impl"
Asked = tuple[Prepared, Request]


@command(
    "run",
    epilog="Example: deviate run train.py --runs 10 -- --epochs 5",
)
@with_documents
def run_command(
    command: options.Command = None,
    runs: options.Runs = None,
    variants: options.Variants = None,
    warn_only: options.WarnOnly = False,
    name: Annotated[
        str | None, typer.Option(metavar="NAME", help="Name of the experiment. Default: the script's.")
    ] = None,
    seed: Annotated[
        int, typer.Option(metavar="N", help="The experiment seed: experiments with the same one pair.")
    ] = 0,
    versus: options.Versus = None,
    swept: sweep.Option = None,
    prepare_commands: options.Prepare = None,
    then: options.Then = None,
    python: options.Python = None,
    wrap: options.Wrap = None,
    env: options.Env = None,
    jobs: options.Jobs = None,
    gpus: options.Gpus = None,
    per_gpu: options.PerGpu = 1,
    gpus_per_run: options.GpusPerRun = 1,
    executor: options.Executor = "local",
    option: options.Option = None,
    timeout: options.Timeout = None,
    stall_timeout: options.StallTimeout = None,
    retries: options.Retries = 1,
    max_failures: options.MaxFailures = None,
    ignore_failure: options.IgnoreFailure = None,
    requeue: options.Requeue = "fresh",
    keep: options.Keep = "all",
    budget: options.Budget = None,
    until: options.Until = None,
    min_runs: options.MinRuns = None,
    max_runs: options.MaxRuns = None,
    looks: options.Looks = None,
    capture: capture_options.Capture = None,
    capture_every: capture_options.CaptureEvery = None,
    capture_limit: capture_options.CaptureLimit = None,
    tta: capture_options.Tta = None,
    trackers: options.Trackers = "offline",
    strict: options.Strict = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would be recorded and run; write and start nothing.")
    ] = False,
    plan_only: Annotated[
        bool, typer.Option("--plan-only", help="Freeze and plan, and start nothing: the runs are for `deviate worker`.")
    ] = False,
    metric: Metric = None,
    aggregate: Aggregate = None,
    margin: Margin = None,
    paired: Paired = False,
    groups: capture_options.Groups = None,
    weak_below: capture_options.WeakBelow = None,
    confidence: Confidence = 0.95,
    documents: Documents = NO_DOCUMENTS,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress, only the result.")] = False,
) -> None:
    """Run a script N times, record what it reports, and report the spread.

    The same command again runs what is missing; with more --runs it adds runs.
    """
    output = Output(documents.takes_stdout, quiet)
    here = Path.cwd().resolve()
    folder = named_folder(command or (), here)
    if folder is not None:
        raise project.refuse_folder(analysis.rank_scripts(folder), here, "run")
    container = options.commands([wrap], "--wrap")[0] if wrap is not None else ()
    target_of = _finder(here, options.commands(then, "--then"), has_container=bool(container))
    pythons = options.interpreters(python, has_container=bool(container))
    contenders = _contenders(command or (), versus, pythons, name, target_of)
    first = next(iter(contenders.values()))
    chosen = replay.choose_variants(
        variants.split(",") if variants else first.config.variants or (DEFAULT_VARIANT,),
        first.variants,
        is_warning_only=warn_only,
    )
    if options.choice(trackers, "--trackers", ("offline", "as-is")) == "as-is":
        chosen = tuple(dataclasses.replace(variant, are_trackers_offline=False) for variant in chosen)
    settings = options.settings(
        executor=executor, option=option, jobs=jobs, gpus=gpus, per_gpu=per_gpu, gpus_per_run=gpus_per_run,
        timeout=timeout, stall_timeout=stall_timeout, retries=retries, max_failures=max_failures,
        ignore_failure=ignore_failure, requeue=requeue, keep=keep,
    )  # fmt: skip
    growth = workflows.declare(
        until=until, looks=looks, runs=runs, least=min_runs, most=max_runs, confidence=confidence
    )
    request = Request(
        runs=growth.first or runs or first.config.runs or DEFAULT_RUNS,
        variants=chosen,
        name=name,
        seed=seed,
        settings=settings,
        environment=options.variables(env),
        prepare=tuple(
            with_interpreter(words, default_python(has_container=bool(container)))
            for words in options.commands(prepare_commands, "--prepare")
        ),
        wrap=container,
        n_threads=thread_limit(settings),
        growth=growth,
        budget_s=options.seconds(budget, "--budget"),
        is_strict=strict,
        capture=capture_options.kept(capture, capture_every, capture_limit, tta, first.config.capture),
    )
    judging = Judging(
        confidence=confidence, metric=metric, aggregate=aggregate, margin=margin, is_paired=paired,
        groups=tuple(groups or ()), weak_below=capture_options.weak_below(weak_below),
    )  # fmt: skip
    asked: Mapping[str | None, Asked] = {own: (prepared, request) for own, prepared in contenders.items()}
    if swept is not None:
        asked = sweep.points(swept, asked, growth, documents)
    _announce(asked, judging, output, is_silent=quiet and not dry_run)
    if dry_run:
        return
    folder = records.deviate_folder(first.target.root)
    _refuse(asked, folder)
    begun = [workflows.begin(prepared, wanted, folder, name=own) for own, (prepared, wanted) in asked.items()]
    for note in [note for it in begun for note in it.notes]:
        output.say(f"Note     {note}")
    names = [variant.name for variant in chosen]
    if plan_only:
        for it in begun:
            n_runs = len(workflows.specs_of(it.plan, it.snapshot))
            output.say(f"Planned  {it.name}: deviate worker {it.name} --index 0 … {n_runs - 1}")
        return
    more = workflows.Further(begun, names, request, judging)
    carry_out(begun, settings, output, variants=names, runs=request.runs, budget_s=request.budget_s, more=more)
    if swept is not None:
        sweep.conclude(begun, judging, documents)
    else:
        conclude(begun, names, judging, output, documents, is_strict=strict)


def _announce(asked: Mapping[str | None, Asked], judging: Judging, output: Output, *, is_silent: bool) -> None:
    """Tell what is recorded and run; of a sweep the first value, and the names of all.

    Raises:
        InputError: no run can answer what is asked.
    """
    swept = [own for own, (_, request) in asked.items() if own and request.sweep]
    for own, (prepared, request) in list(asked.items())[: 1 if swept else None]:
        if not is_silent:
            typer.echo(announcement(prepared, request, width(), name=own), file=output.people)
        for warning in workflows.foresee(prepared, judging, request.growth):
            typer.echo(f"Warning: {warning}", err=True)
    if swept and not is_silent:
        typer.echo(f"Sweep    {', '.join(swept)}\n", file=output.people)


def _refuse(asked: Mapping[str | None, Asked], folder: Path) -> None:
    """Raise InputError for what can be known to fail, before anything is written."""
    for own, (prepared, request) in asked.items():
        if request.settings.executor == "local" and not request.wrap:
            refuse_unknown_programs(prepared.target)
        if own is not None:
            workflows.refuse_misfit(prepared, request, folder, own)


def _finder(
    here: Path, then: Sequence[Sequence[str]], *, has_container: bool
) -> Callable[[Sequence[str], str | None], Prepared]:
    def find(words: Sequence[str], python: str | None) -> Prepared:
        default = default_python(has_container=has_container)
        return project.prepare(project.find_target(words, here, python, default=default, then=then))

    return find


def _contenders(
    command: Sequence[str],
    versus: Sequence[str] | None,
    pythons: Sequence[str],
    name: str | None,
    find: Callable[[Sequence[str], str | None], Prepared],
) -> dict[str | None, Prepared]:
    """What is run side by side, by the name of the experiment, None for the one that has not got any yet."""
    python = pythons[0] if len(pythons) == 1 else None
    if versus:
        if command:
            raise InputError(
                f"{shlex.join(command)} stands beside --versus",
                'give each command one of its own: --versus "old=train.py" --versus "new=new.py"',
            )
        if len(versus) < 2:
            raise InputError("--versus needs two commands at least", 'add another one: --versus "new=python new.py"')
        if len(pythons) > 1 or name is not None:
            flag = "--name" if name is not None else "several --python"
            raise InputError(f"{flag} cannot stand beside --versus", "each --versus has its own: NAME=COMMAND")
        named = [options.pair(text, "--versus", "NAME=COMMAND") for text in versus]
        if len({own for own, _ in named}) < len(named):
            raise InputError("two --versus have the same name", "give each its own: base=…, new=…")
        return {own: find(options.commands([text], "--versus")[0], python) for own, text in named}
    if len(pythons) > 1:
        found = [(path, find(command, path)) for path in pythons]
        stem = name or Path(found[0][1].analysis.script).stem
        labels = workflows.interpreter_labels(pythons)
        return {f"{stem}-{label}": it for label, (_, it) in zip(labels, found, strict=True)}
    return {None: find(command, python)}


def thread_limit(settings: Settings) -> int | None:
    """Threads for each run where several share the machine, and the user's shell does not say how many."""
    if settings.executor != "local" or "OMP_NUM_THREADS" in os.environ:
        return None
    return replay.threads_per_run(len(replay.slots(settings)))
