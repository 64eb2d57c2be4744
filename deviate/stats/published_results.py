"""Comparison of an experiment with published numbers, of which no scores of single runs are known."""

import math
from dataclasses import replace

from scipy import special

from deviate.model import (
    Description,
    Estimate,
    Experiment,
    Interval,
    PublishedComparison,
    PublishedResult,
    PublishedSpread,
    Unavailable,
    Verdict,
)
from deviate.model.estimates import VERDICT_RUNS
from deviate.stats.estimates import summary
from deviate.stats.estimates.sample import Summary, count
from deviate.stats.interim_analysis import pending

FAR = 25.0
"""Ratio of two means from which one of them is taken for a percentage, if nothing else says so."""


def published_sd(spread: PublishedSpread, n: int) -> float:
    """SD over runs with ddof 1. What is not known is read so that the SD is larger: ddof 0, an interval by 1.96 SE.

    Source: SE = SD / sqrt(n); interval of a mean by Student (1908); ddof 0 and 1 differ by sqrt(n / (n - 1)).
    """
    if spread.kind == "CI":
        tail = (1 + spread.confidence) / 2
        quantile = summary.t_quantile(tail, n - 1) if spread.has_t else float(special.ndtri(tail))
        return spread.value / quantile * math.sqrt(n)
    sd = spread.value * (math.sqrt(n) if spread.kind == "SE" else 1.0)
    return sd if spread.ddof == 1 else sd * math.sqrt(n / (n - 1))


def compare_published(
    experiment: Experiment,
    described: Description,
    published: PublishedResult,
    *,
    confidence: float = 0.95,
    margin: float | None = None,
) -> PublishedComparison:
    """Compare one metric of an experiment with a published result.

    Args:
        described: the metric, over the runs of the experiment. margin: smallest difference that matters.
    """
    metric = described.metric
    absent = Unavailable(described.note or "no score")
    waits = pending([experiment])
    why = _why_no_interval(described, published, waits)
    baseline = Summary(published.n, published.mean, _known(published.sd))
    candidate = Summary(described.n, _known(described.mean), _known(described.sd))
    margin = metric.margin if margin is None else margin
    mark = _mark(experiment)

    def interval(level: float) -> Interval | Unavailable:
        return why or _marked(summary.welch_interval(baseline, candidate, confidence=level), mark)

    return PublishedComparison(
        published=published,
        unit=metric.unit,
        direction=metric.direction,
        aggregate=metric.aggregate,
        scores=tuple(described.values),
        n_runs=described.n_runs,
        mean=described.mean,
        mean_interval=described.mean_interval,
        sd=described.sd,
        difference=candidate.mean - baseline.mean if described.n else absent,
        interval=interval(confidence),
        hedges_g=why or summary.hedges_g(baseline, candidate),
        hedges_g_interval=why or _marked(summary.hedges_g_interval(baseline, candidate, confidence=confidence), mark),
        sd_ratio=why or summary.sd_ratio(baseline, candidate),
        sd_ratio_interval=why or _marked(summary.sd_ratio_interval(baseline, candidate, confidence=confidence), mark),
        verdict=Verdict("undecided", _why_undecided(described.n, published.n)),
        margin=margin,
        margin_interval=Unavailable("no margin was given") if margin is None else interval(2 * confidence - 1),
    )


def scale_note(comparison: PublishedComparison) -> str:
    """A warning if one side looks like a percentage and the other like a fraction; empty otherwise."""
    ours, theirs = comparison.mean, comparison.published.mean
    if isinstance(ours, Unavailable) or min(ours, theirs) <= 0:
        return ""
    name = comparison.published.metric
    is_far = comparison.direction == "max" or max(ours, theirs) / min(ours, theirs) >= FAR
    if ours <= 1 < theirs <= 100 and (is_far or comparison.published.is_percentage):
        return (
            f"{name}: theirs ({theirs:g}) looks like a percentage, ours ({ours:.6g}) like a fraction. Nothing was "
            f"converted: divide theirs and its spread by 100, as {name}={theirs / 100:.6g}."
        )
    if theirs <= 1 < ours <= 100 and is_far:
        return (
            f"{name}: theirs ({theirs:g}) looks like a fraction, ours ({ours:.6g}) like a percentage. Nothing was "
            f"converted: multiply theirs and its spread by 100, as {name}={theirs * 100:.6g}."
        )
    return ""


def few_runs_note(comparison: PublishedComparison) -> str:
    """A warning if one side has too few runs for more than a description; empty otherwise."""
    sides = {"ours": comparison.n, "theirs": comparison.published.n}
    few = [f"{count(n, 'run')} of {side}" for side, n in sides.items() if 1 < n < VERDICT_RUNS]
    if not few:
        return ""
    return (
        f"{comparison.published.metric}: {' and '.join(few)}; with fewer than {VERDICT_RUNS} the numbers only describe "
        "these runs, and the interval holds for normal scores."
    )


def _why_undecided(n_ours: int, n_theirs: int) -> str:
    if n_ours < 2:
        return "1 run of ours" if n_ours else "no score of ours"
    return "1 run of theirs" if n_theirs == 1 else summary.UNKNOWN_SCORES


def _why_no_interval(described: Description, published: PublishedResult, waits: str) -> Unavailable | None:
    if waits:
        return Unavailable(f"{waits}: no interval until all have")
    if described.n < 2:
        return Unavailable(f"needs 2 runs in each, has {published.n} and {described.n}")
    if isinstance(published.sd, Unavailable):
        return published.sd
    return None


def _mark(experiment: Experiment) -> str:
    """What an interval may not be taken for, because of earlier or later looks at the runs."""
    if experiment.n_unplanned_looks:
        return f"not valid: {count(experiment.n_unplanned_looks, 'unplanned look')}"
    return "nominal" if experiment.looks else ""


def _marked(interval: Interval | Unavailable, mark: str) -> Interval | Unavailable:
    return replace(interval, note=mark) if mark and isinstance(interval, Interval) else interval


def _known(estimate: Estimate) -> float:
    return math.nan if isinstance(estimate, Unavailable) else estimate
