"""Gives the work copy precedence over an editable install of the same project; other path entries are unchanged."""

from __future__ import annotations

import os
import sys
from types import ModuleType

from .annotations import TYPE_CHECKING, Any, Sequence

if TYPE_CHECKING:
    from importlib.machinery import ModuleSpec

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
