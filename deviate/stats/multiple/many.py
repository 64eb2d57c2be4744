"""Three or more experiments in one metric: overall tests, each against the baseline, and all against all."""

import warnings
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np
import scipy

from deviate.model.comparisons import Contrast, ManyTable
from deviate.model.estimates import N_RESAMPLES, VERDICT_RUNS, Estimate, Interval, Test, Unavailable
from deviate.model.findings import ExperimentFindings
from deviate.model.phrases import Method, Note, Reason, listed
from deviate.model.plan import SelectedMetric
from deviate.stats.changes import change_results
from deviate.stats.estimates.sample import (
    Values,
    is_constant,
    moments,
    never_zero,
    refusal,
    resolution,
    too_few,
    without_spread,
)
from deviate.stats.hypothesis.both import ask_both, both_interval
from deviate.stats.hypothesis.two_sample import welch, welch_interval
from deviate.stats.interim_analysis import pending, unplanned
from deviate.stats.multiple.pairs import holm, match_metrics
from deviate.stats.registry import statistic


def compare_many(
    described: Sequence[ExperimentFindings],
    names: Sequence[str],
    *,
    matches: Mapping[str, str],
    confidence: float,
    rng: np.random.Generator,
    apart: Collection[tuple[str, str]] = (),
) -> tuple[ManyTable, ...]:
    """A table per metric that at least three experiments report, in the order of the first one, the baseline.

    Args:
        names: of the experiments, in the same order.
        matches: metric of the baseline to the metric of the others that it is compared with; others match by name.
        rng: seeds a generator per metric, so that no p depends on which other metrics are judged.
        apart: metric of the baseline and name of each experiment that cannot be compared with it there.
    """
    if len(described) < 3:
        return ()
    reason, mark = withheld(described)
    seed = int(rng.integers(2**63))
    tables = []
    for first in described[0].descriptions:
        sides = [(names[0], first)]
        for name, findings in zip(names[1:], described[1:], strict=True):
            pair = match_metrics([first], findings.descriptions, matches)
            if (first.metric.name, name) in apart:
                continue
            sides += [(name, other) for _, other in pair]
        if len(sides) < 3:
            continue
        generator = np.random.default_rng([seed, *first.metric.name.encode(errors="surrogatepass")])
        table = contrast_all(
            [side.values for _, side in sides],
            [name for name, _ in sides],
            metric=first.metric,
            confidence=confidence,
            rng=generator,
        )
        tables.append(_not_read(table, reason, mark) if reason else table)
    return tuple(tables)


def contrast_all(
    samples: Sequence[Values],
    names: Sequence[str],
    *,
    metric: SelectedMetric,
    confidence: float = 0.95,
    rng: np.random.Generator,
) -> ManyTable:
    """Compare samples of one metric, one value per run, the baseline's first."""
    return ManyTable(
        metric=metric,
        names=tuple(names),
        n=tuple(len(values) for values in samples),
        anova=anova(*samples),
        welch_anova=welch_anova(*samples),
        kruskal_wallis=kruskal_wallis(*samples, rng=rng),
        dunnett=against_baseline(samples, names, confidence=confidence, rng=rng),
        pairs=all_pairs(samples, names, confidence=confidence),
    )


def against_baseline(
    samples: Sequence[Values], names: Sequence[str], *, confidence: float = 0.95, rng: np.random.Generator
) -> tuple[Contrast, ...] | Unavailable:
    """Dunnett's comparisons of each candidate with the baseline; the family is the candidates with enough runs."""
    baseline, candidates = samples[0], list(zip(samples[1:], names[1:], strict=True))
    if few := too_few(VERDICT_RUNS, len(baseline), max(map(len, samples[1:]))):
        return few
    family = [values for values, _ in candidates if len(values) >= VERDICT_RUNS]
    found = dunnett(baseline, *family, confidence=confidence, rng=rng)
    if isinstance(found, Unavailable):
        return found
    results = iter(found)
    contrasts = []
    for values, name in candidates:
        difference = _difference(values, baseline)
        if few := too_few(VERDICT_RUNS, len(baseline), len(values)):
            contrasts.append(Contrast(name, names[0], difference, few, few))
        else:
            test, interval = next(results)
            contrasts.append(Contrast(name, names[0], difference, interval, test.p_value))
    return tuple(contrasts)


def all_pairs(samples: Sequence[Values], names: Sequence[str], *, confidence: float = 0.95) -> tuple[Contrast, ...]:
    """All against all: both tests, Holm over the pairs; the intervals cover all pairs together by Bonferroni's bound.

    Holm rejects all that Bonferroni rejects and at times more, so p can be below alpha although the interval
    contains 0, but not the reverse. No common variance is assumed.
    With fewer than five runs of a side, only Welch's test is computed, and there is no verdict.
    Source: Welch (1947); Chung & Romano (2013); Holm (1979); Dunn (1961) for the intervals.
    """
    pairs = list(combinations(range(len(samples)), 2))
    level = 1 - (1 - confidence) / max(1, len(pairs))
    adjusted = holm([_both_p(samples[one], samples[other], level) for one, other in pairs])
    contrasts = []
    for (one, other), p_value in zip(pairs, adjusted, strict=True):
        few = min(len(samples[one]), len(samples[other])) < VERDICT_RUNS
        interval = (welch_interval if few else both_interval)(samples[one], samples[other], confidence=level)
        if isinstance(interval, Interval):
            method = Method.SIMULTANEOUS(interval.method, len(pairs))
            interval = replace(interval, confidence=confidence, method=method)
        difference = _difference(samples[other], samples[one])
        contrasts.append(Contrast(names[other], names[one], difference, interval, p_value))
    return tuple(contrasts)


def _both_p(one: Values, other: Values, level: float) -> Estimate:
    if min(len(one), len(other)) < VERDICT_RUNS:
        test = welch(one, other)
        return test if isinstance(test, Unavailable) else test.p_value
    both = ask_both(one, other, confidence=level)
    return both if isinstance(both, Unavailable) else both.p_upper


def withheld(described: Sequence[ExperimentFindings]) -> tuple[str, str]:
    """Why p-values are withheld, and the mark of intervals; two empty strings if they are not.

    There is no mark where intervals of differences are withheld too, as runs have not ended.
    Critical values for looks exist for two experiments in one metric, not for more.
    """
    experiments = [findings.experiment for findings in described]
    if reason := pending(experiments):
        return reason, ""
    if reason := unplanned(experiments):
        return reason, reason
    if any(experiment.looks for experiment in experiments):
        return Reason.NO_CONSTANTS, Note.NOT_COUNTED
    return "", ""


def _not_read(table: ManyTable, reason: str, mark: str) -> ManyTable:
    absent = Unavailable(reason)

    def mark_interval(interval: Interval) -> Interval | Unavailable:
        return replace(interval, note=mark) if mark else absent

    def of_contrast(contrast: Contrast) -> Contrast:
        p_value = contrast.p_adjusted if isinstance(contrast.p_adjusted, Unavailable) else absent
        return replace(change_results(contrast, lambda _: absent, mark_interval), p_adjusted=p_value)

    return replace(
        change_results(table, lambda _: absent, mark_interval),
        dunnett=table.dunnett if isinstance(table.dunnett, Unavailable) else tuple(map(of_contrast, table.dunnett)),
        pairs=tuple(map(of_contrast, table.pairs)),
    )


def _difference(one: Values, other: Values) -> Estimate:
    return refusal(1, one, other) or moments(one).mean - moments(other).mean


# Dunnett's comparisons: several candidates against one baseline, with simultaneous intervals.


def dunnett(
    baseline: Values, *candidates: Values, confidence: float = 0.95, rng: np.random.Generator
) -> tuple[tuple[Test, Interval], ...] | Unavailable:
    """Each candidate's mean against the baseline's, with the interval of the difference, candidate minus baseline.

    P-values and intervals hold for all candidates together. Equal variances are assumed. The probability is sampled, to
    about four digits.
    Source: Dunnett (1955), by `scipy.stats.dunnett`.
    """
    if reason := without_spread(VERDICT_RUNS, baseline, *candidates):
        return reason
    origin = moments(baseline).mean
    # In units of the largest SD their squares are floats wherever the scores lie.
    scale = max(moments(values).sd for values in (baseline, *candidates))
    control, *samples = [(np.asarray(values, dtype=float) - origin) / scale for values in (baseline, *candidates)]
    with warnings.catch_warnings():  # of scores that lie far from the baseline's, for their spread among themselves
        warnings.simplefilter("ignore", RuntimeWarning)
        found = scipy.stats.dunnett(*samples, control=control, rng=rng)
        ends = found.confidence_interval(confidence)
    lows, highs = np.atleast_1d(ends.low) * scale, np.atleast_1d(ends.high) * scale
    df = sum(map(len, (baseline, *candidates))) - len(candidates) - 1
    note = listed(Note.EQUAL_VARIANCES, Note.FAMILY_OF(len(candidates)))
    return tuple(
        (
            Test(Method.DUNNETT_T, float(t), never_zero(float(p_value)), df, note),
            Interval(float(low), float(high), confidence, Method.DUNNETT),
        )
        for t, p_value, low, high in zip(found.statistic, found.pvalue, lows, highs, strict=True)
    )


# Tests of three or more experiments at once: whether their means or their scores differ at all.

RUNS_FOR_CHI_SQUARE = 10
"""With fewer runs in any experiment the chi-square law of Kruskal and Wallis rejects too seldom: 4 % in place of 5 % at
5 runs, 2 % with many ties (simulated); ranks are permuted then."""


@statistic(n_samples=None, minimum=2, shift="ignores", scale="ignores", refuse=without_spread)
def anova(*samples: Values) -> Test | Unavailable:
    """One-way analysis of variance; equal variances are assumed.

    Source: Fisher (1925).
    """
    return _analyse_variance(Method.ANOVA, samples, "equal", Note.EQUAL_VARIANCES)


@statistic(n_samples=None, minimum=2, shift="ignores", scale="ignores", refuse=without_spread)
def welch_anova(*samples: Values) -> Test | Unavailable:
    """Welch's analysis of variance, for unequal variances; each experiment needs spread of its own.

    Source: Welch (1951).
    """
    finest = resolution([value for values in samples for value in values])
    flat = sum(max(values) - min(values) < finest for values in samples)
    if flat:
        return Unavailable(Reason.NO_SPREAD_IN(flat, len(samples)))
    return _analyse_variance(Method.WELCH_ANOVA, samples, "unequal")


@statistic(n_samples=None, minimum=4, shift="ignores", scale="ignores", draws=True, refuse=refusal)
def kruskal_wallis(*samples: Values, rng: np.random.Generator) -> Test | Unavailable:
    """Kruskal-Wallis test of stochastic equality, corrected for ties.

    By chi-square from 10 runs in each on; with fewer, ranks are permuted among all runs.
    Source: Kruskal & Wallis (1952).
    """
    pooled = np.concatenate([np.asarray(values, dtype=float) for values in samples])
    if is_constant(list(pooled)):
        return Unavailable(Reason.IDENTICAL)
    sizes = [len(values) for values in samples]
    ranks = scipy.stats.rankdata(pooled)
    tied = len(pooled) - int(np.sum(np.unique(pooled, return_counts=True)[1] == 1))
    h, how = float(_between_ranks(ranks[None], sizes)[0]), "chi-square"
    if min(sizes) >= RUNS_FOR_CHI_SQUARE:
        p_value = float(scipy.stats.chi2.sf(h, len(samples) - 1))
    else:
        # Sorted first: which of equal generators permutes must not depend on the order of runs.
        # By argsort, which is five times faster than `rng.permuted` row by row.
        resampled = np.sort(ranks)[np.argsort(rng.random((N_RESAMPLES, len(ranks))), axis=1)]
        p_value = (1 + int(np.sum(_between_ranks(resampled, sizes) >= h * (1 - 1e-9)))) / (N_RESAMPLES + 1)
        how = Note.PERMUTATION(N_RESAMPLES)
    note = listed(how, Note.TIES(tied)) if tied else how
    return Test(Method.KRUSKAL_WALLIS, h, never_zero(p_value), len(samples) - 1, note)


def _analyse_variance(name: str, samples: Sequence[Values], use_var: str, note: str = "") -> Test:
    from statsmodels.stats.oneway import anova_oneway  # it brings pandas, which reports of fewer experiments do without

    sides = [moments(values) for values in samples]
    # In units of the largest SD their squares are floats wherever the scores lie.
    scale, origin = max(side.sd for side in sides), min(side.mean for side in sides)
    found = anova_oneway([(np.asarray(values, dtype=float) - origin) / scale for values in samples], use_var=use_var)
    between, within = map(float, found.df)
    return Test(name, float(found.statistic), never_zero(float(found.pvalue)), within, note, between)


def _between_ranks(ranks: np.ndarray, sizes: list[int]) -> np.ndarray:
    """H per row of ranks, shape (rows, runs), which lie one experiment after the other."""
    n = ranks.shape[1]
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    sums = np.add.reduceat(ranks - (n + 1) / 2, starts, axis=1)
    total = float(np.sum((ranks[0] - (n + 1) / 2) ** 2))
    statistics: np.ndarray = (n - 1) * np.sum(sums**2 / np.asarray(sizes), axis=1) / total
    return statistics
