"""The words of a run: which values its output shows, under which words, and the numbers that nothing recorded."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from deviate.eventlog import number
from deviate.model.analysis import TEXT_SINKS, Place, Site
from deviate.records.events import UNKNOWN_MAIN
from deviate.records.files import BAD, json_lines
from deviate.records.layout import event_files, log_files
from deviate.series.alignment import Recorded, align
from deviate.series.caption import SILENT, Caption
from deviate.series.captions import captions_of
from deviate.series.lines import Line, read_lines
from deviate.series.naming import Keys, LoggedOutput, Phase, Stream, StreamKey, key_of
from deviate.series.words import LOSSES, MERITS, words_of

LARGEST_LOG = 256 << 20
"""Bytes of a log beyond which only its first part is read for words."""
MOST_KEYS = 24
"""Keys under which a statement reports values that are results; more are data, as of a model that is written whole."""
PROGRESS = ("%|", "it/s", "s/it", "ETA")
"""What stands in a line that is drawn over: its numbers are reported by what draws it."""


@dataclass(slots=True)
class _Value:
    """One value of an event file, with what it was reported in."""

    recorded: Recorded
    place: str
    phase: Phase
    step: int | None


@dataclass(slots=True)
class _Process:
    """The values of one process that a log may show.

    Attributes:
        keys: of each site. outside: names that were reported outside of all loops, by the way to there.
    """

    values: list[_Value] = field(default_factory=list)
    named: dict[str, float] = field(default_factory=dict)
    keys: dict[int, set[str]] = field(default_factory=lambda: defaultdict(set))
    outside: dict[int, set[str]] = field(default_factory=lambda: defaultdict(set))
    n_steps: int = 0

    @property
    def dumped(self) -> set[int | str]:
        """Sites and names of what is written whole, with more keys than results have."""
        sites = {site for site, keys in self.keys.items() if len(keys) > MOST_KEYS}
        return sites.union(*(names for names in self.outside.values() if len(names) > MOST_KEYS))


@dataclass(slots=True)
class _Log:
    """One stream of one attempt: its lines, their captions, and which values they show."""

    lines: Sequence[Line]
    captions: Sequence[tuple[Caption, ...]]
    shown: dict[tuple[int, int], _Value] = field(default_factory=dict)
    is_output: bool = True

    def is_share(self, line: int, place: int) -> bool:
        """Whether the value is a share of what is written as a percentage."""
        number = self.lines[line].numbers[place]
        return number.unit == "%" and abs(number.value - self.shown[line, place].recorded.value) > abs(number.value) / 2


def read_output(attempts: Sequence[Path], sites: Sequence[Site], main_loop: int | None) -> LoggedOutput:
    """Find the words of all values of a run.

    Args:
        attempts: the folders that make up the run, in order of time.
        sites: those of the snapshot.
        main_loop: id of the main loop.
    """
    printed = {site.id: site.place for site in sites if site.sink in TEXT_SINKS}
    details, logged = ({site.id for site in sites if site.sink == sink} for sink in ("logging.debug", "logging"))
    captions: dict[str, dict[int, Caption]] = {}
    interned: dict[Caption, Caption] = {}
    named: dict[str, float] = {}
    dumped: set[int | str] = set()
    n_steps = 0
    logs: list[_Log] = []
    for attempt in attempts:
        processes = {path.name: _read(path, printed, main_loop) for path in event_files(attempt)}
        for path, is_output in zip(log_files(attempt), (True, False), strict=True):
            lines = list(read_lines(_text(path)))
            if any(line.numbers for line in lines):
                logs.append(_Log(lines, captions_of(lines), is_output=is_output))
                for name, process in processes.items():
                    _show(logs[-1], process, captions.setdefault(name, {}), interned)
        for name, process in processes.items():
            n_steps = max(n_steps, process.n_steps)
            named.update(process.named)
            dumped |= process.dumped
            shown = captions.setdefault(name, {})
            _complete(process.values, shown)
            if any(value.recorded.ordinal in shown for value in process.values if value.recorded.site in logged):
                details_of = (value.recorded for value in process.values if value.recorded.site in details)
                shown |= {one.ordinal: SILENT for one in details_of if one.ordinal not in shown}
    found = [
        (value, interned[log.captions[line][place]], log.is_share(line, place), (number, line, place))
        for number, log in enumerate(logs)
        for (line, place), value in sorted(log.shown.items(), key=lambda one: one[0])
    ]
    divided, phased = _divided(found), _phased(found, has_main=n_steps > 0)
    streams: dict[StreamKey, Stream] = {}
    for value, caption, is_share, order in found:
        key = key_of(caption, value.place, value.phase, divided, phased)
        place = Place(*value.recorded.statement)
        stream = streams.setdefault(key, Stream(key, caption, phase=value.phase, place=place, order=order))
        stream.values.append(value.recorded.value)
        stream.is_whole = stream.is_whole and caption.is_whole
        stream.is_share = stream.is_share or is_share
    unrecorded = [
        one for number, log in enumerate(logs) if log.is_output for one in _unrecorded(log, number, n_steps, streams)
    ]
    streams |= {stream.key: stream for stream, _ in unrecorded}
    return LoggedOutput(
        captions,
        tuple(sorted(streams.values(), key=lambda stream: stream.order)),
        {stream.key: (steps, stream.values) for stream, steps in unrecorded},
        divided,
        phased,
        n_steps > 0,
        named,
        frozenset(dumped),
    )


def _complete(values: Sequence[_Value], captions: dict[int, Caption]) -> None:
    """Give values whose line was not found the words of those whose line was, if these are more.

    A value in a phase in which no line was found was computed for a line that was never written; so was one of a site
    whose lines have several captions, for nothing tells which would be its own.
    """
    found: dict[tuple[int, str | None], list[_Value]] = defaultdict(list)
    missed: dict[tuple[int, str | None], list[_Value]] = defaultdict(list)
    for value in values:
        of_kind = found if value.recorded.ordinal in captions else missed
        of_kind[value.recorded.site, value.recorded.label].append(value)
    for source, those in missed.items():
        shown = found[source]
        of_all = {captions[value.recorded.ordinal] for value in shown}
        if len(of_all) > 1:
            captions.update((value.recorded.ordinal, SILENT) for value in those)
        elif len(shown) > len(those):
            (caption,) = of_all
            phases = {value.phase for value in shown}
            for value in those:
                captions[value.recorded.ordinal] = caption if value.phase in phases else SILENT


def _show(log: _Log, process: _Process, captions: dict[int, Caption], interned: dict[Caption, Caption]) -> None:
    """Find the values of a process in a log; a statement that writes to one log is not sought in another."""
    written = {value.recorded.statement for value in process.values if value.recorded.ordinal in captions}
    left = {value.recorded.ordinal: value for value in process.values if value.recorded.statement not in written}
    for ordinal, (line, place) in align([value.recorded for value in left.values()], log.lines).items():
        caption = log.captions[line][place]
        captions[ordinal] = interned.setdefault(caption, caption)  # one object for all values of a series
        log.shown[line, place] = left[ordinal]


def _text(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return file.read(LARGEST_LOG).decode("utf-8", "replace")
    except OSError:
        return ""


def _read(path: Path, printed: Mapping[int, Place], main_loop: int | None) -> _Process:
    """The values of an event file that a log may show; ordinals count all values at sites.

    Args:
        printed: the places of sites of which a line shows the value.
    """
    process = _Process()
    ways: dict[int, str] = {}
    ordinal, has_main = 0, False

    for event in json_lines(path):
        with suppress(*BAD):
            kind = event[0]
            if kind == "step":
                if event[1] in (main_loop, UNKNOWN_MAIN):
                    has_main = True
                    process.n_steps += 1
            elif kind == "path":
                ways[event[1]] = " < ".join(f"{file}:{line}" for file, line in reversed(event[2]))
            elif type(kind) is int:
                site, way, loops, _, value, *rest = event
                label = rest[0] if rest else None
                place = printed.get(site)
                if label is not None:
                    process.keys[site].add(str(label))
                if place is not None:
                    steps = dict(zip(loops[::2], loops[1::2], strict=True))
                    step = steps.get(main_loop, steps.get(UNKNOWN_MAIN))
                    has_main = has_main or step is not None
                    phase: Phase = "along" if step is not None else "after" if has_main else "before"
                    of_line = (place.file, place.line)
                    recorded = Recorded(ordinal, site, label, of_line, float(number(value)), tuple(loops))
                    process.values.append(_Value(recorded, f"{site} {ways.get(way, '')}", phase, step))
                elif label is not None:
                    process.named[str(label)] = float(number(value))
                ordinal += 1
            elif kind == "named":
                if not event[3]:
                    process.outside[event[2]].add(str(event[1]))
                process.named[str(event[1])] = float(number(event[5]))
    return process


_Found = tuple[_Value, Caption, bool, tuple[int, int, int]]


def _divided(found: Sequence[_Found]) -> Keys:
    """Words that two places report at one moment of the loops: their lines are of different data."""
    moments: dict[tuple[str, ...], dict[tuple[int, ...], set[str]]] = defaultdict(lambda: defaultdict(set))
    for value, caption, *_ in found:
        moments[caption.key][value.recorded.loops].add(value.place)
    return frozenset(
        words for words, places in moments.items() if any(len(of_moment) > 1 for of_moment in places.values())
    )


def _phased(found: Sequence[_Found], *, has_main: bool) -> Keys:
    """Words that are reported both along the way and before or after it."""
    phases: dict[tuple[str, ...], set[Phase]] = defaultdict(set)
    for value, caption, *_ in found:
        phases[caption.key].add(value.phase)
    return frozenset(words for words, those in phases.items() if has_main and len(those) > 1)


def _unrecorded(
    log: _Log, number: int, n_steps: int, known: Mapping[StreamKey, Stream]
) -> Iterator[tuple[Stream, list[int | None]]]:
    """The series of one log that no value was recorded of, with the step of each number.

    Args:
        number: of the log.
    """
    shown = log.shown
    words_known = {key.words for key in known}
    steps_of_lines = {line: value.step for (line, _), value in shown.items()}
    begun = {line for (line, _), value in shown.items() if value.phase != "before"}
    streams: dict[tuple[str, ...], tuple[Stream, list[int | None]]] = {}
    last: int | None = None
    is_begun = False
    for index, (line, captions) in enumerate(zip(log.lines, log.captions, strict=True)):
        if index in steps_of_lines:
            last = steps_of_lines[index]
            is_begun = is_begun or index in begun
        if any(mark in line.text for mark in PROGRESS):
            continue
        for place, (one, caption) in enumerate(zip(line.numbers, captions, strict=True)):
            if (index, place) in shown or caption.form not in ("value", "spread") or caption.key in words_known:
                continue
            is_result = not one.is_whole and words_of(caption.text) & (MERITS | LOSSES)
            if not is_begun and steps_of_lines and n_steps and not is_result:
                continue  # before training: what is known of the data
            stream, steps = streams.setdefault(
                caption.key, (Stream(StreamKey(caption.key), caption, order=(number, index, place)), [])
            )
            stream.values.append(one.value)
            stream.is_whole = stream.is_whole and one.is_whole
            steps.append(last)
    for stream, steps in streams.values():
        yield stream, _steps(steps, n_steps, is_last=stream.order[1] > max(steps_of_lines, default=-1))


def _steps(steps: list[int | None], n_steps: int, *, is_last: bool) -> list[int | None]:
    """The steps of numbers that nothing recorded: those of the lines around; counted where one stands for each step."""
    if n_steps > 1 and len(steps) == n_steps:
        return list(range(n_steps))
    return [None] * len(steps) if is_last else steps
