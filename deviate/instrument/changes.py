"""Differences between two snapshots of a project that affect runs."""

import json
from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from deviate.errors import RecordError
from deviate.instrument.tree import SOURCE_SUFFIXES, is_seen

CODE = SOURCE_SUFFIXES | {".cfg", ".ini", ".toml", ".yaml", ".yml"}
"""What changes a run by being there. Other files that are new since were not there for the runs on record either, and
are often what somebody saved beside the script."""


def changed_files(before: Path, after: Path) -> tuple[str, ...]:
    """Files whose code or data differ between two snapshots.

    Raises:
        RecordError: a manifest is missing or damaged.
    """
    old, new = _contents(before), _contents(after)
    changed = [name for name in old if new.get(name) != old[name]]
    added = [name for name in new.keys() - old.keys() if PurePosixPath(name).suffix in CODE]
    return tuple(sorted(changed + added))


def _contents(snapshot: Path) -> Mapping[str, str]:
    """What identifies the contents of each file: its hash, or size and time if it is too large to read."""
    path = snapshot / "manifest.json"
    try:
        document = json.loads(path.read_text(encoding="utf-8", errors="surrogateescape"))
        return {
            str(name): str(entry["sha256"] or f"{entry['size']} {entry['mtime_ns']}")
            for name, entry in document["files"].items()
            if is_seen(name)
        }
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise RecordError(f"reading {path}: {error}", "run under another --name; this record is damaged") from error
