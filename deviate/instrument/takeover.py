"""Reuses the snapshot of another experiment through hard links, without copies."""

import json
import os
import shutil
from dataclasses import replace
from pathlib import Path

from deviate.errors import RecordError
from deviate.instrument.snapshot import GUEST, write_json
from deviate.model import Snapshot


def take_over(snapshot: Snapshot, destination: Path) -> Snapshot:
    """Link a snapshot into another folder, including prepared files; remains of an earlier attempt are replaced.

    Nothing writes to a snapshot, so two experiments can share its files.

    Raises:
        RecordError: it cannot be read or written.
    """
    try:
        shutil.rmtree(destination, ignore_errors=True)
        shutil.copytree(snapshot.folder, destination, symlinks=True, copy_function=_link)
        manifest = destination / "guest" / GUEST / "manifest.json"
        document = json.loads(manifest.read_text(encoding="utf-8", errors="surrogateescape"))
        write_json(manifest, {**document, "originals": str((destination / "originals").absolute())})
    except (OSError, shutil.Error, ValueError) as error:
        raise RecordError(
            f"taking over {snapshot.folder} into {destination}: {error}", "check free space and permissions there"
        ) from error
    return replace(snapshot, folder=destination)


def _link(source: str, target: str) -> None:
    try:
        os.link(source, target, follow_symlinks=False)
    except OSError:  # a file system without hard links, or a file with too many
        shutil.copy2(source, target, follow_symlinks=False)
