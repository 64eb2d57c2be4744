"""Names of series, made of the words that the run wrote; the same words at different places get different names."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from deviate.model.analysis import Place
from deviate.model.texts import numbered
from deviate.series.caption import Caption
from deviate.series.words import COUNTED, DATA_WORDS, MEASURES, WHOLES, data_of, kind_of, name_words, words_of

Phase = Literal["before", "along", "after"]
"""Before the main loop, in it, after it."""
PHASE_WORDS = {"before": "before_training", "after": "after_training"}
LONGEST_NAME = 60
EXTREMES = frozenset({"max", "min", "best", "worst", "final", "last", "median"})
MOST_WORDS = 8
NUMBER_OF_SITE = re.compile(r"^\d+(?: |$)")
"""Start of a place: it says nothing to a reader."""


@dataclass(frozen=True, slots=True)
class StreamKey:
    """What makes numbers one series: their words, and where these do not tell, the place and the phase.

    Attributes:
        place: of the statement and of the way to it; empty where one place reports these words, or several take turns.
        phase: empty where the words are reported in one phase.
    """

    words: tuple[str, ...]
    place: str = ""
    phase: Phase | Literal[""] = ""


@dataclass(slots=True)
class Stream:
    """One series of the run that the names are made of.

    Attributes:
        values: in order of time.
        phase: of the first of them. place: of the statement that reports it; None where no tap did.
        is_whole: whether all are written without decimals. is_share: whether a value is a share of what is written as a
            percentage.
        order: log, line and number where it was first reported.
        restates: name of the series that it is the mean, best or last of, where its own words say no measure.
    """

    key: StreamKey
    caption: Caption
    values: list[float] = field(default_factory=list)
    phase: Phase = "along"
    place: Place | None = None
    is_whole: bool = True
    is_share: bool = False
    order: tuple[int, int, int] = (0, 0, 0)
    restates: str = ""


Keys = frozenset[tuple[str, ...]]
"""Words of series, as `Caption.key` has them."""


@dataclass(frozen=True, slots=True)
class LoggedOutput:
    """What the logs of one attempt say of its values.

    Attributes:
        captions: name of an event file to the caption of each of its values that a log shows, by its ordinal.
        streams: the series that have words, in the order in which they were first reported.
        unrecorded: steps and values of series that no tap recorded, at the precision of the log; the step is None where
            a number stands outside of the main loop.
        divided: words that several places report at once, so that the place tells them apart.
        phased: words that are reported in several phases.
        has_main: whether the main loop ran.
        dumped: sites that report so many keys that they are data, and names that are reported in such a way.
        named: names under which frameworks and trackers reported values, each with its last value.
    """

    captions: Mapping[str, Mapping[int, Caption]]
    streams: tuple[Stream, ...] = ()
    unrecorded: Mapping[StreamKey, tuple[Sequence[int | None], Sequence[float]]] = field(default_factory=dict)
    divided: Keys = frozenset()
    phased: Keys = frozenset()
    has_main: bool = False
    named: Mapping[str, float] = field(default_factory=dict)
    dumped: frozenset[int | str] = frozenset()


def key_of(caption: Caption, place: str, phase: Phase, divided: Keys, phased: Keys) -> StreamKey:
    """What series a value with a caption belongs to."""
    words = caption.key
    return StreamKey(words, place if words in divided else "", phase if words in phased else "")


def names_of(streams: Sequence[Stream], taken: Iterable[str] = ()) -> dict[StreamKey, str]:
    """A name for each series; those that share their shortest name get the words that tell them apart.

    Args:
        taken: names that are given to something else.
    """
    names: dict[StreamKey, str] = {}
    groups: dict[str, list[Stream]] = defaultdict(list)
    for stream in streams:
        groups[shortest_name(stream)].append(stream)
    given = set(taken)
    for members in groups.values():
        for stream, name in zip(members, _told_apart(members), strict=True):
            names[stream.key] = free_name(name, given)
            given.add(names[stream.key])
    return names


def shortest_name(stream: Stream) -> str:
    """The name that a series has where no other one shares it."""
    return next(_candidates(stream))


def free_name(name: str, given: Iterable[str]) -> str:
    """The name, numbered where it is given already."""
    used = set(given)
    return next(one for one in numbered(name, " #") if one not in used)


def _told_apart(members: Sequence[Stream]) -> list[str]:
    """Names for series with the same shortest name: the first kind of further words by which all differ."""
    choices = [list(_candidates(stream)) for stream in members]
    for level in range(max(map(len, choices))):
        names = [one[min(level, len(one) - 1)] for one in choices]
        if len(set(names)) == len(names):
            return _without_common(names, [one[0] for one in choices])
    names = [one[-1] for one in choices]
    for kind in ("phase", "place") if len({stream.phase for stream in members}) > 1 else ("place",):
        names = [
            f"{name}_{word}" if names.count(name) > 1 and (word := _word(stream, kind)) else name
            for name, stream in zip(names, members, strict=True)
        ]
        if len(set(names)) == len(names):
            break
    return names


def _word(stream: Stream, kind: str) -> str:
    if kind == "phase":
        return PHASE_WORDS.get(stream.phase, "")
    way = NUMBER_OF_SITE.sub("", stream.key.place) or stream.place
    return f"({way})" if way else ""


def _without_common(names: Sequence[str], shortest: Sequence[str]) -> list[str]:
    """Names without the further words that all of them have."""
    if len(names) < 2:
        return list(names)
    further = [name.removesuffix(short).split("_") for name, short in zip(names, shortest, strict=True)]
    common = set.intersection(*(set(words) for words in further))
    kept = [[word for word in words if word and word not in common] for words in further]
    if not all(kept):
        return list(names)
    return ["_".join([*words, short]) for words, short in zip(kept, shortest, strict=True)]


def _candidates(stream: Stream) -> Iterator[str]:
    """Names of a series, from the shortest that says what is measured to the one with all words around."""
    caption = stream.caption
    own = _own_words(stream)
    around = [caption.section, caption.prefix, caption.heading]
    is_of_data = kind_of(" ".join(own), caption.unit) in ("result", "loss") and not data_of(" ".join(own))
    telling = [text for text in around if data_of(text)] if is_of_data else []
    data = [word for text in telling for word in name_words(text) if word in DATA_WORDS][:1]  # as it is written
    column = [] if set(name_words(caption.column)) <= set(own) else name_words(caption.column)
    yield _joined([*data, *own])
    if column:
        yield _joined([*column, *data, *own])
    yield _joined([*name_words(caption.section), *own])
    yield _joined([*name_words(caption.prefix), *data, *own])
    yield _joined([*name_words(caption.heading), *own])
    every = (caption.heading, caption.prefix, caption.section)
    yield _joined([*(word for text in every for word in name_words(text)), *own])


def _own_words(stream: Stream) -> list[str]:
    caption = stream.caption
    row, column = name_words(caption.row), name_words(caption.column)
    words = column or row or name_words(caption.own)
    if row and column:
        is_measure = words_of(caption.row) & MEASURES and not words_of(caption.row) & WHOLES
        if is_measure and data_of(caption.column):
            words = [*column, *row]
        elif is_measure and not words_of(caption.column) & COUNTED:
            words = row
        else:
            words = [*row, *column]
    if stream.restates:
        words = [*[word for word in words if word in WHOLES | EXTREMES][:1], *stream.restates.split("_")]
    return [*words, *([caption.suffix] if caption.suffix else [])]


def _joined(words: Sequence[str]) -> str:
    kept = list(dict.fromkeys(words))[:MOST_WORDS]
    return "_".join(kept)[:LONGEST_NAME].strip("_") or "value"
