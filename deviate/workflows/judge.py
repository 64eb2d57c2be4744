"""Judges experiments: how scores are read and compared, and what they say."""

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from deviate import records
from deviate.model import Direction, Experiment, Findings
from deviate.registry import wing


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


def judge(experiments: Sequence[Experiment], options: AnalysisOptions, *, compares: bool = True) -> Findings:
    """Findings of one experiment, or of a baseline and its candidates, including stability."""
    findings = judge_scores(_with_siblings(experiments) if compares else experiments, options, compares=compares)
    stability_findings = wing("stability").stability(
        [item.experiment for item in findings.experiments],
        confidence=options.confidence,
        analysis_seed=options.analysis_seed,
        groups=options.groups,
        weak=options.weak_below,
        metric=options.metric,
    )
    return dataclasses.replace(findings, stability=stability_findings)


def judge_scores(experiments: Sequence[Experiment], options: AnalysisOptions, *, compares: bool = True) -> Findings:
    """Findings without stability, for callers that only need scores."""
    from deviate import stats  # half a second of scipy, which no verb but those that judge should wait for

    return stats.judge(
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
    )


def _with_siblings(experiments: Sequence[Experiment]) -> list[Experiment]:
    """Add to each experiment the recorded experiments that try the same thing; imported ones have none."""
    folders = {experiment.folder.parent.parent for experiment in experiments if experiment.folder}
    plans = {folder: records.on_record(folder)[0] for folder in folders}
    return [
        dataclasses.replace(
            experiment,
            siblings=records.siblings(plans[experiment.folder.parent.parent], experiment.name, experiment.variant),
        )
        if experiment.folder
        else experiment
        for experiment in experiments
    ]


def describe(experiments: Sequence[Experiment], options: AnalysisOptions) -> Findings:
    """Findings on variants of one experiment: where the spread comes from, not which is better."""
    return judge(experiments, options, compares=False)
