"""From the measurements of one run to its score, or a reason why there is none."""

import math
import statistics
from collections.abc import Callable, Mapping, Sequence

from deviate.model.aggregates import AT, AT_BEST, MEAN_LAST
from deviate.model.analysis import Direction
from deviate.model.estimates import Estimate, Unavailable
from deviate.model.phrases import Reason
from deviate.model.plan import SelectedMetric
from deviate.model.records import Series
from deviate.model.texts import count
from deviate.series.aggregates import refuse_aggregate

_OF_ALL: dict[str, Callable[[Sequence[float]], float]] = {"min": min, "max": max}
_OVER_STEPS: dict[str, Callable[[Sequence[float]], float]] = {
    "mean": lambda values: math.fsum(values) / len(values),
    "median": statistics.median,
}

LARGEST = 1e150
"""Scores beyond this count as infinite, and spreads below its inverse as none: in between, no quotient or product of a
comparison overflows."""

Measurement = tuple[int | None, float]


def is_telling(value: float) -> bool:
    """Whether a value has more than three digits: two trainings seldom agree on it by chance, as they do on 0.95.

    >>> is_telling(0.9512), is_telling(0.95), is_telling(12345.0)
    (True, False, False)
    """
    return math.isfinite(value) and value != int(value) and float(f"{value:.3g}") != value


def aggregate_series(series: Series, aggregate: str, direction: Direction | None = None) -> Estimate:
    """Score of one run.

    `last`, `best`, `min` and `max` use all recorded values; `mean` and `median` those of the main loop, or the others
    if it has none; each value counts once, however many there are within a step. `at:K` is the last value within step
    K, and `mean-last:K` the mean of that over the last K steps of the main loop that have a value; of a metric that is
    only reported outside of the main loop, it is the last value. A value that is not finite is never left out: the run
    then has no score.

    Raises:
        InputError: the aggregate is not one of `AGGREGATES`.
    """
    refuse_aggregate(aggregate)
    if not series.values:
        return Unavailable(Reason.NEVER_REPORTED)
    if aggregate == "last":
        return _finite([(series.steps[-1], series.values[-1])], lambda values: values[0], at_end=True)
    measurements = list(zip(series.steps, series.values, strict=True))
    if aggregate.startswith(AT):
        return _at_step(measurements, int(aggregate.removeprefix(AT)))
    if aggregate.startswith(MEAN_LAST):
        return _mean_of_last(measurements, int(aggregate.removeprefix(MEAN_LAST)))
    if aggregate == "best":
        if direction is None:
            return Unavailable("best needs a direction")
        return _finite(measurements, _OF_ALL[direction])
    if aggregate in _OF_ALL:
        return _finite(measurements, _OF_ALL[aggregate])
    in_loop = [measurement for measurement in measurements if measurement[0] is not None]
    return _finite(in_loop or measurements, _OVER_STEPS[aggregate])


def score_of(series: Mapping[str, Series], metric: SelectedMetric, metrics: Sequence[SelectedMetric]) -> Estimate:
    """Score of one run in a metric, by the aggregate of the metric.

    `at-best:METRIC` is the value at the step at which another metric, or this one, was best for the first time: where a
    script that keeps its best checkpoint keeps it. A metric that is only reported outside of the main loop has been
    measured on what was kept: then it is the last value.

    Args:
        series: of all metrics of the run. metrics: all of the experiment, for the direction of the one that decides.
    """
    own = series.get(metric.name, Series((), ()))
    name = metric.aggregate.removeprefix(AT_BEST)
    if name == metric.aggregate:
        return aggregate_series(own, metric.aggregate, metric.direction)
    if own.values and all(step is None for step in own.steps):
        return aggregate_series(own, "last")
    direction = next((other.direction for other in metrics if other.name == name), None)
    decider = series.get(name, Series((), ()))
    deciding = [pair for pair in zip(decider.steps, decider.values, strict=True) if pair[0] is not None]
    if direction is None or not deciding:
        return Unavailable(f"{name} has no {'direction' if deciding else 'value'}, so its best value is unknown")
    best = _finite(deciding, _OF_ALL[direction])
    if isinstance(best, Unavailable):
        return best
    step = next(step for step, value in deciding if value == best)
    return aggregate_series(own, f"at:{step}")


def _at_step(measurements: list[Measurement], step: int) -> Estimate:
    at_step = [measurement for measurement in measurements if measurement[0] == step]
    if at_step:
        return _finite(at_step[-1:], lambda values: values[0])
    steps = [at for at, _ in measurements if at is not None]
    if not steps:
        return Unavailable(f"no value at step {step}: reported only outside the main loop")
    return Unavailable(f"no value at step {step} (first {steps[0]}, last {steps[-1]})")


def _mean_of_last(measurements: list[Measurement], n_steps: int) -> Estimate:
    at_step: dict[int, float] = {step: value for step, value in measurements if step is not None}
    if not at_step:
        return _finite(measurements[-1:], lambda values: values[0])
    if len(at_step) < n_steps:
        return Unavailable(f"reported at {count(len(at_step), 'step')} of the main loop, fewer than {n_steps}")
    return _finite(sorted(at_step.items())[-n_steps:], _OVER_STEPS["mean"])


def _finite(
    measurements: Sequence[Measurement], reduce: Callable[[Sequence[float]], float], *, at_end: bool = False
) -> Estimate:
    for step, value in measurements:
        if not abs(value) <= LARGEST:
            if step is None:
                where = "outside the main loop"
            else:
                where = f"at the last step ({step})" if at_end else f"at step {step}"
            return Unavailable(f"{_name(value)} {where}", Reason.NOT_FINITE)
    return float(reduce([value for _, value in measurements]))


def _name(value: float) -> str:
    if math.isfinite(value):
        return f"{value:.1e}, effectively infinite,"
    return "NaN" if math.isnan(value) else "infinite value"
