"""The spec of a run on disk, its hash, and the run id that follows from it."""

import hashlib
import json
from pathlib import Path
from typing import Any

from deviate.errors import RecordError
from deviate.model import Spec
from deviate.records.files import read_json, reading, write_json

ID_DIGITS = 16


def spec_hash(spec: Spec) -> str:
    """SHA-256 of the canonical JSON: keys sorted, no spaces, so that every machine computes the same."""
    text = json.dumps(_document(spec), sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def run_id(spec: Spec) -> str:
    """Name of the run folder: the first hexadecimal digits of the hash."""
    return spec_hash(spec)[:ID_DIGITS]


def write_spec(path: Path, spec: Spec) -> None:
    """Not waited for: a spec that a power cut takes is computed again from the plan."""
    varied = {"varied": list(spec.varied)} if spec.varied else {}
    write_json(path, "spec", {**_document(spec), **varied, "spec_hash": spec_hash(spec)}, is_durable=False)


def keep_spec(path: Path, spec: Spec) -> None:
    """Write the spec where there is none, and anew where it is damaged: a power cut may have taken it."""
    try:
        if read_spec(path) == spec:
            return
    except RecordError:
        pass
    write_spec(path, spec)


def read_spec(path: Path) -> Spec:
    """Raises RecordError when the file is damaged."""
    document = read_json(path, "spec")
    with reading(path):
        return Spec(
            sources_hash=str(document["sources_hash"]),
            command=tuple(map(str, document["command"])),
            cwd=str(document["cwd"]),
            variant=str(document["variant"]),
            replicate=int(document["replicate"]),
            seeds=tuple((str(stream), int(seed)) for stream, seed in document["seeds"].items()),
            environment=tuple((str(name), str(value)) for name, value in document["environment"].items()),
            controls=tuple((str(name), str(level)) for name, level in document.get("controls", {}).items()),
            then=tuple(tuple(map(str, command)) for command in document.get("then", [])),
            wrap=tuple(map(str, document.get("wrap", []))),
            capture=tuple((str(name), str(value)) for name, value in document.get("capture", {}).items()),
            streams=int(document.get("streams", 1)),
            scores=int(document.get("scores", 1)),
            varied=tuple(map(str, document.get("varied", []))),
        )


def _document(spec: Spec) -> dict[str, Any]:
    return {
        "sources_hash": spec.sources_hash,
        "command": list(spec.command),
        "cwd": spec.cwd,
        "variant": spec.variant,
        "replicate": spec.replicate,
        "seeds": dict(spec.seeds),
        "environment": dict(spec.environment),
        # What older formats do not know is left out when empty, so that their specs keep their hashes.
        **({"controls": dict(spec.controls)} if spec.controls else {}),
        **({"then": [list(command) for command in spec.then]} if spec.then else {}),
        **({"wrap": list(spec.wrap)} if spec.wrap else {}),
        **({"capture": dict(spec.capture)} if spec.capture else {}),
        **({"streams": spec.streams} if spec.streams != 1 else {}),
        **({"scores": spec.scores} if spec.scores != 1 else {}),
    }
