"""A generator per stream behind one generator of the project."""

from __future__ import annotations

from .annotations import Any, Callable
from .streams import Streams


class StreamGenerators:
    """Generators by stream, created on first use.

    Args:
        library: under whose name the draws are told, and the seeds derived.
        key: the seed that the script gave.
        make: makes a generator of a seed.
    """

    def __init__(self, streams: Streams, library: str, key: str, make: Callable[[int], Any]) -> None:
        self.streams = streams
        self.library = library
        self.make = make
        self.begin(key)

    def begin(self, key: str) -> None:
        """Reset all generators, keyed by another seed."""
        self.key = key
        self.generators: dict[str, Any] = {}

    def now(self) -> Any:
        """The generator of the current stream."""
        return self.of(self.streams.now)

    def of(self, stream: str) -> Any:
        """The generator of a stream."""
        if stream not in self.generators:
            self.generators[stream] = self.make(self.streams.seed(self.library, self.key, stream))
            self.streams.tell_drawn(self.library, stream)
        return self.generators[stream]
