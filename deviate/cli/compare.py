"""`deviate compare` and `deviate report`: what is on record, or in files, judged and shown."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from deviate import workflows
from deviate.cli import capture_options, complete, sweep
from deviate.cli.app import (
    Aggregate,
    Better,
    Confidence,
    Margin,
    Match,
    Metric,
    Paired,
    SpreadRatio,
    Target,
    Tasks,
    command,
)
from deviate.cli.options import pair
from deviate.cli.publish import NO_DOCUMENTS, Documents, publish, with_documents
from deviate.errors import InputError
from deviate.model import Direction, Experiment
from deviate.report import clean
from deviate.workflows import Judging

Importer = Annotated[
    str | None,
    typer.Option("--format", metavar="FORM", help="How files are read: csv, json, tensorboard … Default: guessed."),
]


@command(
    "compare",
    epilog='Example: deviate compare baseline new --html out.html, or: compare a.csv "new/*.csv"',
)
@with_documents
def compare_command(
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
    metric: Metric = None,
    aggregate: Aggregate = None,
    match: Match = None,
    margin: Margin = None,
    paired: Paired = False,
    spread_ratio: SpreadRatio = None,
    direction: Better = None,
    target: Target = None,
    tasks: Tasks = None,
    groups: capture_options.Groups = None,
    weak_below: capture_options.WeakBelow = None,
    form: Importer = None,
    confidence: Confidence = 0.95,
    documents: Documents = NO_DOCUMENTS,
) -> None:
    """Does the candidate beat the baseline? Of experiments on record, or of results that exist already.

    Several candidates are each compared with the baseline, and all with one another.
    """
    if len(set(names)) < len(names):
        raise InputError("an experiment cannot be compared with itself", "name each experiment once")
    judging = Judging(
        confidence=confidence,
        metric=metric,
        aggregate=aggregate,
        margin=margin,
        matches=dict(pair(text, "--match", "BASELINE_NAME=CANDIDATE_NAME") for text in match or ()),
        is_paired=paired,
        directions=directions_of(direction),
        targets=_targets(target),
        tasks=tasks,
        spread_ratio=spread_ratio,
        groups=tuple(groups or ()),
        weak_below=capture_options.weak_below(weak_below),
    )
    folder = workflows.records_folder(Path.cwd().resolve())
    read = workflows.read_any(folder, names, form=form)
    experiments = _baseline_first(workflows.columns_apart(read[0]) if len(read) == 1 else read, baseline)
    if len(experiments) < 2:
        raise InputError(
            f"one experiment, {experiments[0].name}, cannot be compared",
            "name the baseline and a candidate, or use: deviate report NAME; methods of one table need a column method",
        )
    _report_on(experiments, judging, documents, folder, is_quiet=False)


@command(
    "report",
    epilog="Example: deviate report small --html paper.html",
)
@with_documents
def report_command(
    names: Annotated[
        list[str],
        typer.Argument(
            metavar="NAME...",
            autocompletion=complete.sources,
            help="One experiment with all its variants, or a baseline and candidates; or files with results.",
        ),
    ],
    metric: Metric = None,
    aggregate: Aggregate = None,
    direction: Better = None,
    target: Target = None,
    groups: capture_options.Groups = None,
    weak_below: capture_options.WeakBelow = None,
    is_sweep: sweep.Flag = False,
    form: Importer = None,
    confidence: Confidence = 0.95,
    documents: Documents = NO_DOCUMENTS,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No word on how files were read.")] = False,
) -> None:
    """Report again from what is on record, without running anything."""
    judging = Judging(
        confidence=confidence,
        metric=metric,
        aggregate=aggregate,
        directions=directions_of(direction),
        targets=_targets(target),
        groups=tuple(groups or ()),
        weak_below=capture_options.weak_below(weak_below),
    )
    folder = workflows.records_folder(Path.cwd().resolve())
    if sweep.is_meant(folder, names, is_asked=is_sweep):
        sweep.report(folder, names[0], judging, documents)
        return
    experiments = workflows.read_any(folder, names, form=form, has_all_variants=len(names) == 1)
    if len({it.name for it in experiments}) > 1:  # of a file, too, that holds several
        _report_on(experiments, judging, documents, folder, is_quiet=quiet)
        return
    if not quiet:
        _tell_sources(experiments, documents)
    publish(workflows.describe(experiments, judging), experiments, folder, documents)
    workflows.tell_reported([experiment.folder for experiment in experiments if experiment.folder], is_comparison=False)


def _report_on(
    experiments: Sequence[Experiment], judging: Judging, documents: Documents, folder: Path, *, is_quiet: bool
) -> None:
    """Judge experiments, and publish."""
    if not is_quiet:
        _tell_sources(experiments, documents)
    findings = workflows.judge(experiments, judging)
    publish(findings, experiments, folder, documents)
    workflows.tell_compared(findings)


def _tell_sources(experiments: Sequence[Experiment], documents: Documents) -> None:
    """How files were read: what was guessed is said before anything is made of it."""
    people = sys.stderr if documents.takes_stdout else sys.stdout
    read = [it for it in experiments if it.folder is None]  # of stored ones it was said when they were imported
    for note in dict.fromkeys(note for it in read for note in it.imported[1:] or it.imported):
        typer.echo(f"Read     {clean(note)}", file=people)


def _targets(texts: Sequence[str] | None) -> dict[str, float]:
    targets = {}
    for text in texts or ():
        name, value = pair(text, "--target", "METRIC=VALUE")
        try:
            targets[name] = float(value)
        except ValueError:
            raise InputError(f"--target {text}: {value!r} is no number", "write it as --target val_acc=0.9") from None
    return targets


def directions_of(texts: Sequence[str] | None) -> dict[str, Direction]:
    directions: dict[str, Direction] = {}
    for text in texts or ():
        name, word = pair(text, "--direction", "METRIC=max")
        if word not in {"max", "min"}:
            raise InputError(f"--direction {text}: {word!r} is neither max nor min", f"write {name}=max or {name}=min")
        directions[name] = "max" if word == "max" else "min"
    return directions


def _baseline_first(experiments: Sequence[Experiment], baseline: str | None) -> tuple[Experiment, ...]:
    if baseline is None:
        return tuple(experiments)
    chosen = [it for it in experiments if baseline in {it.name, f"{it.name}:{it.variant}"}]
    if not chosen:
        there = ", ".join(dict.fromkeys(it.name for it in experiments))
        raise InputError(f"--baseline {baseline} is none of the experiments", f"they are: {there}")
    return (*chosen[:1], *(it for it in experiments if it is not chosen[0]))
