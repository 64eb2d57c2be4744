"""`deviate diverge`: where two runs that should be equal part."""

import dataclasses
import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from deviate.cli.app import SOME_RUNS_FAILED, command, width
from deviate.cli.execute import Output
from deviate.cli.options.groups import in_command, in_output, in_runs, in_variation, in_verdict
from deviate.cli.options.origins import given_words
from deviate.cli.options.results import FORMS, Documents
from deviate.cli.options.runs import ExecutionFlags, LaunchFlags, VariantFlags, variables
from deviate.cli.options.values import choice, seconds
from deviate.cli.preview import announce, announcement
from deviate.cli.publish import publish_sheet
from deviate.diverge.findings import RUNGS, DivergenceFindings
from deviate.diverge.report.document import diverge_document
from deviate.diverge.source import attach_source_context
from deviate.errors import InputError
from deviate.model.plan import Variant
from deviate.model.records import Run
from deviate.project.prepare import PreparedScript
from deviate.project.validate import refuse_missing_programs
from deviate.records.layout import records_folder
from deviate.replay.experiments import PreparedExperiment, Request, interpreter_labels
from deviate.report.files import report_folder
from deviate.report.format import clean

if TYPE_CHECKING:
    from deviate.diverge.requests import RunSide  # imports arrays, which other commands should not wait for

CONTROL, AS_IS = "control", "as-is"
HASH_SEED = "PYTHONHASHSEED"
TWO_PLACES = 4
"""Units in the last place that count as equal between two environments, where the user does not say."""
LAST_LINES = 5
DECISIVE = frozenset({
    "hold", "python", "env", "second_env", "ulps", "wrap", "prepare", "gpus", "gpus_per_run", "timeout", "level_time",
    "trackers", "warn_only", "seed", "budget",
})  # fmt: skip
"""Options that the runs depend on, apart from script and variant."""
LEVELS = (
    "1 metrics: both runs to the end, reported values and losses",
    "2 steps, 3 modules, 4 operations: each only if the level before has a difference, in two runs that end after it",
    "then one more pair for the size of the first difference",
)


@command(
    "diverge",
    epilog="Example: deviate diverge train.py -- --epochs 1, or of runs on record: "
    "deviate diverge train:0 train:1. A difference that is found is an answer: the exit code is 0; it is 3 where a run "
    "failed.",
)
def diverge_command(
    *,
    command: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="SCRIPT [-- ARGS]",
            help="Training script or notebook, then -- and its arguments; or -- and a whole command; or two recorded "
            "runs: NAME:RUN or NAME:VARIANT:RUN. Default: that of deviate.toml.",
        ),
    ] = None,
    variant: str | None = in_variation("NAME", "Variant of both runs: control, impl … Default: as-is."),
    budget: int = in_runs("N", "Most further runs that prove a cause; 0 for none.", min=0, default=8),
    hold: list[str] | None = in_variation(
        "NAME,…", "Also hold: listing, clock, entropy, workers, threads, hash. Listings are sorted, and so on."
    ),
    level: str | None = in_verdict(
        "NAME", f"Trace level to stop at, even if earlier levels are equal: {', '.join(RUNGS)}."
    ),
    ulps: int | None = in_verdict(
        "N",
        "Difference in units in the last place that counts as equal. Default: 0; between two environments 4.",
        min=0,
    ),
    level_time: str | None = in_verdict(
        "DURATION",
        "Time limit of each level after the first: 30m, 4h. Default: the time of the first level and ten minutes.",
    ),
    variant_flags: Annotated[VariantFlags, "warn_only", "trackers"],
    python: list[str] | None = in_command(
        "PATH", "Interpreter of the script; two for one run with each. Default: python on PATH."
    ),
    launch: Annotated[LaunchFlags, "env", "prepare", "wrap"],
    second_env: list[str] | None = in_command(
        "KEY=VALUE", "Environment variable of the second run only: CUDA_VISIBLE_DEVICES= for the CPU."
    ),
    name: str | None = in_runs("NAME", "Name of the experiments. Default: the script's, and -diverge."),
    seed: int = in_runs("N", "Seed of the experiment.", default=0),
    execution: Annotated[ExecutionFlags, "gpus", "gpus_per_run", "timeout"],
    dry_run: bool = in_runs(None, "Show what would run; run and write nothing.", default=False),
    documents: Annotated[Documents, *FORMS],
    quiet: bool = in_output(None, "Show the result only.", "--quiet", "-q", default=False),
) -> None:
    """Run a script twice, and find the first update, module and operation at which the runs differ.

    Each call makes new runs; where they are equal to the end, two are enough.
    """
    from deviate.diverge.chance import draw_chance
    from deviate.diverge.engine import diverge
    from deviate.diverge.holds import parse_holds
    from deviate.diverge.recorded import compare_recorded, is_of_records
    from deviate.diverge.requests import DivergeRequest, free_base, refuse_varied
    from deviate.replay.variants import with_levels

    targets = documents.targets()
    output = Output(documents.takes_stdout, quiet)
    cwd = Path.cwd().resolve()
    goal = choice(level, "--level", RUNGS) if level is not None else None
    folder = records_folder(cwd)
    if is_of_records(folder, command or ()):
        findings, runs = compare_recorded(folder, command or (), tolerance=ulps or 0)
        # A ladder may have the name of an experiment, whose page is kept.
        page = f"diverge-{re.sub(r'[^A-Za-z0-9]+', '-', '-'.join(run.partition(':')[2] for run in findings.runs))}.html"
        where = report_folder(folder, [run.partition(":")[0] for run in findings.runs])
        _publish(findings, tuple(zip(findings.runs, runs, strict=True)), targets, where / page, output)
        return
    launch = dataclasses.replace(launch, python=python)
    sides = _sides(command or (), cwd, launch, second_env)
    first = sides[0].prepared
    held = parse_holds(hold or ())
    chosen = _variant(variant, variant_flags, first, n_sides=len(sides))
    if chosen.name == AS_IS and len(sides) == 1:
        is_hash_set = HASH_SEED in {**os.environ, **dict(variables(launch.env))}
        chosen = draw_chance(chosen, is_hash_set=is_hash_set)
    chosen = with_levels(chosen, held)
    if len(sides) == 1:
        refuse_varied(chosen)
    settings = dataclasses.replace(execution, jobs=None if execution.gpus else 1, keep="none").settings()
    request = launch.complete(
        Request(runs=2, variants=(chosen,), name=None, seed=seed, settings=settings, needs_metrics=False)
    )
    base = free_base(folder, Path(first.analysis.script), name, [side.label for side in sides])
    tolerance = ulps if ulps is not None else TWO_PLACES if len(sides) > 1 else 0
    for side in sides:
        refuse_missing_programs(side.prepared, request)
    if not quiet or dry_run:
        apart = {f"{base}-{side.label}": side.prepared.target.command for side in sides if side.label}
        announce(announcement(first, request, width(), name=base, apart=apart), output.people)
    if dry_run:
        typer.echo("\n".join(f"{'Levels' if at == 0 else '':<9}{line}" for at, line in enumerate(LEVELS)))
        return

    def carry(experiments: Sequence[PreparedExperiment]) -> None:
        for note in dict.fromkeys(note for experiment in experiments for note in experiment.notes):
            output.say(f"Note     {note}")
        output.execute(experiments, experiments[0].plan.settings)

    diverge_request = DivergeRequest(
        base,
        sides,
        request,
        tolerance,
        folder,
        level_limit_s=seconds(level_time, "--level-time"),
    )
    search = diverge(diverge_request, carry, output.say, goal=goal, budget=budget)
    findings = dataclasses.replace(search.findings, flags=tuple(given_words(DECISIVE)))
    _publish(
        findings, tuple(search.runs()), targets, folder / "reports" / findings.name / "diverge.html", output,
        is_interrupted=search.is_interrupted,
    )  # fmt: skip


def _publish(
    findings: DivergenceFindings,
    runs: Sequence[tuple[str, Run]],
    targets: dict[str, Path],
    page: Path,
    output: Output,
    *,
    is_interrupted: bool = False,
) -> None:
    """Print the result, and why a run failed; the exit code is different if one did.

    Args:
        runs: those that were compared, and further ones that failed, each with what it is called.

    Raises:
        KeyboardInterrupt: the user has interrupted it, once all is told.
    """
    from deviate.diverge.requests import ENDED, ending

    findings = attach_source_context(findings, runs[0][1].folder)
    publish_sheet(diverge_document(findings), targets, page)
    if is_interrupted:
        raise KeyboardInterrupt
    failed = [(name, run) for name, run in runs if run.status not in ENDED]
    for name, run in failed:
        last = "".join(f"\n  {clean(line)}" for line in run.stderr_tail[-LAST_LINES:])
        typer.echo(f"{clean(f'{name[:1].upper()}{name[1:]} {ending(run)}')}{last}", file=output.people)
    if failed:
        raise typer.Exit(SOME_RUNS_FAILED)


def _variant(name: str | None, flags: VariantFlags, first: PreparedScript, *, n_sides: int) -> Variant:
    """The variant of both runs. Raises InputError for several, or an unknown one."""
    if name is not None and "," in name:
        raise InputError(f"--variant {name}: both runs are of one variant", f"name one: --variant {name.split(',')[0]}")
    name = name or (AS_IS if n_sides == 1 else CONTROL)
    chosen = dataclasses.replace(flags, variants=name).choose(first)[0]
    return dataclasses.replace(chosen, are_trackers_offline=flags.trackers != AS_IS)


def _sides(
    command: Sequence[str], folder: Path, launch: LaunchFlags, second_env: Sequence[str] | None
) -> "tuple[RunSide, ...]":
    """What the runs are started from: one side for both, or two."""
    from deviate.diverge.requests import RunSide

    pythons = launch.pythons()
    if len(pythons) > 2:
        raise InputError(f"{len(pythons)} --python: two runs are compared", "name two interpreters at most")
    chosen: Sequence[str | None] = pythons or (None,)
    prepared = [launch.prepare_target(command, folder, python) for python in chosen]
    if len(pythons) == 2 and second_env:
        raise InputError("--second-env stands beside two --python", "let the two runs differ in one of them")
    if len(pythons) == 2:
        labels = interpreter_labels(pythons)
        return tuple(RunSide(script, label) for script, label in zip(prepared, labels, strict=True))
    if second_env:
        names = "-".join(text.partition("=")[0].lower() for text in second_env)
        return RunSide(prepared[0], "first"), RunSide(prepared[0], f"with-{names}", variables(second_env))
    return (RunSide(prepared[0]),)
