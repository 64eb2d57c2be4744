"""Whether files exist, their sizes and times, as far as the project itself asks for them.

Times of the last change are compared only of files that are older than the run: copies keep them, and those of folders
and of files that the run has written differ between any two runs. Other times differ always.
"""

from __future__ import annotations

import os
import stat
from types import FrameType

from ...adapter_context import AdapterContext
from ...annotations import Any
from ...stand_ins import replace, stand_in
from .callers import Callers

MODULES = ("os", "pathlib")
QUESTIONS = ("exists", "lexists", "isfile", "isdir", "islink")
METHODS = ("exists", "is_file", "is_dir", "is_symlink")
OTHER_TIMES = ("getctime", "getatime")
OF_THE_RUN = "changed by this run"


def install(module: Any, context: AdapterContext) -> None:
    states = context.part(FileStates)
    if module.__name__ == "pathlib":
        for name in METHODS:
            states.observe(module.Path, name, "Path.%s" % name, states.answer)
        for name in ("stat", "lstat"):
            states.observe(module.Path, name, "Path.%s" % name, states.status)
        return
    for name in QUESTIONS:
        states.observe(module.path, name, "os.path.%s" % name, states.answer)
    states.observe(module.path, "getmtime", "os.path.getmtime", states.time)
    for name in OTHER_TIMES:
        states.observe(module.path, name, "os.path.%s" % name, states.presence)
    states.observe(module.path, "getsize", "os.path.getsize", states.answer)
    for name in ("stat", "lstat"):
        states.observe(module, name, "os.%s" % name, states.status)
    states.observe(module, "access", "os.access", states.answer)


class FileStates:
    """Records the answers."""

    def __init__(self, context: AdapterContext) -> None:
        self.inputs = context.inputs
        self.callers = context.part(Callers)

    def observe(self, owner: Any, name: str, call: str, describe: Any) -> None:
        """Record a function of `os`, or a function or method of Python; `describe` gives the value and its text."""

        def record(frame: FrameType, result: Any, path: Any = None, *args: Any, **kwargs: Any) -> None:
            path = kwargs.get("path", path)
            is_unknown = path is None or isinstance(path, int) or kwargs.get("dir_fd") is not None
            text = None if is_unknown else self.callers.path(path)
            if text is not None:
                value, shown = ("absent", "") if isinstance(result, OSError) else describe(result, path)
                self.inputs.record("file-state", "%s(%r)" % (call, text), value, self.inputs.place(frame), shown)

        self.callers.observe(owner, name, record, stand_in if owner is os else replace)

    def answer(self, result: object, path: Any) -> tuple[str | None, str]:
        return str(result), ""

    def time(self, seconds: float, path: Any) -> tuple[str | None, str]:
        if self._is_of_run(os.stat(path)):
            return None, OF_THE_RUN
        return repr(seconds), ""

    def presence(self, seconds: float, path: Any) -> tuple[str | None, str]:
        return "present", ""

    def status(self, result: os.stat_result, path: Any) -> tuple[str | None, str]:
        """What there is, and the size of a file that the run found: scripts ask for no more, or compare times."""
        if stat.S_ISDIR(result.st_mode):
            return "folder", ""
        return ("file", "") if self._is_of_run(result) else ("file of %d bytes" % result.st_size, "")

    def _is_of_run(self, status: os.stat_result) -> bool:
        return stat.S_ISDIR(status.st_mode) or status.st_mtime >= self.callers.began
