"""Listings of folders: `os.listdir` and `os.scandir`, which `glob`, `os.walk` and `pathlib` call too.

They are recorded for the project's line even where a library lists on its behalf. For the cure `listing=sorted`, both
give names in sorted order.

Source: CPython 3.8 to 3.14. `os.walk` and `glob` look both functions up in `os` at each call. So does `pathlib` since
3.11; before, a class of it keeps them, as a class of `glob` does in 3.13. The import system calls `posix`.
"""

from __future__ import annotations

import os
import re
from operator import attrgetter
from sys import _getframe
from types import FrameType
from zlib import crc32

from ...adapter_context import AdapterContext
from ...annotations import Any, Sequence
from ...stand_ins import stand_in
from .callers import Callers

MODULES = ("os", "pathlib", "glob")
FUNCTIONS = ("listdir", "scandir")
MOST_SHOWN = 4
"""Names in the text of a listing."""
STAMP = re.compile(r"\d{6}|\d\d([-_.:]\d\d){2}|(?=[a-f]*\d)[0-9a-f]{8}|tmp[a-z0-9_]{8}")
"""Parts of names that are a time or random …"""
TEMPORARY = re.compile(r"[a-z0-9_]{8}(\.[\w.-]+)?$")
"""End of the names that `tempfile` gives, which count only in the folder of temporary files of the run."""
MOST_LOOKED_UP = 1000
"""… and how many of them in a listing are checked for whether they are of this run."""


def install(module: Any, context: AdapterContext) -> None:
    if module.__name__ == "os":
        listings = context.part(Listings)
        stand_in(module, "listdir", listings.listdir(module.listdir))
        stand_in(module, "scandir", listings.scandir(module.scandir))
    else:
        _replace_attributes(module)


def _replace_attributes(module: Any) -> None:
    """Replace the functions where classes of a module keep them, which was imported before they were patched."""
    for owner in [value for value in vars(module).values() if isinstance(value, type)]:
        for name in FUNCTIONS:
            kept, current = vars(owner).get(name), getattr(os, name)
            if isinstance(kept, staticmethod) and kept.__func__ is current.__wrapped__:
                setattr(owner, name, staticmethod(current))
            elif kept is current.__wrapped__:
                setattr(owner, name, current)


class Listings:
    """Patches the functions, and records what they list."""

    def __init__(self, context: AdapterContext) -> None:
        self.inputs = context.inputs
        self.recorder = context.recorder
        self.is_sorted = context.controls.get("listing") == "sorted"
        self.callers = context.part(Callers)

    def listdir(self, original: Any) -> Any:
        def listdir(*args: Any, **kwargs: Any) -> Any:
            names = original(*args, **kwargs)
            if self.is_sorted:
                names.sort()
            if self.inputs.is_active:
                with self.recorder.guarded("os.listdir"):
                    listing = self.begin("os.listdir", _getframe(1), args, kwargs)
                    if listing is not None:
                        for name in names:
                            listing.add(name)
                        listing.end()
            return names

        return listdir

    def scandir(self, original: Any) -> Any:
        def scandir(*args: Any, **kwargs: Any) -> Any:
            entries = original(*args, **kwargs)
            listing = None
            if self.inputs.is_active:
                with self.recorder.guarded("os.scandir"):
                    listing = self.begin("os.scandir", _getframe(1), args, kwargs)
            if listing is None and not self.is_sorted:
                return entries
            return Entries(entries, listing, is_sorted=self.is_sorted)

        return scandir

    def begin(self, call: str, frame: FrameType, args: Sequence[Any], kwargs: dict[str, Any]) -> Listing | None:
        """A listing that is to be recorded; None if no line of the project leads to it, or if it is of a library."""
        place = -1 if _removes(frame) else self.callers.place(frame)
        if place < 0:
            return None
        path = args[0] if args else kwargs.get("path")
        path = os.curdir if path is None else path
        if isinstance(path, int):
            return Listing(self, "%s(%d)" % (call, path), place)
        text = self.callers.path(path)
        if text is None:
            return None
        return Listing(self, "%s(%r)" % (call, text), place, os.path.abspath(os.fsdecode(path)))

    def is_stamped(self, folder: str, name: str) -> bool:
        """Whether a name with a time or a random part is of this run: it is another one in each run."""
        path = os.path.join(folder, name)
        if self.callers.is_temporary(path):
            return True
        try:
            return os.lstat(path).st_mtime >= self.callers.began
        except OSError:  # it was removed in the meantime
            return False


def _removes(frame: FrameType) -> bool:
    """Whether the names are those of files that are removed, in any order: temporary folders end so."""
    return frame.f_globals.get("__name__") == "shutil" and "rmtree" in frame.f_code.co_name


class Listing:
    """Names of a folder in the order in which the program receives them; recorded when it has them all.

    Of names with a time or a random part that this run has given, only the number is compared.

    Args:
        folder: whose names they are; empty if only its number is known.
    """

    __slots__ = (
        "call",
        "checksum",
        "count",
        "first",
        "folder",
        "is_temporary",
        "listings",
        "n_looked_up",
        "n_stamped",
        "place",
    )

    def __init__(self, listings: Listings, call: str, place: int, folder: str = "") -> None:
        self.listings = listings
        self.call = call
        self.place = place
        self.folder = folder
        self.is_temporary = bool(folder) and listings.callers.is_temporary(os.path.join(folder, ""))
        self.checksum = self.count = self.n_stamped = self.n_looked_up = 0
        self.first: list[str] = []

    def add(self, name: str | bytes) -> None:
        text = os.fsdecode(name)
        self.count += 1
        if self.count <= MOST_SHOWN:
            self.first.append(text)
        is_random = STAMP.search(text) or (self.is_temporary and TEMPORARY.search(text))
        if self.folder and self.n_looked_up < MOST_LOOKED_UP and is_random:
            self.n_looked_up += 1
            if self.listings.is_stamped(self.folder, text):
                self.n_stamped += 1
                return
        self.checksum = crc32(text.encode("utf-8", "surrogateescape") + b"\0", self.checksum)

    def end(self) -> None:
        dots = ", ..." if self.count > MOST_SHOWN else ""
        names = "1 name" if self.count == 1 else "%d names" % self.count
        shown = "%s: %s%s" % (names, ", ".join(self.first), dots) if self.count else "empty"
        value = b"%d %d %d" % (self.count, self.n_stamped, self.checksum)
        self.listings.inputs.record("listing", self.call, value, self.place, shown)


class Entries:
    """The iterator that `os.scandir` returns, with records of the names that it gave."""

    __slots__ = ("_entries", "_iterator", "_listing")

    def __init__(self, entries: Any, listing: Listing | None, *, is_sorted: bool) -> None:
        self._entries = entries
        self._listing = listing
        self._iterator = iter(sorted(entries, key=attrgetter("name"))) if is_sorted else entries

    def __iter__(self) -> Entries:
        return self

    def __next__(self) -> Any:
        try:
            entry = next(self._iterator)
        except StopIteration:
            self._end()
            raise
        if self._listing is not None:
            self._listing.add(entry.name)
        return entry

    def __enter__(self) -> Entries:  # noqa: PYI034  (Python 3.8 knows no Self)
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        self._entries.close()
        self._iterator = self._entries
        self._end()

    def __del__(self) -> None:
        try:
            self._end()
        except Exception:  # the interpreter may be shutting down
            pass

    def __reduce__(self) -> str:
        raise TypeError("cannot pickle %r object" % type(self).__name__)

    def __repr__(self) -> str:
        return repr(self._entries)

    def _end(self) -> None:
        listing, self._listing = self._listing, None
        if listing is not None:
            with listing.listings.recorder.guarded("os.scandir"):
                listing.end()


Entries.__name__ = Entries.__qualname__ = "ScandirIterator"
Entries.__module__ = "posix"
