"""`deviate compare` and `deviate report`: what is on record, or in files, judged and shown."""

from pathlib import Path
from typing import Annotated

import typer

from deviate import pipeline
from deviate.cli import against as published
from deviate.cli import sweep
from deviate.cli.app import command, complete_sources
from deviate.cli.execute import Output
from deviate.cli.options.groups import in_output, in_verdict
from deviate.cli.options.results import IMPORTER, AnalysisFlags, Documents
from deviate.cli.publish import publish
from deviate.cli.trackers import TO, destinations, write_to_trackers
from deviate.errors import InputError
from deviate.records.layout import records_folder


@command(
    "compare",
    epilog='Example: deviate compare baseline new --html out.html, or: compare a.csv "new/*.csv"',
)
def compare_command(
    *,
    names: Annotated[
        list[str],
        typer.Argument(
            metavar="BASELINE CANDIDATE...",
            autocompletion=complete_sources,
            help="Experiments, NAME:VARIANT, or results from elsewhere: files, folders, patterns.",
        ),
    ],
    baseline: str | None = in_verdict("NAME", "The baseline among them. Default: the first."),
    against: list[str] | None = published.OPTION,
    analysis: AnalysisFlags,
    importer: str | None = IMPORTER,
    documents: Documents,
) -> None:
    """Is the candidate better than the baseline? For recorded experiments, or results from elsewhere.

    Several candidates are each compared with the baseline, and with one another.
    """
    if against:
        published.compare_against(against, names, analysis, documents, baseline=baseline, importer=importer)
        return
    options = analysis.options()
    folder = records_folder(Path.cwd().resolve())
    output = Output(documents.takes_stdout, is_quiet=False)
    answer = pipeline.compare(folder, names, options, output, form=importer, baseline=baseline)
    publish(answer, folder, documents)
    answer.record()


@command(
    "report",
    epilog="Example: deviate report small --html paper.html",
)
def report_command(
    *,
    names: Annotated[
        list[str],
        typer.Argument(
            metavar="NAME...",
            autocompletion=complete_sources,
            help="One experiment with its variants, or a baseline and candidates; or files with results.",
        ),
    ],
    analysis: Annotated[
        AnalysisFlags, "metric", "aggregate", "direction", "target", "groups", "weak_below", "confidence"
    ],
    is_sweep: bool = sweep.FLAG,
    importer: str | None = IMPORTER,
    documents: Documents,
    to: list[str] | None = TO,
    quiet: bool = in_output(None, "Do not say how files were read.", "--quiet", "-q", default=False),
) -> None:
    """Report recorded experiments again, without running anything."""
    options = analysis.options()
    trackers = destinations(to)
    folder = records_folder(Path.cwd().resolve())
    if sweep.is_meant(folder, names, is_asked=is_sweep):
        if trackers:
            raise InputError("--to is for the report of experiments", f"name one of the sweep {names[0]}: deviate list")
        sweep.report(folder, names[0], options, documents)
        return
    answer = pipeline.report(folder, names, options, Output(documents.takes_stdout, quiet), form=importer)
    document = publish(answer, folder, documents)
    answer.record()
    write_to_trackers(answer.findings, document, trackers, takes_stdout=documents.takes_stdout)
