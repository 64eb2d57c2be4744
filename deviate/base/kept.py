"""Answers that are kept in a file until what they were made from changes. Losing the file costs time, nothing else."""

import contextlib
import hashlib
import json
import os
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from deviate.base.digests import FIELD, document_digest, with_digest

PACKAGE = str(Path(__file__).parents[1])


def read_kept(path: Path) -> dict[str, Any]:
    """What is kept in a file, by name; empty where it is missing, damaged or written by another state of the code."""
    try:
        document = json.loads(path.read_bytes())
        is_sound = document[FIELD] == document_digest(document) and document["code"] == code_state()
        return dict(document["values"]) if is_sound else {}
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return {}


def keep(path: Path, values: Mapping[str, Any]) -> None:
    """Replace a file as a whole, whoever else writes it; where the folder takes none, nothing is kept."""
    text = json.dumps(with_digest({"code": code_state(), "values": dict(values)}))
    partial = path.with_name(f".{path.name}.{os.getpid()}-{time.time_ns()}")
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            partial.write_text(text, encoding="utf-8")
            partial.replace(path)
        finally:
            partial.unlink(missing_ok=True)


def cache_folder() -> Path:
    """The folder of the user for what deviate keeps. Source: XDG Base Directory Specification, XDG_CACHE_HOME."""
    named = Path(os.environ.get("XDG_CACHE_HOME", ""))
    with contextlib.suppress(RuntimeError):  # a user without a home
        return (named if named.is_absolute() else Path.home() / ".cache") / "deviate"
    return Path(os.devnull) / "deviate"  # where nothing can be kept


def code_state() -> str:
    """A digest of the names, sizes and times of deviate's own files, as a checkout changes without a new version."""
    return hashlib.blake2b("\n".join(sorted(_modules(PACKAGE))).encode(), digest_size=16).hexdigest()


def _modules(folder: str) -> Iterator[str]:
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.endswith(".py"):
                facts = entry.stat()
                yield f"{entry.path} {facts.st_size} {facts.st_mtime_ns}"
            elif entry.name != "__pycache__" and entry.is_dir():
                yield from _modules(entry.path)
