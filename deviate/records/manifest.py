"""The snapshot's manifest as records and replay need it: what was linked, and what the sites report."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from deviate.base import FIELD, document_digest, file_digest
from deviate.model import Metric, Place
from deviate.records.files import read_json, reading

GUEST_MANIFEST = "guest/_deviate_guest/manifest.json"
"""What the guest is told, below the snapshot; it has a digest of its own."""


@dataclass(frozen=True, slots=True)
class LinkedFile:
    """Size and time of modification of something linked, when it was frozen; a folder's size is None."""

    size: int | None
    mtime_ns: int


@dataclass(frozen=True, slots=True)
class Commit:
    """Where the project stood in git; `n_untracked` files were neither tracked nor ignored.

    Attributes:
        is_cut: the diff that the snapshot keeps is not all of it.
    """

    commit: str | None
    branch: str | None
    is_dirty: bool
    n_untracked: int
    is_cut: bool = False


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
    path = snapshot / "manifest.json"
    document = read_json(path, "manifest")
    with reading(path):
        files: dict[str, dict[str, Any]] = document["files"]
        folders: dict[str, dict[str, Any]] = document["linked_folders"]
        prepared: dict[str, dict[str, Any] | None] = document.get("prepared", {})
        files = {name: entry for name, entry in (files | prepared).items() if entry is not None}
        return Manifest(
            root=Path(document["root"]),
            sources_hash=str(document["sources_hash"]),
            main_loop=document["main_loop"],
            metrics=tuple(metric_from(entry) for entry in document["metrics"]),
            sites={
                entry["id"]: (Place(entry["file"], entry["line"]), entry["label"] is not None)
                for entry in document["sites"]
            },
            shared=_of_kind(files, "shared"),
            hard_links=_of_kind(files, "linked"),
            pointed={
                name: LinkedFile(entry.get("size"), entry["mtime_ns"])
                for name, entry in [*files.items(), *folders.items()]
                if entry.get("kind") == "symlinked" or entry.get("is_environment") is False
            },
            environments=frozenset(name for name, entry in folders.items() if entry["is_environment"]),
            warnings=tuple(document["warnings"]),
            git=_commit(document.get("git")),
            digests={str(name): str(digest) for name, digest in document["digests"].items()}
            if "digests" in document
            else None,
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


def _of_kind(files: dict[str, dict[str, Any]], kind: str) -> dict[str, LinkedFile]:
    return {
        name: LinkedFile(entry["size"], entry["mtime_ns"]) for name, entry in files.items() if entry["kind"] == kind
    }


def _commit(entry: dict[str, Any] | None) -> Commit | None:
    if entry is None:
        return None
    return Commit(
        entry["commit"],
        entry["branch"],
        is_dirty=bool(entry["is_dirty"]),
        n_untracked=int(entry["n_untracked"]),
        is_cut=bool(entry.get("is_cut", False)),
    )


def metric_from(entry: dict[str, Any]) -> Metric:
    """A metric from its JSON object."""
    return Metric(
        id=int(entry["id"]),
        name=str(entry["name"]),
        expression=str(entry["expression"]),
        file=str(entry["file"]),
        line=int(entry["line"]),
        sink=str(entry["sink"]),
        role=entry["role"],
        direction=entry["direction"],
        evidence=tuple(entry["evidence"]),
        site=entry["site"],
        path=tuple(Place(str(place["file"]), int(place["line"])) for place in entry["path"]),
        label=entry["label"],
    )
