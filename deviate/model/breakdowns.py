"""Metrics that are one measure on several classes or sub-groups, and how far each spreads over runs."""

from dataclasses import dataclass

from deviate.model.estimates import Estimate, Interval, Unavailable


@dataclass(frozen=True, slots=True)
class BreakdownPart:
    """One class or sub-group.

    Attributes:
        part: what of the metric's name is its own, as `class_3`.
        scores: over runs, in order of replicate; n is their number.
        sd: ddof 1. ratio: SD over that of the whole metric, where there is one.
    """

    metric: str
    part: str
    scores: tuple[float, ...]
    mean: Estimate
    sd: Estimate
    sd_interval: Interval | Unavailable
    range: Estimate
    ratio: Estimate

    @property
    def n(self) -> int:
        return len(self.scores)


@dataclass(frozen=True, slots=True)
class Breakdown:
    """Metrics of one experiment whose names differ in one segment only.

    Attributes:
        experiment: index among the experiments of the findings.
        pattern: the name with `*` where the parts differ, as `val/f1_*`.
        whole: the metric over all classes, where one is named so; whole_sd: its SD.
        parts: by SD, widest first, without one last.
        expected_largest: SD that the widest of so many parts with one common SD would have on average: the largest
            of many is large by chance alone.
    """

    experiment: int
    pattern: str
    unit: str
    whole: str | None
    whole_sd: Estimate
    parts: tuple[BreakdownPart, ...]
    expected_largest: Estimate
