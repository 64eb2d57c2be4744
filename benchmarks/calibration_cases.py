"""What calibration.py simulates: every default interval and test of `deviate.stats`, asked about made runs.

A trial draws runs of one population, asks `deviate.stats`, and says whether the interval covers the truth, or whether
the test rejects; None where there is no answer.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Literal

import numpy as np
from scipy import special

from deviate.model.estimates import Interval, Test, Unavailable
from deviate.stats.estimates.bootstrap import (
    difference_bootstrap,
    glass_delta_bootstrap,
    mean_bootstrap,
    mean_percentile,
    median_bootstrap,
    sd_bootstrap,
    sd_ratio_bootstrap,
)
from deviate.stats.estimates.effect import (
    cliffs_delta_interval,
    hedges_g_interval,
    sd_ratio_interval,
    superiority_interval,
)
from deviate.stats.estimates.one_sample import mean_interval, sd_interval, variation_interval
from deviate.stats.estimates.overhead import mean_ratio_interval
from deviate.stats.estimates.spread import (
    brown_forsythe,
    f_test,
    levene,
    variance_excess_interval,
    variance_share_interval,
)
from deviate.stats.hypothesis.paired import paired_interval, paired_t, wilcoxon
from deviate.stats.hypothesis.two_sample import kolmogorov_smirnov, mann_whitney, student, welch, welch_interval
from deviate.stats.multiple.many import anova, dunnett, kruskal_wallis, welch_anova
from deviate.stats.registry import STATISTICS

ALPHA = 0.05
Generator = np.random.Generator
Values = list[float]
Trial = Callable[[Generator, "Population", int], bool | None]
Kind = Literal["interval", "cross-check", "test", "for comparison"]


@dataclass(frozen=True, slots=True)
class Population:
    """Scores as runs may have them. `quantile` takes probabilities; `step` is what scores are rounded to, or 0."""

    name: str
    quantile: Callable[[np.ndarray], np.ndarray]
    mean: float
    sd: float
    step: float = 0.0

    def draw(self, rng: Generator, n: int) -> np.ndarray:
        drawn = self.quantile(rng.random(n))
        return np.round(drawn / self.step) * self.step if self.step else drawn

    @property
    def median(self) -> float:
        return float(self.quantile(np.array([0.5]))[0])


def _normal(p: np.ndarray) -> np.ndarray:
    return 10 + special.ndtri(p)


POPULATIONS = (
    Population("normal", _normal, 10.0, 1.0),
    Population(
        "lognormal",
        lambda p: np.exp(0.5 * special.ndtri(p)),
        math.exp(0.125),
        math.exp(0.125) * math.sqrt(math.exp(0.25) - 1),
    ),
    Population("exponential", lambda p: -np.log1p(-p), 1.0, 1.0),
    # With Sheppard's correction, exact to ten digits for steps of half a standard deviation.
    Population("rounded", _normal, 10.0, math.sqrt(1 + 0.5**2 / 12), step=0.5),
)


@dataclass(frozen=True, slots=True)
class Case:
    """One default interval or test; only these two decide, the other kinds are shown.

    Attributes:
        minimum: runs from which on it answers.
        n_trials: Monte-Carlo trials of each cell. remark: what the table says of it.
    """

    name: str
    kind: Kind
    minimum: int
    trial: Trial
    n_trials: int = 10_000
    remark: str = ""


def covers(found: Interval | Unavailable, truth: float) -> bool | None:
    return None if isinstance(found, Unavailable) else found.low <= truth <= found.high


def rejects(found: Test | Unavailable) -> bool | None:
    return None if isinstance(found, Unavailable) else found.p_value < ALPHA


def of_one(function: Callable[..., Interval | Unavailable], truth: Callable[[Population], float]) -> Trial:
    return lambda rng, population, n: covers(
        function(population.draw(rng, n).tolist(), **_generator(function, rng)), truth(population)
    )


def of_two(
    function: Callable[..., Interval | Unavailable],
    truth: Callable[[Population, float], float],
    *,
    shift: float = 0.0,
    spread: float = 1.0,
) -> Trial:
    """The candidate is better by `shift` SDs, and its runs spread `spread` times as far."""

    def trial(rng: Generator, population: Population, n: int) -> bool | None:
        b, a = population.draw(rng, n), population.draw(rng, n)
        a = population.mean + spread * (a - population.mean) + shift * population.sd
        return covers(function(b.tolist(), a.tolist(), **_generator(function, rng)), truth(population, shift))

    return trial


def null(function: Callable[..., Test | Unavailable], n_samples: int = 2, spread: float = 1.0) -> Trial:
    """All samples of one population; those after the first spread `spread` times as far."""

    def trial(rng: Generator, population: Population, n: int) -> bool | None:
        samples = [population.draw(rng, n) for _ in range(n_samples)]
        samples[1:] = [population.mean + spread * (it - population.mean) for it in samples[1:]]
        return rejects(function(*(it.tolist() for it in samples), **_generator(function, rng)))

    return trial


def in_pairs(answer: Callable[[Values, Values, Generator], bool | None]) -> Trial:
    """Half of the variance of each run is shared with its pair. Rounded last, so that pairs tie."""

    def trial(rng: Generator, population: Population, n: int) -> bool | None:
        shared = rng.normal(0, population.sd, n)
        b, a = (shared + population.draw(rng, n) for _ in range(2))
        if population.step:
            b, a = (np.round(it / population.step) * population.step for it in (b, a))
        return answer(b.tolist(), a.tolist(), rng)

    return trial


def _generator(function: Callable[..., object], rng: Generator) -> dict[str, Generator]:
    registered = STATISTICS.get(function.__name__)
    return {"rng": rng} if registered is not None and registered.draws else {}


@cache
def superiority_of(population: Population, shift: float) -> float:
    """P(a > b) + P(equal) / 2, from a fine grid of quantiles."""
    grid = population.quantile((np.arange(4000) + 0.5) / 4000)
    b = np.round(grid / population.step) * population.step if population.step else grid
    a = np.sort(b + shift * population.sd)
    below = np.searchsorted(a, b, side="left") + np.searchsorted(a, b, side="right")
    return 1 - float(below.mean()) / (2 * len(a))


def excess(rng: Generator, population: Population, n: int) -> bool | None:
    """Two parts, and a whole whose variance is their sum."""
    one, other, whole = (population.draw(rng, n) for _ in range(3))
    return covers(variance_excess_interval(math.sqrt(2) * whole, one, other), 0.0)


def dunnett_covers(rng: Generator, population: Population, n: int) -> bool | None:
    found = dunnett(*(population.draw(rng, n).tolist() for _ in range(4)), rng=rng)
    return None if isinstance(found, Unavailable) else all(covers(interval, 0.0) for _, interval in found)


def dunnett_rejects(rng: Generator, population: Population, n: int) -> bool | None:
    found = dunnett(*(population.draw(rng, n).tolist() for _ in range(4)), rng=rng)
    return None if isinstance(found, Unavailable) else any(rejects(test) for test, _ in found)


def _mean(population: Population) -> float:
    return population.mean


def _sd(population: Population) -> float:
    return population.sd


def _shift(population: Population, shift: float) -> float:
    return shift * population.sd


def _standard(_: Population, shift: float) -> float:
    return shift


def _one(_: Population, __: float) -> float:
    return 1.0


def _relative(population: Population, shift: float) -> float:
    return 1 + shift * population.sd / population.mean


def _cliff(population: Population, shift: float) -> float:
    return 2 * superiority_of(population, shift) - 1


INTERVALS = (
    Case("mean, Student t", "interval", 2, of_one(mean_interval, _mean)),
    Case("SD, chi-square", "interval", 2, of_one(sd_interval, _sd)),
    Case("CV, of the SD over the mean", "interval", 3, of_one(variation_interval, lambda it: it.sd / it.mean)),
    Case("difference, Welch", "interval", 2, of_two(welch_interval, _shift)),
    Case("difference, Welch; spread 3 : 1", "interval", 2, of_two(welch_interval, _shift, spread=3)),
    Case("paired difference, t", "interval", 2, in_pairs(lambda b, a, _: covers(paired_interval(b, a), 0.0))),
    Case("Hedges g, noncentral t; no effect", "interval", 3, of_two(hedges_g_interval, _standard), 2000),
    Case("Hedges g, noncentral t; 1 SD", "interval", 3, of_two(hedges_g_interval, _standard, shift=1), 2000),
    Case("Hedges g, noncentral t; 2 SD", "interval", 3, of_two(hedges_g_interval, _standard, shift=2), 2000),
    Case("superiority; no effect", "interval", 5, of_two(superiority_interval, superiority_of)),
    Case("superiority; 1 SD", "interval", 5, of_two(superiority_interval, superiority_of, shift=1)),
    Case("Cliff's delta; 1 SD", "interval", 5, of_two(cliffs_delta_interval, _cliff, shift=1)),
    Case("SD ratio, F", "interval", 5, of_two(sd_ratio_interval, _one)),
    Case("share of variance, F", "interval", 5, of_two(variance_share_interval, _one)),
    Case("excess of variance, recovery", "interval", 2, excess),
    Case("ratio of means, Fieller", "interval", 2, of_two(mean_ratio_interval, _relative)),
    Case("three candidates, Dunnett, together", "interval", 5, dunnett_covers),
    Case("mean, BCa bootstrap", "cross-check", 10, of_one(mean_bootstrap, _mean), 600),
    Case("mean, percentile bootstrap", "cross-check", 10, of_one(mean_percentile, _mean), 600),
    Case("SD, BCa bootstrap", "cross-check", 10, of_one(sd_bootstrap, _sd), 600),
    Case("median, percentile bootstrap", "cross-check", 5, of_one(median_bootstrap, lambda it: it.median), 600),
    Case("difference, BCa bootstrap", "cross-check", 10, of_two(difference_bootstrap, _shift), 600),
    Case("SD ratio, BCa bootstrap", "cross-check", 10, of_two(sd_ratio_bootstrap, _one), 600),
    Case("Glass's delta, BCa bootstrap", "cross-check", 10, of_two(glass_delta_bootstrap, _standard), 600),
)
TESTS = (
    Case("Welch", "test", 2, null(welch)),
    Case("Welch; spread 3 : 1", "test", 2, null(welch, spread=3)),
    Case("Mann-Whitney", "test", 4, null(mann_whitney), 2000, "exact, conservative with few runs"),
    Case("paired t", "test", 2, in_pairs(lambda b, a, _: rejects(paired_t(b, a)))),
    Case(
        "Wilcoxon signed rank",
        "test",
        5,
        in_pairs(lambda b, a, _: rejects(wilcoxon(b, a))),
        2000,
        "exact; five pairs never reach .05",
    ),
    Case("Brown-Forsythe", "test", 10, null(brown_forsythe), remark="conservative"),
    Case("Kolmogorov-Smirnov", "test", 5, null(kolmogorov_smirnov), remark="exact, conservative"),
    Case("three candidates, Dunnett, any", "test", 5, dunnett_rejects),
    Case("ANOVA of four", "test", 2, null(anova, 4)),
    Case("Welch's ANOVA of four", "test", 2, null(welch_anova, 4)),
    Case("Kruskal-Wallis of four", "test", 4, null(kruskal_wallis, 4), 1000),
    Case("Student", "for comparison", 2, null(student)),
    Case("Levene, centred at the mean", "for comparison", 10, null(levene)),
    Case("F of two variances", "for comparison", 5, null(f_test)),
)
CASES = (*INTERVALS, *TESTS)
