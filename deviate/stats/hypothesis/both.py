"""Both tests of a comparison, and the interval of all values that they do not both reject: `two_tests` in figures."""

import math
from dataclasses import dataclass, replace

import numpy as np

from deviate.model.analysis import Direction
from deviate.model.comparisons import Equivalence
from deviate.model.estimates import (
    MANY_RESAMPLES,
    N_RESAMPLES,
    PAIRED_ALONE_RUNS,
    VERDICT_RUNS,
    Interval,
    Test,
    Unavailable,
)
from deviate.model.phrases import Method, Note, Reason, listed
from deviate.stats.estimates.sample import Values, differences_of, never_zero, without_spread
from deviate.stats.hypothesis.permutation import how
from deviate.stats.hypothesis.two_tests import N_ERRORS, Side, ask, is_exact, limits, smallest_p
from deviate.stats.registry import statistic


@dataclass(frozen=True, slots=True)
class BothTests:
    """Results of both tests for one null value. `sign` is that of the difference from it."""

    t_test: Test
    permutation: Test
    sign: float

    @property
    def p(self) -> float:
        """The larger of both."""
        return max(self.t_test.p_value, self.permutation.p_value)

    @property
    def p_upper(self) -> float:
        """The larger of both at the upper end of the Monte-Carlo error, which decides."""
        return upper_p(self.t_test, self.permutation)

    @property
    def deciding(self) -> Test:
        """The test with the larger p."""
        return self.permutation if self.permutation.p_value > self.t_test.p_value else self.t_test


def upper_p(t_test: Test, permutation: Test) -> float:
    """The larger p of both tests, with the permutation p at the upper end of its Monte-Carlo error."""
    return max(t_test.p_value, min(1.0, permutation.p_value + permutation.p_error))


def ask_both(
    baseline: Values,
    candidate: Values,
    *,
    null: float = 0.0,
    side: Side = "both",
    confidence: float = 0.95,
    is_paired: bool = False,
) -> BothTests | Unavailable:
    """Ask both tests about a null value of the difference of means, candidate minus baseline. Four runs in each.

    Args:
        side: `above` asks whether the difference is above it, `below` whether it is below, by a one-sided p.
        confidence: its complement is the level that p is held against.
        is_paired: whether scores in the same place are pairs.
    """
    if reason := unfit(4, baseline, candidate, is_paired=is_paired):
        return reason
    return ask_fit(baseline, candidate, null=null, side=side, confidence=confidence, is_paired=is_paired)


def unfit(minimum: int, baseline: Values, candidate: Values, *, is_paired: bool) -> Unavailable | None:
    """Why both tests cannot be asked about these scores; None where they can."""
    if not is_paired:
        return without_spread(minimum, baseline, candidate)
    differences = differences_of(baseline, candidate, minimum)
    return differences if isinstance(differences, Unavailable) else None


def ask_fit(
    baseline: Values,
    candidate: Values,
    *,
    null: float = 0.0,
    side: Side = "both",
    confidence: float = 0.95,
    is_paired: bool = False,
) -> BothTests:
    """The same of scores that have been found to be enough, finite, and with spread."""
    b, a = [np.asarray(values, dtype=np.float64)[None, :] for values in (baseline, candidate)]
    answer = ask(b, a, null, alpha=1 - confidence, side=side, is_paired=is_paired)
    note = "" if side == "both" else Note.ONE_SIDED
    t = float(answer.t[0])
    df = float(answer.df[0])
    error = float(answer.error[0])
    permutation = float(answer.permutation[0])
    return BothTests(
        Test(Method.PAIRED_T if is_paired else Method.WELCH_T, t, never_zero(float(answer.welch[0])), df, note),
        Test(
            Method.SIGN_FLIPS if is_paired else Method.PERMUTATION_T,
            t,
            never_zero(permutation),
            note=listed(_how(len(baseline), len(candidate), permutation, error, is_paired=is_paired), note),
            p_error=error,
        ),
        float(answer.sign[0]),
    )


def interval_of_both(
    baseline: Values, candidate: Values, *, confidence: float = 0.95, side: Side = "both", is_paired: bool = False
) -> Interval | Unavailable:
    """Interval of all values that not both tests reject; the scores have been found fit.

    Args:
        side: other than `both`, each end is a one-sided bound at (1 + confidence) / 2, as equivalence asks for.
    """
    alpha = (1 - confidence) if side == "both" else (1 - confidence) / 2
    low, high = limits(np.asarray(baseline), np.asarray(candidate), alpha=alpha, side=side, is_paired=is_paired)
    if math.isinf(low) or math.isinf(high):
        return too_few_arrangements(len(baseline), len(candidate), 1 - confidence, is_paired=is_paired)
    return Interval(low, high, confidence, Method.BOTH_OF_PAIRS if is_paired else Method.BOTH)


def including(interval: Interval, null: float) -> Interval:
    """The interval extended to a value that was not rejected, which may lie outside if p is not monotone."""
    return replace(interval, low=min(interval.low, null), high=max(interval.high, null))


def too_few_arrangements(n_baseline: int, n_candidate: int, alpha: float, *, is_paired: bool) -> Unavailable:
    """Why there is no interval at this level."""
    least = smallest_p(n_baseline, n_candidate, is_paired=is_paired)
    return Unavailable(Reason.SMALLEST_P(least, alpha))


@statistic(n_samples=2, minimum=4, shift="ignores", scale="ignores")
def permutation_test(baseline: Values, candidate: Values, *, confidence: float = 0.95) -> Test | Unavailable:
    """Permutation test of the difference of means, whose statistic is Welch's t; runs are exchanged between the sides.

    All arrangements where there are at most 200,000, else 9,999 of them with the observed one added; 99,999 where
    these leave p too close to alpha. The choice of arrangements depends only on the numbers of runs.
    Source: Janssen (1997); Chung & Romano (2013).
    """
    both = ask_both(baseline, candidate, confidence=confidence)
    return both if isinstance(both, Unavailable) else both.permutation


@statistic(n_samples=2, minimum=4, shift="ignores", scale="ignores", is_paired=True)
def sign_flip_test(baseline: Values, candidate: Values, *, confidence: float = 0.95) -> Test | Unavailable:
    """Permutation test of the mean difference of pairs: each difference may change its sign.

    All ways of it up to 17 pairs, else 9,999 of them, or 99,999, as for `permutation_test`.
    Source: Fisher (1935).
    """
    both = ask_both(baseline, candidate, confidence=confidence, is_paired=True)
    return both if isinstance(both, Unavailable) else both.permutation


@statistic(n_samples=2, minimum=VERDICT_RUNS, shift="ignores", scale="follows", refuse=without_spread)
def both_interval(baseline: Values, candidate: Values, *, confidence: float = 0.95) -> Interval | Unavailable:
    """Interval of the difference of means, candidate minus baseline: all values that the two tests do not both reject.

    Source: Welch (1947); Chung & Romano (2013), inverted.
    """
    return interval_of_both(baseline, candidate, confidence=confidence)


@statistic(n_samples=2, minimum=PAIRED_ALONE_RUNS, shift="ignores", scale="follows", is_paired=True)
def paired_both_interval(baseline: Values, candidate: Values, *, confidence: float = 0.95) -> Interval | Unavailable:
    """Interval of the mean difference of pairs: all values that the two tests do not both reject.

    Source: Student (1908); Fisher (1935), inverted.
    """
    return unfit(PAIRED_ALONE_RUNS, baseline, candidate, is_paired=True) or interval_of_both(
        baseline, candidate, confidence=confidence, is_paired=True
    )


def _how(n_baseline: int, n_candidate: int, p_value: float, error: float, *, is_paired: bool) -> str:
    few = N_ERRORS * math.sqrt(p_value * (1 - p_value) / N_RESAMPLES)
    n_resamples = N_RESAMPLES if math.isclose(error, few) else MANY_RESAMPLES
    return how(is_exact=is_exact(n_baseline, n_candidate, is_paired=is_paired), n_resamples=n_resamples)


# Equivalence: both tests against either end of a margin that was given before; there is no default margin.


def equivalence(
    baseline: Values,
    candidate: Values,
    *,
    margin: float,
    direction: Direction | None = None,
    confidence: float = 0.95,
    is_paired: bool = False,
) -> Equivalence | Unavailable:
    """Both tests, one-sided, against both ends of the margin. Five runs in each, or five pairs.

    Args:
        margin: above 0, in units of the scores.
        is_paired: whether scores in the same place are pairs: then the paired t-test and the sign flips.

    Raises:
        ValueError: the margin is not a positive number.
    Source: Schuirmann (1987); Chung & Romano (2013) for the permutation test; Fisher (1935) for the sign flips.
    """
    if reason := unfit(VERDICT_RUNS, baseline, candidate, is_paired=is_paired):
        return reason
    if not 0 < margin < math.inf:
        raise ValueError(f"The margin {margin:g} is not a positive number.")
    interval = interval_of_both(baseline, candidate, confidence=2 * confidence - 1, side="above", is_paired=is_paired)
    if isinstance(interval, Unavailable):
        return interval
    above = ask_fit(baseline, candidate, null=-margin, side="above", confidence=confidence, is_paired=is_paired)
    below = ask_fit(baseline, candidate, null=margin, side="below", confidence=confidence, is_paired=is_paired)
    is_above, is_below = (test.p_upper < 1 - confidence for test in (above, below))
    is_above, is_below = is_above and interval.low > -margin, is_below and interval.high < margin
    if not is_above:
        interval = replace(interval, low=min(interval.low, -margin))
    if not is_below:
        interval = replace(interval, high=max(interval.high, margin))
    return Equivalence(
        margin,
        above.deciding,
        below.deciding,
        max(above.p, below.p),
        interval,
        {"max": is_above, "min": is_below, None: None}[direction],
        is_within=is_above and is_below,
    )
