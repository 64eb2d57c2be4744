"""Paired runs of two sides: runs of one replicate share the seeds that both sides hold."""

import math
from dataclasses import replace

import numpy as np
import scipy

from deviate.model.comparisons import Description, Paired
from deviate.model.estimates import Estimate, Interval, Test, Unavailable
from deviate.model.phrases import Method, Note, Reason, listed
from deviate.model.records import Experiment
from deviate.stats.design.power import detectable_difference, detectable_paired
from deviate.stats.estimates.sample import (
    Values,
    differences_of,
    moments,
    never_zero,
    pairs_refusal,
    ratio_refusal,
    resolution,
)
from deviate.stats.estimates.summary import t_quantile, t_test
from deviate.stats.hypothesis.both import sign_flip_test
from deviate.stats.hypothesis.permutation import how, sign_flip_p
from deviate.stats.registry import statistic
from deviate.stats.scores import match

MOST_EXACT = 300
"""Pairs up to which the exact distribution of the signed ranks takes milliseconds; of 1000 it takes seconds."""


def compare_pairs(baseline: Description, candidate: Description, *, confidence: float = 0.95) -> Paired:
    """Everything that is said of two descriptions as pairs."""
    b, a, unpaired = match(baseline, candidate)
    return Paired(
        n=len(b),
        unpaired=unpaired,
        correlation=correlation(b, a),
        difference=mean_difference(b, a),
        interval=paired_interval(b, a, confidence=confidence),
        t_test=paired_t(b, a),
        sign_flips=sign_flip_test(b, a, confidence=confidence),
        wilcoxon=wilcoxon(b, a),
    )


def match_partners(baseline: Experiment, candidate: Experiment) -> Experiment:
    """The candidate with its runs numbered as the baseline's runs of the same seeds; what has no partner comes last.

    Runs of deviate have the same seeds where they have the same replicate. Imported ones are numbered in the order they
    were found in, and are told apart by the seeds that were found with them; where there are none, the order stands.
    """
    ours, theirs = (
        [tuple(sorted(run.seeds.items())) for run in experiment.runs] for experiment in (baseline, candidate)
    )
    is_told = all(ours) and all(theirs) and len(set(ours)) == len(ours) and len(set(theirs)) == len(theirs)
    if not is_told or not (baseline.imported or candidate.imported):
        return candidate
    numbers = dict(zip(ours, (run.replicate for run in baseline.runs), strict=True))
    alone = 1 + max(run.replicate for run in (*baseline.runs, *candidate.runs))
    runs = [
        replace(run, replicate=numbers.get(seeds, alone + run.replicate))
        for run, seeds in zip(candidate.runs, theirs, strict=True)
    ]
    return replace(candidate, runs=tuple(sorted(runs, key=lambda run: run.replicate)))


@statistic(n_samples=2, minimum=1, shift="ignores", scale="follows", is_paired=True)
def mean_difference(baseline: Values, candidate: Values) -> Estimate:
    """Mean of candidate minus baseline over the pairs.

    Source: the quantity of the paired t-test.
    """
    return (
        pairs_refusal(1, baseline, candidate)
        or moments([after - before for before, after in zip(baseline, candidate, strict=True)]).mean
    )


@statistic(n_samples=2, minimum=2, shift="ignores", scale="ignores", is_paired=True)
def paired_t(baseline: Values, candidate: Values) -> Test | Unavailable:
    """Paired t-test of the mean difference; with the sign flips it decides where runs were paired beforehand.

    Source: Student (1908).
    """
    differences = differences_of(baseline, candidate)
    if isinstance(differences, Unavailable):
        return differences
    d = moments(differences)
    return t_test(Method.PAIRED_T, d.mean / d.se, d.n - 1)


@statistic(n_samples=2, minimum=2, shift="ignores", scale="follows", is_paired=True)
def paired_interval(baseline: Values, candidate: Values, *, confidence: float = 0.95) -> Interval | Unavailable:
    """Interval of the mean difference, candidate minus baseline.

    Source: Student (1908).
    """
    differences = differences_of(baseline, candidate)
    if isinstance(differences, Unavailable):
        return differences
    d = moments(differences)
    half_width = t_quantile((1 + confidence) / 2, d.n - 1) * d.se
    return Interval(d.mean - half_width, d.mean + half_width, confidence, Method.OF_PAIRS)


@statistic(n_samples=2, minimum=5, shift="ignores", scale="ignores", is_paired=True)
def wilcoxon(baseline: Values, candidate: Values) -> Test | Unavailable:
    """Signed-rank test of differences that are symmetric around 0; the statistic is the rank sum of those above 0.

    Exact where no two differences are of equal size and none is 0, normal beyond 300 pairs. Else pairs without a
    difference are left out, and the signs of the ranks are flipped: all ways of it up to 17 pairs, else 9,999. Sizes
    are equal if they differ by less than the scores are rounded to.
    Source: Wilcoxon (1945).
    """
    differences = differences_of(baseline, candidate, minimum=5)
    if isinstance(differences, Unavailable) and differences.kind is not Reason.CONSTANT_DIFFERENCE:
        return differences
    gaps = np.array([after - before for before, after in zip(baseline, candidate, strict=True)])
    finest = 2 * resolution([*baseline, *candidate])
    signs = np.where(np.abs(gaps) < finest, 0.0, np.sign(gaps))
    sizes = _level_sizes(np.abs(gaps[signs != 0]), finest)
    signs = signs[signs != 0]
    n_zeros = len(gaps) - len(signs)
    if not len(signs):
        return Unavailable(Reason.IDENTICAL)
    ranks = scipy.stats.rankdata(sizes)
    n_tied = len(sizes) - int((np.unique(sizes, return_counts=True)[1] == 1).sum())
    statistic_ = float(ranks[signs > 0].sum())
    if n_zeros or n_tied:
        p_value, is_exact = sign_flip_p(signs * ranks, rounding=1e-6)
        zeros, ties = Note.ZEROS(n_zeros) if n_zeros else "", Note.TIES(n_tied) if n_tied else ""
        note = listed(how(is_exact=is_exact), zeros, ties)
    else:
        p_value, note = _signed_rank_p(signs * ranks)
    return Test(Method.WILCOXON, statistic_, never_zero(p_value), note=note)


def _signed_rank_p(ranks: np.ndarray) -> tuple[float, str]:
    if len(ranks) <= MOST_EXACT:
        return float(scipy.stats.wilcoxon(ranks, method="exact").pvalue), "exact"
    n = len(ranks)
    # The sum of the signed ranks moves in steps of 2: half a step is 1.
    z = max(0.0, abs(float(ranks.sum())) - 1) / math.sqrt(n * (n + 1) * (2 * n + 1) / 6)
    return 2 * float(scipy.stats.norm.sf(z)), Note.NORMAL


@statistic(n_samples=2, minimum=5, shift="ignores", scale="ignores", is_paired=True)
def correlation(baseline: Values, candidate: Values) -> Estimate:
    """Pearson correlation of the pairs, from -1 to 1: the effect of shared seeds.

    Source: Pearson (1895).
    """
    if reason := pairs_refusal(5, baseline, candidate) or ratio_refusal(baseline, candidate):
        return reason
    b, a = (_units(values) for values in (baseline, candidate))
    return float(np.clip(b @ a, -1.0, 1.0))


def pairing_cost(baseline: Description, candidate: Description, *, confidence: float = 0.95) -> str:
    """A sentence where these pairs see less than the same runs would have seen unpaired; else empty.

    Pairs have half the degrees of freedom, which a correlation near 0 does not repay.
    """
    b, a, _ = match(baseline, candidate)
    r = correlation(b, a)
    as_pairs = detectable_paired(b, a, confidence=confidence)
    unpaired = detectable_difference(b, a, confidence=confidence)
    if isinstance(r, Unavailable) or isinstance(as_pairs, Unavailable) or isinstance(unpaired, Unavailable):
        return ""
    return Note.PAIRING_COST(r) if as_pairs > unpaired else ""


def _units(values: Values) -> np.ndarray:
    """Deviations from the mean as a vector of length 1; scaled first, for squares of 1e150 are beyond floats."""
    sample = moments(values)
    deviations = (np.asarray(values, dtype=np.float64) - sample.mean) / sample.sd
    return deviations / float(np.linalg.norm(deviations))


def _level_sizes(sizes: np.ndarray, finest: float) -> np.ndarray:
    """Sizes as whole levels, the same one for those that no more than rounding tells apart."""
    order = np.argsort(sizes)
    levels = np.empty(len(sizes))
    levels[order] = np.concatenate([[0], np.cumsum(np.diff(sizes[order]) > finest)])
    return levels
