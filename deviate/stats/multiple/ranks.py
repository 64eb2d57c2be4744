"""Experiments ranked on each of several tasks: Friedman's test, Nemenyi's pairs and the groups not told apart."""

import math
from collections.abc import Sequence
from itertools import permutations, product

import numpy as np
from scipy import stats

from deviate.model import Estimate, Test, Unavailable
from deviate.model.minimum import N_RESAMPLES
from deviate.stats.estimates.sample import LARGEST, Values, never_zero
from deviate.stats.registry import statistic

MOST_ARRANGEMENTS = 10_000
"""Maximum number of permutations that are all evaluated."""


@statistic(n_samples=None, minimum=2, shift="ignores", scale="ignores", draws=True, is_paired=True)
def friedman(*samples: Values, rng: np.random.Generator) -> Test | Unavailable:
    """Friedman's test that no experiment ranks better than another, corrected for ties.

    A sample holds one value per task. p is by permutation within tasks, over all arrangements where they are at most
    10,000: the chi-square law needs many tasks, and few is what there is.
    Source: Friedman (1937); the statistic as in `scipy.stats.friedmanchisquare`.
    """
    if reason := _refusal(*samples):
        return reason
    ranks = stats.rankdata(_table(samples), axis=1)
    centred = ranks - (len(samples) + 1) / 2
    squares = float(np.sum(centred**2))
    if squares == 0:
        return Unavailable("identical on every task")
    n_tasks, n_samples = centred.shape
    unit = (n_samples - 1) / squares
    observed = unit * float(np.sum(centred.sum(axis=0) ** 2))
    least = observed * (1 - 1e-9)
    # One task can stay fixed: permuting the experiments as a whole changes no statistic.
    n_arrangements = math.factorial(n_samples) ** (n_tasks - 1)
    if n_arrangements <= MOST_ARRANGEMENTS:
        sums = _all_sums(centred)
        p_value = float(np.mean(unit * np.sum(sums**2, axis=1) >= least))
        note = f"exact permutation within {n_tasks} tasks"
    else:
        # Sorted, so that permutations do not depend on the order of tasks or experiments.
        rows = np.sort(centred, axis=1)
        rows = rows[np.lexsort(rows.T)]
        order = np.argsort(rng.random((N_RESAMPLES, n_tasks, n_samples)), axis=2)
        drawn = np.take_along_axis(rows[None], order, axis=2).sum(axis=1)
        p_value = (1 + int(np.sum(unit * np.sum(drawn**2, axis=1) >= least))) / (N_RESAMPLES + 1)
        note = f"permutation within {n_tasks} tasks, {N_RESAMPLES} resamples"
    return Test("Friedman chi-square", observed, never_zero(p_value), n_samples - 1, note)


def mean_ranks(*samples: Values) -> tuple[float, ...] | Unavailable:
    """Mean rank of each sample over tasks, 1 for the highest value; ties share the mean of their ranks."""
    if not samples or not samples[0]:
        return Unavailable("no task")
    ranks = stats.rankdata(-_table(samples), axis=1)
    return tuple(float(rank) for rank in ranks.mean(axis=0))


def critical_difference(n_experiments: int, n_tasks: int, *, confidence: float = 0.95) -> float:
    """Difference of mean ranks from which on Nemenyi's test tells two experiments apart.

    >>> round(critical_difference(4, 14), 2)
    1.25

    Source: Demšar (2006), eq. for CD and table 5; the studentized range over root 2.
    """
    quantile = float(stats.studentized_range.ppf(confidence, n_experiments, np.inf)) / math.sqrt(2)
    return quantile * _rank_error(n_experiments, n_tasks)


def nemenyi(*samples: Values) -> dict[tuple[int, int], Estimate] | Unavailable:
    """Per pair of samples (their positions) p: how often mean ranks are so far apart among so many experiments.

    Asymptotic; it holds its level with few tasks too, for it tells nothing apart with two or three of them.
    Source: Nemenyi (1963), as in Demšar (2006).
    """
    if reason := _refusal(*samples):
        return reason
    ranks = mean_ranks(*samples)
    if isinstance(ranks, Unavailable):
        return ranks
    error = _rank_error(len(samples), len(samples[0]))
    p_values: dict[tuple[int, int], Estimate] = {}
    for one in range(len(samples)):
        for other in range(one + 1, len(samples)):
            q = math.sqrt(2) * abs(ranks[one] - ranks[other]) / error
            p_values[one, other] = never_zero(float(stats.studentized_range.sf(q, len(samples), np.inf))) if q else 1.0
    return p_values


def cliques(ranks: Sequence[float], difference: float) -> tuple[tuple[int, ...], ...]:
    """Largest groups of at least two experiments (positions, best first) whose mean ranks are less apart than this.

    Source: Demšar (2006), figure 1.
    """
    order = sorted(range(len(ranks)), key=lambda index: (ranks[index], index))
    groups: list[tuple[int, ...]] = []
    reached = 0
    for begin in range(len(order)):
        near = [index for index in order[begin:] if ranks[index] - ranks[order[begin]] < difference]
        if len(near) > 1 and begin + len(near) > reached:
            groups.append(tuple(near))
            reached = begin + len(near)
    return tuple(groups)


def _rank_error(n_experiments: int, n_tasks: int) -> float:
    return math.sqrt(n_experiments * (n_experiments + 1) / (6 * n_tasks))


def _table(samples: Sequence[Values]) -> np.ndarray:
    """The (tasks, experiments) array of the samples."""
    return np.column_stack([np.asarray(values, dtype=float) for values in samples])


def _refusal(*samples: Values) -> Unavailable | None:
    if len(samples) < 3:
        return Unavailable(f"needs 3 experiments, has {len(samples)}")
    sizes = {len(values) for values in samples}
    if len(sizes) > 1:
        return Unavailable("not every experiment has a value on every task")
    if min(sizes) < 2:
        return Unavailable(f"needs 2 tasks, has {min(sizes)}")
    if not all(abs(value) <= LARGEST for values in samples for value in values):
        return Unavailable("NaN or infinite value among the scores")
    return None


def _all_sums(centred: np.ndarray) -> np.ndarray:
    """Rank sums under every permutation that leaves the first task unchanged."""
    arranged = [np.array(list(permutations(row))) for row in centred[1:]]
    picks = product(*(range(len(rows)) for rows in arranged))
    index = np.array(list(picks))
    all_sums: np.ndarray = centred[0] + sum(rows[index[:, task]] for task, rows in enumerate(arranged))
    return all_sums
