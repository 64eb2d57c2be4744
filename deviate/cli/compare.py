"""`deviate compare` and `deviate report`: what is on record, or in files, judged and shown."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from deviate import workflows
from deviate.cli import complete, sweep
from deviate.cli.app import command
from deviate.cli.options.analysis import AnalysisFlags, Importer
from deviate.cli.options.documents import DOCUMENTS, Documents
from deviate.cli.publish import publish
from deviate.errors import InputError
from deviate.model import Experiment
from deviate.report import clean
from deviate.workflows import AnalysisOptions


@command(
    "compare",
    epilog='Example: deviate compare baseline new --html out.html, or: compare a.csv "new/*.csv"',
    flags=f"""
        names baseline metric aggregate match margin paired spread_ratio direction target tasks groups weak_below form
        confidence {DOCUMENTS}
    """,
)
def compare_command(
    *,
    names: Annotated[
        list[str],
        typer.Argument(
            metavar="BASELINE CANDIDATE...",
            autocompletion=complete.sources,
            help="Experiments by name, or NAME:VARIANT; or results from elsewhere: a file, a folder, a pattern.",
        ),
    ],
    baseline: Annotated[
        str | None, typer.Option(metavar="NAME", help="Which of them is the baseline. Default: the first.")
    ] = None,
    analysis: AnalysisFlags,
    form: Importer = None,
    documents: Documents,
) -> None:
    """Does the candidate beat the baseline? Of experiments on record, or of results that exist already.

    Several candidates are each compared with the baseline, and all with one another.
    """
    if len(set(names)) < len(names):
        raise InputError("an experiment cannot be compared with itself", "name each experiment once")
    options = analysis.options()
    folder = workflows.records_folder(Path.cwd().resolve())
    read = workflows.read_any(folder, names, form=form)
    experiments = _baseline_first(workflows.split_columns(read[0]) if len(read) == 1 else read, baseline)
    if len(experiments) < 2:
        raise InputError(
            f"one experiment, {experiments[0].name}, cannot be compared",
            "name the baseline and a candidate, or use: deviate report NAME; methods of one table need a column method",
        )
    _report_on(experiments, options, documents, folder, is_quiet=False)


@command(
    "report",
    epilog="Example: deviate report small --html paper.html",
    flags=f"""
        names metric aggregate direction target groups weak_below is_sweep form confidence {DOCUMENTS} quiet
    """,
)
def report_command(
    *,
    names: Annotated[
        list[str],
        typer.Argument(
            metavar="NAME...",
            autocompletion=complete.sources,
            help="One experiment with all its variants, or a baseline and candidates; or files with results.",
        ),
    ],
    analysis: AnalysisFlags,
    is_sweep: sweep.Flag = False,
    form: Importer = None,
    documents: Documents,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No word on how files were read.")] = False,
) -> None:
    """Report again from what is on record, without running anything."""
    options = analysis.options()
    folder = workflows.records_folder(Path.cwd().resolve())
    if sweep.is_meant(folder, names, is_asked=is_sweep):
        sweep.report(folder, names[0], options, documents)
        return
    experiments = workflows.read_any(folder, names, form=form, has_all_variants=len(names) == 1)
    if len({experiment.name for experiment in experiments}) > 1:  # of a file, too, that holds several
        _report_on(experiments, options, documents, folder, is_quiet=quiet)
        return
    if not quiet:
        _print_sources(experiments, documents)
    publish(workflows.describe(experiments, options), experiments, folder, documents)
    workflows.record_report([experiment.folder for experiment in experiments if experiment.folder], is_comparison=False)


def _report_on(
    experiments: Sequence[Experiment], options: AnalysisOptions, documents: Documents, folder: Path, *, is_quiet: bool
) -> None:
    """Judge experiments, and publish."""
    if not is_quiet:
        _print_sources(experiments, documents)
    findings = workflows.judge(experiments, options)
    publish(findings, experiments, folder, documents)
    workflows.record_comparison(findings)


def _print_sources(experiments: Sequence[Experiment], documents: Documents) -> None:
    """How files were read: what was guessed is said before anything is made of it."""
    people = sys.stderr if documents.takes_stdout else sys.stdout
    read = [
        experiment for experiment in experiments if experiment.folder is None
    ]  # of stored ones it was said when they were imported
    for note in dict.fromkeys(note for experiment in read for note in experiment.imported[1:] or experiment.imported):
        typer.echo(f"Read     {clean(note)}", file=people)


def _baseline_first(experiments: Sequence[Experiment], baseline: str | None) -> tuple[Experiment, ...]:
    if baseline is None:
        return tuple(experiments)
    chosen = [
        experiment
        for experiment in experiments
        if baseline in {experiment.name, f"{experiment.name}:{experiment.variant}"}
    ]
    if not chosen:
        names = ", ".join(dict.fromkeys(experiment.name for experiment in experiments))
        raise InputError(f"--baseline {baseline} is none of the experiments", f"they are: {names}")
    return (*chosen[:1], *(experiment for experiment in experiments if experiment is not chosen[0]))
