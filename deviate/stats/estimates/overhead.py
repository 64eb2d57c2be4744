"""Ratios of mean times, and the overhead of deterministic kernels in ordinary reports."""

import math
from collections.abc import Sequence

from deviate.model.estimates import Estimate, Interval, Unavailable
from deviate.model.findings import Overhead
from deviate.model.phrases import Note, Reason, remarks
from deviate.model.records import Experiment, Run
from deviate.series.remarks import contention
from deviate.series.repeatability import select_completed
from deviate.stats.estimates.sample import SampleSummary, Values, moments, refusal, without_spread
from deviate.stats.estimates.summary import t_quantile, welch_df
from deviate.stats.registry import statistic


@statistic(n_samples=2, minimum=1, shift="neither", scale="ignores", refuse=refusal)
def mean_ratio(denominator: Values, numerator: Values) -> Estimate:
    """Ratio of two means of positive quantities, such as times."""
    below = moments(denominator).mean
    return moments(numerator).mean / below if below > 0 else Unavailable(Reason.NOT_POSITIVE)


@statistic(n_samples=2, minimum=2, shift="neither", scale="ignores", refuse=without_spread)
def mean_ratio_interval(denominator: Values, numerator: Values, *, confidence: float = 0.95) -> Interval | Unavailable:
    """Interval of the ratio of two means of independent samples with unequal variances.

    It holds the ratios r for which `numerator - r denominator` does not differ from 0 by a t of Welch's degrees of
    freedom at the estimated ratio.
    Source: Fieller (1954); Welch (1947) for the degrees of freedom.
    """
    ratio = mean_ratio(denominator, numerator)
    if isinstance(ratio, Unavailable):
        return ratio
    a, b = moments(numerator), moments(denominator)
    above, below = a.se, ratio * b.se
    if not math.hypot(above, below):
        return Unavailable(Reason.NO_SPREAD)
    t = t_quantile((1 + confidence) / 2, welch_df(SampleSummary(b.n, 0.0, ratio * b.sd), a))
    g = (t * b.se / b.mean) ** 2
    half_width = t / b.mean * math.hypot(a.se * math.sqrt(max(0.0, 1 - g)), below)
    if g >= 1 or half_width >= ratio:  # no ratio of times is negative
        return Unavailable(Reason.TIMES_VARY)
    return Interval((ratio - half_width) / (1 - g), (ratio + half_width) / (1 - g), confidence, "Fieller")


# In ordinary reports: wall times of variants with deterministic kernels over those with free kernels.

PAIRS = (("algo", "algo+impl"), ("control", "impl"))
"""Pairs of variants that differ only in implementation factors: held, free."""

COUNTED_RUNS = 3
"""Minimum number of runs per mode, without the first, for a factor stated in ordinary reports."""


def overhead(experiments: Sequence[Experiment], *, confidence: float = 0.95) -> Overhead | None:
    """The overhead of deterministic kernels; None unless there are variants of both modes."""
    pair = _pair(experiments)
    if pair is None:
        return None
    held_experiment, free_experiment = pair
    slow, fast = _times(held_experiment), _times(free_experiment)
    ratio = mean_ratio(fast, slow)
    interval = mean_ratio_interval(fast, slow, confidence=confidence)
    if min(len(slow), len(fast)) < COUNTED_RUNS:
        ratio = Unavailable(Reason.WARM_UP(COUNTED_RUNS + 1))
        interval = ratio
    elif isinstance(interval, Unavailable):
        ratio = interval
    contended = contention([*select_counted(held_experiment), *select_counted(free_experiment)])
    return Overhead(
        held=held_experiment.variant,
        free=free_experiment.variant,
        n_held=len(slow),
        n_free=len(fast),
        ratio=ratio,
        interval=interval,
        note=remarks(Note.WHOLE_RUNS, Note.WARM_UP, contended and Note.OF("contended", contended)),
    )


def _pair(experiments: Sequence[Experiment]) -> tuple[Experiment, Experiment] | None:
    by_name = {experiment.variant: experiment for experiment in experiments}
    for held_name, free_name in PAIRS:
        if held_name in by_name and free_name in by_name:
            return by_name[held_name], by_name[free_name]
    holding = [experiment for experiment in experiments if "kernels" in experiment.held]
    freeing = [experiment for experiment in experiments if "kernels" in experiment.varied]
    return (holding[0], freeing[0]) if holding and freeing else None


def _times(experiment: Experiment) -> list[float]:
    """Wall times in seconds."""
    return [run.wall_time_s for run in select_counted(experiment)]


def select_counted(experiment: Experiment) -> list[Run]:
    """Completed runs without the first replicate, which fills caches for the others."""
    first = min((run.replicate for run in experiment.runs), default=0)
    return [run for run in select_completed(experiment) if run.replicate != first]
