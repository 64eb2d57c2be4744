"""Series of short outputs, as a log has them."""

from deviate.series.caption import Caption
from deviate.series.captions import captions_of
from deviate.series.lines import read_lines
from deviate.series.naming import Stream, StreamKey, names_of


def streams_of(log: str) -> list[Stream]:
    """The series of a log that have words, in the order in which they come."""
    streams: dict[StreamKey, Stream] = {}
    for number, caption in captioned(log):
        if caption.form in ("value", "spread"):
            key = StreamKey(caption.key)
            stream = streams.setdefault(key, Stream(key, caption))
            stream.values.append(number)
    return list(streams.values())


def captioned(log: str) -> list[tuple[float, Caption]]:
    """Every number of a log with what the log says of it."""
    lines = list(read_lines(log))
    return [
        (number.value, caption)
        for line, captions in zip(lines, captions_of(lines), strict=True)
        for number, caption in zip(line.numbers, captions, strict=True)
    ]


def named(log: str) -> dict[str, list[float]]:
    """Name to values of each series of a log."""
    streams = streams_of(log)
    names = names_of(streams)
    return {names[stream.key]: stream.values for stream in streams}
