"""`deviate check`: pass or fail, for a pull request or a job that runs every night."""

import os
import secrets
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from deviate import workflows
from deviate.cli import complete, options
from deviate.cli.app import Aggregate, Better, Confidence, Html, Match, Paired, command, is_coloured, width
from deviate.cli.compare import Importer, directions_of
from deviate.cli.targets import STDOUT, takes_stdout
from deviate.errors import InputError, RecordError
from deviate.model import Experiment
from deviate.model.check import CheckFindings
from deviate.report import check_document, render, shielded
from deviate.workflows import Gate, Judging, baseline_of, check


@dataclass(frozen=True, slots=True)
class Forms:
    """Where a check is written to; None is nowhere.

    Raises:
        InputError: two of them go to standard output, which has room for one only.
    """

    json: Path | None
    markdown: Path | None
    junit: Path | None
    html: Path | None
    is_on_github: bool

    def __post_init__(self) -> None:
        takes_stdout(self.targets())

    def targets(self) -> dict[str, Path]:
        found = {"json": self.json, "markdown": self.markdown, "junit": self.junit, "html": self.html}
        return {name: target for name, target in found.items() if target is not None}

    @property
    def takes_stdout(self) -> bool:
        return takes_stdout(self.targets())


@command(
    "check",
    epilog="Example: deviate check baseline new --metric test_acc --margin 0.5, "
    "or both sides in one job: deviate check train.py --ref main --runs 10 --margin 0.5 -- --epochs 5. "
    "Exit codes: 0 passes, or is undecided; 3 runs are missing; 4 worse; 5 undecided, with --undecided fail; "
    "6 control broken. Of several the first of 6, 4, 3, 5.",
)
def check_command(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="BASELINE CANDIDATE...",
            autocompletion=complete.sources,
            help="Experiments, NAME:VARIANT, files or patterns, or a baseline saved with --save. "
            "With --ref: SCRIPT [-- ARGS].",
        ),
    ] = None,
    ref: Annotated[
        str | None,
        typer.Option(metavar="REF", help="Run a script at this commit and in the working tree, and check the latter."),
    ] = None,
    save: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the one experiment named as a baseline to commit.")
    ] = None,
    metric: Annotated[
        list[str] | None, typer.Option(help="What is checked. May be repeated. Default: the primary metric.")
    ] = None,
    margin: Annotated[
        list[str] | None,
        typer.Option(
            metavar="[METRIC=]NUMBER", help="By how much worse is still all right. Default: is it worse at all?"
        ),
    ] = None,
    aggregate: Aggregate = None,
    match: Match = None,
    direction: Better = None,
    confidence: Confidence = 0.95,
    paired: Paired = False,
    undecided: Annotated[
        str, typer.Option(metavar="pass|fail", help="Whether runs that do not tell pass with a warning, or fail.")
    ] = "pass",
    control: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            autocompletion=complete.experiments,
            help="Further experiment whose control variant has to hold. May be repeated.",
        ),
    ] = None,
    require_control: Annotated[
        bool, typer.Option("--require-control", help="Fail where no control variant shows that runs are repeatable.")
    ] = False,
    form: Importer = None,
    runs: options.Runs = None,
    variants: options.Variants = None,
    name: Annotated[str | None, typer.Option(metavar="NAME", help="With --ref: name of the new experiment.")] = None,
    seed: Annotated[int | None, typer.Option(metavar="N", help="With --ref: the experiment seed. Default: 0.")] = None,
    python: Annotated[str | None, typer.Option(metavar="PATH", help="With --ref: interpreter for the script.")] = None,
    env: options.Env = None,
    jobs: options.Jobs = None,
    gpus: options.Gpus = None,
    timeout: options.Timeout = None,
    github: Annotated[
        bool | None,
        typer.Option(
            "--github/--no-github",
            help="Annotations and a job summary for GitHub Actions. Default: where GITHUB_ACTIONS is true.",
        ),
    ] = None,
    junit: Annotated[Path | None, typer.Option(help="Write the check as JUnit XML ('-' is standard output).")] = None,
    markdown: Annotated[Path | None, typer.Option(help="Write it for a pull request ('-' is standard output).")] = None,
    json_file: Annotated[
        Path | None, typer.Option("--json", help="Write its figures as JSON ('-' is standard output).")
    ] = None,
    html: Html = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress, only the result.")] = False,
) -> None:
    """Fail where a candidate is shown to be worse than a baseline, by more than a margin if one is given.

    What is not shown either way is undecided, which passes with a warning unless it is asked to fail.
    """
    is_on_github = os.environ.get("GITHUB_ACTIONS") == "true" if github is None else github
    forms = Forms(json_file, markdown, junit, html, is_on_github)
    gate = Gate(
        metrics=tuple(dict.fromkeys(metric or ())),
        margins=_margins(margin),
        controls=tuple(control or ()),
        requires_control=require_control,
        fails_undecided=options.choice(undecided, "--undecided", ("pass", "fail")) == "fail",
    )
    judging = Judging(
        confidence=confidence,
        aggregate=aggregate,
        matches=dict(options.pair(text, "--match", "BASELINE_NAME=CANDIDATE_NAME") for text in match or ()),
        is_paired=paired,
        directions=directions_of(direction),
    )
    asked = options.RunOptions(runs, variants, name, seed, python, env, jobs, gpus, timeout)
    if ref is None and (idle := asked.given()):
        raise InputError(f"{idle} is for --ref, which runs both sides", "runs on record are checked as they are")
    if ref is not None and form is not None:
        raise InputError("--format is for files, which --ref does not read", "leave one of them out")
    folder = workflows.records_folder(Path.cwd().resolve())
    if save is not None:
        if ref is not None:
            raise InputError("--save and --ref exclude each other", "save what is on record: deviate check NAME --save")
        _save(names or (), form, save, gate, judging, folder)
        return
    if ref is not None:
        from deviate.cli.check_sides import run_both_sides  # with all that runs a script

        experiments = run_both_sides(
            names or (), ref, asked, gate, judging, is_quiet=quiet, takes_stdout=forms.takes_stdout
        )
    else:
        experiments = _read(names or (), form, folder)
    found = check(folder, experiments, gate, judging)
    _publish(found, forms)
    workflows.tell_reported([it.folder for it in experiments if it.folder], is_comparison=True)
    raise typer.Exit(found.code)


def _read(names: Sequence[str], form: str | None, folder: Path) -> tuple[Experiment, ...]:
    if not names:
        raise InputError("there is nothing to check", "name a baseline and a candidate, or a script with --ref main")
    if len(set(names)) < len(names):
        raise InputError("an experiment cannot be checked against itself", "name each experiment once")
    read = workflows.read_any(folder, names, form=form)
    experiments = tuple(workflows.columns_apart(read[0])) if len(read) == 1 else read
    if len(experiments) < 2:
        raise InputError(
            f"{experiments[0].name} has nothing to be checked against",
            "name the baseline and a candidate; or run both sides: deviate check train.py --ref main",
        )
    return experiments


def _save(names: Sequence[str], form: str | None, target: Path, gate: Gate, judging: Judging, folder: Path) -> None:
    if len(names) != 1:
        raise InputError(f"--save takes one experiment, not {len(names)}", "name that of the baseline alone")
    read = workflows.read_any(folder, names, form=form)
    if len(read) != 1:
        raise InputError(
            f"{names[0]} holds several experiments: {', '.join(it.name for it in read)}",
            f"name one of them: {names[0]}:{read[0].name}",
        )
    text = baseline_of(read[0], judging, metrics=gate.metrics, margins=gate.margins)
    workflows.write(text, target, sys.stdout)
    if str(target) != STDOUT:
        typer.echo(f"Baseline {target}   {read[0].name}, {len(read[0].runs)} runs; commit it")


def _publish(found: CheckFindings, forms: Forms) -> None:
    view = check_document(found)
    for name, target in forms.targets().items():
        text = render(view.report, "html") if name == "html" else render(view, name)
        workflows.write(text, target, sys.stdout)
    people = sys.stderr if forms.takes_stdout else sys.stdout
    told = render(view, "terminal", width=width(), is_coloured=is_coloured())
    typer.echo(shielded(told, secrets.token_hex(16)) if forms.is_on_github else told, nl=False, file=people)
    if forms.is_on_github:
        typer.echo(render(view, "github"), nl=False, file=people)
        _summarize(render(view, "markdown"))


def _summarize(text: str) -> None:
    """Append to the summary of the job; the check stands without it.

    Source: GitHub, "Adding a job summary": steps append to one file.
    """
    target = os.environ.get("GITHUB_STEP_SUMMARY")
    if not target:
        return
    try:
        with Path(target).open("a", encoding="utf-8") as summary:
            summary.write(f"{text}\n")
    except OSError as error:
        told = RecordError(f"writing {target}: {error.strerror or error}", "the check stands without its summary")
        typer.echo(f"Warning: {told.message}: {told.hint}", err=True)


def _margins(texts: Sequence[str] | None) -> dict[str, float]:
    """By metric; "" for one that names none."""
    margins: dict[str, float] = {}
    for text in texts or ():
        name, _, value = text.rpartition("=")
        try:
            number = float(value)
        except ValueError:
            raise InputError(f"--margin {text}: {value!r} is no number", "write it as --margin 0.5") from None
        if name in margins:
            raise InputError(f"--margin {text}: {name or 'it'} has a margin already", "give each metric one")
        margins[name] = number
    return margins
