"""`--sweep`: an experiment per value of an argument, and the report of all of them together."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from deviate.cli.app import SOME_RUNS_FAILED
from deviate.cli.options.groups import in_runs
from deviate.errors import InputError
from deviate.replay.experiments import record_report

if TYPE_CHECKING:  # most calls of the verbs that take --sweep sweep nothing
    from deviate.cli.options.results import Documents
    from deviate.project.prepare import PreparedScript
    from deviate.replay.experiments import PreparedExperiment, Request, SampleSizeRule
    from deviate.stats.options import AnalysisOptions

OPTION = in_runs(
    "ARGUMENT=VALUES",
    'Repeat for each value of an argument: "--batch-size=16,64,256", "lr=0.1,1", "env:BATCH=16,64".',
    "--sweep",
)
FLAG = in_runs(None, "NAME is a sweep: report its scores against the argument.", "--sweep", default=False)


def points(
    text: str,
    requests: "Mapping[str | None, tuple[PreparedScript, Request]]",
    sample_size: "SampleSizeRule",
    documents: "Documents",
) -> "Mapping[str | None, tuple[PreparedScript, Request]]":
    """What is run for each value, by experiment name.

    Raises:
        InputError: it is no sweep, or stands beside what has several commands itself.
    """
    from deviate.project.begin import name_of
    from deviate.project.sweep import parse_sweep
    from deviate.project.sweep import points as points_of

    refuse_documents(documents)
    if len(requests) > 1 or None not in requests:
        raise InputError("--sweep cannot stand beside --versus or several --python", "sweep one command at a time")
    if sample_size.looks:
        raise InputError("--looks are for comparisons, and a sweep makes none", "leave --looks away")
    [(prepared, request)] = requests.values()
    stem = request.name or name_of(Path(prepared.analysis.script))
    return dict(points_of(parse_sweep(text), stem, prepared, request).items())


def refuse_documents(documents: "Documents") -> None:
    """Raise InputError for what a sweep cannot be written as."""
    flags = {"--siunitx": documents.siunitx, "--paper": documents.paper, "--rows": documents.rows}
    if flag := next((flag for flag, value in flags.items() if value), None):
        raise InputError(f"{flag} is for the report of experiments", "write a sweep with --latex FILE or --html FILE")


def conclude(experiments: "Sequence[PreparedExperiment]", options: "AnalysisOptions", documents: "Documents") -> None:
    """Report the whole sweep from the current record; the exit code is different if some runs failed."""
    [name] = {experiment.plan.sweep.sweep for experiment in experiments if experiment.plan.sweep is not None}
    if not report(experiments[0].folder.parent.parent, name, options, documents):
        raise typer.Exit(SOME_RUNS_FAILED)


def is_meant(folder: Path, names: Sequence[str], *, is_asked: bool) -> bool:
    """Whether names passed to `report` mean a sweep: if requested, or if no experiment has that name.

    Raises:
        InputError: it was said of several names.
    """
    if is_asked and len(names) != 1:
        raise InputError(f"--sweep with {len(names)} names", "report one sweep at a time: deviate report NAME --sweep")
    if is_asked:
        return True
    if len(names) != 1 or _is_experiment(folder, names[0]):
        return False
    from deviate.records.experiments import has_sweep

    return has_sweep(folder, names[0])


def _is_experiment(folder: Path, name: str) -> bool:
    from deviate.records.layout import experiment_file
    from deviate.records.plans import place_of

    try:
        place = place_of(folder, name)
    except InputError:  # a name may be that of a file, and of any length
        return False
    return experiment_file(place).exists()


def report(folder: Path, name: str, options: "AnalysisOptions", documents: "Documents") -> bool:
    """Judge a recorded sweep and publish the report; returns whether all its runs completed.

    Raises:
        InputError: there is no such sweep.
    """
    from deviate.cli.publish import publish_sheet
    from deviate.pipeline import describe_variants
    from deviate.records.experiments import read_sweep
    from deviate.report.parts.sweep import sweep_document
    from deviate.report.sweep import judge_sweep

    refuse_documents(documents)
    points_on_record = read_sweep(folder, name)
    judged = [(value, describe_variants(experiments, options)) for value, experiments in points_on_record]
    sheet = sweep_document(judge_sweep(judged, confidence=options.confidence))
    publish_sheet(sheet, documents.targets(), folder / "reports" / name / "sweep.html")
    experiments = [experiment for _, those in points_on_record for experiment in those]
    places = [experiment.folder for experiment in experiments if experiment.folder is not None]
    record_report(places, is_comparison=False)
    return all(run.status in {"completed", "cancelled"} for experiment in experiments for run in experiment.runs)
