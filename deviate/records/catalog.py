"""The metrics of an experiment by what reports them."""

import dataclasses
import itertools
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field

from deviate.model import Direction, Metric, Place, Role, SelectedMetric, Selection
from deviate.model.metric_vocabulary import (
    direction_of,
    is_measurement,
    item_name,
    item_traits,
    snake,
    split_identifier,
)
from deviate.records.events import Source
from deviate.records.snapshot import Manifest

JOINT = ": "
"""Separator of the value of a label variable and the item that is reported under it, as the guest writes them."""

FOUND_BY_RUNNING = "found by running: the analysis did not find that the main loop reaches it"
MOST_PATHS = 8
"""Maximum number of call paths to one site that are separate metrics; a recursion has one for each depth."""


@dataclass(slots=True)
class Catalog:
    """The metrics of an experiment by what reports them; what no metric knows is added, so that nothing is lost.

    One catalog serves all runs of an experiment, so that an added metric has one name in all of them.

    Attributes:
        judges_items: whether an item whose name says that it is no measurement is none; before number 2 of the scores
            it was one.
        added: metrics that only the runs showed, in order of appearance.
        found_by_running: what the analysis would have taken for metrics, had it seen that the main loop reaches it: the
            name of each, and the one that it would have if its site had one call path. What was reported of them before
            the main loop does not count.
    """

    manifest: Manifest
    selection: Selection
    judges_items: bool = True
    added: list[SelectedMetric] = field(default_factory=list)
    found_by_running: dict[str, str] = field(default_factory=dict)
    _names: dict[Source, str | None] = field(default_factory=dict)

    @property
    def metrics(self) -> tuple[SelectedMetric, ...]:
        added = (metric for metric in self.added if not (self.selection.is_fixed and metric.is_found_by_running))
        return (*self.selection.metrics, *added)

    def left_out(self, reported: Collection[str]) -> dict[str, Metric]:
        """What was found by running and is not added, for `deviate.toml` lists the metrics; by its name alone.

        Args:
            reported: names of which any run has a value.
        """
        if not self.selection.is_fixed:
            return {}
        names = self.found_by_running
        found = [selected for selected in self.added if selected.name in names and selected.name in reported]
        return {names[selected.name]: selected.metric for selected in found}

    def plain_names(self, reported: Collection[str]) -> dict[str, str]:
        """New names of metrics that were found by running and are the only ones of their site that count.

        Args:
            reported: names of which any run has a value.
        """
        counting = [(name, plain) for name, plain in self.found_by_running.items() if name in reported]
        n_of = Counter(plain for _, plain in counting)
        others = {metric.name for metric in self.metrics if metric.name not in self.found_by_running}
        return {name: plain for name, plain in counting if n_of[plain] == 1 and plain not in others}

    def name(self, source: Source) -> str | None:
        """Name of the metric a source belongs to; None for what the user deselected or the analysis rejected.

        The analysis rejects what is no measurement; what it only did not reach is a metric.
        """
        if source not in self._names:
            self._names[source] = self._find(source)
        return self._names[source]

    def _find(self, source: Source) -> str | None:
        metrics = [metric for metric in self._iterate_metrics() if _is_of(metric, source)]
        fitting = [metric for metric in metrics if self._fits(metric, source, is_only=len(metrics) == 1)]
        if fitting:
            chosen = self._find_selected(_nearest(fitting))
            if chosen is not None or not _nearest(fitting).is_item:
                return chosen.name if chosen else None
            # an item that the source names is left to its mapping where deviate.toml lists that and not the item
            metrics = [metric for metric in metrics if not metric.is_item]
        label, item = self._parts(source)
        whole = dataclasses.replace(source, label=label)
        holding = [metric for metric in metrics if item and self._fits(metric, whole, is_only=len(metrics) == 1)]
        if holding:
            holder = _nearest(holding)
            chosen = self._find_selected(holder)
            return self._item(chosen, source, item if holder.label == label else f"{label}_{item}") if chosen else None
        selected = [selected for selected in self.selection.metrics if _is_of(selected.metric, source)]
        if source.site is not None and not selected:
            unreached = next((metric for metric in self.manifest.unreached if metric.site == source.site), None)
            return None if unreached is None else self._find_by_running(source, unreached)
        owner = selected[0].name if selected else source.name or ""
        if self.judges_items and item and not is_measurement(item, owner):
            return None
        return self._add(source, selected[0] if selected else None)

    def _find_by_running(self, source: Source, unreached: Metric) -> str | None:
        """A metric for a source that the analysis did not reach: one for each call path to its site."""
        _, item = self._parts(source)
        if self.judges_items and item and not is_measurement(item, unreached.name):
            return None
        paths = dict.fromkeys(selected.metric.path for selected in self.added if selected.metric.site == source.site)
        path = source.path if len(paths | {source.path: None}) <= MOST_PATHS else next(iter(paths))
        name, role, direction = _name_item(item, unreached.name, unreached.role, unreached.direction)
        place = path[-1] if path else Place(unreached.file, unreached.line)
        metric = dataclasses.replace(
            unreached,
            role=role,
            direction=direction,
            evidence=(FOUND_BY_RUNNING, *unreached.evidence),
            path=path,
            label=source.label,
        )
        earlier = next((selected.name for selected in self.added if _same(selected.metric, metric)), None)
        if earlier is not None:
            return earlier
        chosen = self._append(metric, (name, f"{name} ({place})"), is_found_by_running=True)
        self.found_by_running[chosen] = name
        return chosen

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
        metrics = (metric for metric in self._iterate_metrics() if metric.site == source.site)
        return any(metric.label is not None and not metric.is_item for metric in metrics)

    def _item(self, holder: SelectedMetric, source: Source, item: str) -> str | None:
        """The metric of an item, one for all the ways that lead to the metric that holds it."""
        if self.judges_items and not is_measurement(item, holder.name):
            return None
        for selected in self.added:
            if (selected.metric.site, selected.metric.path, selected.metric.label) == (
                source.site,
                holder.metric.path,
                source.label,
            ):
                return selected.name
        role, direction = item_traits(item, holder.role, holder.direction)
        metric = dataclasses.replace(
            holder.metric,
            role=role,
            direction=direction,
            evidence=(f'item "{item}" of {holder.metric.expression}, reported in the runs',),
            label=source.label,
        )
        return self._append(metric, (item_name(holder.name, item), f"{holder.name}_{snake(item)}"))

    def _add(self, source: Source, model: SelectedMetric | None) -> str:
        """A metric of its own for a source, with the manners of the metric of the same site if there is one."""
        place = source.path[-1] if source.path else self._place(source)
        label, item = self._parts(source)
        name = source.name or (model.name if model else "value")
        role: Role = model.role if model else "quality"
        direction = model.direction if model else direction_of(split_identifier(name))
        name, role, direction = _name_item(item, name, role, direction)
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
            evidence=("reported in the runs, not found by the analysis",),
            site=source.site,
            path=source.path,
            label=source.label,
        )
        return self._append(metric, (name,))

    def _append(self, metric: Metric, names: Sequence[str], *, is_found_by_running: bool = False) -> str:
        """Add a metric under the first of the names that is free, or else under the last one numbered."""
        names_used = {selected.name for selected in (*self.selection.metrics, *self.added)}
        numbered = (f"{names[-1]} #{index}" for index in itertools.count(2))
        name = next(candidate for candidate in itertools.chain(names, numbered) if candidate not in names_used)
        metrics = itertools.chain(self._iterate_metrics(), (selected.metric for selected in self.added))
        number = 1 + max((metric.id for metric in metrics), default=-1)
        metric = dataclasses.replace(metric, id=number, name=name)
        self.added.append(
            SelectedMetric(name, metric, metric.role, metric.direction, is_found_by_running=is_found_by_running)
        )
        return name

    def _place(self, source: Source) -> Place | None:
        return None if source.site is None else self.manifest.sites.get(source.site, (None, False))[0]


def _name_item(item: str, name: str, role: Role, direction: Direction | None) -> tuple[str, Role, Direction | None]:
    """Name, role and direction of an item of what is reported whole; those of the whole where it is no item."""
    if not item:
        return name, role, direction
    return item_name(name, item), *item_traits(item, role, direction)


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
