"""A sweep: one experiment per value of an argument of the user's command, and what they say together."""

import math
from dataclasses import dataclass
from typing import Literal

from deviate.model.estimates import Estimate, Interval, Unavailable
from deviate.model.findings import PrimaryQuestion
from deviate.model.stability import Measure

Scale = Literal["log", "linear", "names"]
"""How values are told apart on an axis: as numbers, logarithmic or not; as words side by side."""


@dataclass(frozen=True, slots=True)
class SweepMeasure:
    """A measure of captured outputs or weights; `set_name` is that of the evaluation set, empty for weights."""

    set_name: str
    measure: Measure


@dataclass(frozen=True, slots=True)
class SweepRow:
    """One variant at one value of the argument.

    Attributes:
        n_runs: that ended; n of them have a score.
        scores: of the metric, in order of replicate. sd: ddof 1.
        measures: churn of each evaluation set and distance of weights, as far as they were captured.
    """

    value: str
    experiment: str
    variant: str
    n_runs: int
    scores: tuple[float, ...]
    mean: Estimate
    mean_interval: Interval | Unavailable
    sd: Estimate
    sd_interval: Interval | Unavailable
    measures: tuple[SweepMeasure, ...] = ()

    @property
    def n(self) -> int:
        return len(self.scores)


@dataclass(frozen=True, slots=True)
class SweepFindings:
    """Measures against an argument.

    Attributes:
        values: numbers rising, words in the order in which they were run.
        metric: the primary one. unit: of the metric, empty for none.
        question: for the primary metric, where none could be told and the reason is known.
        why_no_metric: why none could be told; then there are no rows.
        rows: by value, and within a value by variant.
        command: of the first experiment.
    """

    name: str
    argument: str
    values: tuple[str, ...]
    scale: Scale
    metric: str
    unit: str
    confidence: float
    command: tuple[str, ...]
    rows: tuple[SweepRow, ...]
    question: PrimaryQuestion | None = None
    why_no_metric: str = ""


def number_of(value: str) -> float | None:
    """The number that a value of an argument is, None for a word."""
    try:
        number = float(value)
    except ValueError:
        return None
    return number if math.isfinite(number) else None
