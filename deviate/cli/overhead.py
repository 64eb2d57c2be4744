"""`deviate overhead`: what determinism costs in time."""

import dataclasses
from pathlib import Path
from typing import Annotated

import typer

from deviate import project, records, replay, workflows
from deviate.cli import options
from deviate.cli.app import (
    SOME_RUNS_FAILED,
    Confidence,
    Csv,
    Html,
    Json,
    Latex,
    Markdown,
    command,
    width,
)
from deviate.cli.carry import Output, carry_out
from deviate.cli.preview import announcement
from deviate.cli.run import DEFAULT_RUNS, thread_limit
from deviate.cli.sheets import publish_sheet
from deviate.cli.targets import takes_stdout
from deviate.errors import InputError
from deviate.model import Experiment, Settings
from deviate.project import Prepared, default_python, refuse_unknown_programs, with_interpreter
from deviate.report import overhead_document
from deviate.workflows import Begun, Request, find_cost, modes_of, profiled_name, why_no_profiler, window_for

MODES = "impl,control"
PROFILED_RUNS = 3
LONGEST_STEM = 60


@command(
    "overhead",
    epilog="Example: deviate overhead train.py --runs 5 -- --epochs 2",
)
def overhead_command(
    command: options.Command = None,
    runs: Annotated[
        int,
        typer.Option("--runs", "-r", min=2, metavar="N", help="Runs of each mode; the first of each does not count."),
    ] = DEFAULT_RUNS,
    variants: Annotated[
        str, typer.Option(metavar="FREE,HELD", help="The two modes: a variant with free kernels, one that holds them.")
    ] = MODES,
    warn_only: options.WarnOnly = False,
    profile: Annotated[
        bool,
        typer.Option("--profile/--no-profile", help="Kernel times too, of further runs that are profiled."),
    ] = True,
    profiled_runs: Annotated[
        int,
        typer.Option(min=2, metavar="N", help="Profiled runs of each mode; the first of each does not count."),
    ] = PROFILED_RUNS,
    window: Annotated[
        str | None,
        typer.Option(metavar="START:STOP", help="Main-loop steps that are profiled, from 0. Default: after a warm-up."),
    ] = None,
    name: Annotated[
        str | None, typer.Option(metavar="NAME", help="Name of the experiment. Default: the script's, and -overhead.")
    ] = None,
    seed: Annotated[int, typer.Option(metavar="N", help="The experiment seed.")] = 0,
    prepare_commands: options.Prepare = None,
    python: Annotated[str | None, typer.Option(metavar="PATH", help="Interpreter for the script.")] = None,
    wrap: options.Wrap = None,
    env: options.Env = None,
    jobs: Annotated[
        int, typer.Option("--jobs", "-j", min=1, metavar="N", help="Runs at a time; more than 1 disturbs the times.")
    ] = 1,
    gpus: options.Gpus = None,
    timeout: options.Timeout = None,
    retries: options.Retries = 1,
    trackers: options.Trackers = "offline",
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would be run; write and start nothing.")
    ] = False,
    confidence: Confidence = 0.95,
    html: Html = None,
    latex: Latex = None,
    markdown: Markdown = None,
    json_file: Json = None,
    csv_file: Csv = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress, only the result.")] = False,
) -> None:
    """Run a script in turn with free and with deterministic kernels, and report what determinism costs.

    Wall times come from runs that nothing disturbs; kernel times from further runs under the framework's profiler.
    """
    wanted = {"html": html, "latex": latex, "markdown": markdown, "json": json_file, "csv": csv_file}
    targets = {form: path for form, path in wanted.items() if path is not None}
    output = Output(takes_stdout(targets), quiet)
    container = options.commands([wrap], "--wrap")[0] if wrap is not None else ()
    default = default_python(has_container=bool(container))
    pythons = options.interpreters([python] if python else None, has_container=bool(container))
    here = Path.cwd().resolve()
    target = project.find_target(command or (), here, pythons[0] if pythons else None, default=default, then=())
    prepared = project.prepare(target)
    chosen = replay.choose_variants(variants.split(","), prepared.variants, is_warning_only=warn_only)
    if options.choice(trackers, "--trackers", ("offline", "as-is")) == "as-is":
        chosen = tuple(dataclasses.replace(variant, are_trackers_offline=False) for variant in chosen)
    modes = modes_of(chosen)
    settings = options.settings(
        executor="local", option=None, jobs=jobs, gpus=gpus, per_gpu=1, gpus_per_run=1, timeout=timeout,
        stall_timeout=None, retries=retries, max_failures=None, ignore_failure=None, requeue="fresh", keep="all",
    )  # fmt: skip
    own = name or f"{Path(prepared.analysis.script).stem[:LONGEST_STEM]}-overhead"
    request = Request(
        runs=runs,
        variants=(modes.free, modes.held),
        name=own,
        seed=seed,
        settings=settings,
        environment=options.variables(env),
        prepare=tuple(with_interpreter(words, default) for words in options.commands(prepare_commands, "--prepare")),
        wrap=container,
        n_threads=thread_limit(settings),
    )
    asked = _window(window)
    if not quiet or dry_run:
        typer.echo(announcement(prepared, request, width(), name=own), file=output.people)
    if dry_run:
        return
    if not container:
        refuse_unknown_programs(target)
    folder = records.deviate_folder(target.root)
    begun = [_run(prepared, request, folder, settings, output)]
    timed = workflows.read_variants(folder, own)
    profiled: tuple[Experiment, ...] = ()
    why = why_no_profiler(timed) if profile else "not asked for (--no-profile)"
    steps = asked or (window_for(timed) if not why else "")
    if not why and not steps:
        why = "the runs entered no main loop"
    if not why:
        output.say(f"Profile  steps {steps} of the main loop, {profiled_runs} more runs of each mode")
        kept = (("profile", steps),)
        more = dataclasses.replace(request, runs=profiled_runs, name=profiled_name(own), capture=kept)
        begun.append(_run(prepared, more, folder, settings, output))
        profiled = workflows.read_variants(folder, begun[-1].name)
    found = find_cost(timed, profiled, modes, no_profile=why, confidence=confidence)
    publish_sheet(overhead_document(found), targets, folder / "reports" / own / "overhead.html")
    workflows.tell_reported([it.folder for it in begun], is_comparison=False)
    if any(run.status != "completed" for experiment in (*timed, *profiled) for run in experiment.runs):
        raise typer.Exit(SOME_RUNS_FAILED)


def _run(prepared: Prepared, request: Request, folder: Path, settings: Settings, output: Output) -> Begun:
    """Run what is missing of one experiment."""
    begun = workflows.begin(prepared, request, folder)
    for note in begun.notes:
        output.say(f"Note     {note}")
    names = [it.name for it in request.variants]
    carry_out([begun], settings, output, variants=names, runs=request.runs)
    return begun


def _window(text: str | None) -> str:
    """START:STOP as a spec has it; empty for none. Raises InputError where it is none."""
    if text is None:
        return ""
    first, colon, last = text.partition(":")
    if not (colon and first.isdecimal() and last.isdecimal() and int(first) < int(last)):
        raise InputError(f"--window {text} is no window of steps", "write it as --window 10:110, counting from 0")
    return f"{int(first)}:{int(last)}"
