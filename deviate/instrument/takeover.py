"""A snapshot that another experiment has frozen already, taken over: its files get a further name, and no copy."""

import json
import os
import shutil
from dataclasses import replace
from pathlib import Path

from deviate.errors import RecordError
from deviate.instrument.snapshot import GUEST, write_json
from deviate.model import Snapshot


def take_over(snapshot: Snapshot, destination: Path) -> Snapshot:
    """The same snapshot in another folder, prepared as it is; what is left of an earlier attempt there is replaced.

    Nobody writes into a snapshot, so that two experiments can have the same files.

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
    except OSError:  # a file system without hard links, or a file that has too many
        shutil.copy2(source, target, follow_symlinks=False)
