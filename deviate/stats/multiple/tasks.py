"""Experiments over several tasks or data sets: aggregates, and tests of their ranks."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

import numpy as np
import scipy

from deviate.model.comparisons import Aggregated, Contrast, TaskFindings
from deviate.model.estimates import N_RESAMPLES, VERDICT_RUNS, Estimate, Interval, Test, Unavailable
from deviate.model.findings import ExperimentFindings
from deviate.model.phrases import Method, Note, Reason, remarks
from deviate.series.score import LARGEST
from deviate.stats.changes import change_results
from deviate.stats.estimates.sample import Values, moments, never_zero, refusal, too_few
from deviate.stats.multiple.many import withheld
from deviate.stats.multiple.pairs import match_metrics
from deviate.stats.registry import statistic

TASK_RESAMPLES = 10_000
CHUNK = 2_000_000
"""Number of scores resampled at a time: bounds the memory."""
TRIMMED = 0.25
Strata = Sequence[np.ndarray]
"""Scores of one experiment, an array of runs per task."""
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
    n_resamples: int = TASK_RESAMPLES,
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
    notes += [Note.ALL_EQUAL(name) for name in left_out]
    few = too_few(MIN_TASKS, len(matched), noun="task") or too_few(2, len(described), noun="experiment")
    if few or not normalised.scores[0]:
        return _findings_without(matched, few or Unavailable(Reason.IDENTICAL), notes)
    if any(len({len(values) for values in side}) > 1 for side in normalised.scores):
        notes.append(Note.UNEQUAL_RUNS)
    means = [[moments(task.orient()[side].tolist()).mean for task in matched] for side in range(len(described))]
    ranks = mean_ranks(*means)
    barred, mark = withheld(described)
    if barred:
        notes.append(Note.P_WITHHELD(barred))
    thresholds = _thresholds(normalised)
    # A generator per experiment, so that no interval depends on the other experiments.
    seed = int(rng.integers(2**63))
    generators = [np.random.default_rng([seed, *name.encode(errors="surrogatepass")]) for name in names]
    aggregated = tuple(
        _aggregate(name, side, normalised, ranks, thresholds, confidence, generators[side], n_resamples)
        for side, name in enumerate(names)
    )
    findings = TaskFindings(
        tasks=tuple(task.name for task in matched),
        n=tuple(tuple(len(task.scores[side]) for task in matched) for side in range(len(described))),
        normalisation=normalised.sentence,
        optimum=normalised.optimum,
        thresholds=thresholds,
        aggregated=aggregated,
        note=remarks(*notes),
        is_scaled=normalised.is_scaled,
        **_rank_tasks(names, means, ranks, confidence, rng),
    )
    return _not_read(findings, barred, mark) if barred else findings


def _gather(
    described: Sequence[ExperimentFindings], names: Sequence[str], tasks: Sequence[str], matches: Mapping[str, str]
) -> tuple[list[_Task], list[str]]:
    """The tasks on which every experiment has usable scores, and why others are left out."""
    gathered: list[_Task] = []
    notes: list[str] = []
    for task in tasks:
        first = [description for description in described[0].descriptions if description.metric.name == task]
        matched = [match_metrics(first, each.descriptions, matches) for each in described[1:]]
        sides = [next(iter(first), None), *(both[0][1] if both else None for both in matched)]
        without = tuple(
            name
            for name, side in zip(names, sides, strict=True)
            if side is None or not side.n or any(abs(score.value) > LARGEST for score in side.scores)
        )
        if without:
            notes.append(Note.NO_VALUE(task, without))
            continue
        metrics = [side.metric for side in sides if side is not None]
        direction = next((metric.direction for metric in metrics if metric.direction), None)
        if direction is None:
            notes.append(Note.ASSUMED_DIRECTION(task))
        scores = tuple(np.array(side.values) for side in sides if side is not None)
        gathered.append(_Task(task, metrics[0].unit, direction == "min", scores))
    return gathered, notes


def _normalise_scores(tasks: Sequence[_Task]) -> tuple[_NormalisedScores, list[str]]:
    """Scores per experiment and task on one scale, and the tasks that have none because all their scores are equal."""
    if not tasks:
        return _NormalisedScores("none", 1.0, ((),)), []
    n_sides = len(tasks[0].scores)
    every = np.concatenate([values for task in tasks for values in task.scores])
    low, high = float(every.min()), float(every.max())
    if len({task.unit for task in tasks}) == 1 and not any(task.is_lower_better for task in tasks) and low >= 0:
        best = 100.0 if tasks[0].unit == "%" else 1.0
        if high <= best:
            scores = tuple(tuple(task.scores[side] for task in tasks) for side in range(n_sides))
            return _NormalisedScores(Note.NOT_SCALED(best), best, scores, is_scaled=False), []
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
    turned = tuple(task.name for task in tasks if task.is_lower_better)
    sentence = remarks(Note.SCALED, Note.LOWER_IS_BETTER(turned) if turned else "")
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
    figures: dict[str, Any] = dict(estimates(scores, normalised.optimum))
    ends = intervals(scores, normalised.optimum, rng=rng, confidence=confidence, n_resamples=n_resamples)
    figures |= {f"{name}_interval": interval for name, interval in ends.items()}
    return Aggregated(
        name=name,
        **figures,
        rank=ranks if isinstance(ranks, Unavailable) else ranks[side],
        profile=profile(scores, thresholds),
        profile_band=profile_band(scores, thresholds, rng=rng, confidence=confidence, n_resamples=n_resamples),
    )


def _rank_tasks(
    names: Sequence[str],
    means: Sequence[Sequence[float]],
    ranks: tuple[float, ...] | Unavailable,
    confidence: float,
    rng: np.random.Generator,
) -> dict[str, Any]:
    """Fields of the findings: Friedman and Nemenyi over the mean score of each experiment on each task."""
    tested, pairs = friedman(*means, rng=rng), nemenyi(*means)
    if isinstance(pairs, Unavailable) or isinstance(ranks, Unavailable):
        absent = pairs if isinstance(pairs, Unavailable) else ranks
        return {"friedman": tested, "critical_difference": absent, "cliques": (), "posthoc": ()}
    difference = critical_difference(len(names), len(means[0]), confidence=confidence)
    contrasts = tuple(
        Contrast(
            names[other],
            names[one],
            ranks[other] - ranks[one],
            Unavailable(Reason.BY_RANKS),
            p_value,
        )
        for (one, other), p_value in pairs.items()
    )
    groups = tuple(tuple(names[index] for index in group) for group in cliques(ranks, difference))
    return {"friedman": tested, "critical_difference": difference, "cliques": groups, "posthoc": contrasts}


def _findings_without(tasks: Sequence[_Task], reason: Unavailable, notes: Sequence[str]) -> TaskFindings:
    n = tuple(zip(*(tuple(len(scores) for scores in task.scores) for task in tasks), strict=True))
    names = tuple(task.name for task in tasks)
    return TaskFindings(names, n, "none", 1.0, (), (), reason, reason, (), (), remarks(*notes, reason.reason))


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


# Aggregates over tasks, with intervals from runs resampled within each task.
#
# Source: Agarwal et al. (2021), Deep reinforcement learning at the edge of the statistical precipice. Its percentile
# intervals are too short with few runs: by n in place of n - 1, and by normal in place of t. Both are corrected here,
# as in Hesterberg (2015), What teachers should know about the bootstrap: for shares by another level of the
# percentile, which cannot leave 0 to 1; for scores by a factor, for a far percentile of few runs is too near.


def estimates(tasks: Strata, optimum: float) -> dict[str, float]:
    """Mean and median over tasks of the mean over runs, mean of the middle half, and optimality gap.

    Source: Agarwal et al. (2021), sections 2 and 4.
    """
    return {name: float(values[0]) for name, values in _aggregates([task[None] for task in tasks], optimum).items()}


def intervals(
    tasks: Strata, optimum: float, *, rng: np.random.Generator, confidence: float, n_resamples: int = TASK_RESAMPLES
) -> dict[str, Interval | Unavailable]:
    """Stratified bootstrap intervals of `estimates`, all from the same resamples."""
    if reason := refusal(VERDICT_RUNS, *(task.tolist() for task in tasks)):
        return dict.fromkeys(("mean", "median", "iqm", "gap"), reason)
    drawn = [_aggregates(parts, optimum) for parts in draw_resamples(tasks, rng, n_resamples)]
    sizes, points = [len(task) for task in tasks], estimates(tasks, optimum)
    # The median of one or two tasks is their mean; its error follows from their runs alone.
    df = {name: min(sizes) - 1 if name == "median" else sum(sizes) - len(sizes) for name in points}
    return {
        name: _widen(np.concatenate([chunk[name] for chunk in drawn]), points[name], confidence, min(sizes), df[name])
        for name in points
    }


def profile(tasks: Strata, thresholds: Sequence[float]) -> tuple[float, ...]:
    """Share of scores above each threshold, mean over tasks.

    Source: Agarwal et al. (2021), section 4.2, run-score distributions.
    """
    return tuple(float(share) for share in _shares(tasks, thresholds).mean(axis=0))


def profile_band(
    tasks: Strata,
    thresholds: Sequence[float],
    *,
    rng: np.random.Generator,
    confidence: float,
    n_resamples: int = TASK_RESAMPLES,
) -> tuple[tuple[float, float], ...]:
    """Pointwise stratified bootstrap band of `profile`; empty with too few runs.

    How many of n resampled runs are above a threshold is binomial: no score need be resampled.
    """
    if refusal(VERDICT_RUNS, *(task.tolist() for task in tasks)):
        return ()
    sizes = [len(task) for task in tasks]
    columns, where = np.unique(_shares(tasks, thresholds), axis=1, return_inverse=True)
    tail = _tail(sizes, confidence)
    ends = []
    for shares in columns.T:
        drawn = (rng.binomial(sizes, shares, size=(n_resamples, len(sizes))) / np.array(sizes)).mean(axis=1)
        low, high = np.quantile(drawn, (tail, 1 - tail))
        ends.append((float(low), float(high)))
    return tuple(ends[index] for index in where.ravel())


def draw_resamples(strata: Strata, rng: np.random.Generator, n_resamples: int) -> Iterator[list[np.ndarray]]:
    """Chunks of resamples: per stratum an array (resamples, runs) of runs drawn with replacement."""
    size = max(1, CHUNK // sum(len(stratum) for stratum in strata))
    for begin in range(0, n_resamples, size):
        rows = min(size, n_resamples - begin)
        yield [stratum[rng.integers(len(stratum), size=(rows, len(stratum)))] for stratum in strata]


def _widen(drawn: np.ndarray, estimate: float, confidence: float, fewest: int, df: int) -> Interval | Unavailable:
    """Percentile interval with ends moved away from the estimate to correct for few runs.

    Source: Hesterberg (2015), the expanded percentile interval.
    """
    low, high = (float(end) for end in np.quantile(drawn, ((1 - confidence) / 2, (1 + confidence) / 2)))
    if not low < high:
        return Unavailable(Reason.NOT_RESAMPLED)
    upper = (1 + confidence) / 2
    factor = math.sqrt(fewest / (fewest - 1)) * float(scipy.stats.t.ppf(upper, df) / scipy.stats.norm.ppf(upper))
    low, high = estimate - factor * max(0.0, estimate - low), estimate + factor * max(0.0, high - estimate)
    return Interval(low, high, confidence, Method.EXPANDED(len(drawn)))


def _tail(sizes: Sequence[int], confidence: float) -> float:
    """Level of the lower percentile: that of t in place of normal, and of n - 1 in place of n.

    Source: Hesterberg (2015); degrees of freedom pooled over strata, as each has a mean of its own.
    """
    fewest, df = min(sizes), sum(sizes) - len(sizes)
    t = float(scipy.stats.t.ppf((1 + confidence) / 2, df))
    return float(scipy.stats.norm.sf(math.sqrt(fewest / (fewest - 1)) * t))


def _aggregates(parts: Sequence[np.ndarray], optimum: float) -> dict[str, np.ndarray]:
    """Aggregates per row; `parts` has an array (rows, runs) per task."""
    means = np.stack([part.mean(axis=1) for part in parts])
    short = np.stack([np.minimum(part, optimum).mean(axis=1) for part in parts])
    return {
        "mean": means.mean(axis=0),
        "median": np.median(means, axis=0),
        "iqm": _middle_mean(np.concatenate(parts, axis=1)),
        "gap": optimum - short.mean(axis=0),
    }


def _middle_mean(rows: np.ndarray) -> np.ndarray:
    """Mean of each row without its lowest and its highest quarter, rounded down as `scipy.stats.trim_mean` does."""
    n = rows.shape[1]
    cut = int(TRIMMED * n)
    middle: np.ndarray = np.sort(rows, axis=1)[:, cut : n - cut].mean(axis=1)
    return middle


def _shares(tasks: Strata, thresholds: Sequence[float]) -> np.ndarray:
    """Proportion of runs above each threshold, shape (tasks, thresholds)."""
    return np.stack([(task[:, None] > np.asarray(thresholds)).mean(axis=0) for task in tasks])


# Experiments ranked on each of several tasks: Friedman's test, Nemenyi's pairs and the groups not told apart.


@statistic(n_samples=None, minimum=2, shift="ignores", scale="ignores", draws=True, is_paired=True)
def friedman(*samples: Values, rng: np.random.Generator) -> Test | Unavailable:
    """Friedman's test that no experiment ranks better than another, corrected for ties.

    A sample holds one value per task. p is by permutation within tasks: the chi-square law needs many tasks, and there
    are usually few.
    Source: Friedman (1937); the statistic as in `scipy.stats.friedmanchisquare`.
    """
    if reason := _refusal(*samples):
        return reason
    ranks = scipy.stats.rankdata(_table(samples), axis=1)
    centred = ranks - (len(samples) + 1) / 2
    squares = float(np.sum(centred**2))
    if squares == 0:
        return Unavailable(Reason.IDENTICAL)
    n_tasks, n_samples = centred.shape
    unit = (n_samples - 1) / squares
    observed = unit * float(np.sum(centred.sum(axis=0) ** 2))
    least = observed * (1 - 1e-9)
    # Sorted, so that permutations do not depend on the order of tasks or experiments.
    rows = np.sort(centred, axis=1)
    rows = rows[np.lexsort(rows.T)]
    order = np.argsort(rng.random((N_RESAMPLES, n_tasks, n_samples)), axis=2)
    drawn = np.take_along_axis(rows[None], order, axis=2).sum(axis=1)
    p_value = (1 + int(np.sum(unit * np.sum(drawn**2, axis=1) >= least))) / (N_RESAMPLES + 1)
    return Test(Method.FRIEDMAN, observed, p_value, n_samples - 1, Note.PERMUTATION(N_RESAMPLES))


def mean_ranks(*samples: Values) -> tuple[float, ...] | Unavailable:
    """Mean rank of each sample over tasks, 1 for the highest value; ties share the mean of their ranks."""
    if not samples or not samples[0]:
        return Unavailable(Reason.NO_SCORE)
    ranks = scipy.stats.rankdata(-_table(samples), axis=1)
    return tuple(float(rank) for rank in ranks.mean(axis=0))


def critical_difference(n_experiments: int, n_tasks: int, *, confidence: float = 0.95) -> float:
    """Smallest difference of mean ranks of two experiments that Nemenyi's test detects.

    >>> round(critical_difference(4, 14), 2)
    1.25

    Source: Demšar (2006), eq. for CD and table 5; the studentized range over root 2.
    """
    quantile = float(scipy.stats.studentized_range.ppf(confidence, n_experiments, np.inf)) / math.sqrt(2)
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
            p_values[one, other] = (
                never_zero(float(scipy.stats.studentized_range.sf(q, len(samples), np.inf))) if q else 1.0
            )
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
    if few := too_few(3, len(samples), noun="experiment"):
        return few
    if len({len(values) for values in samples}) > 1:
        return Unavailable(Reason.INCOMPLETE_TASKS)
    return too_few(2, len(samples[0]), noun="task") or refusal(2, *samples)
