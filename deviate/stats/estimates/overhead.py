"""Cost of determinism: wall times of variants with deterministic kernels over those with free kernels."""

from collections.abc import Sequence

from deviate.model import Experiment, Overhead, Run, Unavailable
from deviate.stats.estimates.contention import contention
from deviate.stats.estimates.proof import select_completed
from deviate.stats.estimates.variance import mean_ratio, mean_ratio_interval

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
        ratio = Unavailable(f"needs {COUNTED_RUNS + 1} completed runs of each: the first warms up")
        interval = ratio
    elif isinstance(interval, Unavailable):
        ratio = interval
    return Overhead(
        held=held_experiment.variant,
        free=free_experiment.variant,
        n_held=len(slow),
        n_free=len(fast),
        ratio=ratio,
        interval=interval,
        note=_note(contention([*select_counted(held_experiment), *select_counted(free_experiment)])),
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


def _note(contended: str) -> str:
    notes = ["wall time of whole runs, start-up included", "first replicate of each left out as warm-up"]
    return "; ".join([*notes, *([f"contended: {contended}"] if contended else [])])
