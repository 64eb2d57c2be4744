"""Files that preparing commands created in the tree: added to the manifest, so that runs share large ones."""

import json
import os
import stat
import sys
from collections.abc import Iterator
from dataclasses import asdict

from deviate.errors import RecordError
from deviate.instrument.snapshot import digests_of, write_json
from deviate.instrument.tree import COPY_BELOW, CROWD_ABOVE, FrozenFile, data_kind, survey_of
from deviate.model import Snapshot

SHARED = frozenset({"shared", "linked"})
"""Kinds of files of which runs have links, which are verified."""


def note_prepared(snapshot: Snapshot, *, copy_below: int = COPY_BELOW, crowd_above: int = CROWD_ABOVE) -> None:
    """Add changed and new data files of the tree to the manifest, if runs should share them.

    Call this after the command has ended and before the first run; repeated calls are harmless. A small file that is
    not one of very many is not added: each run has its own copy.

    Raises:
        RecordError: the manifest cannot be read or written.
    """
    path, tree = snapshot.folder / "manifest.json", snapshot.folder / "tree"
    try:
        document = json.loads(path.read_text(encoding="utf-8", errors="surrogateescape"))
        frozen = {name: (entry["size"], entry["mtime_ns"], entry["kind"]) for name, entry in document["files"].items()}
        crowds = survey_of(tree, copy_below, crowd_above, sys.maxsize, sys.maxsize)
        prepared: dict[str, dict[str, object] | None] = {}
        seen: set[str] = set()
        for name, facts in _files(os.fspath(tree), ""):
            seen.add(name)
            size, mtime_ns, kind = frozen.get(name, (-1, -1, "copied"))
            if (size, mtime_ns) == (facts.st_size, facts.st_mtime_ns):
                continue
            is_shared = facts.st_size > copy_below or crowds.has_in_crowd(name)
            if data_kind(name) is not None and (is_shared or kind != "copied"):
                file = FrozenFile("shared" if is_shared else "copied", facts.st_size, facts.st_mtime_ns)
                prepared[name] = asdict(file)
        prepared.update({name: None for name, (*_, kind) in frozen.items() if kind in SHARED and name not in seen})
        document["prepared"] = prepared
        if "digests" in document:
            edited = [name.removeprefix("tree/") for name in document["digests"] if name.startswith("tree/")]
            document["digests"] = digests_of(snapshot.folder, edited)
        write_json(path, document)
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise RecordError(
            f"entering into {path} what was prepared: {error}", "run under another --name; this snapshot is damaged"
        ) from error


def _files(folder: str, relative: str) -> Iterator[tuple[str, os.stat_result]]:
    with os.scandir(folder) as entries:
        for entry in entries:
            facts = entry.stat(follow_symlinks=False)
            if stat.S_ISDIR(facts.st_mode):
                yield from _files(entry.path, f"{relative}{entry.name}/")
            elif stat.S_ISREG(facts.st_mode):
                yield f"{relative}{entry.name}", facts
