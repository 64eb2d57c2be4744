"""Statistic `median_shift`: how far the median of the candidate lies from that of the baseline."""

from collections.abc import Sequence

import numpy as np

from deviate.model.estimates import Estimate, Unavailable
from deviate.stats.registry import statistic


@statistic(
    n_samples=2,
    minimum=2,
    shift="ignores",
    scale="follows",
    group="Ranks",
    label="Shift of the median",
    kind="difference",
    method="median of the candidate minus that of the baseline",
)
def median_shift(baseline: Sequence[float], candidate: Sequence[float]) -> Estimate:
    """How far the median of the candidate lies from that of the baseline."""
    if min(len(baseline), len(candidate)) < 2:
        return Unavailable(f"needs 2 runs in each, has {len(baseline)} and {len(candidate)}")
    return float(np.median(candidate) - np.median(baseline))
