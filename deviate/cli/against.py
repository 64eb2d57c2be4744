"""`deviate compare NAME --against RESULT`: recorded results beside numbers that somebody else published."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from deviate import pipeline
from deviate.cli.execute import Output
from deviate.cli.options.groups import in_verdict
from deviate.errors import InputError
from deviate.records.layout import records_folder
from deviate.replay.experiments import record_report
from deviate.report.files import report_folder

if TYPE_CHECKING:  # most comparisons are of two experiments
    from deviate.cli.options.results import AnalysisFlags, Documents

OPTION = in_verdict(
    "RESULT",
    "Compare with a published number: 'test_acc=94.2±0.3, n=5, SD', 'Smith 2020: f1=0.81, n=1'. May be repeated.",
    "--against",
)
UNUSED = ("metric", "match", "paired", "scale", "spread_ratio", "target", "tasks", "groups", "weak_below")
"""Options of a comparison that say nothing about published numbers."""
UNWRITTEN = ("paper", "rows", "siunitx", "column_width", "dl_variance")


def compare_against(
    results: Sequence[str],
    names: Sequence[str],
    analysis: "AnalysisFlags",
    documents: "Documents",
    *,
    baseline: str | None,
    importer: str | None,
) -> None:
    """Compare one experiment with published results, and publish the answer.

    Raises:
        InputError: there are several experiments, a result is not understood, or an option does not apply.
    """
    from deviate.cli.publish import publish_sheet
    from deviate.report.parts.published_results import published_document

    if baseline is not None:
        raise InputError(
            f"--baseline {baseline} does not apply beside --against",
            "leave it out: the published number is the baseline",
        )
    if len(names) > 1:
        raise InputError(
            f"--against compares one experiment with published numbers, not {' and '.join(names)} with each other",
            f"write one command for each: deviate compare {names[-1]} --against …",
        )
    for owner, options in ((analysis, UNUSED), (documents, UNWRITTEN)):
        for name in options:
            if getattr(owner, name):
                raise InputError(
                    f"--{name.replace('_', '-')} does not apply to a published number", "leave it out beside --against"
                )
    folder = records_folder(Path.cwd().resolve())
    output = Output(documents.takes_stdout, is_quiet=False)
    experiment, findings = pipeline.compare_published(
        folder, names[0], results, analysis.options(), output, form=importer
    )
    place = report_folder(folder, [experiment.name]) / "against.html"
    publish_sheet(published_document(findings), documents.targets(), place)
    if experiment.folder is not None and not experiment.n_pending:
        record_report([experiment.folder], is_comparison=True)
