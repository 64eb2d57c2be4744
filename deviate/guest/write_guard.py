"""Protects original files: a link in the work copy is replaced by a copy before anything writes to it."""

from __future__ import annotations

import os
import stat
import sys
from threading import RLock

from .annotations import TYPE_CHECKING, Any
from .checkpoint_guard import CheckpointGuard
from .project import beyond
from .recorder import Recorder

if TYPE_CHECKING:
    from types import FrameType
    from typing import Protocol

    class FileReads(Protocol):
        """Records files that the program reads and has not written itself."""

        def before_reading(self, path: Any, frame: FrameType | None) -> None: ...

        def before_writing(self, path: Any) -> None: ...


WRITING = os.O_WRONLY | os.O_RDWR | os.O_APPEND | os.O_TRUNC | os.O_CREAT
EVENTS = frozenset(("open", "os.rename", "os.truncate", "os.chmod", "os.utime", "sqlite3.connect"))
PACKAGE = __name__.partition(".")[0]
TEMPORARY = "/tmp"  # noqa: S108  (nothing is written there by us)
MOST_REPORTED = 100


def is_path(target: Any) -> bool:
    """Whether a path is passed to a function that also accepts open files."""
    return isinstance(target, (str, bytes)) or hasattr(target, "__fspath__")


class WriteGuard:
    """Watches which files the process opens for writing.

    Args:
        work: root of the work copy.
        root: root of the original project.
        folder: the attempt folder; what is written below it, or to a temporary folder, is nobody's business.
        checkpoints: is told what is read and written too; None where nobody asks.

    Attributes:
        reads: is told what is read and written, while a trace is on.
    """

    def __init__(
        self, work: str, root: str, folder: str, recorder: Recorder, checkpoints: CheckpointGuard | None = None
    ) -> None:
        self.work = os.path.realpath(work) + os.sep
        self.root = os.path.realpath(root) + os.sep
        self.folder = os.path.realpath(folder) + os.sep
        self.harmless = tuple(
            os.path.realpath(path) + os.sep for path in (os.environ.get("TMPDIR") or TEMPORARY, "/dev", "/proc", "/sys")
        )
        self.recorder = recorder
        self.checkpoints = checkpoints
        self.reads: FileReads | None = None
        self.reported: set[str] = set()
        self._begin_anew()

    def _begin_anew(self) -> None:
        """Initialise the state; also in a forked child, where another thread may have held the lock."""
        self.lock = RLock()
        self.is_busy = False

    after_fork = _begin_anew

    def begin(self) -> None:
        """Install an audit hook, which sees every open by Python code until the process ends.

        Source: PEP 578; `open` is raised with path, mode and flags by io.open and os.open alike.
        """
        before_opening, before_renaming = self._before_opening, self._before_renaming
        before_writing = self.before_writing

        def hook(event: str, arguments: tuple[Any, ...]) -> None:
            if event not in EVENTS or isinstance(arguments[0], int):
                return
            if event == "open":
                before_opening(arguments[0], arguments[2])
            elif event == "os.rename":  # it replaces links by itself
                before_renaming(arguments[1])
            else:
                if event == "sqlite3.connect":
                    before_opening(arguments[0], 0)
                before_writing(arguments[0], is_touched=event != "os.truncate")

        # Frames raise events too, so every tap passes here; the interpreter asks each time for this attribute, and to
        # find none costs it more than the whole hook.
        hook.__cantrace__ = False  # type: ignore[attr-defined]
        sys.addaudithook(hook)

    def _before_opening(self, path: Any, flags: Any) -> None:
        flags = flags if isinstance(flags, int) else 0
        if self.reads is not None and not flags & (os.O_WRONLY | os.O_TRUNC):
            self.reads.before_reading(path, _caller_of_hook())
        if flags & WRITING:
            self.before_writing(path, is_emptied=bool(flags & os.O_TRUNC))
        elif self.checkpoints is not None:
            self.checkpoints.before_reading(path)

    def _before_renaming(self, target: Any) -> None:
        for watcher in (self.checkpoints, self.reads):
            if watcher is not None:
                watcher.before_writing(target)

    def before_reading(self, path: str | bytes | os.PathLike[Any]) -> None:
        """Called with the path of a file by adapters of readers that are written in C."""
        if self.reads is not None:
            self.reads.before_reading(path, beyond((PACKAGE,), sys._getframe(1)))
        if self.checkpoints is not None:
            self.checkpoints.before_reading(path)

    def before_writing(
        self, path: str | bytes | os.PathLike[Any], is_emptied: bool = False, is_touched: bool = False
    ) -> None:
        """Called with the path of a file that is about to be written, also by adapters of writers in C.

        Args:
            is_touched: only its mode or its times change, or it is a data base, which is read and written.
        """
        if self.reads is not None:
            self.reads.before_writing(path)
        if self.checkpoints is not None and not is_touched and not self.is_busy:
            self.checkpoints.before_writing(path)
        try:
            with self.lock:  # other threads wait, as they may write through the link that is being replaced
                if self.is_busy:  # the guest's own writes
                    return
                self.is_busy = True
                try:
                    outside = self._part(os.path.abspath(os.fsdecode(path)), is_emptied)
                finally:
                    self.is_busy = False
            # The recorder has a lock too, and may open its file while it holds it: never both from here.
            if outside is not None:
                self._report(outside)
        except Exception as error:
            self.recorder.fault("guard of %r" % (path,), error)

    def _part(self, path: str, is_emptied: bool) -> str | None:
        """Replace a link by a copy. Returns the path that is written instead if it lies outside the work copy."""
        folder = os.path.realpath(os.path.dirname(path))
        place = os.path.join(folder, os.path.basename(path))
        if not place.startswith(self.work):
            return os.path.realpath(path)
        try:
            status = os.lstat(place)
        except OSError:
            return None
        target = os.path.realpath(place)
        is_hard_link = stat.S_ISREG(status.st_mode) and status.st_nlink > 1
        is_way_out = stat.S_ISLNK(status.st_mode) and target.startswith(self.root) and not target.startswith(self.work)
        if not is_hard_link and not is_way_out:
            return None if target.startswith(self.work) else target
        import shutil  # loads compression modules, and few runs write to a link

        copy = "%s.%d.deviate" % (place, os.getpid())
        if is_emptied:
            with open(copy, "wb"):
                pass
            shutil.copymode(target, copy)
        else:
            shutil.copy2(target, copy)
        os.replace(copy, place)
        return None

    def _report(self, path: str) -> None:
        inside = path + os.sep
        is_harmless = inside.startswith(self.folder) or (
            inside.startswith(self.harmless) and not inside.startswith(self.root)  # a project may itself be temporary
        )
        if "__pycache__" in path or is_harmless or path in self.reported or len(self.reported) >= MOST_REPORTED:
            return
        self.reported.add(path)
        self.recorder.event("write", path)


def _caller_of_hook() -> FrameType | None:
    """The frame in which an event was raised, for a function that the hook calls; None for the interpreter itself."""
    hook = sys._getframe(2)
    return hook.f_back
