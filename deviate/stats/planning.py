"""Planning from recorded runs: the difference that a number of runs can detect, and the runs a margin needs.

It uses the SD alone, never the observed difference, whose power says no more than its p. Source: Hoenig & Heisey
(2001), The abuse of power.
"""

import math
from collections.abc import Sequence

from scipy import special

from deviate.model import (
    NOT_ASKED,
    Comparison,
    Description,
    ExperimentFindings,
    Interval,
    NoiseFindings,
    PairFindings,
    Planning,
    PlanningRow,
    Question,
    SelectedMetric,
    Unavailable,
)
from deviate.model.minimum import PAIRED_RUNS, VERDICT_RUNS
from deviate.stats.design.design import runs_for_margin
from deviate.stats.design.power import NO_LEVEL, POWER, detectable_effect, detectable_paired_effect, fewest
from deviate.stats.estimates.sample import Values, differences_of, moments, pooled_sd, refusal, spread_refusal
from deviate.stats.tests.paired import match

PLANNED_RUNS = (3, 4, 5, 6, 8, 10, 12, 15, 20, 30, 50)


def planning(
    described: Sequence[ExperimentFindings],
    pairs: Sequence[PairFindings],
    noise: NoiseFindings | None,
    primary: str | None,
    *,
    confidence: float = 0.95,
) -> tuple[Planning, ...]:
    """One plan per candidate with the primary metric; a single plan for one experiment or for variants.

    For variants it uses the one that varies most: methods are compared with everything varied.
    """
    if pairs:
        return tuple(
            plan_comparison(pair.headline, pair.baseline, pair.candidate, confidence=confidence)
            for pair in pairs
            if pair.headline is not None
        )
    whole = next((table.reference for table in noise.tables if table.metric.name == primary), None) if noise else None
    chosen = next((findings for findings in described if findings.experiment.variant == whole), described[0])
    name = chosen.experiment.variant if len(described) > 1 else chosen.experiment.name
    return tuple(
        plan_experiment(description, name, confidence=confidence)
        for description in chosen.descriptions
        if description.metric.name == primary
    )


def plan_comparison(comparison: Comparison, baseline: str, candidate: str, *, confidence: float = 0.95) -> Planning:
    """Plan from the pooled spread within both sides, or from that of the differences if runs are paired."""
    metric = comparison.metric
    if comparison.is_paired:
        b, a, _ = match(comparison.baseline, comparison.candidate)
        differences = differences_of(b, a)
        if isinstance(differences, Unavailable):
            return _without(metric, baseline, candidate, (len(b),), differences, confidence, is_paired=True)
        sd = moments(differences).sd
        return _plan(metric, baseline, candidate, sd, len(b) - 1, (len(b),), confidence, is_paired=True)
    b, a = _values(comparison.baseline), _values(comparison.candidate)
    n_now = (len(b), len(a))
    if reason := _refusal(b, a):
        return _without(metric, baseline, candidate, n_now, reason, confidence)
    return _plan(metric, baseline, candidate, pooled_sd(moments(b), moments(a)), sum(n_now) - 2, n_now, confidence)


def plan_experiment(description: Description, name: str, *, confidence: float = 0.95) -> Planning:
    """Plan a comparison of two methods that both have the spread of this experiment."""
    values = _values(description)
    n_now = (len(values), len(values))
    if reason := _refusal(values):
        return _without(description.metric, name, "", n_now, reason, confidence)
    return _plan(description.metric, name, "", moments(values).sd, len(values) - 1, n_now, confidence)


def _values(description: Description) -> list[float]:
    return [score.value for score in description.scores]


def _refusal(*samples: Values) -> Unavailable | None:
    return refusal(2, *samples) or spread_refusal(*samples)


def _plan(
    metric: SelectedMetric,
    baseline: str,
    candidate: str,
    sd: float,
    df: int,
    n_now: tuple[int, ...],
    confidence: float,
    *,
    is_paired: bool = False,
) -> Planning:
    ends = _ends(df, confidence)
    now = sd * _effect(n_now, confidence, is_paired=is_paired)
    if math.isinf(now):
        return _without(metric, baseline, candidate, n_now, NO_LEVEL, confidence, is_paired=is_paired)
    margin = metric.margin
    runs: int | Unavailable = NOT_ASKED
    runs_range: tuple[int | Unavailable, int | Unavailable] | Unavailable = NOT_ASKED
    runs_equivalence: int | Unavailable = NOT_ASKED
    if margin is not None:
        sizes = [margin / (sd * factor) for factor in (1.0, *ends)]
        runs, low, high = (_runs_for(size, confidence, is_paired=is_paired) for size in sizes)
        runs_range = (low, high)
        runs_equivalence = _runs_for_equivalence(sizes[0], confidence, is_paired=is_paired)
    marked = {n_now[0], 2 * n_now[0]} if len(set(n_now)) == 1 else {2 * max(n_now)}
    marked |= {n_runs for n_runs in (runs, runs_equivalence) if isinstance(n_runs, int)}
    rows = []
    for n in sorted({*PLANNED_RUNS, *marked}):
        size = sd * _effect((n,) if is_paired else (n, n), confidence, is_paired=is_paired)
        if math.isinf(size):
            continue
        rows.append(PlanningRow(n, size, size * ends[0], size * ends[1]))
    return Planning(
        metric=metric,
        baseline=baseline,
        candidate=candidate,
        is_paired=is_paired,
        power=POWER,
        confidence=confidence,
        sd=sd,
        sd_interval=Interval(sd * ends[0], sd * ends[1], confidence, "chi-square"),
        n_now=n_now,
        now=now,
        now_interval=Interval(now * ends[0], now * ends[1], confidence, "chi-square, of the SD"),
        rows=tuple(rows),
        margin=margin,
        runs_for_margin=runs,
        runs_for_margin_range=runs_range,
        runs_for_equivalence=runs_equivalence,
    )


def _without(
    metric: SelectedMetric,
    baseline: str,
    candidate: str,
    n_now: tuple[int, ...],
    reason: Unavailable,
    confidence: float,
    *,
    is_paired: bool = False,
) -> Planning:
    """The plan if there is no spread to plan by."""
    return Planning(
        metric=metric,
        baseline=baseline,
        candidate=candidate,
        is_paired=is_paired,
        power=POWER,
        confidence=confidence,
        sd=reason,
        sd_interval=reason,
        n_now=n_now,
        now=reason,
        now_interval=reason,
        rows=(),
        margin=metric.margin,
    )


def _ends(df: int, confidence: float) -> tuple[float, float]:
    """Ends of the interval of an SD over the SD.

    Source: chi-square with `df` degrees of freedom; `chdtri` counts the tail above.
    """
    low, high = (
        math.sqrt(df / float(special.chdtri(df, tail))) for tail in ((1 - confidence) / 2, (1 + confidence) / 2)
    )
    return low, high


def _effect(n: tuple[int, ...], confidence: float, *, is_paired: bool) -> float:
    """Detectable difference in SDs."""
    if is_paired:
        return detectable_paired_effect(n[0], confidence=confidence)
    return detectable_effect(n[0], n[1], confidence=confidence)


def _runs_for(size: float, confidence: float, *, is_paired: bool) -> int | Unavailable:
    """Runs of each side, or pairs, that see a difference of so many SDs; never fewer than a verdict takes."""
    least = PAIRED_RUNS if is_paired else VERDICT_RUNS

    def suffices(n: int) -> bool:
        return _effect((n,) if is_paired else (n, n), confidence, is_paired=is_paired) <= size

    return fewest(suffices, least)


def _runs_for_equivalence(size: float, confidence: float, *, is_paired: bool) -> int | Unavailable:
    # With a correlation of one half the SD of a difference is that of a run: `size` is in SDs of the differences.
    correlation = 0.5 if is_paired else None
    return runs_for_margin(size, Question(margin=size, confidence=confidence, correlation=correlation))
