"""The metrics of an experiment by what reports them, named by the words that a run wrote.

What the user listed in `deviate.toml`, or an import brought along, keeps its name. All else is named after the first
run that completed: the words of its line, the tag, the key; only where the output has no words, what the source calls
it.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from deviate.model.aggregates import MEAN_LAST
from deviate.model.analysis import TRACKERS, Direction, Metric, Place, Role, Site
from deviate.model.metric_vocabulary import NEUTRAL, direction_of, item_traits, snake, split_identifier
from deviate.model.plan import SelectedMetric, Selection
from deviate.records.events import ValueSource
from deviate.records.schema import Manifest
from deviate.series.caption import COUNT, Caption
from deviate.series.naming import EXTREMES, LoggedOutput, Stream, StreamKey, free_name, key_of, names_of, shortest_name
from deviate.series.words import (
    DATA_WORDS,
    LISTINGS,
    MEASURES,
    SCOPE,
    WHOLES,
    Kind,
    is_count,
    kind_of,
    name_words,
    words_of,
)

JOINT = ": "
"""Separator of the value of a label variable and the item that is reported under it, as the guest writes them."""
MOST_PATHS = 8
"""Maximum number of call paths to one site that are separate metrics; a recursion has one for each depth."""
ROLES: Mapping[Kind, Role] = {"result": "quality", "loss": "quality", "time": "time", "setting": "other"}
TELLING = MEASURES - NEUTRAL
NEAR = 1e-6
"""Relative error up to which a mean, as it is printed and recorded, is that of the values before it."""


@dataclass(slots=True)
class Catalog:
    """The metrics of an experiment by what reports them.

    One catalog serves all runs of an experiment, so that a metric has one name in all of them; `learn` is called with
    the first run that completed before any other is read.

    Attributes:
        n_trainings: steps of the main loop, if each of them trains a new model; else 0.
        added: metrics that the runs showed, in order of appearance.
    """

    manifest: Manifest
    selection: Selection
    is_imported: bool = False
    n_trainings: int = 0
    added: list[SelectedMetric] = field(default_factory=list)
    _streams: dict[StreamKey, str | None] = field(default_factory=dict)
    _places: dict[int | None, dict[tuple[Place, ...], None]] = field(default_factory=dict)
    _copies: set[str] = field(default_factory=set)
    _output: LoggedOutput = field(default_factory=lambda: LoggedOutput({}))

    @property
    def keeps_listed(self) -> bool:
        """Whether the selection says what there is; else it only previews what the runs show."""
        return self.selection.is_fixed or self.is_imported

    @property
    def metrics(self) -> tuple[SelectedMetric, ...]:
        listed = self.selection.metrics if self.keeps_listed else ()
        return (*listed, *self.added)

    def learn(self, output: LoggedOutput) -> None:
        """Name the series of a run by their words."""
        self._output = replace(output, captions={}, streams=(), unrecorded={})  # these are as long as the run
        streams = list(_with_means(output.streams))
        kept = [stream for stream in streams if _is_kept(stream)]
        told = {frozenset(name_words(name)) for name in output.named}
        kept = [one for one in kept if one.key not in output.unrecorded or _words(one) not in told]
        kept = [one for one in kept if not _is_setting(one) or one.key not in output.unrecorded or not _is_dumped(one)]
        if output.has_main:  # sizes and options, before training
            kept = [one for one in kept if one.phase != "before" or words_of(_own_text(one)) & TELLING]
            kept = [one for one in kept if one.phase != "before" or not _is_setting(one)]
        names = names_of(kept, (metric.name for metric in self.metrics))
        lasts = {names[stream.key]: stream.values[-1] for stream in kept}
        self._copies = {
            name
            for name, value in output.named.items()
            if abs(lasts.get(snake(name), math.inf) - value) <= NEAR * abs(value)
        }
        for stream in kept:
            self._append_stream(stream, names[stream.key])
        self._streams.update({stream.key: None for stream in streams if stream.key not in names})

    def name_unrecorded(self, key: StreamKey) -> str | None:
        """Name of a series that only the log has; None where it is no series, or something recorded has its name."""
        return None if self.selection.is_fixed else self._streams.get(key)

    def name(self, source: ValueSource) -> str | None:
        """Name of the metric a source belongs to; None for what is none, or what the user did not list."""
        listed = self._listed(source) if self.keeps_listed else None
        if listed is not None or self.selection.is_fixed:
            return listed
        caption = source.caption
        if caption is not None:
            path = " < ".join(str(place) for place in reversed(source.path))
            key = key_of(caption, f"{source.site} {path}", source.phase, self._output.divided, self._output.phased)
            says = caption.has_words or source.label is not None or caption.form in ("counter", "size")
            if says or self._streams.get(key) is not None:
                return self._by_words(source, caption, key)
        return self._by_source(source)

    # What the user listed, or an import named.

    def _listed(self, source: ValueSource) -> str | None:
        """The listed metric of a source: the one with its label and way; else one that is reported whole."""
        of_site = [selected for selected in self.selection.metrics if _is_of(selected.metric, source)]
        fitting = [
            selected
            for selected in of_site
            if (source.site is None or selected.metric.label in (None, source.label))
            and _ends_with(source.path, selected.metric.path)
        ]
        if not fitting:
            return None
        chosen = max(fitting, key=lambda one: (one.metric.label is not None, len(one.metric.path)))
        if chosen.metric.label is not None or source.label is None or source.site is None:
            return chosen.name
        return self._item(chosen, source, source.label)

    def _item(self, holder: SelectedMetric, source: ValueSource, item: str) -> str:
        """The metric of an item of what is reported whole, one for all the ways that lead to it."""
        same = next((one for one in self.added if one.metric.site == source.site and one.metric.label == item), None)
        if same is not None:
            return same.name
        role, direction = item_traits(item, holder.role, holder.direction)
        evidence = (f'item "{item}" of {holder.metric.expression}, reported in the runs',)
        metric = replace(holder.metric, role=role, direction=direction, evidence=evidence, label=item)
        return self._append(metric, f"{holder.name}_{snake(item)}")

    # What the runs show.

    def _by_words(self, source: ValueSource, caption: Caption, key: StreamKey) -> str | None:
        if key not in self._streams:
            place = self._place(source.site)
            stream = Stream(key, caption, is_whole=caption.is_whole, phase=source.phase, place=place)
            names = names_of([stream], (metric.name for metric in self.metrics))
            self._streams[key] = None
            if _is_kept(stream):
                self._append_stream(stream, names[key])
        return self._streams[key]

    def _append_stream(self, stream: Stream, name: str) -> None:
        caption = stream.caption
        words, kind = _own_text(stream), _kind(stream)
        is_listed = words_of(f"{caption.heading} {caption.section}") & LISTINGS
        if is_listed or stream.key.phase == "before" or is_count(caption.column, caption.row):
            kind = "setting"
        is_anew = bool(self.n_trainings) and stream.phase == "along" and len(stream.values) != 1
        direction = None if caption.form == "spread" else direction_of(split_identifier(SCOPE.sub(" ", words)))
        role = "other" if caption.form == "spread" else ROLES[kind]
        metric = _metric(
            name, caption.text, stream.place, "print", (role, direction), f'printed as "{caption.text}"',
            words=caption.text, kin=shortest_name(stream), is_progress=caption.is_progress,
            over=caption.trainings or ("training" if is_anew else ""),  # of one training alone, it is that one's
        )  # fmt: skip
        self._streams[stream.key] = self._append(
            metric, name, unit="%" if caption.unit == "%" and not stream.is_share else ""
        )

    def _by_source(self, source: ValueSource) -> str | None:
        """A metric that no line shows: by its tag or key, or by what the source calls it."""
        found = self._of_site(source.site)
        label = source.name if source.label is None else source.label
        head = "" if label is None else label.partition(JOINT)[0]
        if head and not head.isdigit() and not any(map(str.isalpha, head)):  # a time beside the value
            return None
        words = self._tag(label, source.site, found)
        is_setup = source.phase == "before" and self._output.has_main
        is_dumped = source.site in self._output.dumped or source.name in self._output.dumped
        is_setting = bool(words) and (is_dumped or is_setup) and not words_of(words) & TELLING
        if is_setting or words in self._copies:  # in its line the same number stands under the same words
            return None
        if words:
            name, kind = snake(words), kind_of(words)
            if kind == "none":
                return None
            role, direction = ROLES[kind], direction_of(split_identifier(words))
        elif found is None:
            return None
        else:
            name = found.name if label is None else f"{found.name}_{label}"
            kind = kind_of(found.name)
            role = ROLES.get(kind, found.role) if found.role == "quality" else found.role
            direction = found.direction
        path: tuple[Place, ...] = ()
        if label is None:  # the way alone tells apart what one statement reports of several data
            ways = self._places.setdefault(source.site, {})
            if len(ways) < MOST_PATHS:
                ways[source.path] = None
            path = source.path if source.path in ways else next(iter(ways))
        sink = found.sink if found else "named"
        same = next((one for one in self.added if _is_same(one.metric, source, path, label, words, sink)), None)
        if same is not None:
            return same.name
        metric = _metric(
            name, found.expression if found else words, self._place(source.site), sink, (role, direction),
            "reported in the runs", site=source.site, path=path, label=label, words=words,
        )  # fmt: skip
        return self._append(metric, name)

    def _tag(self, label: str | None, site: int | None, found: Metric | None) -> str:
        """The words of a value that no line shows: its tag or key; empty where the run gave none."""
        if label is None:
            return found.words if found is not None else ""
        if label.isdigit():
            return ""
        if found is not None and JOINT not in label:
            entry = self._entry(site)
            if entry and entry.label is not None and not words_of(label) & MEASURES:  # the value of a variable
                return f"{label} {found.words or found.name}"
            if found.words:
                return f"{found.words}/{label}"
        return label

    def _entry(self, site: int | None) -> Site | None:
        return None if site is None else next(entry for entry in self.manifest.sites if entry.id == site)

    def _place(self, site: int | None) -> Place | None:
        entry = self._entry(site)
        return None if entry is None else entry.place

    def _of_site(self, site: int | None) -> Metric | None:
        """What the analysis found at a site; None where that is no measurement."""
        metrics = (*self.manifest.metrics, *self.manifest.unreached)
        return None if site is None else next((metric for metric in metrics if metric.site == site), None)

    def _append(self, metric: Metric, name: str, unit: str = "") -> str:
        name = free_name(name, {metric.name for metric in self.metrics})
        number = 1 + max((one.metric.id for one in self.metrics), default=-1)
        metric = replace(metric, id=number, name=name)
        aggregate = "last"
        if metric.over:  # each value is of another model: the last is no score of the whole
            aggregate = f"{MEAN_LAST}{self.n_trainings}" if self.n_trainings else "mean"
        self.added.append(SelectedMetric(name, metric, metric.role, metric.direction, aggregate, unit))
        return name


def _metric(
    name: str,
    expression: str,
    place: Place | None,
    sink: str,
    traits: tuple[Role, Direction | None],
    evidence: str,
    *,
    site: int | None = None,
    **more: Any,
) -> Metric:
    """A metric that has no number yet; only what is a result has a direction."""
    (role, direction), (file, line) = traits, (place.file, place.line) if place else ("", 0)
    return Metric(
        -1, name, expression, file, line, sink, role, direction if role != "other" else None, (evidence,), site, **more
    )


def _words(stream: Stream) -> frozenset[str]:
    return frozenset(name_words(shortest_name(stream)))


def _is_same(
    metric: Metric, source: ValueSource, path: tuple[Place, ...], label: str | None, words: str, sink: str
) -> bool:
    """Whether a source reports what another one has: the same place does, or a tracker under the same tag."""
    is_same_tag = sink in TRACKERS and (metric.sink, metric.words) == (sink, words) and bool(words)
    return (metric.path, metric.label) == (path, label) and (metric.site == source.site or is_same_tag)


def _is_of(metric: Metric, source: ValueSource) -> bool:
    if source.site is None:
        return metric.site is None and (metric.expression if metric.label is None else metric.label) == source.name
    return metric.site == source.site


def _ends_with(path: tuple[Place, ...], end: tuple[Place, ...]) -> bool:
    return path[len(path) - len(end) :] == end


def _is_kept(stream: Stream) -> bool:
    """Whether a series has words; cells, counters and sizes have none of their own."""
    return stream.caption.form in ("value", "spread") and _kind(stream) != "none"


def _is_setting(stream: Stream) -> bool:
    return _kind(stream) == "setting"


def _is_dumped(stream: Stream) -> bool:
    """Whether it is a number of a line that tells of something else: an integer, an attribute of an object."""
    return stream.is_whole or stream.caption.is_attribute


def _kind(stream: Stream) -> Kind:
    is_of_object = stream.caption.is_attribute and not words_of(stream.caption.own) & MEASURES
    if is_of_object or stream.caption.suffix == COUNT:
        return "setting"
    return kind_of(_own_text(stream), stream.caption.unit, is_whole=stream.is_whole)


def _own_text(stream: Stream) -> str:
    caption = stream.caption
    return " ".join(filter(None, (caption.own, caption.row, caption.column, stream.restates)))


def _with_means(streams: Sequence[Stream]) -> Iterable[Stream]:
    """The series, with the one that each restates.

    A single number whose words say no measure restates the earlier series of which it is the mean, best or last value;
    one without words, only its mean.
    """
    earlier: list[Stream] = []
    for one in streams:
        stream = one
        words = words_of(stream.caption.own)
        says = words & MEASURES - EXTREMES
        if len(stream.values) == 1 and not says and words & (WHOLES | EXTREMES | DATA_WORDS):
            restated = next((one for one in reversed(earlier) if _restates(stream.values[0], one)), None)
            if restated is not None:
                stream = replace(stream, restates=shortest_name(restated))
        elif len(stream.values) == 1 and not stream.caption.has_words:
            restated = next((one for one in reversed(earlier) if _is_near(stream.values[0], _mean(one))), None)
            if restated is not None:
                caption = replace(stream.caption, form="value")
                stream = replace(stream, caption=caption, restates=f"mean_{shortest_name(restated)}")
        elif len(stream.values) > 1 and _is_kept(stream):
            earlier.append(stream)
        yield stream


def _restates(value: float, stream: Stream) -> bool:
    values = stream.values
    return any(_is_near(value, one) for one in (_mean(stream), max(values), min(values), values[-1]))


def _mean(stream: Stream) -> float:
    return sum(stream.values) / len(stream.values)


def _is_near(value: float, other: float) -> bool:
    return abs(value - other) <= NEAR * max(1.0, abs(other))
