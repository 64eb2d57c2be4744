"""Experiments over several tasks or data sets: aggregates, and tests of their ranks."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import permutations, product
from types import MappingProxyType
from typing import Any

import numpy as np
from scipy import stats

from deviate.model.comparisons import Aggregated, Contrast, TaskFindings
from deviate.model.estimates import N_RESAMPLES, Estimate, Interval, Test, Unavailable
from deviate.model.findings import ExperimentFindings
from deviate.model.texts import count
from deviate.series.score import LARGEST
from deviate.stats.changes import change_results
from deviate.stats.estimates import stratified
from deviate.stats.estimates.sample import Values, moments, never_zero
from deviate.stats.multiple.many import withheld
from deviate.stats.multiple.pairs import match_metrics
from deviate.stats.registry import statistic

N_THRESHOLDS = 101
MIN_TASKS = 2
NO_MATCHES: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class _Task:
    """The scores of every experiment on one task. After `orient()`, higher is better."""

    name: str
    unit: str
    is_lower_better: bool
    scores: tuple[np.ndarray, ...]

    def orient(self) -> tuple[np.ndarray, ...]:
        return tuple(-score if self.is_lower_better else score for score in self.scores)


@dataclass(frozen=True, slots=True)
class _NormalisedScores:
    """Scores on a common scale, per experiment and task.

    Attributes:
        sentence: how they were normalised. optimum: the best possible score.
    """

    sentence: str
    optimum: float
    scores: tuple[tuple[np.ndarray, ...], ...]
    is_scaled: bool = True


def compare_tasks(
    described: Sequence[ExperimentFindings],
    names: Sequence[str],
    tasks: Sequence[str],
    *,
    matches: Mapping[str, str] = NO_MATCHES,
    confidence: float,
    rng: np.random.Generator,
    n_resamples: int = stratified.N_RESAMPLES,
) -> TaskFindings | None:
    """Compare experiments over the metrics that are tasks, the baseline first; None without tasks.

    A task counts if every experiment has a score on it. Tasks may differ in their number of runs.

    Args:
        matches: metric of the baseline to the metric of the others that is the same task; others match by name.
    """
    if not tasks:
        return None
    matched, notes = _gather(described, names, tuple(dict.fromkeys(tasks)), matches)
    normalised, left_out = _normalise_scores(matched)
    notes += [f"{name} left out of the aggregates: all scores are equal" for name in left_out]
    if len(matched) < MIN_TASKS or len(described) < 2:
        few = count(len(matched), "task") if len(matched) < MIN_TASKS else count(len(described), "experiment")
        reason = Unavailable(f"needs {MIN_TASKS} tasks and 2 experiments, has {few}")
        return _findings_without(matched, reason, "; ".join([*notes, reason.reason]))
    if not normalised.scores[0]:
        reason = Unavailable("all scores are equal on every task")
        return _findings_without(matched, reason, "; ".join([*notes, reason.reason]))
    notes += (
        ["tasks differ in their number of runs: those with more have more weight in the IQM"]
        if _is_uneven(normalised)
        else []
    )
    means = [[moments(task.orient()[side].tolist()).mean for task in matched] for side in range(len(described))]
    ranks = mean_ranks(*means)
    barred, mark = withheld(described)
    if barred:
        notes.append(f"p-values withheld: {barred}")
    thresholds = _thresholds(normalised)
    # A generator per experiment, so that no interval depends on the other experiments.
    seed = int(rng.integers(2**63))
    generators = [np.random.default_rng([seed, *name.encode(errors="surrogatepass")]) for name in names]
    aggregated = tuple(
        _aggregate(name, side, normalised, ranks, thresholds, confidence, generators[side], n_resamples)
        for side, name in enumerate(names)
    )
    tested = _rank_tasks(names, means, ranks, confidence, rng)
    findings = TaskFindings(
        tasks=tuple(task.name for task in matched),
        n=tuple(tuple(len(task.scores[side]) for task in matched) for side in range(len(described))),
        normalisation=normalised.sentence,
        optimum=normalised.optimum,
        thresholds=thresholds,
        aggregated=aggregated,
        friedman=tested.friedman,
        critical_difference=tested.difference,
        cliques=tested.cliques,
        posthoc=tested.posthoc,
        note="; ".join(notes),
        is_scaled=normalised.is_scaled,
    )
    return _not_read(findings, barred, mark) if barred else findings


@dataclass(frozen=True, slots=True)
class _Ranked:
    friedman: Test | Unavailable
    difference: Estimate
    cliques: tuple[tuple[str, ...], ...]
    posthoc: tuple[Contrast, ...]


def _gather(
    described: Sequence[ExperimentFindings], names: Sequence[str], tasks: Sequence[str], matches: Mapping[str, str]
) -> tuple[list[_Task], list[str]]:
    """The tasks on which every experiment has usable scores, and why others are left out."""
    gathered, notes = [], []
    for task in tasks:
        first = [description for description in described[0].descriptions if description.metric.name == task]
        matched = [match_metrics(first, each.descriptions, matches) for each in described[1:]]
        sides = [next(iter(first), None), *(both[0][1] if both else None for both in matched)]
        without = [
            name
            for name, side in zip(names, sides, strict=True)
            if side is None or not side.n or any(abs(score.value) > LARGEST for score in side.scores)
        ]
        if without:
            notes.append(f"{task} left out: no score in {', '.join(without)}")
            continue
        metrics = [side.metric for side in sides if side is not None]
        direction = next((metric.direction for metric in metrics if metric.direction), None)
        if direction is None:
            notes.append(f"direction of {task} unknown: higher is assumed to be better")
        scores = tuple(np.array(side.values) for side in sides if side is not None)
        gathered.append(_Task(task, metrics[0].unit, direction == "min", scores))
    return gathered, notes


def _normalise_scores(tasks: Sequence[_Task]) -> tuple[_NormalisedScores, list[str]]:
    """Scores per experiment and task on one scale, and the tasks that have none because all their scores are equal."""
    if not tasks:
        return _NormalisedScores("no task", 1.0, ((),)), []
    n_sides = len(tasks[0].scores)
    every = np.concatenate([values for task in tasks for values in task.scores])
    low, high = float(every.min()), float(every.max())
    if len({task.unit for task in tasks}) == 1 and not any(task.is_lower_better for task in tasks) and low >= 0:
        best = 100.0 if tasks[0].unit == "%" else 1.0
        if high <= best:
            scores = tuple(tuple(task.scores[side] for task in tasks) for side in range(n_sides))
            return _NormalisedScores(
                f"none: all tasks are scored from 0 to {best:g}, higher is better", best, scores, is_scaled=False
            ), []
    scaled, left_out = [], []
    for task in tasks:
        oriented = task.orient()
        lowest, highest = (
            min(float(scores.min()) for scores in oriented),
            max(float(scores.max()) for scores in oriented),
        )
        if lowest == highest:
            left_out.append(task.name)
        else:
            scaled.append(tuple((scores - lowest) / (highest - lowest) for scores in oriented))
    turned = [task.name for task in tasks if task.is_lower_better]
    sentence = (
        "per task from 0, the worst, to 1, the best score of any run compared here, so values depend on these runs"
    )
    sentence += f"; lower is better in {', '.join(turned)}" if turned else ""
    scores = tuple(tuple(task[side] for task in scaled) for side in range(n_sides))
    return _NormalisedScores(sentence, 1.0, scores), left_out


def _aggregate(
    name: str,
    side: int,
    normalised: _NormalisedScores,
    ranks: tuple[float, ...] | Unavailable,
    thresholds: tuple[float, ...],
    confidence: float,
    rng: np.random.Generator,
    n_resamples: int,
) -> Aggregated:
    scores = normalised.scores[side]
    figures: dict[str, Any] = dict(stratified.estimates(scores, normalised.optimum))
    ends = stratified.intervals(scores, normalised.optimum, rng=rng, confidence=confidence, n_resamples=n_resamples)
    figures |= {f"{name}_interval": interval for name, interval in ends.items()}
    improvement: Estimate = Unavailable("the baseline itself")
    improved: Interval | Unavailable = Unavailable("the baseline itself")
    if side:
        improvement = stratified.improvement(normalised.scores[0], scores)
        improved = stratified.improvement_interval(
            normalised.scores[0], scores, rng=rng, confidence=confidence, n_resamples=n_resamples
        )
    return Aggregated(
        name=name,
        **figures,
        improvement=improvement,
        improvement_interval=improved,
        rank=ranks if isinstance(ranks, Unavailable) else ranks[side],
        profile=stratified.profile(scores, thresholds),
        profile_band=stratified.profile_band(
            scores, thresholds, rng=rng, confidence=confidence, n_resamples=n_resamples
        ),
    )


def _rank_tasks(
    names: Sequence[str],
    means: Sequence[Sequence[float]],
    ranks: tuple[float, ...] | Unavailable,
    confidence: float,
    rng: np.random.Generator,
) -> _Ranked:
    """Friedman and Nemenyi over the mean score of each experiment on each task."""
    tested, pairs = friedman(*means, rng=rng), nemenyi(*means)
    if isinstance(pairs, Unavailable) or isinstance(ranks, Unavailable):
        absent = pairs if isinstance(pairs, Unavailable) else Unavailable("no ranks")
        return _Ranked(tested, absent, (), ())
    difference = critical_difference(len(names), len(means[0]), confidence=confidence)
    contrasts = tuple(
        Contrast(
            names[other],
            names[one],
            ranks[other] - ranks[one],
            Unavailable("ranks are compared by the critical difference"),
            p_value,
        )
        for (one, other), p_value in pairs.items()
    )
    groups = tuple(tuple(names[index] for index in group) for group in cliques(ranks, difference))
    return _Ranked(tested, difference, groups, contrasts)


def _findings_without(tasks: Sequence[_Task], reason: Unavailable, note: str) -> TaskFindings:
    n = tuple(zip(*(tuple(len(scores) for scores in task.scores) for task in tasks), strict=True))
    names = tuple(task.name for task in tasks)
    return TaskFindings(names, n, "none", 1.0, (), (), reason, reason, (), (), note)


def _not_read(findings: TaskFindings, reason: str, mark: str) -> TaskFindings:
    def mark_interval(interval: Interval) -> Interval:
        return replace(interval, note=mark)

    absent = Unavailable(reason)
    return replace(
        findings,
        friedman=absent,
        critical_difference=absent,
        cliques=(),
        posthoc=(),
        aggregated=tuple(change_results(one, lambda _: absent, mark_interval) for one in findings.aggregated),
    )


def _thresholds(normalised: _NormalisedScores) -> tuple[float, ...]:
    """Equally spaced from the lowest to the highest score of all."""
    every = np.concatenate([values for side in normalised.scores for values in side])
    return tuple(float(threshold) for threshold in np.unique(np.linspace(every.min(), every.max(), N_THRESHOLDS)))


def _is_uneven(normalised: _NormalisedScores) -> bool:
    return any(len({len(values) for values in side}) > 1 for side in normalised.scores)


# Experiments ranked on each of several tasks: Friedman's test, Nemenyi's pairs and the groups not told apart.

MOST_ARRANGEMENTS = 10_000
"""Maximum number of permutations that are all evaluated."""


@statistic(n_samples=None, minimum=2, shift="ignores", scale="ignores", draws=True, is_paired=True)
def friedman(*samples: Values, rng: np.random.Generator) -> Test | Unavailable:
    """Friedman's test that no experiment ranks better than another, corrected for ties.

    A sample holds one value per task. p is by permutation within tasks, over all arrangements where they are at most
    10,000: the chi-square law needs many tasks, and there are usually few.
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
    """Smallest difference of mean ranks of two experiments that Nemenyi's test detects.

    >>> round(critical_difference(4, 14), 2)
    1.25

    Source: Demšar (2006), eq. for CD and table 5; the studentized range over root 2.
    """
    quantile = float(stats.studentized_range.ppf(confidence, n_experiments, np.inf)) / math.sqrt(2)
    return quantile * _rank_error(n_experiments, n_tasks)


def nemenyi(*samples: Values) -> dict[tuple[int, int], Estimate] | Unavailable:
    """P-value by pair of samples (their positions), from the largest difference of mean ranks among all experiments.

    Asymptotic; it keeps its level with few tasks too, because it detects nothing with two or three of them.
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
    """Largest groups of at least two experiments (positions, best first) whose mean ranks differ by less than this.

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
