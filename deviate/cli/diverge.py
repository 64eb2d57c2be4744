"""`deviate diverge`: where two runs that should be equal part."""

import dataclasses
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from deviate import project, records, replay, workflows
from deviate.cli import options
from deviate.cli.app import SOME_RUNS_FAILED, Csv, Html, Json, Latex, Markdown, command, width
from deviate.cli.carry import Output, carry_out
from deviate.cli.preview import announcement
from deviate.cli.run import thread_limit
from deviate.cli.sheets import publish_sheet
from deviate.cli.targets import takes_stdout
from deviate.diverge import with_lines_around
from deviate.errors import InputError
from deviate.model import Run, Variant
from deviate.model.divergence import RUNGS, DivergenceFindings, Rung
from deviate.project import default_python, refuse_unknown_programs, with_interpreter
from deviate.report import clean
from deviate.report.parts.diverge import diverge_document
from deviate.workflows import Begun, Request

if TYPE_CHECKING:
    from deviate.diverge import Side  # arrays, which no other verb should wait for

CONTROL, AS_IS = "control", "as-is"
TWO_PLACES = 4
"""Units in the last place that count as equal between two environments, where the user does not say."""
LAST_LINES = 5
LADDER = (
    "1 metrics: both runs to the end, reported values and losses",
    "2 steps, 3 modules, 4 operations: each only where the rung before has a difference, in two runs that end after it",
    "then one more pair for the size of the first difference",
)


@command(
    "diverge",
    epilog="Example: deviate diverge train.py --confirm -- --epochs 1, or of runs on record: "
    "deviate diverge train:0 train:1. A difference that is found is an answer: the exit code is 0; it is 3 where a run "
    "failed.",
)
def diverge_command(
    command: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="SCRIPT [-- ARGS]",
            help="The training script and, after --, its arguments; or a whole command after --; or two runs on "
            "record, NAME:RUN or NAME:VARIANT:RUN. Default: what deviate.toml names.",
        ),
    ] = None,
    variant: Annotated[
        str | None, typer.Option(metavar="NAME", help="What both runs hold: control, impl, … Default: control.")
    ] = None,
    seeds: Annotated[
        str | None, typer.Option(metavar="as-is", help="Leave the script's own seeds and settings: the variant as-is.")
    ] = None,
    confirm: Annotated[
        bool, typer.Option("--confirm", help="Run further pairs with what removes the likely causes, and compare.")
    ] = False,
    rung: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help=f"Climb to this rung, though the runs are equal above, and no further: {', '.join(RUNGS)}.",
        ),
    ] = None,
    ulps: Annotated[
        int | None,
        typer.Option(
            min=0,
            metavar="N",
            help="Units in the last place that count as equal. Default: 0; 4 between two environments.",
        ),
    ] = None,
    warn_only: options.WarnOnly = False,
    python: Annotated[
        list[str] | None, typer.Option(metavar="PATH", help="Interpreter for the script; two for a run with each.")
    ] = None,
    env: options.Env = None,
    second_env: Annotated[
        list[str] | None,
        typer.Option(metavar="KEY=VALUE", help="Variable for the second run alone: CUDA_VISIBLE_DEVICES= for the CPU."),
    ] = None,
    name: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Name of the new experiments. Default: the script's, and -diverge."),
    ] = None,
    seed: Annotated[int, typer.Option(metavar="N", help="The experiment seed.")] = 0,
    prepare_commands: options.Prepare = None,
    wrap: options.Wrap = None,
    gpus: options.Gpus = None,
    gpus_per_run: options.GpusPerRun = 1,
    timeout: options.Timeout = None,
    trackers: options.Trackers = "offline",
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would be run; write and start nothing.")
    ] = False,
    html: Html = None,
    latex: Latex = None,
    markdown: Markdown = None,
    json_file: Json = None,
    csv_file: Csv = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress, only the result.")] = False,
) -> None:
    """Run a script twice, and find the first update, module and operation at which the runs differ.

    Each call makes new runs; where they are equal to the end, two are enough.
    """
    from deviate.diverge import Asked, compare_recorded, diverge, free_base, is_of_records, refuse_varied

    wanted = {"html": html, "latex": latex, "markdown": markdown, "json": json_file, "csv": csv_file}
    targets = {form: path for form, path in wanted.items() if path is not None}
    output = Output(takes_stdout(targets), quiet)
    here = Path.cwd().resolve()
    goal = cast("Rung | None", options.choice(rung, "--rung", RUNGS) if rung is not None else None)
    folder = workflows.records_folder(here)
    if is_of_records(folder, command or ()):
        found, runs = compare_recorded(folder, command or (), tolerance=ulps or 0)
        # A ladder may have the name of an experiment, and its page stays what it is.
        page = f"diverge-{re.sub(r'[^A-Za-z0-9]+', '-', '-'.join(it.partition(':')[2] for it in found.runs))}.html"
        where = workflows.report_folder(folder, [it.partition(":")[0] for it in found.runs])
        _publish(found, tuple(zip(found.runs, runs, strict=True)), targets, where / page, output)
        return
    container = options.commands([wrap], "--wrap")[0] if wrap is not None else ()
    sides = _sides(command or (), here, python, second_env, has_container=bool(container))
    first = sides[0].prepared
    chosen = _variant(variant, seeds, first, is_warning_only=warn_only)
    if len(sides) == 1:
        refuse_varied(chosen)
    if options.choice(trackers, "--trackers", ("offline", "as-is")) == "as-is":
        chosen = dataclasses.replace(chosen, are_trackers_offline=False)
    settings = options.settings(
        executor="local", option=None, jobs=None if gpus else 1, gpus=gpus, per_gpu=1, gpus_per_run=gpus_per_run,
        timeout=timeout, stall_timeout=None, retries=1, max_failures=None, ignore_failure=None, requeue="fresh",
        keep="none",
    )  # fmt: skip
    default = default_python(has_container=bool(container))
    request = Request(
        runs=2,
        variants=(chosen,),
        name=None,
        seed=seed,
        settings=settings,
        environment=options.variables(env),
        prepare=tuple(with_interpreter(words, default) for words in options.commands(prepare_commands, "--prepare")),
        wrap=container,
        n_threads=thread_limit(settings),
        needs_metrics=False,
    )
    folder = records.deviate_folder(first.target.root)
    base = free_base(folder, Path(first.analysis.script), name, [it.label for it in sides])
    tolerance = ulps if ulps is not None else TWO_PLACES if len(sides) > 1 else 0
    if not quiet or dry_run:
        apart = {f"{base}-{it.label}": it.prepared.target.command for it in sides if it.label}
        typer.echo(announcement(first, request, width(), name=base, apart=apart), file=output.people)
    if dry_run:
        typer.echo("\n".join(f"{'Ladder' if at == 0 else '':<9}{line}" for at, line in enumerate(LADDER)))
        return
    if not container:
        for side in sides:
            refuse_unknown_programs(side.prepared.target)

    def carry(begun: Sequence[Begun]) -> None:
        for note in dict.fromkeys(note for it in begun for note in it.notes):
            output.say(f"Note     {note}")
        carry_out(begun, settings, output)

    asked = Asked(base, sides, request, tolerance, folder)
    ladder = diverge(asked, carry, output.say, goal=goal, confirms=confirm)
    given = {
        "--python": python, "--env": env, "--second-env": second_env, "--ulps": ulps, "--wrap": wrap,
        "--prepare": prepare_commands, "--gpus": gpus, "--gpus-per-run": gpus_per_run if gpus_per_run > 1 else None,
        "--timeout": timeout, "--trackers": None if trackers == "offline" else trackers, "--seed": seed or None,
    }  # fmt: skip
    found = dataclasses.replace(ladder.findings, flags=(*_words(given), *(["--warn-only"] if warn_only else [])))
    _publish(
        found, ladder.runs, targets, folder / "reports" / found.name / "diverge.html", output,
        is_interrupted=ladder.is_interrupted,
    )  # fmt: skip


def _words(given: Mapping[str, list[str] | str | int | None]) -> Iterator[str]:
    """Flags that were given, word by word; one that was given several times several times."""
    for flag, value in given.items():
        for it in value if isinstance(value, list) else [value]:
            if it is not None:
                yield from (flag, str(it))


def _publish(
    found: DivergenceFindings,
    runs: Sequence[tuple[str, Run]],
    targets: dict[str, Path],
    page: Path,
    output: Output,
    *,
    is_interrupted: bool = False,
) -> None:
    """Tell what was found, and why a run failed; an exit code of its own where one did.

    Args:
        runs: those that were compared, and further ones that failed, each with what it is called.

    Raises:
        KeyboardInterrupt: the user has interrupted it, once all is told.
    """
    from deviate.diverge import ENDED, ending

    found = with_lines_around(found, runs[0][1].folder)
    publish_sheet(diverge_document(found), targets, page)
    if is_interrupted:
        raise KeyboardInterrupt
    failed = [(name, run) for name, run in runs if run.status not in ENDED]
    for name, run in failed:
        last = "".join(f"\n  {clean(line)}" for line in run.stderr_tail[-LAST_LINES:])
        typer.echo(f"{clean(f'{name[:1].upper()}{name[1:]} {ending(run)}')}{last}", file=output.people)
    if failed:
        raise typer.Exit(SOME_RUNS_FAILED)


def _variant(name: str | None, seeds: str | None, first: project.Prepared, *, is_warning_only: bool) -> Variant:
    """The variant of both runs. Raises InputError for several, or none of that name."""
    if seeds is not None:
        options.choice(seeds, "--seeds", (AS_IS,))
        if name not in {None, AS_IS}:
            raise InputError(f"--seeds as-is stands beside --variant {name}", "name one of them")
        name = AS_IS
    if name is not None and "," in name:
        raise InputError(f"--variant {name}: both runs are of one variant", f"name one: --variant {name.split(',')[0]}")
    return replay.choose_variants([name or CONTROL], first.variants, is_warning_only=is_warning_only)[0]


def _sides(
    command: Sequence[str],
    here: Path,
    python: Sequence[str] | None,
    second_env: Sequence[str] | None,
    *,
    has_container: bool,
) -> "tuple[Side, ...]":
    """What both runs are started from: one side for both, or two."""
    from deviate.diverge import Side

    pythons = options.interpreters(python, has_container=has_container)
    if len(pythons) > 2:
        raise InputError(f"{len(pythons)} --python: two runs are compared", "name two interpreters at most")
    default = default_python(has_container=has_container)
    chosen: Sequence[str | None] = pythons or (None,)
    found = [project.prepare(project.find_target(command, here, it, default=default, then=())) for it in chosen]
    if len(pythons) == 2 and second_env:
        raise InputError("--second-env stands beside two --python", "let the two runs differ in one of them")
    if len(pythons) == 2:
        labels = workflows.interpreter_labels(pythons)
        return tuple(Side(it, label) for it, label in zip(found, labels, strict=True))
    if second_env:
        told = "-".join(text.partition("=")[0].lower() for text in second_env)
        return Side(found[0], "first"), Side(found[0], f"with-{told}", options.variables(second_env))
    return (Side(found[0]),)
