"""Aggregates of a metric: from the measurements of one run to its score, or a reason why there is none."""

import math
import re
import statistics
from collections.abc import Callable, Sequence

from deviate.errors import InputError
from deviate.model import Direction, Estimate, Reason, Series, Unavailable
from deviate.stats.estimates.sample import LARGEST

NAMES = ("last", "best", "mean", "median", "min", "max", "at:K")

_OF_ALL: dict[str, Callable[[Sequence[float]], float]] = {"min": min, "max": max}
_OVER_STEPS: dict[str, Callable[[Sequence[float]], float]] = {
    "mean": lambda values: math.fsum(values) / len(values),
    "median": statistics.median,
}


def aggregate_series(series: Series, aggregate: str, direction: Direction | None = None) -> Estimate:
    """Score of one run.

    `last`, `best`, `min` and `max` use all recorded values; `mean` and `median` those of the main loop, or the others
    if it has none. A value that is not finite is never left out: the run then has no score.

    Raises:
        InputError: the aggregate is not one of `NAMES`.
    """
    check_aggregate(aggregate)
    if not series.values:
        return Unavailable.because(Reason.NEVER_REPORTED)
    if aggregate == "last":
        return _finite([(series.steps[-1], series.values[-1])], lambda values: values[0], at_end=True)
    measurements = list(zip(series.steps, series.values, strict=True))
    if aggregate.startswith("at:"):
        return _at_step(measurements, int(aggregate[3:]))
    if aggregate == "best":
        if direction is None:
            return Unavailable("best needs a direction")
        return _finite(measurements, _OF_ALL[direction])
    if aggregate in _OF_ALL:
        return _finite(measurements, _OF_ALL[aggregate])
    in_loop = [measurement for measurement in measurements if measurement[0] is not None]
    return _finite(in_loop or measurements, _OVER_STEPS[aggregate])


def check_aggregate(aggregate: str) -> None:
    """Raises InputError for anything but the aggregates in `NAMES`."""
    if aggregate not in NAMES[:-1] and not re.fullmatch(r"at:[0-9]+", aggregate):
        raise InputError(
            f"There is no aggregate {aggregate!r}.",
            f"Use one of {', '.join(NAMES)} (K: a step of the main loop, counted from 0).",
        )


Measurement = tuple[int | None, float]


def _at_step(measurements: list[Measurement], step: int) -> Estimate:
    at_step = [measurement for measurement in measurements if measurement[0] == step]
    if at_step:
        return _finite(at_step, lambda values: values[0])
    steps = [at for at, _ in measurements if at is not None]
    if not steps:
        return Unavailable(f"no value at step {step}: reported outside the main loop only")
    return Unavailable(f"no value at step {step} (first {steps[0]}, last {steps[-1]})")


def _finite(
    measurements: list[Measurement], reduce: Callable[[Sequence[float]], float], *, at_end: bool = False
) -> Estimate:
    for step, value in measurements:
        if not abs(value) <= LARGEST:
            if step is None:
                where = "outside the main loop"
            else:
                where = f"at the last step ({step})" if at_end else f"at step {step}"
            return Unavailable.because(Reason.NOT_FINITE, f"{_name(value)} {where}")
    return float(reduce([value for _, value in measurements]))


def _name(value: float) -> str:
    if math.isfinite(value):
        return f"{value:.1e}, as good as infinite,"
    return "NaN" if math.isnan(value) else "infinite value"
