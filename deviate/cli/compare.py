"""`deviate compare` and `deviate report`: what is on record, judged and shown."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from deviate import pipeline
from deviate.cli.app import Aggregate, Confidence, Csv, Html, Json, Margin, Match, Metric, app
from deviate.cli.options import pair
from deviate.cli.publish import publish, takes_stdout
from deviate.errors import InputError
from deviate.pipeline import Judging


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
    matches = dict(pair(text, "--match", "BASELINE_NAME=CANDIDATE_NAME") for text in match or ())
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
    takes_stdout(html, json_file, csv_file)
    folder = pipeline.records_folder(Path.cwd().resolve())
    experiments = pipeline.read_variants(folder, names[0])
    publish(pipeline.describe(experiments, judging), experiments, folder, html, json_file, csv_file)
    pipeline.tell_reported([experiment.folder for experiment in experiments if experiment.folder], is_comparison=False)


def _report_on(
    names: Sequence[str], judging: Judging, html: Path | None, json_file: Path | None, csv_file: Path | None
) -> None:
    """Judge experiments on record, and publish."""
    takes_stdout(html, json_file, csv_file)
    folder = pipeline.records_folder(Path.cwd().resolve())
    experiments = pipeline.read(folder, names)
    publish(pipeline.judge(experiments, judging), experiments, folder, html, json_file, csv_file)
    pipeline.tell_reported([experiment.folder for experiment in experiments if experiment.folder], is_comparison=True)
