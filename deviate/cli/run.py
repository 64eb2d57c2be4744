"""`deviate run`: a script many times."""

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from deviate import pipeline
from deviate.cli import sweep
from deviate.cli.app import command, named_folder, width
from deviate.cli.cost import Outlook, foresee
from deviate.cli.entries import refuse_folder
from deviate.cli.execute import Output, conclude
from deviate.cli.options.groups import in_output, in_runs
from deviate.cli.options.origins import is_from_variable, plan_origins, variables_in_use
from deviate.cli.options.results import AnalysisFlags, Documents
from deviate.cli.options.runs import (
    BUDGET,
    DEFAULT_RUNS,
    RUNS,
    CaptureFlags,
    Command,
    ExecutionFlags,
    LaunchFlags,
    SampleSizeFlags,
    VariantFlags,
)
from deviate.cli.options.values import commands, pair, seconds
from deviate.cli.preview import announce, announcement
from deviate.errors import InputError
from deviate.pipeline import Requests, refuse_disjoint
from deviate.project.prepare import PreparedScript
from deviate.project.validate import has_all_names, validate_request
from deviate.replay.experiments import Request, interpreter_labels, specs_of
from deviate.stats.options import AnalysisOptions


@command(
    "run",
    epilog="Example: deviate run train.py --runs 10 -- --epochs 5",
)
def run_command(
    *,
    command: Command = None,
    runs: int | None = RUNS,
    variants: VariantFlags,
    name: str | None = in_runs("NAME", "Name of the experiment. Default: the script's."),
    seed: int = in_runs(
        "N", "Seed of the experiment; experiments with the same seed can be compared in pairs.", default=0
    ),
    versus: list[str] | None = in_runs(
        "NAME=COMMAND", 'Command to compare, run in turn with the others; two or more: "base=python train.py".'
    ),
    sweep_of: str | None = sweep.OPTION,
    launch: LaunchFlags,
    execution: ExecutionFlags,
    budget: str | None = BUDGET,
    sample_size_flags: SampleSizeFlags,
    captures: CaptureFlags,
    strict: bool = in_runs(None, "Fail if the environments of the runs differ.", default=False),
    dry_run: bool = in_runs(None, "Show what would run and be recorded; run and write nothing.", default=False),
    plan_only: bool = in_runs(None, "Freeze and plan; `deviate worker` executes the runs.", default=False),
    analysis_flags: Annotated[
        AnalysisFlags, "metric", "aggregate", "margin", "paired", "groups", "weak_below", "confidence"
    ],
    documents: Documents,
    quiet: bool = in_output(None, "Show the result only.", "--quiet", "-q", default=False),
) -> None:
    """Run a script N times, record what it reports, and report the spread.

    The same command again runs what is missing; with more --runs it adds runs.
    """
    from deviate.records.layout import records_folder

    output = Output(documents.takes_stdout, quiet)
    cwd = Path.cwd().resolve()
    folder = named_folder(command or (), cwd)
    if folder is not None:
        from deviate.analysis.entries import rank_scripts

        raise refuse_folder(rank_scripts(folder), cwd, "run")
    contenders = _contenders(command or (), versus, launch, name, cwd)
    first = next(iter(contenders.values()))
    if sample_size_flags.looks is not None and is_from_variable("runs"):
        runs = None  # the numbers of the looks decide
    sample_size = sample_size_flags.declare(runs, analysis_flags.confidence)
    sources = dict(plan_origins(first, has_command=bool(command or versus)))
    if rule := sources.get("until") or sources.get("looks"):
        sources["runs"] = rule
    request = launch.complete(
        Request(
            runs=sample_size.first or runs or first.config.runs or DEFAULT_RUNS,
            variants=variants.choose(first),
            name=name,
            seed=seed,
            settings=execution.settings(),
            sample_size=sample_size,
            budget_s=seconds(budget, "--budget"),
            is_strict=strict,
            capture=captures.spec(first.config.capture),
            primary=analysis_flags.metric,
            margin=analysis_flags.margin,
            origins=tuple(sources.items()),
        )
    )
    options = analysis_flags.options()
    requests: Requests = {side: (prepared, request) for side, prepared in contenders.items()}
    if sweep_of is not None:
        requests = sweep.points(sweep_of, requests, sample_size, documents)
    folder = records_folder(cwd)
    warnings = _validate(requests, options, folder, starts=not (dry_run or plan_only))
    outlook = foresee(requests, folder)
    _announce(requests, output, outlook, is_silent=quiet and not dry_run)
    for warning in warnings:
        typer.echo(f"Warning: {warning}", err=True)
    if dry_run:
        return
    experiments = pipeline.run(requests, folder, options, output, is_plan_only=plan_only)
    if plan_only:
        for experiment in experiments:
            n_runs = len(specs_of(experiment.plan))
            output.say(f"Planned  {experiment.name}: deviate worker {experiment.name} --index 0 … {n_runs - 1}")
        return
    if sweep_of is not None:
        sweep.conclude(experiments, options, documents)
    else:
        names = [variant.name for variant in request.variants]
        conclude(experiments, names, options, output, documents, is_strict=strict)


def _validate(requests: Requests, options: AnalysisOptions, folder: Path, *, starts: bool) -> list[str]:
    """Check all requests before anything is shown or run; returns warnings.

    Raises:
        InputError: runs cannot be started, or cannot answer what is asked.
    """
    warnings = [
        warning
        for prepared, request in requests.values()
        for warning in validate_request(prepared, request, options, folder, starts=starts)
    ]
    if all(has_all_names(prepared) for prepared, _ in requests.values()):
        metrics = [(side or "", [item.name for item in one.selection.metrics]) for side, (one, _) in requests.items()]
        refuse_disjoint(metrics, "run each with --name alone, then: deviate compare")
    n_runs = next(iter(requests.values()))[1].runs
    if options.is_paired and (len(requests) == 1 or n_runs < 2):
        if len(requests) > 1:
            raise InputError(f"--paired compares pairs, and --runs {n_runs} gives one pair", "use --runs 5 or more")
        raise InputError(
            "--paired compares pairs of runs of two commands, and there is one command",
            "name both: --versus NAME=COMMAND --versus NAME=COMMAND; or compare afterwards: deviate compare --paired",
        )
    return list(dict.fromkeys(warnings))


def _announce(requests: Requests, output: Output, outlook: Outlook, *, is_silent: bool) -> None:
    """Show what is recorded and run, and what that takes; for a sweep, the first value and all names."""
    swept = [side for side, (_, request) in requests.items() if side and request.sweep]
    shown = list(requests.items())[: 1 if swept else None]
    for side, (prepared, request) in shown:
        if not is_silent:
            cost = outlook.text() if side == shown[-1][0] else ""
            announce(announcement(prepared, request, width(), name=side, cost=cost), output.people)
    variables = variables_in_use()
    if variables and not is_silent:
        typer.echo(f"Set by   {', '.join(variables)}\n", file=output.people)
    if swept and not is_silent:
        typer.echo(f"Sweep    {', '.join(swept)}\n", file=output.people)
    if shortage := outlook.shortage():
        typer.echo(f"Warning: {shortage}", err=True)


def _contenders(
    command: Sequence[str], versus: Sequence[str] | None, launch: LaunchFlags, name: str | None, folder: Path
) -> dict[str | None, PreparedScript]:
    """The requests to run side by side, by experiment name; None for one without a name yet."""
    pythons = launch.pythons()
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
        pairs = [pair(text, "--versus", "NAME=COMMAND") for text in versus]
        if len({side for side, _ in pairs}) < len(pairs):
            raise InputError("two --versus have the same name", "give each its own: base=…, new=…")
        return {side: launch.prepare_target(commands([text], "--versus")[0], folder, python) for side, text in pairs}
    if len(pythons) > 1:
        contenders = [launch.prepare_target(command, folder, path) for path in pythons]
        stem = name or Path(contenders[0].analysis.script).stem
        labels = interpreter_labels(pythons)
        return {f"{stem}-{label}": prepared for label, prepared in zip(labels, contenders, strict=True)}
    return {None: launch.prepare_target(command, folder, python)}
