"""The snapshot's manifest as records and replay need it: what was linked, and what the sites report."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from deviate.model import Metric, Place
from deviate.records.files import read_json, reading


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
        hard_links: files that runs share with the user through a hard link.
        pointed: files and folders that runs reach through a symbolic link made by deviate.
        environments: folders of virtual environments, also pointed to.
    """

    root: Path
    sources_hash: str
    main_loop: int | None
    metrics: tuple[Metric, ...]
    sites: dict[int, tuple[Place, bool]]
    hard_links: dict[str, LinkedFile]
    pointed: dict[str, LinkedFile]
    environments: frozenset[str]
    warnings: tuple[str, ...]


def read_manifest(snapshot: Path) -> Manifest:
    """Raises RecordError when the manifest is missing or damaged."""
    path = snapshot / "manifest.json"
    document = read_json(path, "manifest")
    with reading(path):
        files: dict[str, dict[str, Any]] = document["files"]
        folders: dict[str, dict[str, Any]] = document["linked_folders"]
        return Manifest(
            root=Path(document["root"]),
            sources_hash=str(document["sources_hash"]),
            main_loop=document["main_loop"],
            metrics=tuple(metric_from(entry) for entry in document["metrics"]),
            sites={
                entry["id"]: (Place(entry["file"], entry["line"]), entry["label"] is not None)
                for entry in document["sites"]
            },
            hard_links={
                name: LinkedFile(entry["size"], entry["mtime_ns"])
                for name, entry in files.items()
                if entry["kind"] == "linked"
            },
            pointed={
                name: LinkedFile(entry.get("size"), entry["mtime_ns"])
                for name, entry in [*files.items(), *folders.items()]
                if entry.get("kind") == "symlinked" or entry.get("is_environment") is False
            },
            environments=frozenset(name for name, entry in folders.items() if entry["is_environment"]),
            warnings=tuple(document["warnings"]),
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
