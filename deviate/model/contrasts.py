"""More than two experiments: over one metric, and over several tasks."""

from dataclasses import dataclass

from deviate.model.estimates import Estimate, Interval, Test, Unavailable
from deviate.model.plan import SelectedMetric


@dataclass(frozen=True, slots=True)
class Contrast:
    """One experiment less another in one metric, as a member of a family."""

    one: str
    other: str
    difference: Estimate
    interval: Interval | Unavailable
    p_adjusted: Estimate


@dataclass(frozen=True, slots=True)
class ManyTable:
    """One metric over three or more experiments.

    Attributes:
        names: of the experiments, the baseline first; `n` the number of scores of each.
        anova, welch_anova, kruskal_wallis: whether they differ at all.
        dunnett: each candidate less the baseline, simultaneous intervals; equal variances assumed.
        pairs: all against all; Welch with Holm over the pairs.
    """

    metric: SelectedMetric
    names: tuple[str, ...]
    n: tuple[int, ...]
    anova: Test | Unavailable
    welch_anova: Test | Unavailable
    kruskal_wallis: Test | Unavailable
    dunnett: tuple[Contrast, ...] | Unavailable
    pairs: tuple[Contrast, ...]


@dataclass(frozen=True, slots=True)
class Aggregated:
    """One experiment over all tasks, scores oriented so that more is better, with stratified bootstrap intervals.

    Attributes:
        iqm: mean of the middle half of all scores. gap: by how much they stay below `TaskFindings.optimum` on average.
        improvement: P(this > baseline), mean over tasks; unavailable for the baseline.
        profile: share of scores above each of `TaskFindings.thresholds`, with a pointwise band.
        rank: mean rank over tasks, 1 is best.
    """

    name: str
    mean: Estimate
    mean_interval: Interval | Unavailable
    median: Estimate
    median_interval: Interval | Unavailable
    iqm: Estimate
    iqm_interval: Interval | Unavailable
    gap: Estimate
    gap_interval: Interval | Unavailable
    improvement: Estimate
    improvement_interval: Interval | Unavailable
    rank: Estimate
    profile: tuple[float, ...]
    profile_band: tuple[tuple[float, float], ...]


@dataclass(frozen=True, slots=True)
class TaskFindings:
    """Experiments over several tasks or data sets.

    Attributes:
        tasks: names of the metrics that are the tasks.
        normalisation: how scores of different tasks were made comparable, in a sentence.
        is_scaled: whether they had to be.
        friedman: whether mean ranks differ. critical_difference: of mean ranks, Nemenyi; `cliques` are groups of
            experiments whose ranks are not told apart. posthoc: all pairs, p of Nemenyi.
    """

    tasks: tuple[str, ...]
    n: tuple[tuple[int, ...], ...]
    normalisation: str
    optimum: float
    thresholds: tuple[float, ...]
    aggregated: tuple[Aggregated, ...]
    friedman: Test | Unavailable
    critical_difference: Estimate
    cliques: tuple[tuple[str, ...], ...]
    posthoc: tuple[Contrast, ...]
    note: str = ""
    is_scaled: bool = False
