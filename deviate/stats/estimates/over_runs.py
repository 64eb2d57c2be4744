"""Figures over runs: mean, SD, range and relative range, or their named answer."""

import math

from deviate.model import Estimate, Unavailable
from deviate.stats.estimates.sample import Values, moments, refusal
from deviate.stats.registry import statistic

SINGLE_RUN = Unavailable("1 run: spread unknown")
NO_RUN = Unavailable("no completed run")


def mean_of(values: Values) -> Estimate:
    """Mean over runs."""
    if not values:
        return NO_RUN
    return refusal(1, values) or moments(values).mean


def sd_of(values: Values) -> Estimate:
    """Standard deviation over runs, ddof 1; 0 where all are equal."""
    return _refusal(values) or moments(values).sd


def range_of(values: Values) -> Estimate:
    """Largest less smallest."""
    return _refusal(values) or max(values) - min(values)


@statistic(n_samples=1, minimum=2, shift="neither", scale="ignores")
def relative_range(values: Values) -> Estimate:
    """(max - min) / min of positive values, such as times, as a share.

    Source: Pham et al. (2020) give it of times in percent, without its definition; this one is ours.
    """
    if reason := _refusal(values):
        return reason
    low, high = float(min(values)), float(max(values))
    share = (high - low) / low if low > 0 else math.inf
    return share if math.isfinite(share) else Unavailable("not defined: a value at or below 0")


def _refusal(values: Values) -> Unavailable | None:
    if len(values) == 0:
        return NO_RUN
    return SINGLE_RUN if len(values) == 1 else refusal(2, values)
