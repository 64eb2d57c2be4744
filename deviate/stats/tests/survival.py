"""Times that not every run lived to see: Kaplan-Meier curves, their median, and the log-rank test by permutation.

A time is right-censored where its event has not happened: the run ended before.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from deviate.model import Estimate, Interval, Test, Unavailable
from deviate.model.minimum import VERDICT_RUNS
from deviate.stats.estimates.sample import count
from deviate.stats.tests.permutation import arrangements, how, parts

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
TOLERANCE = 1e-9


@dataclass(frozen=True, slots=True)
class Survival:
    """Proportion of runs that have not reached the target after each event time, beginning with (0, 1).

    Attributes:
        variance: Greenwood's, of the logarithm of the share; infinite where the share is 0.
    """

    times: tuple[float, ...]
    share: tuple[float, ...]
    variance: tuple[float, ...]


def kaplan_meier(times: Sequence[float], is_reached: Sequence[bool]) -> Survival:
    """Product-limit estimate; a run that is censored at the time of an event is counted as at risk there.

    Source: Kaplan & Meier (1958); Greenwood (1926) for the variance.
    """
    at = sorted({float(time) for time, reached in zip(times, is_reached, strict=True) if reached})
    share, variance, curve = 1.0, 0.0, [(0.0, 1.0, 0.0)]
    for time in at:
        n_at_risk = sum(other >= time for other in times)
        n_events = sum(bool(reached) for other, reached in zip(times, is_reached, strict=True) if other == time)
        n_surviving = n_at_risk - n_events
        share *= n_surviving / n_at_risk
        variance += n_events / (n_at_risk * n_surviving) if n_surviving else math.inf
        curve.append((time, share, variance))
    columns = tuple(zip(*curve, strict=True))
    return Survival(*columns)


def survival_median(survival: Survival) -> Estimate:
    """Time by which half of the runs are there; the middle of the stretch where the share is exactly one half.

    Source: Kaplan & Meier (1958); the middle as in R's survival (Therneau), which without censoring is the median.
    """
    time = _crossing(survival.times, survival.share)
    return Unavailable("fewer than half of the runs reached it") if time is None else time


def survival_median_interval(survival: Survival, n: int, *, confidence: float = 0.95) -> Interval | Unavailable:
    """Times at which a share of one half is not told from the estimate, on the log(-log) scale.

    Its upper end is infinite where the runs do not bound it, as with few of them or much censoring.
    Source: Brookmeyer & Crowley (1982); Kalbfleisch & Prentice (1980) for the scale.
    """
    if n < VERDICT_RUNS:
        return Unavailable(f"needs {count(VERDICT_RUNS, 'run')}, has {n}")
    if len(survival.times) == 2 and survival.share[-1] == 0:
        return Unavailable("all runs reached it at the same time")
    z = float(stats.norm.isf((1 - confidence) / 2))
    ends: list[float | None] = []
    for sign in (-1, 1):
        # At a share of 0 the scale ends: nothing bounds the share from above there, and from below it is 0.
        bounds = [
            _log_log_bound(share, variance, sign * z)
            for share, variance in zip(survival.share, survival.variance, strict=True)
        ]
        ends.append(_crossing(survival.times, bounds))
    low, high = ends
    if low is None:
        return Unavailable("too few of the runs reached it")
    method = "Brookmeyer-Crowley, log-log scale"
    if high is None:
        return Interval(low, math.inf, confidence, method, note="no upper end: too few of the runs reached it")
    return Interval(low, high, confidence, method)


def log_rank(
    baseline: tuple[Sequence[float], Sequence[bool]],
    candidate: tuple[Sequence[float], Sequence[bool]],
    *,
    rng: np.random.Generator,
) -> Test | Unavailable:
    """Test of equal times on two sides, each (times, whether the event happened).

    The statistic is the usual one, positive where the candidate is first. The p comes from exchanging runs between the
    sides and computing the statistic anew, for with few runs the normal approximation rejects too often. It is exact
    where both sides are censored alike, and nearly so where they are not, such as runs of different length.
    Source: Mantel (1966), ties included; Neuhaus (1993) for exchanging under unequal censoring; Phipson & Smyth (2010).
    """
    if min(len(baseline[0]), len(candidate[0])) < VERDICT_RUNS:
        sizes = f"{len(baseline[0])} and {len(candidate[0])}"
        return Unavailable(f"needs {count(VERDICT_RUNS, 'run')} in each, has {sizes}")
    n_a = len(candidate[0])
    # Sorted by time, as the order of runs must not change the permutations.
    runs = [run for side in (candidate, baseline) for run in sorted(zip(*side, strict=True))]
    times = np.asarray([time for time, _ in runs], dtype=float)
    happened = np.asarray([reached for _, reached in runs], dtype=bool)
    if not happened.any():
        return Unavailable("no run reached it")
    rows, is_exact = arrangements(n_a, len(times) - n_a, rng=rng)
    observed = float(_log_rank_statistics(times, happened, (np.arange(len(times)) < n_a)[None])[0])
    statistics = np.concatenate([_log_rank_statistics(times, happened, part) for part in parts(rows)])
    if not statistics.any():
        return Unavailable("all runs reached it at the same time")
    n_as_extreme = int((np.abs(statistics) >= abs(observed) - TOLERANCE * max(1.0, abs(observed))).sum())
    extra = 0 if is_exact else 1  # the observed arrangement is part of a sample
    p_value = (n_as_extreme + extra) / (len(statistics) + extra)
    return Test("log-rank", observed, p_value, note=how(is_exact=is_exact))


def _log_rank_statistics(times: Floats, happened: Flags, rows: Flags) -> Floats:
    """Observed less expected events of one side over the root of its variance, for each way to deal out the runs.

    0 where nothing varies, because the other side is never at risk together with it.
    Source: Mantel (1966), hypergeometric variance.
    """
    at = np.unique(times[happened])
    is_at_risk = (times[:, None] >= at).astype(float)
    n = is_at_risk.sum(axis=0)
    d = ((times[:, None] == at) & happened[:, None]).sum(axis=0)
    members = rows.astype(float)
    expected = members @ is_at_risk
    expected /= n
    per_event = d * (n - d) / np.maximum(n - 1, 1)
    variance = (expected * (1 - expected)) @ per_event
    excess = members @ happened.astype(float) - expected @ d
    is_told = variance > TOLERANCE
    return np.where(is_told, excess / np.sqrt(np.where(is_told, variance, 1.0)), 0.0)


def _log_log_bound(share: float, variance: float, z: float) -> float:
    """A bound of the share, whose logarithm has this variance: share^exp(-z sd / log share)."""
    if share >= 1:
        return 1.0
    if share <= 0:
        return math.nan if z > 0 else 0.0
    return float(share ** math.exp(-z * math.sqrt(variance) / -math.log(share)))


def _crossing(times: Sequence[float], shares: Sequence[float]) -> float | None:
    """The first time at which a decreasing proportion is at most one half; None if never. NaN does not count."""
    below = [index for index, share in enumerate(shares) if share < 0.5 + TOLERANCE]
    if not below:
        return None
    first = below[0]
    if abs(shares[first] - 0.5) < TOLERANCE:
        later = [index for index in below if shares[index] < shares[first] - TOLERANCE]
        if later:
            return (times[first] + times[later[0]]) / 2
    return times[first]
