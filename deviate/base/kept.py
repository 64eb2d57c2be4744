"""Answers that are kept in a file until what they were made from changes. Losing the file costs time, nothing else."""

import contextlib
import json
import os
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from deviate import __version__
from deviate.base.digests import FIELD, document_digest, with_digest

PACKAGE = Path(__file__).parents[1]


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


def code_state() -> str:
    """The version of deviate with the latest change of its files, as a checkout changes without a new version."""
    return f"{__version__} {max(_changes(PACKAGE))}"


def _changes(folder: Path) -> Iterator[int]:
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir():
                yield from () if entry.name == "__pycache__" else _changes(Path(entry.path))
            elif entry.name.endswith(".py"):
                yield entry.stat().st_mtime_ns
