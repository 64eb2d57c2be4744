"""From events to measurements: which source belongs to which metric, and which process counts."""

import dataclasses
import itertools
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from deviate.model import Metric, Place, Role, SelectedMetric, Selection, Series
from deviate.records.columns import NO_STEP, series_of
from deviate.records.events import Points, ProcessLog, Source
from deviate.records.items import item_direction, item_name, item_role, snake
from deviate.records.snapshot import Manifest

JOINT = ": "
"""Between the value of a label variable and the item of what is reported under it, as the guest writes them."""


@dataclass(slots=True)
class Catalog:
    """The metrics of an experiment by what reports them; what no metric knows is added, so that nothing is lost.

    One catalog serves all runs of an experiment, so that an added metric has one name in all of them.

    Attributes:
        added: metrics that only the runs showed, in order of appearance.
    """

    manifest: Manifest
    selection: Selection
    added: list[SelectedMetric] = field(default_factory=list)
    _names: dict[Source, str | None] = field(default_factory=dict)

    @property
    def metrics(self) -> tuple[SelectedMetric, ...]:
        return (*self.selection.metrics, *self.added)

    def name(self, source: Source) -> str | None:
        """Name of the metric a source belongs to; None for what the user deselected or the analysis rejected."""
        if source not in self._names:
            self._names[source] = self._find(source)
        return self._names[source]

    def _find(self, source: Source) -> str | None:
        metrics = [metric for metric in self._iterate_metrics() if _is_of(metric, source)]
        fitting = [metric for metric in metrics if self._fits(metric, source, is_only=len(metrics) == 1)]
        if fitting:
            chosen = self._find_selected(_nearest(fitting))
            return chosen.name if chosen else None
        label, item = self._parts(source)
        whole = dataclasses.replace(source, label=label)
        holding = [metric for metric in metrics if item and self._fits(metric, whole, is_only=len(metrics) == 1)]
        if holding:
            holder = _nearest(holding)
            chosen = self._find_selected(holder)
            return self._item(chosen, source, item if holder.label == label else f"{label}_{item}") if chosen else None
        selected = [selected for selected in self.selection.metrics if _is_of(selected.metric, source)]
        if source.site is not None and not selected:
            return None
        return self._add(source, selected[0] if selected else None)

    def _find_selected(self, metric: Metric) -> SelectedMetric | None:
        return next((selected for selected in self.selection.metrics if _same(selected.metric, metric)), None)

    def _parts(self, source: Source) -> tuple[str | None, str]:
        """Value of the label variable, and the item of what is reported whole (empty when it is no item)."""
        if source.label is None or source.site is None:
            return source.label, ""
        has_variable = self.manifest.sites.get(source.site, (None, False))[1]
        if not has_variable or not self._tells_labels(source):
            return None, source.label
        label, _, item = source.label.partition(JOINT)
        return label, item

    def _iterate_metrics(self) -> Iterator[Metric]:
        selected = [selected.metric for selected in self.selection.metrics]
        yield from selected
        yield from (
            further for further in self.manifest.metrics if not any(_same(further, metric) for metric in selected)
        )

    def _fits(self, metric: Metric, source: Source, *, is_only: bool) -> bool:
        if source.site is not None:
            is_item = self._parts(source)[1] and metric.label != source.label
            if is_item or metric.label not in {None, source.label}:
                return False
        return is_only or source.path[len(source.path) - len(metric.path) :] == metric.path

    def _tells_labels(self, source: Source) -> bool:
        """Whether a metric of the site has a label: else its texts are keys that only the runs know."""
        return any(metric.label is not None for metric in self._iterate_metrics() if metric.site == source.site)

    def _item(self, holder: SelectedMetric, source: Source, item: str) -> str:
        """The metric of an item, one for all the ways that lead to the metric that holds it."""
        for selected in self.added:
            if (selected.metric.site, selected.metric.path, selected.metric.label) == (
                source.site,
                holder.metric.path,
                source.label,
            ):
                return selected.name
        role = item_role(item, holder.role)
        metric = dataclasses.replace(
            holder.metric,
            role=role,
            direction=item_direction(item, role, holder.direction),
            evidence=(f'item "{item}" of {holder.metric.expression}, seen in the runs',),
            label=source.label,
        )
        return self._append(metric, (item_name(holder.name, item), f"{holder.name}_{snake(item)}"))

    def _add(self, source: Source, model: SelectedMetric | None) -> str:
        """A metric of its own for a source, with the manners of the metric of the same site if there is one."""
        place = source.path[-1] if source.path else self._place(source)
        label, item = self._parts(source)
        name = source.name or (model.name if model else "value")
        role: Role = model.role if model else "quality"
        direction = model.direction if model else None
        if item:
            name = item_name(name, item)
            role = item_role(item, role)
            direction = item_direction(item, role, direction)
        if label is not None:
            name = f"{name}[{label}]"
        elif model is not None:
            name = f"{name} ({place})"
        metric = Metric(
            id=-1,
            name=name,
            expression=model.metric.expression if model else source.name or "",
            file=place.file if place else "",
            line=place.line if place else 0,
            sink=model.metric.sink if model else "named",
            role=role,
            direction=direction,
            evidence=("reported in the runs, not seen by the analysis",),
            site=source.site,
            path=source.path,
            label=source.label,
        )
        return self._append(metric, (name,))

    def _append(self, metric: Metric, names: Sequence[str]) -> str:
        """Add a metric under the first of the names that is free, or else under the last one numbered."""
        names_used = {selected.name for selected in self.metrics}
        numbered = (f"{names[-1]} #{index}" for index in itertools.count(2))
        name = next(candidate for candidate in itertools.chain(names, numbered) if candidate not in names_used)
        metrics = itertools.chain(self._iterate_metrics(), (selected.metric for selected in self.added))
        number = 1 + max((metric.id for metric in metrics), default=-1)
        metric = dataclasses.replace(metric, id=number, name=name)
        self.added.append(SelectedMetric(name, metric, metric.role, metric.direction))
        return name

    def _place(self, source: Source) -> Place | None:
        return None if source.site is None else self.manifest.sites.get(source.site, (None, False))[0]


def measure(
    logs: Sequence[ProcessLog], folder: Path | None = None, *, attempts: Sequence[int] = ()
) -> dict[str, Series]:
    """The series of each metric in one run.

    Ranks of a distributed run report the same metric at the same time: the lowest rank counts, or, where ranks are
    unknown, the process that reported most. Processes that follow one another are joined.

    Args:
        folder: on whose disk long series lie while they are needed; None for the system's temporary folder.
        attempts: to which of the attempts that make up the run each log belongs, in order of time; the time from the
            end of one to the start of the next is no time of the run. None of them: all belong to one.
    """
    delays = _delays(logs, attempts or [0] * len(logs))
    counted = {
        name: _join_processes([(points, delays[id(log)]) for log, points in _pick_ranks(parts)])
        for name, parts in _by_metric(logs).items()
    }
    return series_of({name: (log.steps, log.values, log.times) for name, log in counted.items()}, folder)


def process_warnings(
    logs: Sequence[ProcessLog], metrics: Sequence[SelectedMetric], attempts: Sequence[int]
) -> list[str]:
    """Quality metrics that several processes of one attempt reported, where no rank tells which of them counts.

    Processes that report equal values say the same twice, and are not warned of.

    Args:
        attempts: to which of the attempts that make up the run each log belongs.
    """
    qualities = {metric.name for metric in metrics if metric.role == "quality"}
    attempt_of = {id(log): attempt for log, attempt in zip(logs, attempts, strict=True)}
    warnings = []
    for name, parts in _by_metric(logs).items():
        counted = _pick_ranks(parts)
        busy = [
            (log, points)
            for log, points in parts
            if name in qualities and all(log is not counted_log for counted_log, _ in counted)
        ]
        n_rivals = sum(
            any(log.rank == counted_log.rank and points.values != its.values for counted_log, its in counted)
            for log, points in busy
        )
        n_joined = max(Counter(attempt_of[id(log)] for log, _ in counted).values()) if name in qualities else 1
        if n_rivals:
            warnings.append(
                f"{name} was reported by {n_rivals + 1} processes at the same time, with different values: only those "
                "of the process count that reported most or started first; report it from one process, or under a "
                "name for each"
            )
        elif n_joined > 1:
            warnings.append(
                f"{name} was reported by {n_joined} processes one after the other: their values are joined, and the "
                "last process gives the last value"
            )
    return warnings


def _by_metric(logs: Sequence[ProcessLog]) -> dict[str, list[tuple[ProcessLog, Points]]]:
    parts: dict[str, list[tuple[ProcessLog, Points]]] = {}
    for log in logs:
        for name, points in log.points.items():
            if points.steps:  # else what was reported of it stood in lines that could not be read
                parts.setdefault(name, []).append((log, points))
    return parts


def _delays(logs: Sequence[ProcessLog], attempts: Sequence[int]) -> dict[int, float]:
    """How many seconds of the run had passed when each process (by identity) began, as far as clocks tell."""
    delays: dict[int, float] = {}
    before = 0.0
    for attempt in dict.fromkeys(attempts):
        logs_of_attempt = [log for log, its in zip(logs, attempts, strict=True) if its == attempt]
        begin = min((log.started for log in logs_of_attempt if log.started > 0), default=0.0)
        delays |= {id(log): before + max(0.0, log.started - begin) for log in logs_of_attempt}
        before += max(0.0, max(log.ended for log in logs_of_attempt) - begin)
    return delays


def _pick_ranks(parts: Iterable[tuple[ProcessLog, Points]]) -> list[tuple[ProcessLog, Points]]:
    def preference(part: tuple[ProcessLog, Points]) -> tuple[bool, int, int, float, int]:
        log, points = part
        return log.rank is None, log.rank or 0, -len(points.values), log.started, log.pid

    counted: list[tuple[ProcessLog, Points]] = []
    for log, points in sorted(parts, key=preference):
        if all(log.started >= other.ended or log.ended <= other.started for other, _ in counted):
            counted.append((log, points))
    return sorted(counted, key=lambda part: part[0].started)


def _join_processes(parts: Sequence[tuple[Points, float]]) -> Points:
    """One process after another, each with its delay: steps that begin again go on where the last process ended."""
    if len(parts) == 1 and not parts[0][1]:
        return parts[0][0]
    joined, offset = Points(), 0
    for points, delay in parts:
        for step, value, seconds in zip(points.steps, points.values, points.times, strict=True):
            joined.add(step if step == NO_STEP else offset + step, value, delay + seconds)
        offset = 1 + max((step for step in joined.steps if step != NO_STEP), default=offset - 1)
    return joined


def _nearest(fitting: Sequence[Metric]) -> Metric:
    return max(fitting, key=lambda metric: (len(metric.path), metric.label is not None))


def _is_of(metric: Metric, source: Source) -> bool:
    if source.site is None:
        return metric.site is None and _key(metric) == source.name
    return metric.site == source.site


def _key(metric: Metric) -> str:
    """Name by which a framework reports a metric without a site: its tag, where the source has an expression for it."""
    return metric.expression if metric.label is None else metric.label


def _same(one: Metric, other: Metric) -> bool:
    return (one.site, one.path, one.label) == (other.site, other.path, other.label) and (
        one.site is not None or _key(one) == _key(other)
    )
