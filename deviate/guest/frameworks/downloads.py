"""Downloaded data: the revision of a hub's repository, or the hash of a file, so that a report states what was used.

They are recorded as facts of the environment. The Hugging Face hub has the revision in the path of each file; Keras
only returns a file, which is hashed.
"""

from __future__ import annotations

import os

from ..adapter_context import AdapterContext
from ..annotations import Any

HUB = {
    "huggingface_hub.file_download": "hf_hub_download",
    "huggingface_hub._snapshot_download": "snapshot_download",
}
KERAS = "keras.src.utils.file_utils"
MODULES = (*HUB, KERAS)
SNAPSHOTS = "snapshots"
"""The folder of the hub's cache below which each revision has one of its own."""
PIECE = 1 << 20
DIGITS = 16


def install(module: Any, context: AdapterContext) -> None:
    name = HUB.get(module.__name__, "get_file")
    describe = _file_digest if module.__name__ == KERAS else _hub_revision
    seen: set[tuple[str, str]] = set()

    def download(path: Any, *args: Any, **kwargs: Any) -> None:
        fact = describe(str(path))
        if fact is not None and fact not in seen:
            seen.add(fact)
            context.recorder.event("environment", dict([fact]))

    context.observe(module, name, after=download, where="download")


def _hub_revision(path: str) -> tuple[str, str] | None:
    """Repository and revision, from `…/datasets--OWNER--NAME/snapshots/REVISION/…`."""
    parts = path.replace(os.sep, "/").split("/")
    if SNAPSHOTS not in parts[1:-1]:
        return None
    at = len(parts) - 1 - parts[::-1].index(SNAPSHOTS)
    kind, _, repository = parts[at - 1].partition("--")
    return "huggingface %s %s" % (kind, repository.replace("--", "/")), parts[at + 1]


def _file_digest(path: str) -> tuple[str, str] | None:
    """Name and shortened SHA-256 of a file; None for a folder into which an archive was unpacked."""
    if not os.path.isfile(path):
        return None
    from hashlib import sha256

    total = sha256()
    with open(path, "rb") as file:
        for piece in iter(lambda: file.read(PIECE), b""):
            total.update(piece)
    return "file %s" % os.path.basename(path), "sha256 %s" % total.hexdigest()[:DIGITS]
