"""Copies: series that say the same as another one, in percent, with the other sign, or as what is left to 1 or 100.

Two series are copies where they are related so at every step that both report, to the precision of the coarser one, in
every completed run of all experiments, with at least three distinct values. Such metrics are judged once.
"""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from deviate.model.comparisons import Description
from deviate.model.metric_vocabulary import HIGHER, LOWER, VAGUE
from deviate.model.plan import SelectedMetric
from deviate.model.records import Experiment, Series
from deviate.series.headline import order_of_results
from deviate.series.words import words_of

Floats = NDArray[np.float64]
FEWEST_DISTINCT = 3
MOST_DECIMALS = 7
SINGLE = 2.0**-21
"""Relative error of a few operations in single precision."""
RELATIONS = (
    (1.0, 0.0, "{}"),
    (100.0, 0.0, "100 × {}"),
    (0.01, 0.0, "0.01 × {}"),
    (-1.0, 0.0, "−{}"),
    (-1.0, 1.0, "1 − {}"),
    (-1.0, 100.0, "100 − {}"),
    (-100.0, 100.0, "100 − 100 × {}"),
    (-0.01, 1.0, "1 − 0.01 × {}"),
)
"""Factor, constant and text of what a copy may be of another series."""
MOST_PAIRED = 64
"""Metrics up to which series are compared that do not report at the same steps."""


@dataclass(frozen=True, slots=True)
class Distinct:
    """Experiments with the metrics that are judged.

    Attributes:
        never_reported: names of the metrics that are left out because no run has a value of them.
        aliases: name of a metric to the names of those that are equal to it.
        functions: name of a metric to the names of those that are related to it, each with a text, as
            `error = 100 − acc`.
    """

    experiments: tuple[Experiment, ...]
    never_reported: tuple[str, ...]
    aliases: Mapping[str, tuple[str, ...]]
    functions: Mapping[str, tuple[tuple[str, str], ...]]

    def mark(self, described: Description, experiment: Experiment) -> Description:
        """The description with the copies of its metric that the experiment had."""
        name, names = described.metric.name, {metric.name for metric in experiment.metrics}
        return replace(
            described,
            aliases=tuple(alias for alias in self.aliases.get(name, ()) if alias in names),
            functions=tuple(text for other, text in self.functions.get(name, ()) if other in names),
        )


@np.errstate(over="ignore", invalid="ignore")
def distinct_metrics(experiments: Sequence[Experiment], keeps: Collection[str] = ()) -> Distinct:
    """Leave out what no run reported where one completed without it, and copies of another metric.

    Args:
        keeps: names of metrics that stay, for the user asked about them.
    """
    experiments, never_reported = _without_silent(experiments, keeps)
    stays = {*keeps, *(one.name for item in experiments for one in item.metrics if _is_declared(one))}
    planned = [experiment.primary.name for experiment in experiments if experiment.primary is not None]
    metrics = {metric.name: metric for experiment in reversed(experiments) for metric in experiment.metrics}
    columns = {name: _column(experiments, name) for name in metrics}
    ordered = order_of_results(list(metrics.values()), planned[0] if planned else None)
    ordered.sort(key=lambda metric: (metric.name not in stays, metric.name not in planned))
    aliases: dict[str, list[str]] = {}
    functions: dict[str, list[tuple[str, str]]] = {}
    judged: list[str] = []
    for metric in ordered:
        name = metric.name
        found = None if name in stays or name in planned else _find(columns, metrics, judged, name)
        if found is None:
            judged.append(name)
        elif found[1] == "{}":
            aliases.setdefault(found[0], []).append(name)
        else:
            functions.setdefault(found[0], []).append((name, f"{name} = {found[1].format(found[0])}"))
    return Distinct(
        tuple(
            replace(item, metrics=tuple(_completed(one, item, aliases) for one in item.metrics if one.name in judged))
            for item in experiments
        ),
        never_reported,
        {name: tuple(names) for name, names in aliases.items()},
        {name: tuple(others) for name, others in functions.items()},
    )


def _completed(metric: SelectedMetric, experiment: Experiment, aliases: Mapping[str, Sequence[str]]) -> SelectedMetric:
    """The metric with what is known of a copy of it alone."""
    same = [metric, *(one for one in experiment.metrics if one.name in aliases.get(metric.name, ()))]
    directed = sorted((one for one in same if one.direction is not None), key=_is_vague)
    direction = directed[0].direction if directed else None
    return replace(metric, direction=direction, unit=next((one.unit for one in same if one.unit), ""))


def _is_declared(metric: SelectedMetric) -> bool:
    """Whether the user said something of it that would be lost."""
    return metric.is_primary or metric.margin is not None or metric.target is not None


def _without_silent(
    experiments: Sequence[Experiment], keeps: Collection[str]
) -> tuple[list[Experiment], tuple[str, ...]]:
    runs = [run for experiment in experiments for run in experiment.runs]
    known = {name for run in runs for name in run.series} | set(keeps)
    is_completed = {run.status == "completed" for run in runs}
    if False in is_completed:  # a run that failed may have been about to report what decides
        known |= {experiment.primary.name for experiment in experiments if experiment.primary is not None}
        known |= {metric.name for experiment in experiments for metric in experiment.metrics if metric.is_primary}
    every = dict.fromkeys(metric.name for experiment in experiments for metric in experiment.metrics)
    silent = tuple(name for name in every if name not in known) if True in is_completed else ()
    spoken = [
        replace(experiment, metrics=tuple(metric for metric in experiment.metrics if metric.name not in silent))
        for experiment in experiments
    ]
    return spoken, silent


@dataclass(frozen=True, slots=True)
class _Column:
    """The values of a metric in completed runs, the last one of each step.

    Attributes:
        places: run and step of each value. rounding: as `rounding_of` gives it for those that are finite.
    """

    places: tuple[tuple[int, int], ...]
    values: Floats
    rounding: float


def _column(experiments: Sequence[Experiment], name: str) -> _Column:
    completed = (run for experiment in experiments for run in experiment.runs if run.status == "completed")
    of_runs = [_last_of_steps(run.series[name]) if name in run.series else {} for run in completed]
    places = tuple((number, step) for number, last in enumerate(of_runs) for step in last)
    values = np.array([value for last in of_runs for value in last.values()], dtype=np.float64)
    return _Column(places, values, rounding_of(values[np.isfinite(values)]))


def _find(
    columns: Mapping[str, _Column], metrics: Mapping[str, SelectedMetric], judged: Sequence[str], name: str
) -> tuple[str, str] | None:
    """The metric that another one is a copy of, and how."""
    for base in judged:
        if metrics[base].role != metrics[name].role or metrics[base].aggregate != metrics[name].aggregate:
            continue
        relation = _relation(columns[base], columns[name], is_aligned=len(metrics) > MOST_PAIRED)
        if relation is not None and _may_be(metrics[base], metrics[name], relation[0]):
            return base, relation[1]
    return None


def _relation(first: _Column, second: _Column, *, is_aligned: bool) -> tuple[float, str] | None:
    """Factor and text of what the second column is of the first one.

    Args:
        is_aligned: whether columns of other places are told apart without a look.
    """
    x, y = first.values, second.values
    if first.places != second.places:
        at = {place: number for number, place in enumerate(first.places)}
        if is_aligned or not set(second.places) <= at.keys():
            return None
        x = x[[at[place] for place in second.places]]
    x0, y0 = (float(one[0]) if len(one) else math.nan for one in (x, y))
    for factor, constant, text in RELATIONS:
        of_x = abs(factor) * first.rounding
        # With equal decimals they agree exactly.
        rounded = 0.0 if math.isclose(of_x, second.rounding) else max(of_x, second.rounding)
        if abs(y0 - factor * x0 - constant) > (rounded + SINGLE * (abs(y0) + abs(constant))) * 1.001:
            continue  # of hundreds of columns, few pairs agree in their first values
        tolerance = (rounded + SINGLE * (np.abs(y) + abs(constant))) * 1.001
        if np.all((np.abs(y - factor * x - constant) <= tolerance) | ~np.isfinite(x)):
            return (factor, text) if _is_alike(x, y) else None
    return None


def _is_alike(x: Floats, y: Floats) -> bool:
    """Whether what is not finite is the same, and the rest has enough distinct values to tell."""
    is_finite = np.isfinite(x)
    is_same = np.array_equal(x[~is_finite], y[~np.isfinite(y)], equal_nan=True)
    return is_same and min(len(np.unique(x[is_finite])), len(np.unique(y[is_finite]))) >= FEWEST_DISTINCT


def _last_of_steps(series: Series) -> dict[int, float]:
    """The last value of each step, and of those outside of the loop each by its number."""
    values: dict[int, float] = {}
    for number, (step, value) in enumerate(zip(series.steps, series.values, strict=True)):
        values[-1 - number if step is None else step] = value
    return values


def _may_be(base: SelectedMetric, copy: SelectedMetric, factor: float) -> bool:
    """Whether what is known of better and worse agrees."""
    if base.direction is None or copy.direction is None or _is_vague(base) != _is_vague(copy):
        return True
    return (base.direction == copy.direction) == (factor > 0)


def _is_vague(metric: SelectedMetric) -> bool:
    """Whether only a word such as score tells the direction, which a copy with a telling name outweighs."""
    words = words_of(metric.name)
    return bool(words & VAGUE) and not words & (HIGHER | LOWER) - VAGUE


def rounding_of(values: Floats) -> float:
    """Half a unit of the last decimal to which all values are rounded; 0 where they have more than 7 decimals."""
    for decimals in range(MOST_DECIMALS):
        scaled = values * 10.0**decimals
        if np.all(np.abs(scaled - np.round(scaled)) <= 1e-6 * np.minimum(1.0, np.abs(scaled))):
            return float(0.5 * 10.0**-decimals)
    return 0.0
