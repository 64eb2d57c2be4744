"""The best experiment in a metric: the one that is better than all others, not the one with the largest mean."""

from collections.abc import Sequence

from deviate.model import Comparison, Contrast, Findings, Interval, Unavailable
from deviate.model.minimum import VERDICT_RUNS


def best_of(findings: Findings, comparisons: Sequence[Comparison | None]) -> int | None:
    """Index of the experiment (0: baseline) that is better than all others in this metric; None if there is none.

    Args:
        comparisons: one per candidate; None where one did not report the metric.
    """
    if not comparisons or None in comparisons:
        return None
    words = [comparison.verdict.word for comparison in comparisons if comparison is not None]
    if all(word == "worse" for word in words):
        return 0
    better = [index for index, word in enumerate(words) if word == "better"]
    for index in better:
        rivals = [other for other in range(len(words)) if other != index]
        if all(_is_better(findings, comparisons, index, rival) for rival in rivals):
            return index + 1
    return None


def _is_better(findings: Findings, comparisons: Sequence[Comparison | None], one: int, other: int) -> bool:
    """Whether a candidate is better than another one, by the adjusted p of their contrast."""
    first, second = comparisons[one], comparisons[other]
    if first is None or second is None or min(first.candidate.n, second.candidate.n) < VERDICT_RUNS:
        return False
    table = next((table for table in findings.many if table.metric.name == first.metric.name), None)
    if (
        table is None
        or len(table.names) <= max(one, other) + 1
        or "withheld" in {comparison.verdict.word for comparison in (first, second)}
    ):
        return False
    names = table.names[one + 1], table.names[other + 1]
    for contrast in table.pairs:
        if {contrast.one, contrast.other} == set(names):
            sign = 1 if contrast.one == names[0] else -1
            return _excludes_zero(contrast, findings.confidence, sign if first.metric.direction == "max" else -sign)
    return False


def _excludes_zero(contrast: Contrast, confidence: float, sign: int) -> bool:
    interval, p_value = contrast.interval, contrast.p_adjusted
    if isinstance(p_value, Unavailable) or not isinstance(interval, Interval) or p_value >= 1 - confidence:
        return False
    return interval.low > 0 if sign > 0 else interval.high < 0
