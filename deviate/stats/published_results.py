"""Comparison of an experiment with published numbers, of which no scores of single runs are known."""

import math
from dataclasses import replace

from deviate.model.comparisons import Description, Ground, Verdict
from deviate.model.estimates import Estimate, Interval, Unavailable
from deviate.model.phrases import Note, Reason
from deviate.model.published_results import PublishedComparison, PublishedResult
from deviate.model.records import Experiment
from deviate.stats.estimates.effect import hedges_g, hedges_g_interval, sd_ratio, sd_ratio_interval
from deviate.stats.estimates.sample import SampleSummary, too_few
from deviate.stats.hypothesis.two_sample import welch_interval
from deviate.stats.interim_analysis import pending, unplanned


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
    absent = Unavailable(described.note or Reason.NO_SCORE)
    refusal = _why_no_interval(experiment, described, published)
    baseline = SampleSummary(published.n, published.mean, _number_or_nan(published.sd))
    candidate = SampleSummary(described.n, _number_or_nan(described.mean), _number_or_nan(described.sd))
    margin = metric.margin if margin is None else margin
    mark = _mark(experiment)

    def interval(level: float) -> Interval | Unavailable:
        return refusal or _with_mark(welch_interval(baseline, candidate, confidence=level), mark)

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
        hedges_g=refusal or hedges_g(baseline, candidate),
        hedges_g_interval=refusal or _with_mark(hedges_g_interval(baseline, candidate, confidence=confidence), mark),
        sd_ratio=refusal or sd_ratio(baseline, candidate),
        sd_ratio_interval=refusal or _with_mark(sd_ratio_interval(baseline, candidate, confidence=confidence), mark),
        verdict=Verdict(
            "undecided",
            Ground.REFUSED,
            too_few(2, published.n, described.n) or Unavailable(Reason.SCORES_UNKNOWN),
        ),
        margin=margin,
        margin_interval=Unavailable(Reason.NO_MARGIN) if margin is None else interval(2 * confidence - 1),
    )


def _why_no_interval(experiment: Experiment, described: Description, published: PublishedResult) -> Unavailable | None:
    if reason := pending([experiment]):
        return Unavailable(Note.NO_INTERVAL(reason))
    if described.n < 2:
        return too_few(2, published.n, described.n)
    return published.sd if isinstance(published.sd, Unavailable) else None


def _mark(experiment: Experiment) -> str:
    """What an interval may not be taken for, because of earlier or later looks at the runs."""
    return unplanned([experiment]) or ("nominal" if experiment.looks else "")


def _with_mark(interval: Interval | Unavailable, mark: str) -> Interval | Unavailable:
    return replace(interval, note=mark) if mark and isinstance(interval, Interval) else interval


def _number_or_nan(estimate: Estimate) -> float:
    return math.nan if isinstance(estimate, Unavailable) else estimate
