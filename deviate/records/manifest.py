"""The snapshot's manifest as records and replay need it: what was linked, and what the sites report."""

import json
from dataclasses import dataclass
from pathlib import Path

from msgspec import UNSET

from deviate.base import FIELD, document_digest, file_digest
from deviate.model import Metric, Place
from deviate.records.files import read_record
from deviate.records.schema import Commit, FileEntry, ManifestFile

GUEST_MANIFEST = "guest/_deviate_guest/manifest.json"
"""What the guest is told, below the snapshot; it has a digest of its own."""


@dataclass(frozen=True, slots=True)
class LinkedFile:
    """Size and time of modification of something linked, when it was frozen; a folder's size is None."""

    size: int | None
    mtime_ns: int


@dataclass(frozen=True, slots=True)
class Manifest:
    """What the snapshot says.

    Attributes:
        main_loop: id of the main loop, None when the script has none.
        metrics: every metric the analysis found, whether the user selected it or not.
        sites: site id to (place, whether it has a label variable).
        shared: files of which runs share the snapshot's copy through a hard link.
        hard_links: files that runs share with the user through a hard link.
        pointed: files and folders that runs reach through a symbolic link made by deviate.
        environments: folders of virtual environments, also pointed to.
        git: None where the project is in no repository, and in manifests from before 2026-11-22.
        digests: path in the snapshot to SHA-256, of what deviate has written there; None in manifests that have none.
    """

    root: Path
    sources_hash: str
    main_loop: int | None
    metrics: tuple[Metric, ...]
    sites: dict[int, tuple[Place, bool]]
    shared: dict[str, LinkedFile]
    hard_links: dict[str, LinkedFile]
    pointed: dict[str, LinkedFile]
    environments: frozenset[str]
    warnings: tuple[str, ...]
    git: Commit | None = None
    digests: dict[str, str] | None = None


def read_manifest(snapshot: Path) -> Manifest:
    """Raises RecordError when the manifest is missing or damaged."""
    file = read_record(snapshot / "manifest.json", "manifest", ManifestFile)
    files = {name: entry for name, entry in (file.files | (file.prepared or {})).items() if entry is not None}
    return Manifest(
        root=Path(file.root),
        sources_hash=file.sources_hash,
        main_loop=file.main_loop,
        metrics=file.metrics,
        sites={site.id: (Place(site.file, site.line), site.label is not None) for site in file.sites},
        shared=_of_kind(files, "shared"),
        hard_links=_of_kind(files, "linked"),
        pointed=_of_kind(files, "symlinked")
        | {
            name: LinkedFile(None, folder.mtime_ns)
            for name, folder in file.linked_folders.items()
            if not folder.is_environment
        },
        environments=frozenset(name for name, folder in file.linked_folders.items() if folder.is_environment),
        warnings=file.warnings,
        git=file.git or None,
        digests=None if file.digests is UNSET else file.digests,
    )


def damaged_sources(snapshot: Path, manifest: Manifest, *folders: str) -> tuple[str, ...]:
    """Files below some folders of a snapshot that are not what deviate has written there; none where it tells none."""
    damaged = []
    guest = snapshot / GUEST_MANIFEST
    if "guest" in folders and manifest.digests is not None and not _has_own_digest(guest):
        damaged.append(GUEST_MANIFEST)
    for name, digest in (manifest.digests or {}).items():
        if name.split("/")[0] in folders:
            try:
                is_same = file_digest(snapshot / name) == digest
            except OSError:
                is_same = False
            damaged += [] if is_same else [name]
    return tuple(damaged)


def _has_own_digest(path: Path) -> bool:
    try:
        document = json.loads(path.read_bytes())
        return bool(document[FIELD] == document_digest(document))
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return False


def _of_kind(files: dict[str, FileEntry], kind: str) -> dict[str, LinkedFile]:
    return {name: LinkedFile(file.size, file.mtime_ns) for name, file in files.items() if file.kind == kind}
