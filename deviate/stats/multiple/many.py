"""Three or more experiments in one metric: overall tests, each against the baseline, and all against all."""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import combinations

import numpy as np
import scipy
from scipy import special

from deviate.model.comparisons import Contrast, ManyTable
from deviate.model.estimates import N_RESAMPLES, VERDICT_RUNS, Estimate, Interval, Test, Unavailable
from deviate.model.findings import ExperimentFindings
from deviate.model.phrases import Method, Note, Reason, listed
from deviate.model.plan import SelectedMetric
from deviate.stats.changes import change_results
from deviate.stats.design.group_sequential import legendre
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
        dunnett=against_baseline(samples, names, confidence=confidence),
        pairs=all_pairs(samples, names, confidence=confidence),
    )


def against_baseline(
    samples: Sequence[Values], names: Sequence[str], *, confidence: float = 0.95
) -> tuple[Contrast, ...] | Unavailable:
    """Dunnett's comparisons of each candidate with the baseline; the family is the candidates with enough runs."""
    baseline, candidates = samples[0], list(zip(samples[1:], names[1:], strict=True))
    if few := too_few(VERDICT_RUNS, len(baseline), max(map(len, samples[1:]))):
        return few
    family = [values for values, _ in candidates if len(values) >= VERDICT_RUNS]
    tests, intervals = dunnett(baseline, *family), dunnett_intervals(baseline, *family, confidence=confidence)
    if isinstance(tests, Unavailable):
        return tests
    if isinstance(intervals, Unavailable):
        return intervals
    results = iter(zip(tests, intervals, strict=True))
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


# Dunnett's comparisons: several candidates against one baseline, with simultaneous intervals. All of them share the
# baseline and one variance, so their t statistics follow a multivariate t whose correlations are products. That makes
# its probability a double integral, which Gauss-Legendre quadrature gives to about ten digits without a random number;
# `scipy.stats.dunnett` samples it, to about four digits and fifty times slower.

FARTHEST = 9.0
"""In SDs: the probability of a normal variable beyond is below the rounding of floats."""


def dunnett(baseline: Values, *candidates: Values) -> tuple[Test, ...] | Unavailable:
    """Each candidate's mean against the baseline's; p-values hold for all of them together. Equal variances assumed.

    Source: Dunnett (1955); statistic and p as in `scipy.stats.dunnett`.
    """
    if reason := without_spread(VERDICT_RUNS, baseline, *candidates):
        return reason
    sizes, df, errors = _errors(baseline, *candidates)
    origin = moments(baseline).mean
    statistics = [(moments(values).mean - origin) / error for values, error in zip(candidates, errors, strict=True)]
    note = listed(Note.EQUAL_VARIANCES, Note.FAMILY_OF(len(candidates)))
    return tuple(Test(Method.DUNNETT_T, t, _p_value(abs(t), sizes, df), df, note) for t in statistics)


def dunnett_intervals(
    baseline: Values, *candidates: Values, confidence: float = 0.95
) -> tuple[Interval, ...] | Unavailable:
    """Intervals of the differences of means, candidate minus baseline, that cover all of them together.

    Source: Dunnett (1955).
    """
    if reason := without_spread(VERDICT_RUNS, baseline, *candidates):
        return reason
    sizes, _, errors = _errors(baseline, *candidates)
    origin, critical = moments(baseline).mean, dunnett_critical(sizes, confidence)
    differences = [moments(values).mean - origin for values in candidates]
    return tuple(
        Interval(difference - critical * error, difference + critical * error, confidence, Method.DUNNETT)
        for difference, error in zip(differences, errors, strict=True)
    )


@lru_cache(maxsize=256)
def dunnett_critical(sizes: tuple[int, ...], confidence: float = 0.95) -> float:
    """Two-sided critical value of t for these numbers of runs, the baseline's first.

    >>> round(dunnett_critical((16, 16, 16)), 2)
    2.28

    Source: Dunnett (1964), table of two-sided comparisons.
    """
    df = sum(sizes) - len(sizes)
    n_candidates = len(sizes) - 1
    low = float(scipy.stats.t.ppf((1 + confidence) / 2, df))
    if n_candidates == 1:
        return low
    high = float(scipy.stats.t.isf((1 - confidence) / (2 * n_candidates), df))
    return float(scipy.optimize.brentq(lambda c: _inside(c, sizes, df) - confidence, low, high, xtol=1e-10))


def _p_value(t: float, sizes: tuple[int, ...], df: int) -> float:
    """P(largest |t| > t), kept between that of one comparison alone and the sum over all of them."""
    alone = 2 * float(scipy.stats.t.sf(t, df))
    n_candidates = len(sizes) - 1
    if n_candidates == 1:
        return never_zero(alone)
    return never_zero(min(n_candidates * alone, max(alone, 1 - _inside(t, sizes, df))))


def _inside(c: float, sizes: tuple[int, ...], df: int) -> float:
    """P(all |t| <= c): given the common variance and the baseline's mean the comparisons are independent."""
    loadings = np.array([math.sqrt(n / (n + sizes[0])) for n in sizes[1:]])
    residuals = np.sqrt(1 - loadings**2)
    # A candidate with far more runs than the baseline has a narrow kernel, which needs closer nodes.
    z, z_weights = _nodes(0.0, FARTHEST, min(2000, math.ceil(48 / float(residuals.min()))))
    s, s_weights = _spreads(df)
    inside = np.ones((len(s), len(z)))
    kinds, repeats = np.unique(loadings, return_counts=True)
    for loading, times in zip(kinds, repeats, strict=True):
        width = math.sqrt(1 - loading**2)
        high = (c * s[:, None] - loading * z) / width
        low = (-c * s[:, None] - loading * z) / width
        inside *= (special.ndtr(high) - special.ndtr(low)) ** times
    return float(s_weights @ inside @ (z_weights * 2 * scipy.stats.norm.pdf(z)))


@lru_cache(maxsize=64)
def _spreads(df: int) -> tuple[np.ndarray, np.ndarray]:
    """Quadrature nodes and weights for the pooled SD over the true one, which is chi over the root of its df."""
    low, high = (math.sqrt(float(q) / df) for q in (scipy.stats.chi2.ppf(1e-16, df), scipy.stats.chi2.isf(1e-16, df)))
    s, weights = _nodes(low, high, 48)
    return s, weights * 2 * s * df * scipy.stats.chi2.pdf(df * s**2, df)


def _nodes(low: float, high: float, n: int) -> tuple[np.ndarray, np.ndarray]:
    nodes, weights = legendre(n)
    half = (high - low) / 2
    return low + half * (nodes + 1), half * weights


def _errors(baseline: Values, *candidates: Values) -> tuple[tuple[int, ...], int, list[float]]:
    """Numbers of runs, degrees of freedom, and the standard error of each difference from the pooled SD."""
    sides = [moments(values) for values in (baseline, *candidates)]
    df = sum(side.n for side in sides) - len(sides)
    pooled = math.hypot(*sorted(side.sd * math.sqrt((side.n - 1) / df) for side in sides))
    errors = [pooled * math.sqrt(1 / side.n + 1 / sides[0].n) for side in sides[1:]]
    return tuple(side.n for side in sides), df, errors


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
