"""Who calls a patched function, and how paths are written so that two runs can be compared."""

from __future__ import annotations

import os
import re
from sys import _getframe
from types import FrameType

from ...adapter_context import AdapterContext
from ...annotations import Any, Callable
from ...checkpoint_guard import beginning

GUEST = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))) + os.sep
IMPORTING = "<frozen importlib"
BYTECODE = os.sep + "__pycache__" + os.sep
LIBRARIES = ("site-packages", "dist-packages")
SYSTEM = tuple(
    path + os.sep for path in ("/proc", "/sys", "/dev", "/etc", "/usr", "/lib", os.path.dirname(os.__file__))
)
SHARED_MEMORY = "/dev/shm" + os.sep  # noqa: S108  (nothing is written there by us)
RANDOM_NAME = re.compile(r"tmp[a-z0-9_]{8}")
"""Names that `tempfile` gives."""


class InputObserver:
    """Records what enters the program, with the line that asked for it."""

    def __init__(self, context: AdapterContext) -> None:
        self.inputs = context.inputs
        self.recorder = context.recorder
        self.callers = context.part(Callers)


class Callers:
    """Finds the line of the project that a call comes from.

    Attributes:
        began: seconds since the epoch; what changed later belongs to this run.
    """

    def __init__(self, context: AdapterContext) -> None:
        self.context = context
        self.inputs = context.inputs
        self.files: dict[str, bool] = {}
        self.project = context.project
        work = self.project.work
        self.began = beginning(work)
        self.copies = tuple({path + os.sep for path in (work, os.path.realpath(work))})
        self.beside = tuple({os.path.dirname(path.rstrip(os.sep)) + os.sep for path in self.copies})
        temporary = os.environ.get("TMPDIR")  # deviate gives each run a folder of its own
        self.temporary = tuple({temporary + os.sep, os.path.realpath(temporary) + os.sep}) if temporary else ()
        folders = (os.environ.get("DEVIATE_RUN_DIR"), os.environ.get("DEVIATE_GUEST"))
        self.hidden = tuple({os.path.realpath(folder) + os.sep for folder in folders if folder})

    def is_project(self, frame: FrameType) -> bool:
        """Whether a frame runs code of the project; the file is that of its module, where it has one.

        The name in its code would be exact, but to ask for the code raises an audit event, which costs as much again as
        all that is done here.
        """
        name = frame.f_globals.get("__file__")
        if type(name) is not str:
            name = frame.f_code.co_filename
        is_inside = self.files.get(name)
        if is_inside is None:
            is_inside = self.files[name] = self.project.file(name) is not None
        return is_inside

    def place(self, frame: FrameType | None) -> int:
        """The line of the project on whose behalf `frame` runs; -1 if it imports a module, or is of deviate."""
        if frame is None or frame.f_code.co_filename.startswith(GUEST):
            return -1
        while frame is not None:
            if self.is_project(frame):
                return self.inputs.place(frame)
            if frame.f_code.co_filename.startswith(IMPORTING):
                return -1
            frame = frame.f_back
        return -1

    def own_place(self, frame: FrameType | None) -> int:
        """The line that `frame` runs; -1 if it is not of the project, or if inputs are not recorded now."""
        is_own = frame is not None and self.inputs.is_active and self.is_project(frame)
        return self.inputs.place(frame) if is_own else -1

    def path(self, path: Any) -> str | None:
        """A path as it is in every run; None if it is no business of the program, as in a library or in `/proc`."""
        text = os.path.abspath(os.fsdecode(path))
        inside = text + os.sep
        if BYTECODE in inside:
            return None
        for copy in self.copies:
            if inside.startswith(copy):
                relative = text[len(copy) :] or "."
                return None if any(name in relative for name in LIBRARIES) else relative
        for folder in self.beside:
            if inside.startswith(folder):
                return os.path.join(os.pardir, text[len(folder) :]).rstrip(os.sep)
        if self.is_temporary(inside):
            return RANDOM_NAME.sub("tmp...", self.comparable(text))
        if inside.startswith(self.hidden) or any(name in text for name in LIBRARIES):
            return None
        if inside.startswith(SYSTEM) and not inside.startswith(SHARED_MEMORY):
            return None
        return text

    def is_temporary(self, path: str) -> bool:
        """Whether a path lies in the folder for temporary files that this run has to itself."""
        return bool(self.temporary) and path.startswith(self.temporary)

    def comparable(self, text: str) -> str:
        """A text in which the folders of this run are replaced by what they are."""
        for folders, name in ((self.temporary, "<temporary folder>/"), (self.copies, "./"), (self.beside, "../")):
            for folder in folders:
                text = text.replace(folder, name).replace(folder[:-1], name[:-1])
        return text

    def observe(
        self, owner: Any, name: str, record: Callable[..., object], put: Callable[[Any, str, Any], object]
    ) -> None:
        """Call `record` after each call of `owner.name` by code of the project.

        Args:
            record: called with the frame, the result (an OSError if it raised one) and the arguments.
            put: puts a function in the place of the original.
        """
        original: Any = getattr(owner, name, None)
        if original is None:
            return
        frame_of, is_project, inputs, recorder = _getframe, self.is_project, self.inputs, self.context.recorder

        def call(*args: Any, **kwargs: Any) -> Any:
            frame = frame_of(1)
            if not is_project(frame) or not inputs.is_active:
                return original(*args, **kwargs)
            try:
                result = original(*args, **kwargs)
            except OSError as error:
                with recorder.guarded(name):
                    record(frame, error, *args, **kwargs)
                raise
            with recorder.guarded(name):
                record(frame, result, *args, **kwargs)
            return result

        put(owner, name, call)
