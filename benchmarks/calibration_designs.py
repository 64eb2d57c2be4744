"""What calibration.py simulates beyond samples of scores: rates, times to a target, curves, tasks, declared looks."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from typing import Literal

import numpy as np
from samples import experiment, metric, run
from scipy import stats as distributions

from deviate.model.estimates import Test, Unavailable
from deviate.stats.describe import describe
from deviate.stats.design.group_sequential import SpendingPlan, at_look
from deviate.stats.hypothesis.curves import compare_curves
from deviate.stats.hypothesis.failures import rate_interval, rate_test, worst_rank
from deviate.stats.hypothesis.survival import kaplan_meier, log_rank, survival_median_interval
from deviate.stats.hypothesis.two_sample import welch
from deviate.stats.multiple.tasks import friedman, intervals, nemenyi

ALPHA = 0.05
N_TASKS = 5
N_STEPS = 50
N_RESAMPLES = 2000
"""Of the bootstrap over tasks, whose default is 10,000: coverage is the same, at a fifth of the time."""
RATES = np.linspace(0.01, 0.99, 99)
Generator = np.random.Generator


@dataclass(frozen=True, slots=True)
class Design:
    """What is asked about n runs, or n tasks.

    Attributes:
        exact: the rate, where it can be computed instead of simulated.
    """

    name: str
    kind: Literal["interval", "test"]
    sizes: tuple[int, ...]
    trial: Callable[[Generator, int], bool | None] | None = None
    exact: Callable[[int], float] | None = None
    n_trials: int = 2000
    nominal: float = 0.95
    remark: str = ""


def declared(plan: SpendingPlan, rng: Generator) -> bool:
    """Whether any look finds a difference where there is none."""
    b, a = (rng.normal(0, 1, plan.numbers[-1]).tolist() for _ in range(2))
    for k, n in enumerate(plan.numbers, 1):
        test = welch(b[:n], a[:n])
        if not isinstance(test, Unavailable) and test.p_value < at_look(plan, k):
            return True
    return False


def unplanned(numbers: tuple[int, ...], rng: Generator) -> bool:
    b, a = (rng.normal(0, 1, numbers[-1]).tolist() for _ in range(2))
    tests = (welch(b[:n], a[:n]) for n in numbers)
    return any(not isinstance(test, Unavailable) and test.p_value < 0.05 for test in tests)


LOOKS = {
    numbers: {
        "obrien-fleming": partial(declared, SpendingPlan(numbers, "obrien-fleming")),
        "pocock": partial(declared, SpendingPlan(numbers, "pocock")),
        "unplanned": partial(unplanned, numbers),
    }
    for numbers in ((5, 10), (5, 10, 15), (5, 10, 15, 20, 25), (8, 16, 24), (10, 20), (6, 12, 18, 24, 30))
}


def rejects(found: Test | Unavailable) -> bool | None:
    return None if isinstance(found, Unavailable) else found.p_value < ALPHA


def least_coverage(n: int) -> float:
    """Of Clopper and Pearson's interval, over all rates."""
    ends = [rate_interval(k, n) for k in range(n + 1)]
    inside = np.array(
        [[not isinstance(it, Unavailable) and it.low <= rate <= it.high for it in ends] for rate in RATES]
    )
    chances = distributions.binom.pmf(np.arange(n + 1), n, RATES[:, None])
    return float((inside * chances).sum(axis=1).min())


@cache
def rate_p(one: int, other: int, n: int) -> float:
    found = rate_test((one, n), (other, n))
    return 1.0 if isinstance(found, Unavailable) else found.p_value


def most_rejected(n: int) -> float:
    """By the test of two rates that are equal, over all rates."""
    rejected = np.array([[rate_p(min(i, j), max(i, j), n) < ALPHA for j in range(n + 1)] for i in range(n + 1)])
    chances = distributions.binom.pmf(np.arange(n + 1), n, RATES[:, None])
    return float(np.einsum("ri,ij,rj->r", chances, rejected, chances).max())


def times(rng: Generator, n: int, horizon: float = 30.0) -> tuple[list[float], list[bool]]:
    """Whole steps until a target is reached, exponential with a median of 13.9, unless the run ends at the horizon."""
    reached = np.ceil(rng.exponential(20, n))
    return np.minimum(reached, horizon).tolist(), (reached <= horizon).tolist()


def median_covered(rng: Generator, n: int) -> bool | None:
    found = survival_median_interval(kaplan_meier(*times(rng, n)), n)
    return None if isinstance(found, Unavailable) else found.low <= 14 <= found.high


def log_rank_rejects(rng: Generator, n: int, horizon: float = 30.0) -> bool | None:
    return rejects(log_rank(times(rng, n), times(rng, n, horizon)))


def worst_rank_rejects(rng: Generator, n: int) -> bool | None:
    """A fifth of the runs fail."""
    sides = [np.where(rng.random(n) < 0.2, np.nan, rng.normal(0, 1, n)).tolist() for _ in range(2)]
    b, a = (describe(side, direction="max") for side in sides)
    return rejects(worst_rank(b, a))


def band_covers(rng: Generator, n: int) -> bool | None:
    """Curves of 50 steps whose noise is an autoregression with a correlation of .9; the truth is 0 at all of them."""
    shown = metric("loss", direction="min")
    sides = []
    for name in ("baseline", "candidate"):
        noise = rng.normal(0, 1, (n, N_STEPS))
        for step in range(1, N_STEPS):
            noise[:, step] = 0.9 * noise[:, step - 1] + np.sqrt(1 - 0.9**2) * noise[:, step]
        runs = [run(i, {"loss": curve}) for i, curve in enumerate(noise.tolist())]
        sides.append(experiment(name, [shown], {}, runs=runs))
    found = compare_curves(*sides, shown, shown, rng=rng)
    if isinstance(found, Unavailable) or not found.band:
        return None
    return all(low <= 0 <= high for low, high in found.band)


def tasks(rng: Generator, n: int) -> list[np.ndarray]:
    """Five tasks, half an SD apart, around 0."""
    return [rng.normal((task - 2) / 2, 1, n) for task in range(N_TASKS)]


def middle_covered(rng: Generator, n: int) -> bool | None:
    found = intervals(tasks(rng, n), 1.0, rng=rng, confidence=0.95, n_resamples=N_RESAMPLES)["iqm"]
    return None if isinstance(found, Unavailable) else found.low <= 0 <= found.high


def friedman_rejects(rng: Generator, n: int) -> bool | None:
    return rejects(friedman(*rng.normal(0, 1, (4, n)).tolist(), rng=rng))


def nemenyi_rejects(rng: Generator, n: int) -> bool | None:
    found = nemenyi(*rng.normal(0, 1, (4, n)).tolist())
    if isinstance(found, Unavailable):
        return None
    return any(not isinstance(p, Unavailable) and p < ALPHA for p in found.values())


DESIGNS = (
    Design(
        "rate of completion, Clopper-Pearson", "interval", (3, 5, 10, 30), exact=least_coverage, remark="conservative"
    ),
    Design("two rates, Boschloo", "test", (3, 5, 10, 30), exact=most_rejected, remark="conservative with few runs"),
    Design("median time, log-log", "interval", (5, 10, 30), median_covered, n_trials=5000),
    Design("log-rank by permutation", "test", (5, 10, 30), log_rank_rejects),
    Design(
        "log-rank by permutation; candidate ended at half the time",
        "test",
        (5, 10, 30),
        partial(log_rank_rejects, horizon=15.0),
    ),
    Design("worst rank; a fifth of the runs fails", "test", (5, 10, 30), worst_rank_rejects, n_trials=1500),
    Design("curves, band over all of 50 steps", "interval", (5, 10, 30), band_covers, n_trials=1000),
    Design("interquartile mean of 5 tasks, bootstrap", "interval", (5, 10, 30), middle_covered, n_trials=1500),
    Design("four experiments on n tasks, Friedman", "test", (3, 5, 10, 30), friedman_rejects, n_trials=1500),
    Design("four experiments on n tasks, Nemenyi, any", "test", (3, 5, 10, 30), nemenyi_rejects, n_trials=1000),
)
