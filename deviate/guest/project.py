"""The project as seen by this process: its files in the work copy, with their loops and taps.

The work copy comes before an editable install of the same project; other path entries are unchanged.
"""

from __future__ import annotations

import os
import sys
from threading import get_ident
from types import CodeType, FrameType, ModuleType

from .annotations import TYPE_CHECKING, Any, Iterator, Sequence

if TYPE_CHECKING:
    from importlib.machinery import ModuleSpec


MOST_CODES = 10_000


class GuestProject:
    """Finds files of the project by the names under which Python compiled them.

    Args:
        work: root of the work copy.
        manifest: the part of the snapshot's manifest that travels with the guest.

    Attributes:
        waiting: a thread that another one started and waits for, and the frame in which that one waits.
    """

    def __init__(self, work: str, manifest: Any) -> None:
        self.work = work
        self.originals: str = manifest["originals"]
        self.edits = {name: [tuple(edit) for edit in entry["edits"]] for name, entry in manifest["files"].items()}
        self.loops = {
            int(key): (entry["line"], entry["end_line"], bool(entry["main"]))
            for key, entry in manifest["loops"].items()
        }
        self.main_loops = [
            (entry["file"], entry["line"], entry["end_line"]) for entry in manifest["loops"].values() if entry["main"]
        ]
        self.training_loops = self.main_loops or [
            (entry["file"], entry["line"], entry["end_line"]) for entry in manifest["loops"].values()
        ]
        self.managed = [
            (entry["file"], entry["line"], entry["end_line"], int(key))
            for key, entry in manifest["loops"].items()
            if entry["kind"] == "managed"
        ]
        self.fields = {
            int(key): tuple(entry["fields"]) for key, entry in manifest["sites"].items() if entry.get("fields")
        }
        self.adapters: dict[str, list[str]] = manifest.get("adapters") or {}
        self.waiting: tuple[int, FrameType] | None = None
        self._begin = os.getcwd()
        self._codes: dict[int, tuple[CodeType, str | None, set[int]]] = {}
        self._prefix = work + os.sep
        self._real_prefix = os.path.realpath(work) + os.sep

    def file(self, filename: str) -> str | None:
        """Name of a file in the project, with forward slashes; None for files outside of it."""
        path = self.source(filename)
        if path is None:
            return None
        for prefix in (self._prefix, self._real_prefix):
            if path.startswith(prefix):
                inside = path[len(prefix) :]
                return None if "site-packages" in inside else inside.replace(os.sep, "/")
        return None

    def source(self, filename: str) -> str | None:
        """Path of a source file, by the name under which Python compiled it; None for text that is no file.

        Functions of the script lose the name on their way to a worker of joblib, which has the script's arguments.

        Source: cloudpickle 3.1, `_code_reduce`.
        """
        if filename == "<dynamic-code>":
            filename = next(iter(getattr(sys, "argv", [])), "<")
        return None if filename.startswith("<") else os.path.normpath(os.path.join(self._begin, filename))

    def names(self, file: str) -> set[str]:
        """Names under which Python may have compiled a file: absolute, resolved, and as passed on the command line."""
        path = os.path.join(self.work, *file.split("/"))
        return {path, os.path.realpath(path), os.path.relpath(path, self._begin)}

    def place(self, code: CodeType) -> str | None:
        """File of a code object in the project; None if it is not part of it."""
        return (self._codes.get(id(code)) or self._look_up(code))[1]

    def nearest(self, frame: FrameType | None) -> tuple[str, int]:
        """File and line of the nearest project frame, searching outwards from `frame`; ("", 0) if there is none."""
        innermost = self.innermost(frame)
        return ("", 0) if innermost is None else (str(self.place(innermost.f_code)), innermost.f_lineno)

    def innermost(self, frame: FrameType | None) -> FrameType | None:
        """The nearest project frame, searching outwards from `frame`; None if there is none."""
        return next(self.frames(frame), None)

    def frames(self, frame: FrameType | None) -> Iterator[FrameType]:
        """The project frames, from `frame` outwards."""
        return (outer for outer in self._outwards(frame) if self.place(outer.f_code) is not None)

    def _outwards(self, frame: FrameType | None) -> Iterator[FrameType]:
        """A frame and its callers, also those in a thread that waits for the current one."""
        yield from outwards(frame)
        if self.waiting is not None and self.waiting[0] == get_ident():
            yield from outwards(self.waiting[1])

    def is_training(self, frame: FrameType | None) -> bool:
        """Whether a frame or a caller executes a line of the main loop, or of any loop where none is known."""
        waiting = self.waiting
        if waiting is not None and waiting[0] == get_ident() and self._is_in_loop(waiting[1]):
            return True
        return self._is_in_loop(frame)

    def _is_in_loop(self, frame: FrameType | None) -> bool:
        known = self._codes
        while frame is not None:  # at many a draw, so without generators
            code = frame.f_code
            _, _, in_loops = known.get(id(code)) or self._look_up(code)
            if in_loops and frame.f_lasti in in_loops:
                return True
            frame = frame.f_back
        return False

    def _look_up(self, code: CodeType) -> tuple[CodeType, str | None, set[int]]:
        """Keep the file of a code object, and its instructions in such loops; a frame takes a µs to tell its line."""
        name = self.file(code.co_filename)
        ranges = [(first, last) for file, first, last in self.training_loops if file == name]
        in_loops: set[int] = set()
        if ranges:
            from dis import findlinestarts

            starts = [*findlinestarts(code), (len(code.co_code), None)]
            for (start, line), (end, _) in zip(starts, starts[1:]):
                if any(first <= (line or 0) <= last for first, last in ranges):
                    in_loops.update(range(start, end))
        if len(self._codes) >= MOST_CODES:
            self._codes.clear()
        # The reference keeps the id from being used again.
        self._codes[id(code)] = entry = code, name, in_loops
        return entry

    def managed_loop(self, frame: FrameType | None) -> tuple[int, FrameType | None]:
        """Id of the running managed loop and the frame of its call; the id is -1 if the analysis did not find one."""
        for outer in self.frames(frame):
            for file, line, end_line, number in self.managed:
                if file == self.place(outer.f_code) and line <= outer.f_lineno <= end_line:
                    return number, outer
        return -1, None


def outwards(frame: FrameType | None) -> Iterator[FrameType]:
    """A frame and its callers."""
    while frame is not None:
        yield frame
        frame = frame.f_back


def beyond(modules: tuple[str, ...], frame: FrameType | None) -> FrameType | None:
    """The nearest frame outside of these modules and those within them, searching outwards from `frame`."""
    insides = tuple(module.rstrip(".") + "." for module in modules)
    while frame is not None and (str(frame.f_globals.get("__name__")) + ".").startswith(insides):
        frame = frame.f_back
    return frame


STANDARD = ("_frozen_importlib", "_frozen_importlib_external")


class Editable:
    """Handles editable installs, which refer to the original project by a path entry or by an import finder.

    Args:
        root: the original project.
        work: its work copy.
    """

    def __init__(self, root: str, work: str) -> None:
        self.root = root
        self.work = work

    def begin(self) -> None:
        sys.path[:] = [self.in_copy(entry) or entry for entry in sys.path]
        for finder in list(sys.meta_path):
            owner = finder if isinstance(finder, type) else type(finder)
            if owner.__module__ not in STANDARD:
                sys.meta_path.insert(sys.meta_path.index(finder), Redirecting(finder, self))

    def in_copy(self, path: Any) -> str | None:
        """The path in the work copy of a path in the original project; None for other paths."""
        if not isinstance(path, str) or not os.path.isabs(path) or "site-packages" in path:
            return None
        if path.startswith(self.work):
            return None
        inside = os.path.relpath(path, self.root)
        copy = os.path.normpath(os.path.join(self.work, inside))
        return copy if inside.split(os.sep)[0] != os.pardir and os.path.exists(copy) else None


class Redirecting:
    """Wraps a finder: where that finds a file of the original project, the copy is found instead."""

    def __init__(self, finder: Any, editable: Editable) -> None:
        self.finder = finder
        self.editable = editable

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if not hasattr(self.finder, "find_spec"):
            return None
        spec = self.finder.find_spec(name, path, target)
        copy = self.editable.in_copy(getattr(spec, "origin", None))
        if copy is None:
            return None
        from importlib.util import spec_from_file_location

        folders = [self.editable.in_copy(folder) or folder for folder in spec.submodule_search_locations or ()]
        return spec_from_file_location(name, copy, submodule_search_locations=folders or None)
