"""Examples of an evaluation: rows in order of arrival, names of sets, and keys that identify examples."""

from __future__ import annotations

from ..annotations import Array

KEY_WIDTH = 8
"""Bytes of the hash by which an example is known."""
FIT = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.+")
"""What the name of a set, which becomes a part of a file's, may consist of."""


class Part:
    """Rows of one array of a set, in order of arrival."""

    __slots__ = ("chunks", "kind", "rows", "shape")

    def __init__(self, kind: str, shape: tuple[int, ...]) -> None:
        self.kind = kind
        self.shape = shape
        self.rows = 0
        self.chunks: list[bytes] = []

    def whole(self) -> Array:
        return self.kind, (self.rows, *self.shape), b"".join(self.chunks)


class Set:
    """One set of examples in one evaluation.

    Attributes:
        parts: arrays with a row per example: `outputs`; where they are known `truth`, the true labels, and `keys`, a
            hash of each example's input; and what else the script logs under a name of its own.
        step: of the main loop, -1 outside of it.
        why_not: what keeps it from being of use, in words; empty where nothing does.
    """

    def __init__(self, name: str, step: int, framework: str) -> None:
        self.name = name
        self.step = step
        self.framework = framework
        self.parts: dict[str, Part] = {}
        self.is_written = False
        self.why_not = ""

    def add(self, arrays: dict[str, Array]) -> int:
        """Add a batch of rows; returns its size in bytes. Arrays that do not fit those before invalidate the set."""
        size = 0
        for name, (kind, shape, buffer) in arrays.items():
            part = self.parts.get(name)
            if part is None:
                part = self.parts[name] = Part(kind, tuple(shape[1:]))
            if (part.kind, part.shape) != (kind, tuple(shape[1:])):
                self.why_not = "%s change their shape or type from batch to batch" % name
                return size
            chunk = bytes(buffer)
            part.rows += shape[0]
            part.chunks.append(chunk)
            size += len(chunk)
        return size

    def size(self) -> int:
        """Size in bytes."""
        return sum(len(chunk) for part in self.parts.values() for chunk in part.chunks)

    def arrays(self) -> list[tuple[str, Array]]:
        """Arrays with a row for every example; incomplete arrays are left out."""
        rows = max((part.rows for part in self.parts.values()), default=0)
        return [(name, part.whole()) for name, part in self.parts.items() if part.rows == rows]


def example_keys(batch: Array) -> Array:
    """A hash of each row of an array, which identifies examples in any order; shape (rows,), uint64."""
    from hashlib import blake2b  # loads OpenSSL, and most runs capture nothing

    from .hashing import flat, pieces

    kind, shape, buffer = batch
    view = flat(buffer)
    rows = shape[0]
    width = len(view) // rows if rows else 0
    head = ("%s\x1f%s" % (kind, ",".join(map(str, shape[1:])))).encode()[:64]
    keys = []
    for start in range(0, width * rows, width) if width else [0] * rows:
        digest = blake2b(digest_size=KEY_WIDTH, key=head)
        for first, last in pieces(width):
            digest.update(view[start + first : start + last])
        keys.append(digest.digest())
    return "uint64", (rows,), b"".join(keys)


def fit_name(name: str) -> str:
    """The name of a set in a form that fits file names."""
    return "".join(sign if sign in FIT else "_" for sign in name).strip("_.") or "test"
