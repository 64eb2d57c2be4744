"""The command line: flags into requests, findings into text, errors into exit codes. The only room that prints."""

import enum
import json
import os
import shlex
import shutil
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from deviate import __version__, analysis, doctor, entry_scripts, pipeline, prepare, records, replay, report
from deviate.announce import announcement
from deviate.command import default_python, locate
from deviate.display import display
from deviate.errors import DeviateError, InputError
from deviate.model import Experiment, Findings
from deviate.pipeline import Judging, Request
from deviate.report.analysis_text import render_analysis
from deviate.report.doctor_text import render_diagnosis
from deviate.review import Terminal

DONE, FAILED, WRONG_USAGE, SOME_RUNS_FAILED, INTERRUPTED = 0, 1, 2, 3, 130
DEFAULT_RUNS = 5
DEFAULT_VARIANT = "algo+impl"


class Form(enum.StrEnum):
    """How something is shown."""

    table = "table"
    json = "json"


app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Run a training script many times under controlled randomness, and say what the differences mean.",
)

Metric = Annotated[str | None, typer.Option("--metric", help="The primary metric, which decides the verdict.")]
Aggregate = Annotated[
    str | None, typer.Option(help="How a run's values become its score: last, best, mean, median, min, max or at:K.")
]
Confidence = Annotated[float, typer.Option(min=0.5, max=0.9999, help="Level of the intervals.")]
Margin = Annotated[float | None, typer.Option(help="Smallest difference of the primary metric that matters.")]
Match = Annotated[
    list[str] | None, typer.Option(help="Compare differently named metrics: BASELINE_NAME=CANDIDATE_NAME.")
]
Html = Annotated[Path | None, typer.Option(help="Write the report here ('-' is standard output).")]
Json = Annotated[Path | None, typer.Option("--json", help="Write all figures as JSON ('-' is standard output).")]
Csv = Annotated[
    Path | None, typer.Option("--csv", help="Write the score of every run as CSV ('-' is standard output).")
]


@app.command("analyze", epilog="Example: deviate analyze train.py --save")
def analyze_command(
    command: Annotated[
        list[str], typer.Argument(metavar="SCRIPT", help="The training script, a folder, or a command after --.")
    ],
    form: Annotated[Form, typer.Option("--format", help="For people, or for programs.")] = Form.table,
    save: Annotated[bool, typer.Option("--save", help="Write deviate.toml, or bring it up to date.")] = False,
    everything: Annotated[bool, typer.Option("--all", help="Show each rejected value and hazard, and why.")] = False,
    review: Annotated[bool, typer.Option("--review", help="Look it over question by question, then write it.")] = False,
) -> None:
    """Show what would be recorded, and why. Runs nothing, and writes nothing unless asked to.

    Of a folder, show its likely training scripts.
    """
    here = Path.cwd().resolve()
    folder = _folder(command, here)
    if folder is not None:
        entries = analysis.rank_scripts(folder)
        if save or review:
            raise entry_scripts.refuse_folder(entries, here, f"analyze {'--save' if save else '--review'}")
        document = entry_scripts.entries_document(entries)
        as_text = form is Form.table
        typer.echo(
            entry_scripts.render_entries(entries, here, _width(), is_whole=everything)
            if as_text
            else _as_json(document),
            nl=not as_text,
        )
        return
    looked = prepare.look(locate(command, here))
    if review:
        _review(looked)
        return
    told = ""
    if save:
        looked, saved = prepare.save(looked)
        told = f" ({saved})" if str(saved) else ""
    prepared = prepare.obey(looked)
    if form is Form.json:
        typer.echo(_as_json(analysis.to_document(prepared.analysis)))
    else:
        typer.echo(render_analysis(prepared.analysis, prepared.selection, _width(), is_whole=everything))
    for note in prepared.notes:
        typer.echo(f"Note       {note}", err=form is Form.json)
    if save:
        _say_saved(looked, told, is_aside=form is Form.json)


def _review(looked: prepare.Looked) -> None:
    if prepare.review(looked, Terminal()):
        _say_saved(looked, "", is_aside=False)
    else:
        typer.echo("Nothing was written.")


def _say_saved(looked: prepare.Looked, told: str, *, is_aside: bool) -> None:
    typer.echo(f"Saved      {_nearest(looked.config_path)}{told}", err=is_aside)
    typer.echo(f"Next       deviate run {shlex.quote(looked.analysis.script)}", err=is_aside)


@app.command("run", epilog="Example: deviate run train.py --runs 10 -- --epochs 5")
def run_command(
    command: Annotated[
        list[str],
        typer.Argument(
            metavar="SCRIPT [-- ARGS]",
            help="The training script and, after --, its arguments; or a whole command after --.",
        ),
    ],
    runs: Annotated[
        int | None, typer.Option("--runs", "-r", min=1, help=f"How many runs. Default: {DEFAULT_RUNS}.")
    ] = None,
    variants: Annotated[
        str | None,
        typer.Option(
            help=f"What varies: {', '.join(replay.VARIANTS)}, a combination as init+shuffle, or one of deviate.toml; "
            f"several with commas. Default: {DEFAULT_VARIANT}."
        ),
    ] = None,
    warn_only: Annotated[
        bool,
        typer.Option(
            "--warn-only", help="Where kernels are held: list operations without a deterministic version, and go on."
        ),
    ] = False,
    name: Annotated[str | None, typer.Option(help="Name of the experiment. Default: the script's.")] = None,
    seed: Annotated[int, typer.Option(help="The experiment seed: experiments with the same one pair.")] = 0,
    jobs: Annotated[
        int | None, typer.Option("--jobs", "-j", min=1, help="Runs at a time. Default: one per two cores.")
    ] = None,
    timeout: Annotated[float | None, typer.Option(min=0.001, help="Seconds after which a run is ended.")] = None,
    python: Annotated[str | None, typer.Option(help="Interpreter for the script. Default: python on PATH.")] = None,
    env: Annotated[list[str] | None, typer.Option(help="Variable for every run: KEY=VALUE. May be repeated.")] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would be recorded and run; start nothing.")
    ] = False,
    metric: Metric = None,
    aggregate: Aggregate = None,
    confidence: Confidence = 0.95,
    html: Html = None,
    json_file: Json = None,
    csv_file: Csv = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress, only the result.")] = False,
) -> None:
    """Run a script N times, record what it reports, and report the spread."""
    takes_stdout = _takes_stdout(html, json_file, csv_file)
    here = Path.cwd().resolve()
    folder = _folder(command, here)
    if folder is not None:
        raise entry_scripts.refuse_folder(analysis.rank_scripts(folder), here, "run")
    prepared = prepare.prepare(locate(command, here, python))
    settings = prepared.config
    request = Request(
        runs=runs or settings.runs or DEFAULT_RUNS,
        variants=replay.choose_variants(
            variants.split(",") if variants else settings.variants or (DEFAULT_VARIANT,),
            prepared.variants,
            is_warning_only=warn_only,
        ),
        name=name,
        seed=seed,
        jobs=jobs,
        timeout_s=timeout,
        environment=tuple(_pair(text, "--env", "KEY=VALUE") for text in env or ()),
    )
    people = sys.stderr if takes_stdout else sys.stdout
    judging = Judging(confidence=confidence, metric=metric, aggregate=aggregate)
    if not quiet or dry_run:
        typer.echo(announcement(prepared, request, _width()), file=people)
    if warning := pipeline.foresee(prepared, judging):
        typer.echo(f"Warning: {warning}", err=True)
    if dry_run:
        return
    folder = records.deviate_folder(prepared.target.root)
    begun = pipeline.begin(prepared, request, folder)
    with display(people, n_runs=request.runs * len(request.variants), jobs=begun.jobs, is_quiet=quiet) as shown:
        outcomes = pipeline.carry_out(begun, request, shown.show)
    reused = sum(outcome.is_reused for outcome in outcomes)
    if reused and not quiet:
        typer.echo(f"{reused} of {len(outcomes)} runs were on record already: {begun.folder}", file=people)
    experiments = pipeline.read(folder, [f"{begun.name}:{variant.name}" for variant in request.variants])
    findings = pipeline.describe(experiments, judging)
    _publish(findings, experiments, folder, html, json_file, csv_file)
    if any(run.status != "completed" for experiment in experiments for run in experiment.runs):
        raise typer.Exit(SOME_RUNS_FAILED)


@app.command("compare", epilog="Example: deviate compare baseline new --html out.html")
def compare_command(
    names: Annotated[
        list[str], typer.Argument(metavar="BASELINE CANDIDATE...", help="Experiments by name, or NAME:VARIANT.")
    ],
    metric: Metric = None,
    aggregate: Aggregate = None,
    match: Match = None,
    margin: Margin = None,
    confidence: Confidence = 0.95,
    html: Html = None,
    json_file: Json = None,
    csv_file: Csv = None,
) -> None:
    """Compare experiments on record: does the candidate beat the baseline?"""
    if len(names) < 2:
        raise InputError(
            "one experiment cannot be compared", "name the baseline and a candidate, or use: deviate report NAME"
        )
    if len(set(names)) < len(names):
        raise InputError("an experiment cannot be compared with itself", "name each experiment once")
    matches = dict(_pair(text, "--match", "BASELINE_NAME=CANDIDATE_NAME") for text in match or ())
    judging = Judging(confidence=confidence, metric=metric, aggregate=aggregate, margin=margin, matches=matches)
    _report_on(names, judging, html, json_file, csv_file)


@app.command("report", epilog="Example: deviate report small --html paper.html")
def report_command(
    names: Annotated[
        list[str],
        typer.Argument(metavar="NAME...", help="One experiment with all its variants, or a baseline and candidates."),
    ],
    metric: Metric = None,
    aggregate: Aggregate = None,
    confidence: Confidence = 0.95,
    html: Html = None,
    json_file: Json = None,
    csv_file: Csv = None,
) -> None:
    """Report again from what is on record, without running anything."""
    judging = Judging(confidence=confidence, metric=metric, aggregate=aggregate)
    if len(names) > 1:
        _report_on(names, judging, html, json_file, csv_file)
        return
    _takes_stdout(html, json_file, csv_file)
    folder = pipeline.records_folder(Path.cwd().resolve())
    experiments = pipeline.read_variants(folder, names[0])
    _publish(pipeline.describe(experiments, judging), experiments, folder, html, json_file, csv_file)


@app.command("doctor", epilog="Example: deviate doctor --python .venv/bin/python")
def doctor_command(
    python: Annotated[str | None, typer.Option(help="Interpreter of the script. Default: python on PATH.")] = None,
    timeout: Annotated[
        float, typer.Option(min=1, help="Seconds after which a framework that does not answer is given up.")
    ] = doctor.TIMEOUT_S,
    form: Annotated[Form, typer.Option("--format", help="For people, or for programs.")] = Form.table,
) -> None:
    """Show which frameworks the interpreter has, and what of them can be controlled on this machine.

    Imports each of them in a process of its own, tries its switches, and changes nothing.
    """
    diagnosis = doctor.examine(python or default_python(), timeout_s=timeout, on_change=_show_examined)
    if form is Form.json:
        typer.echo(_as_json(doctor.to_document(diagnosis)))
    else:
        typer.echo(render_diagnosis(diagnosis, _width(), is_coloured=_is_coloured()), nl=False)


def _show_examined(names: Sequence[str], n_left: int) -> None:
    """One line on a terminal that goes when all is done."""
    if sys.stderr.isatty():
        line = f"Looking at {', '.join(names)} ({n_left} to go)"[: _width() - 1] if names else ""
        typer.echo(f"\r\x1b[K{line}", nl=False, err=True)


@app.command("list", epilog="Example: deviate list")
def list_command() -> None:
    """List the experiments on record."""
    folder = pipeline.records_folder(Path.cwd().resolve())
    plans = records.list_experiments(folder)
    if not plans:
        typer.echo(f"No experiments under {folder}. Run one: deviate run train.py")
    for plan in plans:
        for experiment in records.read_experiment(records.find_experiment(folder, plan.name)):
            done = sum(run.status == "completed" for run in experiment.runs)
            told = f"{plan.name}  {experiment.variant}  {done}/{experiment.n_planned} completed"
            typer.echo(f"{told}  {shlex.join(plan.command)}")


def _report_on(
    names: Sequence[str], judging: Judging, html: Path | None, json_file: Path | None, csv_file: Path | None
) -> None:
    """Judge experiments on record, and publish."""
    _takes_stdout(html, json_file, csv_file)
    folder = pipeline.records_folder(Path.cwd().resolve())
    experiments = pipeline.read(folder, names)
    _publish(pipeline.judge(experiments, judging), experiments, folder, html, json_file, csv_file)


def _publish(
    findings: Findings,
    experiments: Sequence[Experiment],
    folder: Path,
    html: Path | None,
    json_file: Path | None,
    csv_file: Path | None,
) -> None:
    """Print the verdict, and write what was asked for and the report."""
    view = report.build_view(findings)
    path = html or pipeline.report_path(folder, experiments)
    for target, form in ((path, "html"), (json_file, "json"), (csv_file, "csv")):
        if target is not None:
            pipeline.write(report.render(view, form), target, sys.stdout)
    if _takes_stdout(html, json_file, csv_file):
        return
    typer.echo(report.render(view, "terminal", width=_width(), is_coloured=_is_coloured()), nl=False)
    typer.echo(f"Report   {_nearest(path)}")


def _takes_stdout(html: Path | None, json_file: Path | None, csv_file: Path | None) -> bool:
    """Whether one of the outputs goes to standard output, which has room for one only."""
    targets = {"html": html, "json": json_file, "csv": csv_file}
    taking = [form for form, target in targets.items() if str(target) == "-"]
    if len(taking) > 1:
        raise InputError(f"{' and '.join(taking)} cannot both go to standard output", "name a file for one of them")
    return bool(taking)


def _nearest(path: Path) -> Path:
    return path.relative_to(Path.cwd()) if path.is_absolute() and path.is_relative_to(Path.cwd()) else path


def _folder(command: Sequence[str], here: Path) -> Path | None:
    """The folder that the user named in place of a script; None for anything else."""
    path = (here / command[0]).resolve()
    return path if len(command) == 1 and path.is_dir() else None


def _as_json(document: object) -> str:
    return json.dumps(document, indent=2, ensure_ascii=False)


def _width() -> int:
    return shutil.get_terminal_size((120, 24)).columns


def _is_coloured() -> bool:
    return sys.stdout.isatty() and "NO_COLOR" not in os.environ


def _pair(text: str, flag: str, form: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise InputError(f"{flag} {text} is not of the form {form}", f"write it as {flag} {form}")
    return name, value


@app.callback(invoke_without_command=True)
def _options(
    version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False,
) -> None:
    if version:
        typer.echo(f"deviate {__version__}")
        raise typer.Exit


def main() -> None:
    """Entry point: errors of ours become one message and an exit code."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is signal.SIG_DFL:  # under nohup a closed terminal is to be ignored
            signal.signal(number, signal.default_int_handler)
    sys.exit(_run(sys.argv[1:]))


def _run(arguments: Sequence[str]) -> int:
    arguments = arguments or ["--help"]
    try:
        code = app(args=list(arguments), prog_name="deviate", standalone_mode=False)
    except DeviateError as error:
        typer.echo(f"Error: {error.message}", err=True)
        if error.hint:
            typer.echo(f"  {error.hint}", err=True)
        return FAILED
    except typer.TyperException as error:
        typer.echo(f"Error: {error.format_message()}", err=True)
        if arguments[:1] in (["run"], ["analyze"]) and "No such option" in error.format_message():
            typer.echo("  Arguments of the script itself go after --: deviate run train.py -- --epochs 5", err=True)
        else:
            typer.echo(f"  See: deviate {' '.join(arguments[:1])} --help", err=True)
        return WRONG_USAGE
    except (KeyboardInterrupt, typer.Abort):
        code = INTERRUPTED
    if code == INTERRUPTED:  # typer makes this code of an interruption by itself
        is_run = arguments[:1] == ["run"]
        done = "What ran is on record; the same command goes on from there." if is_run else "Nothing was written."
        typer.echo(f"Interrupted. {done}", err=True)
    return code if isinstance(code, int) else DONE
