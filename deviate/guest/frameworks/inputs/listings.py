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
from .callers import InputObserver

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


class Listings(InputObserver):
    """Patches the functions, and records what they list."""

    def __init__(self, context: AdapterContext) -> None:
        super().__init__(context)
        self.is_sorted = context.controls.get("listing") == "sorted"

    def listdir(self, original: Any) -> Any:
        def listdir(*args: Any, **kwargs: Any) -> Any:
            names = original(*args, **kwargs)
            if self.is_sorted:
                names.sort()
            if self.inputs.is_active:
                self.note("os.listdir", _getframe(1), names, *args, **kwargs)
            return names

        return listdir

    def scandir(self, original: Any) -> Any:
        def scandir(*args: Any, **kwargs: Any) -> Any:
            entries = original(*args, **kwargs)
            if not self.inputs.is_active and not self.is_sorted:
                return entries
            with entries:
                found = sorted(entries, key=attrgetter("name")) if self.is_sorted else list(entries)
            if self.inputs.is_active:
                self.note("os.scandir", _getframe(1), [entry.name for entry in found], *args, **kwargs)
            return ScandirIterator(found)

        return scandir

    def note(self, call: str, frame: FrameType, names: Sequence[str | bytes], path: Any = None) -> None:
        """Record the names of a folder, if a line of the project leads to the call, and it is no folder of a library.

        Of names with a time or a random part that this run has given, only the number is compared.
        """
        with self.recorder.guarded(call):
            place = -1 if _removes(frame) else self.callers.place(frame)
            path = os.curdir if path is None else path
            is_number = isinstance(path, int)
            asked = path if is_number else self.callers.path(path)
            if place < 0 or asked is None:
                return
            folder = "" if is_number else os.path.join(os.path.abspath(os.fsdecode(path)), "")
            texts = [os.fsdecode(name) for name in names]
            stamped = self._stamped(folder, texts) if folder else set()
            checksum = 0
            for text in texts:
                if text not in stamped:
                    checksum = crc32(text.encode("utf-8", "surrogateescape") + b"\0", checksum)
            dots = ", ..." if len(texts) > MOST_SHOWN else ""
            count = "1 name" if len(texts) == 1 else "%d names" % len(texts)
            shown = "%s: %s%s" % (count, ", ".join(texts[:MOST_SHOWN]), dots) if texts else "empty"
            value = b"%d %d %d" % (len(texts), len(stamped), checksum)
            self.inputs.record("listing", "%s(%r)" % (call, asked), value, place, shown)

    def _stamped(self, folder: str, names: list[str]) -> set[str]:
        """Names with a time or a random part that are of this run: they are others in each run."""
        is_temporary = self.callers.is_temporary(folder)
        random = [name for name in names if STAMP.search(name) or (is_temporary and TEMPORARY.search(name))]
        return {name for name in random[:MOST_LOOKED_UP] if is_temporary or self._is_new(folder + name)}

    def _is_new(self, path: str) -> bool:
        try:
            return os.lstat(path).st_mtime >= self.callers.began
        except OSError:  # it was removed in the meantime
            return False


def _removes(frame: FrameType) -> bool:
    """Whether the names are those of files that are removed, in any order: temporary folders end so."""
    return frame.f_globals.get("__name__") == "shutil" and "rmtree" in frame.f_code.co_name


class ScandirIterator:
    """What `os.scandir` returns, once its names are recorded, under the name that it has there."""

    def __init__(self, entries: Sequence[Any]) -> None:
        self._entries = iter(entries)

    def __iter__(self) -> ScandirIterator:
        return self

    def __next__(self) -> Any:
        return next(self._entries)

    def __enter__(self) -> ScandirIterator:  # noqa: PYI034  (Python 3.8 knows no Self)
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        self._entries = iter(())

    def __reduce__(self) -> str:
        raise TypeError("cannot pickle %r object" % type(self).__name__)


ScandirIterator.__module__ = "posix"
