"""The spread of a pilot, by which runs are planned."""

import statistics
from collections.abc import Sequence

from deviate.errors import InputError
from deviate.model.comparisons import Description
from deviate.model.design import Pilot, PilotSide
from deviate.model.estimates import Estimate, Interval, Unavailable
from deviate.model.records import Experiment
from deviate.stats.judge import judge
from deviate.stats.options import AnalysisOptions
from deviate.stats.planning import pooled_spread


def pilot_of(experiments: Sequence[Experiment], metric: str | None, *, confidence: float = 0.95) -> Pilot:
    """The spread of one metric of an experiment; of two, the pooled spread within both.

    Raises:
        InputError: no metric can be told to be meant, an experiment has no such metric, or its runs show no spread.
    """
    described: list[Description] = []
    sides: list[PilotSide] = []
    times: list[float] = []
    for experiment in experiments:
        wanted = metric if metric is not None or not described else described[0].metric.name
        described.append(_describe_metric(experiment, wanted, confidence))
        of_side = [run.wall_time_s for run in experiment.runs if run.status == "completed" and run.wall_time_s > 0]
        times += of_side
        mean_s = statistics.fmean(of_side) if of_side else None
        sides.append(PilotSide(experiment.name, described[-1].n, described[-1].n_runs, mean_s))
    sd, interval = _spread(described, sides, confidence)
    return Pilot(
        metric=described[0].metric.name,
        unit=described[0].metric.unit,
        n=sum(side.n for side in sides),
        sd=sd,
        interval=interval,
        wall_time_s=statistics.fmean(times) if times else None,
        sides=tuple(sides),
    )


def _describe_metric(experiment: Experiment, metric: str | None, confidence: float) -> Description:
    """The description of a metric, of the primary one by default."""
    findings = judge([experiment], AnalysisOptions(confidence=confidence, metric=metric, compares=False))
    descriptions = findings.experiments[0].descriptions
    chosen = next((one for one in descriptions if one.metric.name == findings.primary), None)
    if chosen is None:
        raise InputError(
            f"the metric of {experiment.name} to use is ambiguous",
            f"name it with --metric: {', '.join(description.metric.name for description in descriptions)}",
        )
    return chosen


def _spread(
    described: Sequence[Description], sides: Sequence[PilotSide], confidence: float
) -> tuple[float, Interval | Unavailable]:
    """The SD of one description, or the pooled one of two, with its interval."""
    first = described[0]
    reason = first.note
    sd: Estimate = first.sd
    interval: Interval | Unavailable = first.sd_interval
    if len(described) > 1:
        pooled = pooled_spread(first.values, described[1].values, confidence=confidence)
        sd, interval = (pooled, pooled) if isinstance(pooled, Unavailable) else pooled
    if isinstance(sd, Unavailable) or sd == 0:
        reason = sd.reason if isinstance(sd, Unavailable) else reason
        raise InputError(
            f"{first.metric.name} in {' and '.join(side.name for side in sides)} shows no spread: {reason}",
            "set an expected SD with --sd",
        )
    return sd, interval
