"""Tells whether the files of an experiment are those that something was made from."""

import hashlib
import os
import time
from collections.abc import Iterator
from pathlib import Path

from deviate.records.layout import WORK, experiment_file, manifest_file, runs_folder, snapshot_folder

SETTLED_NS = 2_000_000_000
"""Age from which another change of a file would have another time, on every file system."""
ATTEMPT = 2
"""Depth of an attempt below the folder of all runs."""


def fingerprint(experiment: Path) -> str:
    """Digest of the names, sizes and times of an experiment's files, without the code and the work copies.

    Empty where a file is missing, or has changed so recently that another change could go unnoticed.
    """
    digest, latest = hashlib.blake2b(digest_size=16), 0
    try:
        named = [experiment_file(experiment), manifest_file(snapshot_folder(experiment))]
        for path, facts in (*((str(path), path.stat()) for path in named), *_below(str(runs_folder(experiment)))):
            latest = max(latest, facts.st_mtime_ns, facts.st_ctime_ns)
            digest.update(
                f"{path}\0{facts.st_ino} {facts.st_size} {facts.st_mtime_ns} {facts.st_ctime_ns}\n".encode(
                    errors="surrogateescape"
                )
            )
    except OSError:
        return ""
    return digest.hexdigest() if time.time_ns() - latest > SETTLED_NS else ""


def _below(folder: str, depth: int = 0) -> Iterator[tuple[str, os.stat_result]]:
    """All files and folders; those that begin with a dot are being written."""
    with os.scandir(folder) as entries:
        for entry in sorted(entries, key=lambda one: one.name):
            if entry.name.startswith(".") or (depth == ATTEMPT and entry.name == WORK):
                continue
            yield entry.path, entry.stat()
            if entry.is_dir(follow_symlinks=depth < ATTEMPT):
                yield from _below(entry.path, depth + 1)
