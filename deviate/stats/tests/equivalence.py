"""Equivalence: both tests against either end of a margin that was given before; there is no default margin."""

import math
from dataclasses import replace

from deviate.model import Direction, Equivalence, Unavailable
from deviate.model.minimum import VERDICT_RUNS
from deviate.stats.estimates.sample import Values, differences_of, refusal, spread_refusal
from deviate.stats.tests.both import ask_fit, interval_of_both


def equivalence(
    baseline: Values,
    candidate: Values,
    *,
    margin: float,
    direction: Direction | None = None,
    confidence: float = 0.95,
) -> Equivalence | Unavailable:
    """Both tests, one-sided, against both ends of the margin. Five runs in each.

    Args:
        margin: above 0, in units of the scores.

    Raises:
        ValueError: the margin is not a positive number.
    Source: Schuirmann (1987); Chung & Romano (2013) for the permutation test.
    """
    if reason := refusal(VERDICT_RUNS, baseline, candidate) or spread_refusal(baseline, candidate):
        return reason
    return _two_one_sided(baseline, candidate, margin, direction, confidence, is_paired=False)


def paired_equivalence(
    baseline: Values,
    candidate: Values,
    *,
    margin: float,
    direction: Direction | None = None,
    confidence: float = 0.95,
) -> Equivalence | Unavailable:
    """The paired t-test and the sign flips against both ends of the margin. Five pairs.

    Raises:
        ValueError: the margin is not a positive number.
    Source: Schuirmann (1987); Fisher (1935) for the sign flips.
    """
    differences = differences_of(baseline, candidate, VERDICT_RUNS)
    if isinstance(differences, Unavailable):
        return differences
    return _two_one_sided(baseline, candidate, margin, direction, confidence, is_paired=True)


def _two_one_sided(
    baseline: Values,
    candidate: Values,
    margin: float,
    direction: Direction | None,
    confidence: float,
    *,
    is_paired: bool,
) -> Equivalence | Unavailable:
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
