"""Planning from recorded runs: the difference that a number of runs can detect, and the runs a margin needs.

It uses the SD alone, never the observed difference, whose power says no more than its p. Source: Hoenig & Heisey
(2001), The abuse of power.
"""

import math
from collections.abc import Sequence
from dataclasses import replace

from deviate.model.comparisons import Comparison, Description
from deviate.model.design import Planning, PlanningRow, Question
from deviate.model.estimates import PAIRED_ALONE_RUNS, PAIRED_RUNS, VERDICT_RUNS, Estimate, Interval, Unavailable
from deviate.model.findings import ExperimentFindings, NoiseFindings, PairFindings
from deviate.model.phrases import Method
from deviate.model.plan import SelectedMetric
from deviate.stats.design.design import NO_VERDICT, runs_for_margin
from deviate.stats.design.power import NO_LEVEL, POWER, detectable_effect, fewest, spread_within
from deviate.stats.estimates.sample import moments, without_spread
from deviate.stats.estimates.summary import sd_ends
from deviate.stats.scores import match

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
    """By the spread within both sides, pooled; by that of the differences where runs are paired."""
    is_paired = comparison.is_paired
    b, a = comparison.baseline.values, comparison.candidate.values
    if is_paired:
        b, a, _ = match(comparison.baseline, comparison.candidate)
    spread = spread_within(b, a, is_paired=is_paired)
    sd, df = (spread, 0) if isinstance(spread, Unavailable) else spread
    return _plan(comparison.metric, baseline, candidate, sd, df, (len(b), len(a)), confidence, is_paired=is_paired)


def pooled_spread(
    baseline: Sequence[float], candidate: Sequence[float], *, confidence: float = 0.95
) -> tuple[float, Interval] | Unavailable:
    """SD within two sides, pooled, and its interval.

    Source: chi-square with n_A + n_B - 2 degrees of freedom, equal variances assumed.
    """
    spread = spread_within(baseline, candidate)
    if isinstance(spread, Unavailable):
        return spread
    sd, df = spread
    low, high = sd_ends(df, confidence)
    return sd, Interval(sd * low, sd * high, confidence, "chi-square")


def plan_experiment(description: Description, name: str, *, confidence: float = 0.95) -> Planning:
    """For two methods that both spread as this one experiment does."""
    values = description.values
    sd = without_spread(2, values) or moments(values).sd
    return _plan(description.metric, name, "", sd, len(values) - 1, (len(values), len(values)), confidence)


def _plan(
    metric: SelectedMetric,
    baseline: str,
    candidate: str,
    sd: Estimate,
    df: int,
    n_now: tuple[int, int],
    confidence: float,
    *,
    is_paired: bool = False,
) -> Planning:
    plan = Planning(
        metric=metric,
        baseline=baseline,
        candidate=candidate,
        is_paired=is_paired,
        power=POWER,
        confidence=confidence,
        sd=sd,
        sd_interval=NO_LEVEL,
        n_now=n_now[:1] if is_paired else n_now,
        now=NO_LEVEL,
        now_interval=NO_LEVEL,
        rows=(),
        margin=metric.margin,
    )
    if isinstance(sd, Unavailable):
        return replace(plan, sd_interval=sd, now=sd, now_interval=sd)
    ends = sd_ends(df, confidence)
    least = PAIRED_ALONE_RUNS if is_paired else VERDICT_RUNS
    now = sd * detectable_effect(*n_now, confidence=confidence, is_paired=is_paired)
    if math.isinf(now):
        return replace(plan, sd=NO_LEVEL)
    if plan.margin is not None:
        sizes = [plan.margin / (sd * factor) for factor in (1.0, *ends)]
        runs, low, high = (_runs_for(size, confidence, is_paired=is_paired) for size in sizes)
        plan = replace(
            plan,
            runs_for_margin=runs,
            runs_for_margin_range=(low, high),
            runs_for_equivalence=_runs_for_equivalence(sizes[0], confidence, is_paired=is_paired),
        )
    marked = {n_now[0], 2 * n_now[0]} if len(set(n_now)) == 1 else {2 * max(n_now)}
    marked |= {n_runs for n_runs in (plan.runs_for_margin, plan.runs_for_equivalence) if isinstance(n_runs, int)}
    rows = []
    for n in sorted({*PLANNED_RUNS, *marked}):
        size = sd * detectable_effect(n, n, confidence=confidence, is_paired=is_paired)
        if math.isinf(size) or n < least:
            continue
        rows.append(PlanningRow(n, size, size * ends[0], size * ends[1]))
    return replace(
        plan,
        sd_interval=Interval(sd * ends[0], sd * ends[1], confidence, "chi-square"),
        now=NO_VERDICT if min(n_now) < least else now,
        now_interval=NO_VERDICT
        if min(n_now) < least
        else Interval(now * ends[0], now * ends[1], confidence, Method.CHI_SQUARE_OF_SD),
        rows=tuple(rows),
    )


def _runs_for(size: float, confidence: float, *, is_paired: bool) -> int | Unavailable:
    """Runs of each side, or pairs, that see a difference of so many SDs; never fewer than a verdict takes."""
    return fewest(
        lambda n: detectable_effect(n, n, confidence=confidence, is_paired=is_paired) <= size,
        PAIRED_RUNS if is_paired else VERDICT_RUNS,
    )


def _runs_for_equivalence(size: float, confidence: float, *, is_paired: bool) -> int | Unavailable:
    # With a correlation of one half the SD of a difference is that of a run: `size` is in SDs of the differences.
    correlation = 0.5 if is_paired else None
    return runs_for_margin(size, Question(margin=size, confidence=confidence, correlation=correlation))
