"""Parsed files, kept by what they hold: a file that has not changed since an earlier analysis is not parsed again.

They lie under `.deviate/cache/parsed/`, in projects that have a `.deviate/` folder; nothing is written into others. A
tree takes a quarter of the time to read that it takes to parse, and two thirds of it to write. Everything there can be
deleted at any time: what is missing, damaged or of another version is parsed anew.
"""

import contextlib
import hashlib
import io
import os
import pickle
import sys
import zlib
from pathlib import Path

import libcst as cst

FORMAT = 1
MOST_KEPT = 1000
"""Files that are kept; where there are more, the older half goes."""


class ParsedFiles:
    """The trees of a project's files, on disk.

    Args:
        root: the project folder.
    """

    def __init__(self, root: Path) -> None:
        deviate = root / ".deviate"
        self.folder = deviate / "cache" / "parsed" if deviate.is_dir() else None

    def load(self, text: str) -> cst.Module | None:
        """The tree of a text; None when it is not there."""
        if self.folder is None:
            return None
        try:
            content = zlib.decompress((self.folder / _name(text)).read_bytes())
            tree = _TreeReader(io.BytesIO(content)).load()
        except Exception:  # noqa: BLE001 - a damaged pickle can raise anything
            return None
        return tree if isinstance(tree, cst.Module) else None

    def keep(self, text: str, tree: cst.Module) -> None:
        """Write a tree, if that is possible: appearing whole or not at all, whoever else writes it."""
        if self.folder is None:
            return
        place = self.folder / _name(text)
        unfinished = place.with_name(f"{place.name}.{os.getpid()}")
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            unfinished.write_bytes(zlib.compress(pickle.dumps(tree, pickle.HIGHEST_PROTOCOL), 1))
            unfinished.replace(place)
            self._forget_old(self.folder)
        except (OSError, RecursionError):
            with contextlib.suppress(OSError):
                unfinished.unlink()

    def _forget_old(self, folder: Path) -> None:
        kept = os.listdir(folder)  # noqa: PTH208 - names are enough, which are asked for often
        if len(kept) > MOST_KEPT:
            by_age = sorted((folder / name for name in kept), key=lambda path: path.stat().st_mtime)
            for path in by_age[: len(by_age) // 2]:
                path.unlink(missing_ok=True)


class _TreeReader(pickle.Unpickler):
    """Reads nodes of trees and nothing else: the folder belongs to the project, whose author may be anybody."""

    def find_class(self, module: str, name: str) -> type:
        found: object = getattr(cst, name, None)
        if (
            isinstance(found, type)
            and issubclass(found, cst.CSTNode | cst.MaybeSentinel)
            and found.__module__ == module
        ):
            return found
        raise pickle.UnpicklingError(f"{module}.{name} is no node of a tree")


def _name(text: str) -> str:
    versions = f"{FORMAT} {cst.LIBCST_VERSION} {sys.version_info[:2]}\n"
    return hashlib.blake2b((versions + text).encode("utf-8", "surrogatepass"), digest_size=20).hexdigest()
