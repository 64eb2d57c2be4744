"""Cache of parsed files by content: a file unchanged since an earlier analysis is not parsed again.

They lie under `.deviate/cache/parsed/`, in projects that have a `.deviate/` folder; nothing is written into others.
Trees are stored without layout (spaces, comments, commas), which is most of their size, but with the positions of their
nodes. The cache can be deleted at any time: missing, damaged and outdated entries are parsed again.

A project from an untrusted source may contain a `.deviate/` folder with a tree of another text. So each entry is signed
with a key of this user, which no project knows; other entries are ignored.
"""

import contextlib
import copyreg
import hashlib
import hmac
import io
import os
import pickle
import sys
import zlib
from array import array
from collections.abc import Iterator
from dataclasses import fields
from functools import cache
from pathlib import Path
from typing import Any

import libcst as cst

from deviate.analysis.resolve.positions import KeptRanges, PrintedRanges
from deviate.analysis.resolve.tree import LAYOUT

FORMAT = 3
KEY_BYTES = SIGNATURE = 32
NEEDED = ("lpar", "rpar")
"""Layout that is stored: the parentheses of a tuple belong to its span."""

MOST_KEPT = 1000
"""Maximum number of entries; beyond it, the older half is deleted."""


class ParsedFiles:
    """The trees of a project's files, on disk.

    Args:
        root: the project folder.
    """

    def __init__(self, root: Path) -> None:
        deviate = root / ".deviate"
        self.folder = deviate / "cache" / "parsed" if deviate.is_dir() else None
        self._known_key: bytes | None = None

    def load(self, text: str) -> tuple[cst.Module, KeptRanges] | None:
        """The tree of a text, without its layout, and the positions of its nodes; None if not cached."""
        if self.folder is None:
            return None
        try:
            name, key = _name(text), self._key(makes=False)
            data = (self.folder / name).read_bytes()
            if key is None or not hmac.compare_digest(data[:SIGNATURE], _signature(key, name, data[SIGNATURE:])):
                return None
            content = zlib.decompress(data[SIGNATURE:])
            tree, nodes, *offsets = _TreeReader(io.BytesIO(content)).load()
            starts, ends, lines = (array("I", numbers) for numbers in offsets)
        except Exception:  # noqa: BLE001 - a damaged pickle can raise anything
            return None
        return (tree, KeptRanges(nodes, starts, ends, lines)) if isinstance(tree, cst.Module) else None

    def keep(self, text: str, tree: cst.Module) -> PrintedRanges | None:
        """Write a tree atomically, if possible, also with concurrent writers.

        Returns:
            The positions of its nodes; None when it was not written.
        """
        if self.folder is None:
            return None
        place = self.folder / _name(text)
        unfinished = place.with_name(f"{place.name}.{os.getpid()}")
        try:
            key = self._key(makes=True)
            if key is None:
                return None
            ranges = PrintedRanges(tree, text)
            self.folder.mkdir(parents=True, exist_ok=True)
            data = zlib.compress(_content(tree, ranges), 1)
            unfinished.write_bytes(_signature(key, place.name, data) + data)
            unfinished.replace(place)
            self._forget_old(self.folder)
        except (OSError, RecursionError):
            with contextlib.suppress(OSError):
                unfinished.unlink()
            return None
        return ranges

    def _key(self, *, makes: bool) -> bytes | None:
        """The user's key, read once; None if there is none and it cannot be created."""
        if self._known_key is None:
            self._known_key = user_key(makes=makes)
        return self._known_key

    def _forget_old(self, folder: Path) -> None:
        names = os.listdir(folder)  # noqa: PTH208 - names are enough, which are asked for often
        if len(names) > MOST_KEPT:
            by_age = sorted((folder / name for name in names), key=lambda path: path.stat().st_mtime)
            for path in by_age[: len(by_age) // 2]:
                path.unlink(missing_ok=True)


def user_key(*, makes: bool) -> bytes | None:
    """The user's key, stored outside of all projects; None if there is none, or it cannot be trusted.

    Source: the XDG Base Directory Specification, XDG_STATE_HOME.

    Args:
        makes: create the key if there is none.
    """
    try:
        state = Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state")
        path = state / "deviate" / "key"
        if makes and not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            unfinished = path.with_name(f".key.{os.getpid()}")
            unfinished.touch(mode=0o600)
            unfinished.write_bytes(os.urandom(KEY_BYTES))
            with contextlib.suppress(FileExistsError):  # another process was faster: its key is used
                os.link(unfinished, path)
            unfinished.unlink()
        facts = path.stat()
        if facts.st_uid != os.geteuid() or facts.st_mode & 0o077:
            return None
        key = path.read_bytes()
    except (OSError, RuntimeError):
        return None
    return key if len(key) == KEY_BYTES else None


def _signature(key: bytes, name: str, data: bytes) -> bytes:
    return hashlib.blake2b(name.encode() + data, key=key, digest_size=SIGNATURE).digest()


def _content(tree: cst.Module, ranges: PrintedRanges) -> bytes:
    """A tree and the offsets of its nodes, as bytes."""
    nodes = [node for node in _nodes(tree) if node in ranges]
    starts = array("I", map(ranges.start_offset, nodes))
    ends = array("I", map(ranges.end_offset, nodes))
    offsets = (numbers.tobytes() for numbers in (starts, ends, array("I", ranges.lines)))
    buffer = io.BytesIO()
    _TreeWriter(buffer, pickle.HIGHEST_PROTOCOL).dump((tree, nodes, *offsets))
    return buffer.getvalue()


def _nodes(tree: cst.Module) -> Iterator[cst.CSTNode]:
    """All nodes that are stored."""
    waiting: list[object] = [tree]
    while waiting:
        part = waiting.pop()
        if isinstance(part, cst.CSTNode):
            yield part
            waiting += (getattr(part, name) for name in _kept_fields(type(part)))
        elif isinstance(part, list | tuple):
            waiting += part


@cache
def _kept_fields(kind: type[cst.CSTNode]) -> tuple[str, ...]:
    names = (field.name for field in fields(kind))
    return tuple(name for name in names if name in NEEDED or not name.startswith(LAYOUT))


class _TreeWriter(pickle.Pickler):
    """Writes nodes without their layout."""

    def reducer_override(self, value: object) -> Any:
        if not isinstance(value, cst.CSTNode):
            return NotImplemented
        kind = type(value)
        return copyreg.__newobj__, (kind,), {name: getattr(value, name) for name in _kept_fields(kind)}  # type: ignore[attr-defined]


class _TreeReader(pickle.Unpickler):
    """Unpickles nodes of trees and nothing else: the folder may come from an untrusted source."""

    def find_class(self, module: str, name: str) -> type:
        kind: object = getattr(cst, name, None)
        if isinstance(kind, type) and issubclass(kind, cst.CSTNode | cst.MaybeSentinel) and kind.__module__ == module:
            return kind
        raise pickle.UnpicklingError(f"{module}.{name} is no node of a tree")


def _name(text: str) -> str:
    versions = f"{FORMAT} {cst.LIBCST_VERSION} {sys.version_info[:2]}\n"
    return hashlib.blake2b((versions + text).encode("utf-8", "surrogatepass"), digest_size=20).hexdigest()
