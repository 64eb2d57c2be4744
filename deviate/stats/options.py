"""How scores are read and compared, where the user overrides the record."""

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from deviate.model.analysis import Direction
from deviate.model.findings import Findings
from deviate.model.records import Experiment


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
