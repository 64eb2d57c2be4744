"""Which metrics of experiments are judged: those that some run reported."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from deviate.model import Experiment, SelectedMetric


@dataclass(frozen=True, slots=True)
class Distinct:
    """Experiments with the metrics that are judged.

    Attributes:
        never_reported: names of the metrics that are left out because no run has a value of them.
    """

    experiments: tuple[Experiment, ...]
    never_reported: tuple[str, ...]


def distinct_metrics(experiments: Sequence[Experiment], keeps: Collection[str] = ()) -> Distinct:
    """Leave out what no run of any experiment reported, where one completed without it.

    Args:
        keeps: names of metrics that stay, for the user asked about them.
    """
    runs = [run for experiment in experiments for run in experiment.runs]
    reported = {name for run in runs for name in run.series}
    is_any_completed = any(run.status == "completed" for run in runs)
    has_failed = any(run.status != "completed" for run in runs)

    def is_silent(metric: SelectedMetric) -> bool:
        may_be = metric.is_primary and has_failed  # a run that failed may have been about to report what decides
        return is_any_completed and metric.name not in reported and metric.name not in keeps and not may_be

    metrics = [metric for experiment in experiments for metric in experiment.metrics]
    never_reported = tuple(dict.fromkeys(metric.name for metric in metrics if is_silent(metric)))
    return Distinct(
        tuple(
            replace(experiment, metrics=tuple(metric for metric in experiment.metrics if not is_silent(metric)))
            for experiment in experiments
        ),
        never_reported,
    )
