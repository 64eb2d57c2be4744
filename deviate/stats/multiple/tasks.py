"""Experiments over several tasks or data sets: one number each, and whether they rank differently."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

import numpy as np

from deviate.model import (
    Aggregated,
    Contrast,
    Estimate,
    ExperimentFindings,
    Interval,
    TaskFindings,
    Test,
    Unavailable,
)
from deviate.stats.estimates import stratified
from deviate.stats.estimates.sample import LARGEST, count, moments
from deviate.stats.interim_analysis import change_results
from deviate.stats.multiple.many import withheld
from deviate.stats.multiple.pairs import match_metrics
from deviate.stats.multiple.ranks import cliques, critical_difference, friedman, mean_ranks, nemenyi

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
    notes += ["tasks differ in runs: those with more weigh more in the IQM"] if _is_uneven(normalised) else []
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
            notes.append(f"direction of {task} unknown: higher is taken for better")
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
    sentence = "per task, 0 is the worst and 1 the best score of any run compared here, so the figures hold among these"
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
            Unavailable("ranks are told apart by the critical difference"),
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
