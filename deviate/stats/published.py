"""Figures of published tables: what rounded numbers can stand for, and formulas that give the printed ones."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from deviate.model import Interval, Unavailable


@dataclass(frozen=True, slots=True)
class Variability:
    """Variability of the runs of one method; the five measures of Summers & Dinneen (2021).

    Attributes:
        sd_accuracy, sd_cross_entropy: over runs.
        disagreement: mean share of examples on which two runs disagree. correlation: mean of their outputs, below 1.
        ensemble_delta: mean gain of an ensemble of two over its members.
    """

    sd_accuracy: float
    sd_cross_entropy: float
    disagreement: float
    correlation: float
    ensemble_delta: float


def variability_reduction(single: Variability, other: Variability) -> float | Unavailable:
    """By how many percent a method varies less than single models, mean over the five measures.

    Of the correlation it is the distance from 1 that counts; the raw correlation does not give the published rows.
    Source: Summers & Dinneen (2021), as recovered from their table.
    """
    pairs = (
        (single.sd_accuracy, other.sd_accuracy),
        (single.sd_cross_entropy, other.sd_cross_entropy),
        (single.disagreement, other.disagreement),
        (1 - single.correlation, 1 - other.correlation),
        (single.ensemble_delta, other.ensemble_delta),
    )
    if not all(math.isfinite(before) and math.isfinite(after) for before, after in pairs):
        return Unavailable("a measure has no finite value")
    if not all(before > 0 for before, _ in pairs[:-1]):
        return Unavailable("single models do not vary in one of the measures")
    if single.ensemble_delta <= 0:
        return Unavailable("two single models averaged gain nothing")
    return 100 * math.fsum(1 - after / before for before, after in pairs) / len(pairs)


def feasible_sd(difference: float, n: int) -> Interval | Unavailable:
    """Smallest and largest SD (ddof 1) that n runs with this range can have.

    Smallest with all runs but the two extremes in the middle, largest with half of them at either end.
    Source: Popoviciu (1935) for the upper end, Nagy (1918) for the lower one.
    """
    if n < 2 or not 0 < difference < math.inf:
        return Unavailable("needs 2 runs that differ")
    half = n // 2
    high = difference * math.sqrt(half * (n - half) / (n * (n - 1)))
    return Interval(difference / math.sqrt(2 * (n - 1)), high, 1.0, "range of n runs")


def shares(counts: Sequence[int]) -> tuple[float, ...]:
    """Percentages of the sum of counts; empty for a sum of 0."""
    total = sum(counts)
    return tuple(100 * count / total for count in counts) if total else ()
