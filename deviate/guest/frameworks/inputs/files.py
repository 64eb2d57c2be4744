"""Contents of files that the program reads outside the work copy, where an earlier run may have written them.

Files in the work copy are the same in all runs, and those that this process has written are no input. A missing file is
an input too.
"""

from __future__ import annotations

import os
import stat
from threading import local
from types import FrameType
from zlib import crc32

from ...adapter_context import AdapterContext
from ...annotations import Any
from .callers import InputObserver

MODULES = ("os",)
CODE = (".py", ".pyc", ".so", ".pth")
MOST_FILES = 1000
"""Files of a process, after which nothing is looked at."""
PART = 1 << 15
"""Bytes at the beginning and at the end of a file that are compared, besides its size."""


def install(module: Any, context: AdapterContext) -> None:
    context.guard.reads = context.part(FileReads)


class FileReads(InputObserver):
    """Is told by the write guard of each file that is opened."""

    def __init__(self, context: AdapterContext) -> None:
        super().__init__(context)
        self.seen: set[str] = set()
        self.written: set[str] = set()
        self.thread = local()

    def before_writing(self, path: Any) -> None:
        """This process writes a file, so what it reads from it later is no input."""
        if self.inputs.is_active and len(self.written) < MOST_FILES:
            try:
                self.written.add(os.path.realpath(os.fsdecode(path)))
            except Exception as error:
                self.recorder.fault("writing of %r" % (path,), error)

    def before_reading(self, path: Any, frame: FrameType | None) -> None:
        """A file is about to be opened in this frame."""
        if len(self.seen) >= MOST_FILES or not self.inputs.is_active or getattr(self.thread, "is_busy", False):
            return
        if type(path) is str and path.endswith(CODE):
            return
        self.thread.is_busy = True
        try:
            name = os.path.abspath(os.fsdecode(path))
            if name not in self.seen:
                self.seen.add(name)
                self._record(name, frame)
        except Exception as error:
            self.recorder.fault("reading of %r" % (path,), error)
        finally:
            self.thread.is_busy = False

    def _record(self, name: str, frame: FrameType | None) -> None:
        place = os.path.realpath(name)
        text = self.callers.path(place)
        inside = place + os.sep
        if (
            text is None
            or inside.startswith((*self.callers.copies, *self.callers.hidden))
            or self.callers.is_temporary(inside)
            or place in self.written
        ):
            return
        line = self.callers.place(frame)
        if line < 0:
            return
        try:
            status = os.stat(place)
            if not stat.S_ISREG(status.st_mode):
                return
            checksum = _checksum(place, status.st_size)
        except OSError:
            self.inputs.record("file", "open(%r)" % text, "absent", line)
            return
        shown = "%d bytes, %08x" % (status.st_size, checksum)
        self.inputs.record("file", "open(%r)" % text, shown, line)


def _checksum(path: str, size: int) -> int:
    with open(path, "rb", buffering=0) as file:
        checksum = crc32(file.read(PART))
        if size > PART:
            file.seek(max(PART, size - PART))
            checksum = crc32(file.read(PART), checksum)
    return checksum
