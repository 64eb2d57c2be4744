"""Judges experiments: how scores are read and compared, and what they say."""

import dataclasses
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from deviate.base.decisions import timed_stage
from deviate.errors import InputError
from deviate.model.analysis import Direction
from deviate.model.comparisons import Description
from deviate.model.design import Pilot, PilotSide
from deviate.model.estimates import Estimate, Interval, Unavailable
from deviate.model.findings import Findings
from deviate.model.records import Experiment
from deviate.records.plans import on_record, siblings
from deviate.registry import wing
from deviate.workflows.sources import read_any

MOST_NAMED = 8
"""Metrics of an experiment that a message lists."""


@dataclass(frozen=True, slots=True)
class AnalysisOptions:
    """How scores are read and compared, where the user overrides the record.

    Attributes:
        is_paired: whether runs of both sides with the same replicate are compared as pairs.
        targets: metric to the value whose attainment is timed.
        directions: metric to whether more or less of it is better.
        tasks: a pattern, as `*/acc`, of the metrics that are one measure on several tasks; None for those that the
            records name.
        spread_ratio: ratio of SDs within which the interval of theirs is asked to lie.
        groups: where sub-groups of evaluation sets are found, as `--groups` says it.
        weak_below: a metric, and the value beyond which a run is left out where its spread is told a second time.
    """

    confidence: float = 0.95
    metric: str | None = None
    aggregate: str | None = None
    margin: float | None = None
    matches: Mapping[str, str] = dataclasses.field(default_factory=dict)
    analysis_seed: int = 0
    is_paired: bool = False
    targets: Mapping[str, float] = dataclasses.field(default_factory=dict)
    directions: Mapping[str, Direction] = dataclasses.field(default_factory=dict)
    tasks: str | None = None
    spread_ratio: float | None = None
    groups: tuple[str, ...] = ()
    weak_below: tuple[str, float] | None = None


def judge_experiments(
    experiments: Sequence[Experiment], options: AnalysisOptions, *, compares: bool = True
) -> Findings:
    """Findings of one experiment, or of a baseline and its candidates, including stability."""
    with timed_stage("stats", "judged %s", ", ".join(f"{one.name}:{one.variant}" for one in experiments)):
        findings = judge_scores(_with_siblings(experiments) if compares else experiments, options, compares=compares)
    with timed_stage("stability", "measured outputs and weights"):
        stability_findings = wing("stability.judge").stability(
            [item.experiment for item in findings.experiments],
            confidence=options.confidence,
            analysis_seed=options.analysis_seed,
            groups=options.groups,
            weak=options.weak_below,
            metric=options.metric,
        )
    return dataclasses.replace(findings, stability=stability_findings)


def judge_scores(
    experiments: Sequence[Experiment], options: AnalysisOptions, *, compares: bool = True, keeps: Sequence[str] = ()
) -> Findings:
    """Findings without stability, for callers that only need scores.

    Args:
        keeps: metrics that are judged even if no run reported them, or they restate another one.
    """
    from deviate.stats.judge import judge  # half a second of scipy, which only verbs that judge wait for

    return judge(
        experiments,
        confidence=options.confidence,
        primary=options.metric,
        aggregate=options.aggregate,
        matches=options.matches,
        margin=options.margin,
        analysis_seed=options.analysis_seed,
        compares=compares,
        is_paired=options.is_paired,
        spread_ratio=options.spread_ratio,
        targets=options.targets,
        directions=options.directions,
        tasks=None if options.tasks is None else [task for task in options.tasks.split(",") if task],
        keeps=keeps,
    )


def _with_siblings(experiments: Sequence[Experiment]) -> list[Experiment]:
    """Add to each experiment the recorded experiments that try the same thing; imported ones have none."""
    folders = {experiment.folder.parent.parent for experiment in experiments if experiment.folder}
    plans = {folder: on_record(folder)[0] for folder in folders}
    return [
        dataclasses.replace(
            experiment,
            siblings=siblings(plans[experiment.folder.parent.parent], experiment.name, experiment.variant),
        )
        if experiment.folder
        else experiment
        for experiment in experiments
    ]


def describe_variants(experiments: Sequence[Experiment], options: AnalysisOptions) -> Findings:
    """Findings on variants of one experiment: where the spread comes from, not which is better."""
    return judge_experiments(experiments, options, compares=False)


def refuse_disjoint(metrics: Sequence[tuple[str, Iterable[str]]], advice: str) -> None:
    """Raise InputError if no experiment has a metric in common with the first one.

    Args:
        metrics: names of experiments, the baseline first, and of their metrics.
        advice: a hint that begins with this, before what `--match` takes.
    """
    (baseline, names), *others = [(name, list(dict.fromkeys(of_one))) for name, of_one in metrics]
    if not names or not others or any(not theirs or set(names) & set(theirs) for _, theirs in others):
        return
    lists = "; ".join(f"{name} has {', '.join(theirs[:MOST_NAMED])}" for name, theirs in [(baseline, names), *others])
    raise InputError(
        f"{baseline} has no metric in common with {', '.join(name for name, _ in others)}: {lists}",
        f"{advice} --match {names[0]}={others[0][1][0]}",
    )


# Planning: the spread of a pilot from records, and the resulting design.


def read_pilot(folder: Path, names: Sequence[str], metric: str | None, *, confidence: float = 0.95) -> Pilot:
    """The spread of one metric of an experiment on record or in files; of two, the pooled spread within both.

    Raises:
        InputError: there are several experiments in a file, no metric can be told to be meant, an experiment has no
            such metric, or its runs show no spread.
    """
    described: list[Description] = []
    sides: list[PilotSide] = []
    times: list[float] = []
    for name in names:
        experiment = _one_experiment(folder, name)
        wanted = metric if metric is not None or not described else described[0].metric.name
        described.append(_describe_metric(experiment, name, wanted, confidence))
        of_side = [run.wall_time_s for run in experiment.runs if run.status == "completed" and run.wall_time_s > 0]
        times += of_side
        mean_s = statistics.fmean(of_side) if of_side else None
        sides.append(PilotSide(experiment.name, described[-1].n, described[-1].n_runs, mean_s))
    sd, interval = _spread(described, names, confidence)
    return Pilot(
        name=" and ".join(side.name for side in sides),
        metric=described[0].metric.name,
        unit=described[0].metric.unit,
        n=sum(side.n for side in sides),
        sd=sd,
        interval=interval,
        wall_time_s=statistics.fmean(times) if times else None,
        sides=tuple(sides),
    )


def _one_experiment(folder: Path, name: str) -> Experiment:
    (experiment, *more_experiments) = read_any(folder, [name])
    if more_experiments:
        choices = ", ".join(choice.name for choice in (experiment, *more_experiments))
        raise InputError(f"{name} holds several experiments: {choices}", f"name one of them: {name}:{experiment.name}")
    return experiment


def _describe_metric(experiment: Experiment, name: str, metric: str | None, confidence: float) -> Description:
    """The description of a metric, of the primary one by default."""
    findings = judge_scores([experiment], AnalysisOptions(confidence=confidence, metric=metric), compares=False)
    descriptions = findings.experiments[0].descriptions
    chosen = next((one for one in descriptions if one.metric.name == findings.primary), None)
    if chosen is None:
        names = ", ".join(description.metric.name for description in descriptions)
        raise InputError(f"the metric of {name} to use is ambiguous", f"name it with --metric: {names}")
    return chosen


def _spread(
    described: Sequence[Description], names: Sequence[str], confidence: float
) -> tuple[float, Interval | Unavailable]:
    """The SD of one description, or the pooled one of two, with its interval."""
    first = described[0]
    reason = first.note
    sd: Estimate = first.sd
    interval: Interval | Unavailable = first.sd_interval
    if len(described) > 1:
        from deviate.stats.planning import pooled_spread  # scipy again

        pooled = pooled_spread(first.values, described[1].values, confidence=confidence)
        sd, interval = (pooled, pooled) if isinstance(pooled, Unavailable) else pooled
    if isinstance(sd, Unavailable) or sd == 0:
        reason = sd.reason if isinstance(sd, Unavailable) else reason
        raise InputError(
            f"{first.metric.name} in {' and '.join(names)} shows no spread: {reason}", "set an expected SD with --sd"
        )
    return sd, interval
