"""Which metrics of experiments are judged: those that some run reported, each quantity once.

Metrics with the same values at the same steps are one metric with aliases, and a fixed function of another metric is
shown with that one. Both must hold in all completed runs of all experiments that report the metric that is left out, so
that a comparison leaves out nothing that could differ between its sides.
"""

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from deviate.model import AT, AT_BEST, MEAN_LAST, Description, Experiment, Run, SelectedMetric, Series
from deviate.stats.restated import FixedFunction, Floats, find_function

TEXT_SINKS = frozenset({"print", "logging", "loguru", "structlog", "tqdm", "progress", "stdout", "stderr"})
"""Sinks whose names are made from text; a tracker's tag is the name that the user chose."""
CLOSE = 0.999
"""Correlation below which no metric is a function of another one: rounding explains less."""
MOST_SAMPLED = 64
"""Values of a run by which functions are searched; the others are only checked."""


@dataclass(frozen=True, slots=True)
class Distinct:
    """Experiments with the metrics that are judged.

    Attributes:
        never_reported: names of the metrics that are left out because no run has a value of them.
        aliases: name of a metric to the names of those that are equal to it.
        functions: name of a metric to the names of those that are fixed functions of it, each with a text, as
            `error = 100 − acc`.
    """

    experiments: tuple[Experiment, ...]
    never_reported: tuple[str, ...]
    aliases: Mapping[str, tuple[str, ...]]
    functions: Mapping[str, tuple[tuple[str, str], ...]]

    def mark(self, described: Description, experiment: Experiment) -> Description:
        """The description with the aliases and functions of its metric that the experiment had."""
        name, names = described.metric.name, {metric.name for metric in experiment.metrics}
        return replace(
            described,
            aliases=tuple(alias for alias in self.aliases.get(name, ()) if alias in names),
            functions=tuple(text for other, text in self.functions.get(name, ()) if other in names),
        )


def distinct_metrics(
    experiments: Sequence[Experiment], keeps: Collection[str] = (), *, aggregate: str | None = None
) -> Distinct:
    """Leave out what no run reported where one completed without it, and what restates another metric.

    Args:
        keeps: names of metrics that stay, for the user asked about them.
        aggregate: of every metric, instead of its own.
    """
    experiments, never_reported = _without_silent(experiments, keeps)
    recorded = _Recorded(experiments, aggregate)
    bases = _Bases(recorded)
    aliases: dict[str, list[str]] = {}
    functions: dict[str, list[tuple[str, str]]] = {}
    judged: list[str] = []
    for name in recorded.in_order(keeps):
        is_free = name not in keeps and not recorded.is_declared(name)
        same = next((base for base in bases.like(name) if is_free and recorded.is_equal(base, name)), None)
        if same is not None:
            aliases.setdefault(same, []).append(name)
            continue
        found = ((base, recorded.function(base, name)) for base in bases.related(name) if is_free)
        restated = next(((base, function) for base, function in found if function is not None), None)
        if restated is None:
            judged.append(name)
            bases.add(name)
        else:
            base, function = restated
            functions.setdefault(base, []).append((name, f"{name} = {function.text(base)}"))
    return Distinct(
        tuple(recorded.restrict(experiment, judged, aliases) for experiment in experiments),
        never_reported,
        {name: tuple(names) for name, names in aliases.items()},
        {name: tuple(others) for name, others in functions.items()},
    )


def _without_silent(
    experiments: Sequence[Experiment], keeps: Collection[str]
) -> tuple[list[Experiment], tuple[str, ...]]:
    runs = [run for experiment in experiments for run in experiment.runs]
    reported = {name for run in runs for name in run.series}
    is_any_completed = any(run.status == "completed" for run in runs)
    has_failed = any(run.status != "completed" for run in runs)
    planned = {experiment.primary.name for experiment in experiments if experiment.primary is not None}

    def is_silent(metric: SelectedMetric) -> bool:
        decides = metric.is_primary or metric.name in planned
        may_be = decides and has_failed  # a run that failed may have been about to report what decides
        return is_any_completed and metric.name not in reported and metric.name not in keeps and not may_be

    metrics = [metric for experiment in experiments for metric in experiment.metrics]
    spoken = [
        replace(experiment, metrics=tuple(metric for metric in experiment.metrics if not is_silent(metric)))
        for experiment in experiments
    ]
    return spoken, tuple(dict.fromkeys(metric.name for metric in metrics if is_silent(metric)))


@dataclass(slots=True)
class _Recorded:
    """What completed runs reported, by experiment and metric.

    Attributes:
        series: per experiment, name to the series of each completed run, None where it has none.
    """

    experiments: Sequence[Experiment]
    aggregate: str | None
    metrics: list[dict[str, SelectedMetric]] = field(init=False)
    series: list[dict[str, list[Series | None]]] = field(init=False)
    _ends: dict[tuple[int, str], tuple[object, ...]] = field(init=False, default_factory=dict)
    _samples: dict[tuple[int, str], Floats] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        self.metrics = [{metric.name: metric for metric in experiment.metrics} for experiment in self.experiments]
        self.series = []
        for experiment, by_name in zip(self.experiments, self.metrics, strict=True):
            runs = [run for run in experiment.runs if run.status == "completed"]
            columns = {name: [_reported(run, name) for run in runs] for name in by_name}
            self.series.append({name: column for name, column in columns.items() if any(column)})

    def in_order(self, keeps: Collection[str]) -> list[str]:
        """All names, with those first that stand for others: what was asked for, declared, or reported by most."""
        names = list(dict.fromkeys(name for by_name in self.metrics for name in by_name))

        def place(name: str) -> tuple[object, ...]:
            all_metrics = [by_name[name] for by_name in self.metrics if name in by_name]
            first = all_metrics[0]
            return (
                name not in keeps,
                not self.is_declared(name),
                -sum(name in columns for columns in self.series),
                first.is_found_by_running,
                {"max": 0, "min": 1, None: 2}[first.direction],
                first.metric.sink in TEXT_SINKS,
            )

        return sorted(names, key=place)

    def is_declared(self, name: str) -> bool:
        """Whether the user said something of it that would be lost."""
        metrics = [by_name[name] for by_name in self.metrics if name in by_name]
        return any(one.is_primary or one.margin is not None or one.target is not None for one in metrics)

    def is_equal(self, base: str, name: str) -> bool:
        """Whether all runs that report `name` report the same of `base`, and not one constant alone."""
        if not self._is_comparable(base, name):
            return False
        for at, ends in self.places(name):
            directions = {self.metrics[at][one].direction for one in (base, name)} - {None}
            if self._of_ends(at, base) != ends or len(directions) > 1:
                return False
        pairs = list(self._pairs(base, name))
        if not pairs or not all(mine == theirs for mine, theirs in pairs):
            return False
        values = {repr(float(value)) for at, _ in self.places(name) for value in self.sample(at, name)}
        return len(values) > 1

    def function(self, base: str, name: str) -> FixedFunction | None:
        """The fixed function of `base` that `name` is in all runs."""
        if not self._is_comparable(base, name):
            return None
        places = [at for at, _ in self.places(name)]
        if not places:
            return None
        x, y = (np.concatenate([self.sample(at, one) for at in places]) for one in (base, name))
        function = find_function(x, y)
        if function is None or not self._is_same_score(base, name, function):
            return None
        for mine, theirs in self._pairs(base, name):
            if mine.steps != theirs.steps or not function.holds(_array(mine), _array(theirs)):
                return None
        return function

    def restrict(
        self, experiment: Experiment, judged: Collection[str], aliases: Mapping[str, Sequence[str]]
    ) -> Experiment:
        """The experiment with the metrics that are judged; what is known of an alias alone is known of its metric."""
        by_name = {metric.name: metric for metric in experiment.metrics}

        def completed(metric: SelectedMetric) -> SelectedMetric:
            same = [metric, *(by_name[name] for name in aliases.get(metric.name, ()) if name in by_name)]
            direction = next((one.direction for one in same if one.direction is not None), None)
            return replace(metric, direction=direction, unit=next((one.unit for one in same if one.unit), ""))

        metrics = tuple(completed(metric) for metric in experiment.metrics if metric.name in judged)
        return replace(experiment, metrics=metrics)

    def places(self, name: str) -> Iterator[tuple[int, tuple[object, ...]]]:
        """The experiments that report it, by index, with the ends of its series."""
        return ((at, self._of_ends(at, name)) for at, columns in enumerate(self.series) if name in columns)

    def _is_comparable(self, base: str, name: str) -> bool:
        """Whether every run that reports one of them reports both, as often, to be read in ways that can be one."""
        for at, columns in enumerate(self.series):
            if name not in columns:
                continue
            if base not in columns or not _may_be_one(self.metrics[at][base], self.metrics[at][name]):
                return False
            for mine, theirs in zip(columns[base], columns[name], strict=True):
                if (mine is None) != (theirs is None):
                    return False
                if mine is not None and theirs is not None and len(mine.values) != len(theirs.values):
                    return False
        return True

    def _is_same_score(self, base: str, name: str, function: FixedFunction) -> bool:
        """Whether the scores follow the function as the values do, and say the same of better and worse."""
        for at, _ in self.places(name):
            mine, theirs = self.metrics[at][base], self.metrics[at][name]
            if mine.direction and theirs.direction and (mine.direction == theirs.direction) != function.is_rising:
                return False
            how = self.aggregate or mine.aggregate
            if not (
                how in {"last", "median"}
                or how.startswith((AT, AT_BEST))
                or (how == "best" and mine.direction and theirs.direction)
                or (how in {"min", "max"} and function.is_rising)
                or ((how == "mean" or how.startswith(MEAN_LAST)) and function.kind == "linear")
            ):
                return False
        return True

    def _pairs(self, base: str, name: str) -> Iterator[tuple[Series, Series]]:
        for columns in self.series:
            for mine, theirs in zip(columns.get(base, ()), columns.get(name, ()), strict=False):
                if mine is not None and theirs is not None:
                    yield mine, theirs

    def _of_ends(self, at: int, name: str) -> tuple[object, ...]:
        """Length, first and last value of each series: what is cheap to compare."""
        if (at, name) not in self._ends:
            columns = self.series[at].get(name, ())
            self._ends[at, name] = tuple(
                None if one is None else (len(one.values), repr(float(one.values[0])), repr(float(one.values[-1])))
                for one in columns
            )
        return self._ends[at, name]

    def sample(self, at: int, name: str) -> Floats:
        """Some values of each run, at the same places for series of the same length."""
        if (at, name) not in self._samples:
            parts = [_sampled(_array(one)) for one in self.series[at].get(name, ()) if one is not None]
            self._samples[at, name] = np.concatenate(parts) if parts else np.empty(0)
        return self._samples[at, name]


class _Bases:
    """Metrics that others may restate, found without a look at all pairs: each of 1,000 classes may have one."""

    def __init__(self, recorded: _Recorded) -> None:
        self._recorded = recorded
        self._by_ends: dict[tuple[int, tuple[object, ...]], list[str]] = {}
        self._shapes: dict[tuple[int, int], tuple[list[str], list[Floats]]] = {}

    def add(self, name: str) -> None:
        for at, ends in self._recorded.places(name):
            self._by_ends.setdefault((at, ends), []).append(name)
            values = self._recorded.sample(at, name)
            names, shapes = self._shapes.setdefault((at, len(values)), ([], []))
            with np.errstate(all="ignore"):
                shapes.append(np.stack([_shape(values), _shape(np.exp(values)), _shape(np.log(values))]))
            names.append(name)

    def like(self, name: str) -> list[str]:
        """Those whose series end as those of the metric, in the first experiment that reports it."""
        return self._by_ends.get(next(self._recorded.places(name), (-1, ())), [])

    def related(self, name: str) -> list[str]:
        """Those that the metric goes with on a line, or after an exponential or a logarithm, in that experiment."""
        at, _ = next(self._recorded.places(name), (-1, ()))
        values = self._recorded.sample(at, name) if at >= 0 else np.empty(0)
        names, shapes = self._shapes.get((at, len(values)), ([], []))
        if not names:
            return []
        close = np.flatnonzero((np.abs(np.stack(shapes) @ _shape(values)) > CLOSE).any(axis=1))
        return [names[index] for index in close]


def _shape(values: Floats) -> Floats:
    """Distances from the mean, scaled to length 1, and 0 for what is not finite."""
    is_finite = np.isfinite(values)
    if not is_finite.any():
        return np.zeros(len(values))
    distances = np.where(is_finite, values, 0.0) - np.where(is_finite, values, 0.0).sum() / is_finite.sum()
    distances[~is_finite] = 0
    length = float(np.sqrt((distances**2).sum()))
    return distances / length if 0 < length < math.inf else np.zeros(len(values))


def _reported(run: Run, name: str) -> Series | None:
    series: Series | None = run.series.get(name)
    return series if series is not None and len(series.values) else None


def _may_be_one(mine: SelectedMetric, theirs: SelectedMetric) -> bool:
    return mine.role == theirs.role and mine.aggregate == theirs.aggregate


def _array(series: Series) -> Floats:
    return np.asarray(series.values, dtype=np.float64)


def _sampled(values: Floats) -> Floats:
    if len(values) <= MOST_SAMPLED:
        return values
    return values[np.linspace(0, len(values) - 1, MOST_SAMPLED).round().astype(np.int64)]
