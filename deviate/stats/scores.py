"""Which scores of two sides decide, and how many runs failed; without numpy, as words of a report need them."""

from deviate.model.comparisons import Comparison, Description
from deviate.model.phrases import FAILURES, Reason


def match(baseline: Description, candidate: Description) -> tuple[list[float], list[float], tuple[int, ...]]:
    """Scores of the pairs in order of replicate, and the replicates that only one side has a score of."""
    before = {score.replicate: score.value for score in baseline.scores}
    after = {score.replicate: score.value for score in candidate.scores}
    common = sorted(before.keys() & after.keys())
    return [before[i] for i in common], [after[i] for i in common], tuple(sorted(before.keys() ^ after.keys()))


def deciding_scores(comparison: Comparison) -> tuple[list[float], list[float]]:
    """Scores of baseline and candidate for the tests of the verdict: those of complete pairs if runs are paired."""
    if comparison.is_paired:
        b, a, _ = match(comparison.baseline, comparison.candidate)
        return b, a
    return comparison.baseline.values, comparison.candidate.values


def failure_bound(n_runs: int, *, confidence: float = 0.95) -> float:
    """How high the failure rate may be of which no failure was seen in so many runs.

    >>> round(failure_bound(10), 2)
    0.26

    Source: Clopper & Pearson (1934), one-sided: 1 - alpha^(1/n).
    """
    return 1 - float((1 - confidence) ** (1 / n_runs))


def n_failed(description: Description) -> int:
    """How many runs gave no score because they failed, and not because the metric was not reported where it counts."""
    return sum(kind in FAILURES or kind is Reason.NOT_FINITE for kind in description.missing_kinds)
