"""A band that holds over a whole curve at once: how wide it must be, in standard errors, for steps that go together.

Exchanging runs between sides, or resampling what is left of them, gives bands that cover 75 % in place of 95 % at five
runs a side if one side varies three times as much as the other, and Bonferroni's covers 86 % at 5 against 15 runs, for
Welch's degrees of freedom do not hold so far out. So curves like those observed are simulated: normal, with their
number of runs, their ratio of spreads, and steps that forget each other at a steady rate, the fastest rate that the
observed correlations show over any distance. Smooth curves and such with a level of their own forget more slowly
somewhere, which makes the band too wide rather than too narrow.
"""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Numbers = NDArray[np.floating]
HALF_LEFT = 0.5
"""Correlation below which distances between steps are ignored."""
RATIO_ERRORS = 2.0
"""Uncertainty of the ratio of spreads in standard errors: the widest band within it is used."""
LARGEST_RATIO = 1e3
N_NUMBERS = 1_200_000
"""Maximum number of random numbers for a band: a few hundredths of a second."""
FEWEST_CURVES = 199


def simultaneous_quantile(
    baseline: Floats,
    candidate: Floats,
    *,
    confidence: float,
    rng: np.random.Generator,
    n_numbers: int = N_NUMBERS,
) -> float:
    """The largest |t| over all steps that is exceeded with a probability of 1 - `confidence` where sides are equal.

    Args:
        baseline, candidate: a row per run, two at least, a column per step; each step with spread on some side.
        n_numbers: random numbers to simulate with, which is how many curves, 200 at least.

    Source: single-step max-t of Westfall & Young (1993), by parametric bootstrap; Welch (1947) for t.
    """
    n_b, n_a, n_steps = len(baseline), len(candidate), baseline.shape[1]
    correlation = _memory(baseline, candidate)
    ratio = _spread_ratio(baseline, candidate)
    n_curves = max(FEWEST_CURVES, math.ceil(10 / (1 - confidence)), n_numbers // (n_steps * (n_a + n_b)))
    simulated = _Simulated(n_b, n_a, n_steps, correlation, min(n_curves, 1_999), rng)
    share_of_steps = (1 + correlation**2) / (n_steps * max(1 - correlation**2, 1e-9))
    error = math.sqrt(min(1.0, share_of_steps) * (0.5 / (n_a - 1) + 0.5 / (n_b - 1)))
    ratios = [ratio * math.exp(RATIO_ERRORS * error * side) for side in (-1, 0, 1)]
    return max(simulated.quantile(ratio, confidence) for ratio in ratios)


class _Simulated:
    """Simulated curves without a difference between sides: means and squared standard errors, for any spread ratio."""

    def __init__(
        self, n_b: int, n_a: int, n_steps: int, correlation: float, n_curves: int, rng: np.random.Generator
    ) -> None:
        noise = rng.standard_normal((n_steps, n_curves, n_a + n_b), dtype=np.float32)
        fresh = math.sqrt(1 - correlation**2)
        for step in range(1, n_steps):
            noise[step] *= fresh
            noise[step] += np.float32(correlation) * noise[step - 1]
        self.candidate, self.candidate_se2 = _mean_and_se2(noise[..., :n_a])
        self.baseline, self.baseline_se2 = _mean_and_se2(noise[..., n_a:])

    def quantile(self, ratio: float, confidence: float) -> float:
        se2 = ratio**2 * self.candidate_se2 + self.baseline_se2
        highest = np.sort((np.abs(ratio * self.candidate - self.baseline) / np.sqrt(se2)).max(axis=0))
        n = len(highest)
        return float(highest[min(n, math.ceil((n + 1) * confidence)) - 1])


def _mean_and_se2(noise: Numbers) -> tuple[Numbers, Numbers]:
    n = noise.shape[-1]
    mean = noise.mean(axis=-1)
    squares = np.einsum("ijk,ijk->ij", noise, noise)
    return mean, (squares / n - mean**2) / (n - 1)


def _memory(baseline: Floats, candidate: Floats) -> float:
    """The autocorrelation after one step: the k-th root of the correlation k steps apart.

    The smallest over distances with a correlation of at least a half: over one step smooth curves lose almost nothing.
    """
    units = [_unit_distances(side) for side in (baseline, candidate)]
    smallest, lag = 0.9999, 1
    while lag < baseline.shape[1]:
        correlation = _correlation(units, lag)
        if lag == 1 or correlation >= HALF_LEFT:
            smallest = min(smallest, max(correlation, 0.0) ** (1 / lag))
        if correlation < HALF_LEFT:
            break
        lag *= 2
    return smallest


def _unit_distances(side: Floats) -> Floats:
    """Deviations from the mean at each step, scaled to length 1 over the runs; 0 where there is no spread."""
    distances = side - side.mean(axis=0)
    norms = np.sqrt((distances**2).sum(axis=0))
    unit: Floats = np.divide(distances, norms, out=np.zeros_like(distances), where=norms > 0)
    return unit


def _correlation(units: Sequence[Floats], lag: int) -> float:
    """Correlation over runs at this lag, sides weighted by degrees of freedom, mean over the steps."""
    total = weight = 0.0
    for unit in units:
        one, other = unit[:, lag:], unit[:, :-lag]
        has_spread = one.any(axis=0) & other.any(axis=0)
        total += (len(unit) - 1) * float((one * other).sum())
        weight += (len(unit) - 1) * int(has_spread.sum())
    return total / weight if weight else 0.0


def _spread_ratio(baseline: Floats, candidate: Floats) -> float:
    """SD of the candidate over that of the baseline, geometric mean over the steps."""
    tiny = np.finfo(float).tiny
    sds = [np.maximum(side.std(axis=0, ddof=1), tiny) for side in (baseline, candidate)]
    logs = np.clip(np.log(sds[1]) - np.log(sds[0]), -math.log(LARGEST_RATIO), math.log(LARGEST_RATIO))
    return math.exp(float(logs.mean()))
