"""Writer for TensorBoard: a folder of events per run, and charts of means with their intervals.

Only files of the package tensorboard are used that import no TensorFlow. TensorBoard holds single precision; the text
`figures` of each run has every digit.
"""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from deviate.errors import RecordError
from deviate.model.texts import numbered
from deviate.report.trackers.aggregate import CURVE, AggregateReport, AggregateRun
from deviate.report.trackers.registry import Written, tracker

if TYPE_CHECKING:
    from tensorboard.compat.proto.summary_pb2 import Summary

FOLDER = "runs/deviate"
LONGEST_NAME = 100
"""Characters of the name of a folder."""


@tracker("tensorboard")
def write_to_tensorboard(report: AggregateReport, where: str | None) -> Written:
    """Write a folder per run below the log folder `where`.

    Raises:
        RecordError: the folder cannot be written to.
    """
    folder = Path(where or FOLDER)
    place = folder / _folder_name(f"{report.name}-{report.written:%Y%m%d-%H%M%S}")
    try:
        for run, target in zip(report.runs, _run_folders(report, place), strict=True):
            target.mkdir(parents=True)
            _write_events(report, run, target)
    except OSError as error:
        raise RecordError(
            f"writing events below {folder}: {error.strerror or error}", "name another folder: --to tensorboard:FOLDER"
        ) from error
    return Written(str(place), f"show: tensorboard --logdir {shlex.quote(str(folder))}")


def _run_folders(report: AggregateReport, place: Path) -> Iterator[Path]:
    """A folder for each run: that of the report where there is one run."""
    names: list[str] = []
    for run in report.runs:
        names.append(next(name for name in numbered(_folder_name(run.label)) if name not in names))
        yield place if len(report.runs) == 1 else place / names[-1]


def _folder_name(text: str) -> str:
    name = re.sub(r"[^\w.+=@:-]", "_", text)[-LONGEST_NAME:]
    return f"_{name}" if not name.strip(".") else name


def _write_events(report: AggregateReport, run: AggregateRun, folder: Path) -> None:
    from tensorboard.compat.proto.event_pb2 import Event
    from tensorboard.summary.writer.record_writer import RecordWriter

    time_s = report.written.timestamp()
    with (folder / f"events.out.tfevents.{int(time_s)}.deviate").open("xb") as file:
        records = RecordWriter(file)
        records.write(Event(wall_time=time_s, file_version="brain.Event:2").SerializeToString())
        for step, summary in _summaries(report, run):
            records.write(Event(wall_time=time_s, step=step, summary=summary).SerializeToString())


def _summaries(report: AggregateReport, run: AggregateRun) -> "Iterator[tuple[int, Summary]]":
    from tensorboard.compat.proto.summary_pb2 import Summary
    from tensorboard.plugins.text.summary_v2 import text_pb

    yield 0, text_pb("report", report.summary)
    yield 0, text_pb("figures", _figures_text(run))
    if run.curves:
        yield 0, _charts(run)
    yield 0, Summary(value=[Summary.Value(tag=name, simple_value=value) for name, value in run.figures.items()])
    for step, row in run.rows().items():
        yield step, Summary(value=[Summary.Value(tag=name, simple_value=value) for name, value in row.items()])


def _figures_text(run: AggregateRun) -> str:
    """All figures with every digit, verdicts and facts, as tables in Markdown."""
    rows = [*run.facts.items(), *run.words.items(), *((name, repr(value)) for name, value in run.figures.items())]
    lines = [f"| {_cell(name)} | {_cell(text)} |" for name, text in rows]
    return "\n".join(["| name | value |", "| --- | --- |", *lines])


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def _charts(run: AggregateRun) -> "Summary":
    """A chart for each curve on the page "Custom scalars": the mean as a line, its interval as a band.

    Source: tensorboard.plugins.custom_scalar.summary.pb, which builds the same message with TensorFlow.
    """
    from tensorboard.compat.proto.summary_pb2 import Summary
    from tensorboard.plugins.custom_scalar import layout_pb2, metadata
    from tensorboard.util import tensor_util

    charts = [
        layout_pb2.Chart(
            title=name.removesuffix(CURVE),
            margin=layout_pb2.MarginChartContent(
                series=[layout_pb2.MarginChartContent.Series(value=name, lower=f"{name}_low", upper=f"{name}_high")]
            ),
        )
        for name in run.curves
        if name.endswith(CURVE)
    ]
    layout = layout_pb2.Layout(category=[layout_pb2.Category(title="Mean over runs with interval", chart=charts)])
    value = Summary.Value(
        tag=metadata.CONFIG_SUMMARY_TAG,
        metadata=metadata.create_summary_metadata(),
        tensor=tensor_util.make_tensor_proto(layout.SerializeToString()),
    )
    return Summary(value=[value])
