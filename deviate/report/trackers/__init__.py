"""Experiment trackers as readers: the aggregate of experiments is written as runs of TensorBoard, wandb or MLflow."""

from typing import TYPE_CHECKING

from deviate.base import load_on_first_use

if TYPE_CHECKING:
    from deviate.report.trackers.aggregate import AggregateReport as AggregateReport
    from deviate.report.trackers.aggregate import AggregateRun as AggregateRun
    from deviate.report.trackers.aggregate import aggregate_report as aggregate_report
    from deviate.report.trackers.registry import Destination as Destination
    from deviate.report.trackers.registry import Written as Written
    from deviate.report.trackers.registry import destination_of as destination_of
    from deviate.report.trackers.registry import write_to_tracker as write_to_tracker

load_on_first_use(__name__)
