"""`deviate run` and `deviate resume`: a script many times, and what is missing of it."""

import dataclasses
import os
import shlex
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, TextIO

import typer

from deviate import analysis, entry_scripts, pipeline, prepare, records, replay
from deviate.announce import announcement
from deviate.cli import options
from deviate.cli.app import SOME_RUNS_FAILED, Aggregate, Confidence, Csv, Html, Json, Metric, app, named_folder, width
from deviate.cli.publish import publish, takes_stdout
from deviate.command import default_python, with_interpreter
from deviate.display import display
from deviate.errors import InputError
from deviate.model import Settings
from deviate.pipeline import Begun, Judging, Request
from deviate.prepare import Prepared
from deviate.replay import Listeners, Order, Outcome

DEFAULT_RUNS = 5
DEFAULT_VARIANT = "algo+impl"


@dataclass(frozen=True, slots=True)
class Output:
    """Where results go."""

    html: Path | None
    json: Path | None
    csv: Path | None
    is_quiet: bool

    @property
    def people(self) -> TextIO:
        """What a person reads: standard output, unless a document goes there."""
        return sys.stderr if takes_stdout(self.html, self.json, self.csv) else sys.stdout

    def say(self, text: str) -> None:
        if not self.is_quiet:
            typer.echo(text, file=self.people)


@app.command("run", epilog="Example: deviate run train.py --runs 10 -- --epochs 5")
def run_command(
    command: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="SCRIPT [-- ARGS]",
            help="The training script and, after --, its arguments; or a whole command after --. "
            "Default: what deviate.toml names.",
        ),
    ] = None,
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
    confidence: Confidence = 0.95,
    html: Html = None,
    json_file: Json = None,
    csv_file: Csv = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress, only the result.")] = False,
) -> None:
    """Run a script N times, record what it reports, and report the spread.

    The same command again runs what is missing; with more --runs it adds runs.
    """
    output = Output(html, json_file, csv_file, quiet)
    takes_stdout(html, json_file, csv_file)
    here = Path.cwd().resolve()
    folder = named_folder(command or (), here)
    if folder is not None:
        raise entry_scripts.refuse_folder(analysis.rank_scripts(folder), here, "run")
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
    growth = pipeline.declare(until=until, looks=looks, runs=runs, least=min_runs, most=max_runs, confidence=confidence)
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
        n_threads=_thread_limit(settings),
        growth=growth,
        budget_s=options.seconds(budget, "--budget"),
        is_strict=strict,
    )
    judging = Judging(confidence=confidence, metric=metric, aggregate=aggregate)
    for prepared in contenders.values():
        if not quiet or dry_run:
            typer.echo(announcement(prepared, request, width()), file=output.people)
        for warning in pipeline.foresee(prepared, judging, growth):
            typer.echo(f"Warning: {warning}", err=True)
    if dry_run:
        return
    folder = records.deviate_folder(first.target.root)
    begun = [pipeline.begin(it, request, folder, name=own) for own, it in contenders.items()]
    for note in [note for it in begun for note in it.notes]:
        output.say(f"Note     {note}")
    names = [variant.name for variant in chosen]
    if plan_only:
        for it in begun:
            n_runs = len(pipeline.specs_of(it.plan, it.snapshot))
            output.say(f"Planned  {it.name}: deviate worker {it.name} --index 0 … {n_runs - 1}")
        return
    more = pipeline.Further(begun, names, request, judging)
    _carry_out(begun, settings, output, variants=names, runs=request.runs, budget_s=request.budget_s, more=more)
    _conclude(begun, names, judging, output, is_strict=strict)


@app.command("resume", epilog="Example: deviate resume train --jobs 4")
def resume_command(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The experiment.")],
    jobs: options.Jobs = None,
    gpus: Annotated[str | None, typer.Option(help="Devices for the runs, if others than before.")] = None,
    timeout: options.Timeout = None,
    retries: Annotated[int | None, typer.Option(min=0, help="How often a lost run is started anew.")] = None,
    budget: options.Budget = None,
    metric: Metric = None,
    aggregate: Aggregate = None,
    confidence: Confidence = 0.95,
    html: Html = None,
    json_file: Json = None,
    csv_file: Csv = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress, only the result.")] = False,
) -> None:
    """Run what an experiment lacks, from its frozen code and with its settings; then report.

    What is on record is not run again; a run that was cut off begins anew with the same seeds.
    """
    output = Output(html, json_file, csv_file, quiet)
    takes_stdout(html, json_file, csv_file)
    begun = pipeline.find(pipeline.records_folder(Path.cwd().resolve()), name)
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
    for note in pipeline.environment_notes(begun):
        output.say(f"Note     {note}")
    _carry_out([begun], settings, output, budget_s=options.seconds(budget, "--budget"))
    judging = Judging(confidence=confidence, metric=metric, aggregate=aggregate)
    _conclude([begun], [variant.name for variant in begun.plan.variants], judging, output)


def _finder(
    here: Path, then: Sequence[Sequence[str]], *, has_container: bool
) -> Callable[[Sequence[str], str | None], Prepared]:
    def find(words: Sequence[str], python: str | None) -> Prepared:
        default = default_python(has_container=has_container)
        return prepare.prepare(prepare.find_target(words, here, python, default=default, then=then))

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
            raise InputError(f"{shlex.join(command)} stands beside --versus", "name each command in a --versus")
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
        labels = pipeline.interpreter_labels(pythons)
        return {f"{stem}-{label}": it for label, (_, it) in zip(labels, found, strict=True)}
    return {None: find(command, python)}


def _thread_limit(settings: Settings) -> int | None:
    """Threads for each run where several share the machine, and the user's shell does not say how many."""
    if settings.executor != "local" or "OMP_NUM_THREADS" in os.environ:
        return None
    return replay.threads_per_run(len(replay.slots(settings)))


def _carry_out(
    begun: Sequence[Begun],
    settings: Settings,
    output: Output,
    *,
    variants: Sequence[str] = (),
    runs: int | None = None,
    budget_s: float | None = None,
    more: Callable[[Sequence[Outcome]], Sequence[Order]] = lambda _: (),
) -> None:
    """Run what is missing, and let the user watch."""
    with display(
        output.people,
        n_runs=len(pipeline.fair_order(begun, variants, runs)),
        jobs=len(replay.slots(settings)),
        is_quiet=output.is_quiet,
        standing=pipeline.Standing([it.folder for it in begun]),
        expected=[pipeline.expected(it.folder, variants=variants, runs=runs) for it in begun],
    ) as shown:

        def further(outcomes: Sequence[Outcome]) -> Sequence[Order]:
            orders = more(outcomes)
            shown.expect(len(outcomes) + len(orders))
            return orders

        listeners = Listeners(shown.show, shown.notice, further)
        outcomes = pipeline.carry_out(begun, settings, listeners, variants=variants, runs=runs, budget_s=budget_s)
    reused = sum(outcome.is_reused for outcome in outcomes.values())
    if reused:
        where = ", ".join(str(it.folder) for it in begun)
        output.say(f"{reused} of {len(outcomes)} runs were on record already: {where}")


def _conclude(
    begun: Sequence[Begun], variants: Sequence[str], judging: Judging, output: Output, *, is_strict: bool = False
) -> None:
    """Report what is on record now; an exit code of its own where some runs failed."""
    folder = begun[0].folder.parent.parent
    misfits = [misfit for it in begun for misfit in records.environment_misfits(it.folder)] if is_strict else []
    if misfits:
        raise InputError(f"--strict: {misfits[0]}", "the runs are on record; run again in one environment")
    if len(begun) > 1:
        experiments = pipeline.read(folder, [f"{it.name}:{variants[0]}" for it in begun])
        findings = pipeline.judge(experiments, judging)
    else:
        experiments = pipeline.read(folder, [f"{begun[0].name}:{variant}" for variant in variants])
        findings = pipeline.describe(experiments, judging)
    publish(findings, experiments, folder, output.html, output.json, output.csv)
    pipeline.tell_reported([it.folder for it in begun], is_comparison=len(begun) > 1)
    if begun[0].plan.settings.keep == "best":
        names, metric, aggregate = [it.name for it in begun], judging.metric, judging.aggregate
        for tidied in pipeline.tidy(folder, names, "best", metric=metric, aggregate=aggregate, spares_failed=True):
            if tidied.problem:
                output.say(f"Note     {tidied.name} {tidied.problem}")
    fine = {"completed", "cancelled"}  # what a budget or the user has ended is none that failed
    if any(run.status not in fine for experiment in experiments for run in experiment.runs):
        raise typer.Exit(SOME_RUNS_FAILED)
