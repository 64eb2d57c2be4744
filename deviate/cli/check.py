"""`deviate check`: pass or fail, for a pull request or a job that runs every night."""

import dataclasses
import os
import secrets
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from deviate.cli.app import command, complete_experiments, complete_sources, is_coloured, width
from deviate.cli.gate import Gate, baseline_of, check
from deviate.cli.options.groups import in_output, in_runs, in_verdict
from deviate.cli.options.results import (
    HTML,
    IMPORTER,
    STDOUT,
    AnalysisFlags,
    refuse_margin,
    refuse_targets,
    takes_stdout,
)
from deviate.cli.options.runs import SideFlags
from deviate.cli.options.values import choice, number_of
from deviate.errors import InputError, RecordError
from deviate.model.check import CheckFindings
from deviate.model.records import Experiment
from deviate.records.experiments import read_any, split_columns
from deviate.records.layout import records_folder
from deviate.replay.experiments import record_report
from deviate.report.files import write
from deviate.report.forms.github import command as command_line
from deviate.report.forms.github import shield_lines
from deviate.report.forms.registry import render
from deviate.report.parts.check import check_document
from deviate.stats.options import AnalysisOptions


@dataclasses.dataclass(frozen=True, slots=True)
class CheckDocuments:
    """Output files of a check; None for no output.

    Raises:
        InputError: two of them go to one file or to standard output, or one cannot be written.
    """

    github: bool | None = in_output(
        None, "Annotations and a job summary for GitHub Actions. Default: in GitHub Actions.", "--github/--no-github"
    )
    junit: Path | None = in_output(None, "Write the check as JUnit XML; - is standard output.")
    markdown: Path | None = in_output(None, "Write a table for a pull request; - is standard output.")
    json: Path | None = in_output(None, "Write all numbers as JSON; - is standard output.")
    html: Path | None = HTML

    def __post_init__(self) -> None:
        refuse_targets(self.targets())

    def targets(self) -> dict[str, Path]:
        paths = {"json": self.json, "markdown": self.markdown, "junit": self.junit, "html": self.html}
        return {name: path for name, path in paths.items() if path is not None}

    @property
    def is_on_github(self) -> bool:
        return os.environ.get("GITHUB_ACTIONS") == "true" if self.github is None else self.github

    @property
    def takes_stdout(self) -> bool:
        return takes_stdout(self.targets())


@dataclasses.dataclass(frozen=True, slots=True)
class GateFlags:
    """Requirements of a check, and what makes it fail."""

    metric: list[str] | None = in_verdict(None, "Metric to check. May be repeated. Default: the primary metric.")
    margin: list[str] | None = in_verdict(
        "[METRIC=]NUMBER", "Largest acceptable worsening. May be repeated. Default: 0."
    )
    undecided: str = in_verdict(
        "pass|fail", "Whether an undecided check passes with a warning, or fails.", default="pass"
    )
    control: list[str] | None = in_verdict(
        "NAME",
        "Further experiment whose control variant must be bitwise identical. May be repeated.",
        autocompletion=complete_experiments,
    )
    require_control: bool = in_verdict(
        None, "Fail if no control variant shows that runs are repeatable.", default=False
    )

    def gate(self) -> Gate:
        """Parse the options. Raises InputError for an invalid one."""
        return Gate(
            metrics=tuple(dict.fromkeys(self.metric or ())),
            margins=_margins(self.margin),
            controls=tuple(self.control or ()),
            requires_control=self.require_control,
            fails_undecided=choice(self.undecided, "--undecided", ("pass", "fail")) == "fail",
        )


@command(
    "check",
    epilog="Example: deviate check baseline new --metric test_acc --margin 0.5, "
    "or both sides in one job: deviate check train.py --ref main --runs 10 --margin 0.5 -- --epochs 5. "
    "Exit codes: 0 passes, or is undecided; 3 runs are missing; 4 worse; 5 undecided, with --undecided fail; "
    "6 control broken or missing. Of several the first of 6, 4, 3, 5.",
)
def check_command(
    *,
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="BASELINE CANDIDATE...",
            autocompletion=complete_sources,
            help="Experiments, NAME:VARIANT, files, patterns, or a baseline from --save. With --ref: SCRIPT [-- ARGS].",
        ),
    ] = None,
    ref: str | None = in_runs("REF", "Run a script at this commit and in the working tree, and check the latter."),
    save: Path | None = in_output("FILE", "Write the named experiment as a baseline file to commit."),
    gate_flags: GateFlags,
    analysis: Annotated[AnalysisFlags, "aggregate", "match", "direction", "confidence", "paired"],
    importer: str | None = IMPORTER,
    sides: SideFlags,
    documents: CheckDocuments,
    quiet: bool = in_output(None, "Show the result only.", "--quiet", "-q", default=False),
) -> None:
    """Fail if the candidate is worse than the baseline, by more than the margin if one is given.

    An undecided check passes with a warning, unless --undecided fail is given.
    """
    gate = gate_flags.gate()
    if save is not None:
        refuse_targets({"save": save})
    options = analysis.options()
    if ref is None and (idle := sides.first_flag()):
        raise InputError(f"{idle} is for --ref, which runs both sides", "runs on record are checked as they are")
    if ref is not None and importer is not None:
        raise InputError("--format is for files, which --ref does not read", "leave one of them out")
    folder = records_folder(Path.cwd().resolve())
    if save is not None:
        if ref is not None:
            raise InputError("--save and --ref exclude each other", "save what is on record: deviate check NAME --save")
        _save(names or (), importer, save, gate, options, folder)
        return
    if ref is not None:
        from deviate.cli.check_sides import run_both_sides  # as in all commands that run a script

        experiments = run_both_sides(
            names or (), ref, sides, gate, options, is_quiet=quiet, takes_stdout=documents.takes_stdout
        )
    else:
        experiments = _read(names or (), importer, folder)
    try:
        findings = check(folder, experiments, gate, options)
    except InputError as error:
        if documents.is_on_github:
            typer.echo(command_line("error", f"{error.message}: {error.hint}", title="deviate check"))
        raise
    _publish(findings, documents)
    record_report([experiment.folder for experiment in experiments if experiment.folder], is_comparison=True)
    raise typer.Exit(findings.code)


def _read(names: Sequence[str], form: str | None, folder: Path) -> tuple[Experiment, ...]:
    if not names:
        raise InputError("there is nothing to check", "name a baseline and a candidate, or a script with --ref main")
    if len(set(names)) < len(names):
        raise InputError("an experiment cannot be checked against itself", "name each experiment once")
    read = read_any(folder, names, form=form)
    experiments = tuple(split_columns(read[0])) if len(read) == 1 else read
    if len(experiments) < 2:
        raise InputError(
            f"{experiments[0].name} has nothing to be checked against",
            "name the baseline and a candidate; or run both sides: deviate check train.py --ref main",
        )
    return experiments


def _save(
    names: Sequence[str], form: str | None, target: Path, gate: Gate, options: AnalysisOptions, folder: Path
) -> None:
    if len(names) != 1:
        raise InputError(f"--save takes one experiment, not {len(names)}", "name that of the baseline alone")
    read = read_any(folder, names, form=form)
    if len(read) != 1:
        raise InputError(
            f"{names[0]} holds several experiments: {', '.join(experiment.name for experiment in read)}",
            f"name one of them: {names[0]}:{read[0].name}",
        )
    text = baseline_of(read[0], options, metrics=gate.metrics, margins=gate.margins)
    write(text, target, sys.stdout)
    if str(target) != STDOUT:
        typer.echo(f"Baseline {target}   {read[0].name}, {len(read[0].runs)} runs; commit it")


def _publish(findings: CheckFindings, documents: CheckDocuments) -> None:
    document = check_document(findings)
    for name, target in documents.targets().items():
        text = render(document.report, "html") if name == "html" else render(document, name)
        write(text, target, sys.stdout)
    people = sys.stderr if documents.takes_stdout else sys.stdout
    summary = render(document, "terminal", width=width(), is_coloured=is_coloured())
    typer.echo(
        shield_lines(summary, secrets.token_hex(16)) if documents.is_on_github else summary, nl=False, file=people
    )
    if documents.is_on_github:
        typer.echo(render(document, "github"), nl=False, file=people)
        _summarize(render(document, "markdown"))


def _summarize(text: str) -> None:
    """Append to the summary of the CI job; errors are ignored.

    Source: GitHub, "Adding a job summary": steps append to one file.
    """
    target = os.environ.get("GITHUB_STEP_SUMMARY")
    if not target:
        return
    try:
        with Path(target).open("a", encoding="utf-8") as summary:
            summary.write(f"{text}\n")
    except OSError as error:
        problem = RecordError(f"writing {target}: {error.strerror or error}", "the check stands without its summary")
        typer.echo(f"Warning: {problem.message}: {problem.hint}", err=True)


def _margins(texts: Sequence[str] | None) -> dict[str, float]:
    """Margins by metric; "" for one without a name."""
    margins: dict[str, float] = {}
    for text in texts or ():
        name, _, value = text.rpartition("=")
        number = number_of(text, value, "--margin", "0.5")
        refuse_margin(number, text)
        if name in margins:
            raise InputError(f"--margin {text}: {name or 'it'} has a margin already", "give each metric one")
        margins[name] = number
    return margins
