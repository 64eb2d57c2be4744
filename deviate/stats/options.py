"""How scores are read and compared, where the user overrides the record."""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass

from deviate.model.analysis import Direction
from deviate.series.sides import Scale


@dataclass(frozen=True, slots=True)
class AnalysisOptions:
    """How scores are read and compared, where the user overrides the record.

    Attributes:
        is_paired: whether runs of both sides with the same replicate are pairs, as was decided before they were made.
        metric: the one that decides, instead of the declared one.
        aggregate: for every metric, instead of its own; `best` leaves metrics without a direction as they are.
        margin: smallest difference of the primary metric that matters, in its units.
        matches: metric of the baseline to the metric of the candidates it is compared with; others match by name.
        analysis_seed: of permutations and resamples.
        targets: metric of the baseline to the value whose attainment is timed, instead of its own.
        directions: metric of the baseline to whether more or less of it is better, instead of its own.
        tasks: patterns, as `*/acc`, between commas, of the metrics that are one measure on several tasks; None for
            those that the records name, none at all for an empty text.
        spread_ratio: ratio of SDs within which the interval of theirs is asked to lie.
        groups: where sub-groups of evaluation sets are found, as `--groups` says it.
        weak_below: a metric, and the value beyond which a run is left out where its spread is told a second time.
        scale: to which a measure is brought that one side gives in percent and another as a fraction; None leaves it.
        compares: False for variants of one experiment: which of them is better is no question, but where the spread
            comes from is.
        keeps: metrics that are judged even if no run reported them, or they restate another one; those that another
            option names are.
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
    scale: Scale | None = None
    compares: bool = True
    keeps: tuple[str, ...] = ()
