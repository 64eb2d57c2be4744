"""Writes a report to the folder of a paper: own files are replaced, others are kept."""

import os
from collections.abc import Iterable
from pathlib import Path

from deviate.errors import InputError
from deviate.records import writing


def refuse_paper_folder(folder: Path, content: str = "a paper") -> None:
    """Raise InputError, before anything is run, if the folder cannot be created or written to."""
    existing = next(path for path in (folder, *folder.absolute().parents) if path.exists() or path.is_symlink())
    if not existing.is_dir():
        raise InputError(
            f"{folder} cannot hold {content}: {existing} is no folder", "name another folder, or one that is to be made"
        )
    if not os.access(existing, os.W_OK | os.X_OK):
        raise InputError(f"{folder} cannot hold {content}: {existing} may not be written into", "name another folder")


def write_paper(files: Iterable[tuple[str, bytes]], folder: Path) -> int:
    """Write files as they are generated, by path in the folder; returns their number.

    Raises:
        RecordError: one cannot be written.
    """
    n_written = 0
    for name, content in files:
        target = folder / name
        with writing(f"writing {target}", "name another folder"):
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
        n_written += 1
    return n_written
