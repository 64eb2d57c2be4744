"""`--to`: the aggregate of a report as runs of experiment trackers."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import typer

from deviate.cli.options.groups import in_output
from deviate.model.findings import Findings

if TYPE_CHECKING:
    from deviate.report.document import Report
    from deviate.report.trackers.registry import Destination

TO = in_output(
    "TRACKER[:WHERE]",
    "Write the aggregate as new runs of tensorboard[:FOLDER], wandb[:ENTITY/PROJECT] or mlflow[:ADDRESS]. "
    "May be repeated.",
)


def destinations(texts: Sequence[str] | None) -> "tuple[Destination, ...]":
    """Parse the values of `--to`, before anything is read.

    Raises:
        InputError, ToolError: as in `destination_of`.
    """
    if not texts:
        return ()
    from deviate.report.trackers.registry import destination_of

    return tuple(destination_of(text) for text in dict.fromkeys(texts))


def write_to_trackers(
    findings: Findings, document: "Report", targets: "Sequence[Destination]", *, takes_stdout: bool
) -> None:
    """Write findings, and the report on them, to each tracker, and print where.

    Raises:
        InputError, RecordError: as in `write_to_tracker`.
    """
    if not targets:
        return
    from deviate.report.trackers.aggregate import aggregate_report
    from deviate.report.trackers.registry import write_to_tracker

    report = aggregate_report(findings, document, datetime.now(UTC).astimezone())
    for target in targets:
        written = write_to_tracker(report, target)
        typer.echo(f"Tracker  {target.tracker}: {written.place}; {written.next_step}", err=takes_stdout)
