"""Quantiles and tests that several figures of scores near normal share."""

import math
from collections.abc import Callable

from scipy import special

from deviate.model.estimates import Test
from deviate.stats.estimates.sample import SampleSummary, never_zero


def t_quantile(probability: float, df: float) -> float:
    """Quantile of Student's t; `scipy.stats.t.ppf` without its overhead for arrays."""
    return float(special.stdtrit(df, probability))


def t_test(name: str, statistic: float, df: float, note: str = "") -> Test:
    """A two-sided t-test from its statistic."""
    return Test(name, statistic, never_zero(2 * float(special.stdtr(df, -abs(statistic)))), df, note)


def welch_df(baseline: SampleSummary, candidate: SampleSummary) -> float:
    """Degrees of freedom from the shares of the two standard errors.

    Source: Welch (1947), Satterthwaite (1946).
    """
    total = math.hypot(candidate.se, baseline.se)
    share_a, share_b = (candidate.se / total) ** 2, (baseline.se / total) ** 2
    return 1 / (share_a**2 / (candidate.n - 1) + share_b**2 / (baseline.n - 1))


def sd_ends(df: int, confidence: float) -> tuple[float, float]:
    """Ends of the interval of an SD over the SD.

    Source: chi-square with `df` degrees of freedom; `chdtri` counts the tail above.
    """
    low, high = (
        math.sqrt(df / float(special.chdtri(df, tail))) for tail in ((1 - confidence) / 2, (1 + confidence) / 2)
    )
    return low, high


def noncentrality(t: float, df: int, probability: float) -> float | None:
    """Noncentrality under which P(T <= t) is `probability`; None where the distribution cannot be computed."""
    if t < 0:
        mirrored = noncentrality(-t, df, 1 - probability)
        return None if mirrored is None else -mirrored

    def excess(noncentrality: float) -> float:
        return float(special.nctdtr(df, noncentrality, t)) - probability

    low, high = _bracket(excess, t)
    if not (excess(low) >= 0 >= excess(high)):
        return None
    # By halves: `scipy.optimize` takes longer to import than everything else that describes one experiment.
    while low < (middle := (low + high) / 2) < high:
        low, high = (middle, high) if excess(middle) >= 0 else (low, middle)
    return low


def _bracket(excess: Callable[[float], float], start: float) -> tuple[float, float]:
    """Bracket a root: widen around `start` until the decreasing function changes sign or cannot be computed."""
    step = 1.0 + start / 8
    low = high = start
    while excess(low) < 0:
        low -= step
    while excess(high) > 0:
        high += step
    return low, high
