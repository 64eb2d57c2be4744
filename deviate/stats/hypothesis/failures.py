"""Failures as outcomes: completion rates, their comparison, and worst-rank scores."""

from collections import Counter
from dataclasses import replace
from typing import get_args

import numpy as np
import scipy
from scipy import special

from deviate.model.comparisons import Completion, CompletionComparison, Description
from deviate.model.estimates import Estimate, Interval, Test, Unavailable
from deviate.model.phrases import Note, Reason, listed
from deviate.model.records import Experiment, Status
from deviate.stats.describe import NOT_COUNTED
from deviate.stats.estimates.sample import never_zero
from deviate.stats.hypothesis.two_sample import mann_whitney
from deviate.stats.scores import n_failed

MOST_FOR_BOSCHLOO = 200
"""Runs per side up to which Boschloo's test takes a fraction of a second; its time grows with their product."""


def completion(experiment: Experiment, *, confidence: float = 0.95) -> Completion:
    """How many of the runs that ended for reasons of their own completed; lost and cancelled ones do not count."""
    outcomes = Counter(run.status for run in experiment.runs if run.status not in NOT_COUNTED)
    n_runs, n_completed = outcomes.total(), outcomes["completed"]
    rate: Estimate = n_completed / n_runs if n_runs else Unavailable(Reason.NONE_ENDED)
    return Completion(
        n_completed=n_completed,
        n_runs=n_runs,
        rate=rate,
        interval=rate_interval(n_completed, n_runs, confidence=confidence),
        outcomes=tuple((status, outcomes[status]) for status in get_args(Status) if outcomes[status]),
    )


def rate_interval(n_successes: int, n: int, *, confidence: float = 0.95) -> Interval | Unavailable:
    """Interval of a rate; conservative: its coverage is at least its level.

    Source: Clopper & Pearson (1934).
    """
    if n < 1:
        return Unavailable(Reason.NONE_ENDED)
    tail = (1 - confidence) / 2
    low = float(special.betaincinv(n_successes, n - n_successes + 1, tail)) if n_successes else 0.0
    high = float(special.betainccinv(n_successes + 1, n - n_successes, tail)) if n_successes < n else 1.0
    return Interval(low, high, confidence, "Clopper-Pearson")


def compare_completion(baseline: Completion, candidate: Completion) -> CompletionComparison:
    """Candidate less baseline; the same figures give the same p whatever the seed."""
    difference: Estimate
    if isinstance(baseline.rate, Unavailable) or isinstance(candidate.rate, Unavailable):
        difference = Unavailable(Reason.NONE_ENDED)
    else:
        difference = candidate.rate - baseline.rate
    test = rate_test((baseline.n_completed, baseline.n_runs), (candidate.n_completed, candidate.n_runs))
    return CompletionComparison(baseline, candidate, difference, test)


def rate_test(baseline: tuple[int, int], candidate: tuple[int, int]) -> Test | Unavailable:
    """Boschloo's exact test of two rates, each (successes, runs); Fisher's where runs are more than 200 on a side.

    The statistic is Fisher's p (for Fisher's test the odds ratio has no value at 0, so it is the difference of rates).
    The columns of the table are the sides: scipy takes the sums of columns as fixed, so that the transposed table
    answers another question (for 10 of 10 against 8 of 10 it has p = 0.239 in place of 0.263).
    Source: Boschloo (1970).
    """
    (k_b, n_b), (k_a, n_a) = baseline, candidate
    if not n_b or not n_a:
        return Unavailable(Reason.NONE_ENDED)
    if k_b + k_a in (0, n_b + n_a):
        return Unavailable(Reason.NONE_FAILED if k_b else Reason.ALL_FAILED)
    table = np.array([[k_a, k_b], [n_a - k_a, n_b - k_b]])
    if max(n_b, n_a) > MOST_FOR_BOSCHLOO:
        p_value = float(scipy.stats.fisher_exact(table).pvalue)
        return Test("Fisher", k_a / n_a - k_b / n_b, never_zero(p_value), note="exact")
    result = scipy.stats.boschloo_exact(table, alternative="two-sided")
    return Test("Boschloo", float(result.statistic), never_zero(float(result.pvalue)), note="exact")


def worst_rank(baseline: Description, candidate: Description) -> Test | Unavailable:
    """Mann-Whitney test in which every failed run shares the worst rank in the direction of the metric.

    Runs that completed without a score, because the metric was not reported where it counts, are left out.
    Source: Lachin (1999), worst-rank score analysis; Mann & Whitney (1947).
    """
    direction = baseline.metric.direction
    failed = [n_failed(side) for side in (baseline, candidate)]
    if not sum(failed):
        return Unavailable(Reason.NONE_FAILED)
    if direction is None:
        return Unavailable(Reason.NO_DIRECTION)
    scores = [side.values for side in (baseline, candidate)]
    if not sum(map(len, scores)):
        return Unavailable(Reason.ALL_FAILED)
    ranks = scipy.stats.rankdata([*scores[0], *scores[1]])
    worst = 0.0 if direction == "max" else len(ranks) + 1.0
    n_b = len(scores[0])
    test = mann_whitney(
        [*map(float, ranks[:n_b]), *[worst] * failed[0]],
        [*map(float, ranks[n_b:]), *[worst] * failed[1]],
    )
    if isinstance(test, Unavailable):
        return test
    left_out = sum(len(side.missing) for side in (baseline, candidate)) - sum(failed)
    return replace(test, note=listed(test.note, Note.LEFT_OUT(left_out))) if left_out else test
