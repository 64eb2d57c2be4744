"""The spec of a run on disk, its hash, and the run id that follows from it."""

import dataclasses
import hashlib
import json
from pathlib import Path

from msgspec.structs import asdict, replace

from deviate.errors import RecordError
from deviate.model import Spec
from deviate.records.files import read_record, to_builtins, write_record
from deviate.records.schema import SpecFile

ID_DIGITS = 16
OBJECTS = ("seeds", "environment", "controls", "capture")
"""Fields that are pairs in a `Spec` and an object in its file."""


def spec_hash(spec: Spec) -> str:
    """SHA-256 of the canonical JSON: keys sorted, no spaces, so that every machine computes the same."""
    document = to_builtins(replace(_to_file(spec), varied=()))
    text = json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def run_id(spec: Spec) -> str:
    """Name of the run folder: the first hexadecimal digits of the hash."""
    return spec_hash(spec)[:ID_DIGITS]


def write_spec(path: Path, spec: Spec) -> None:
    """Write the spec without fsync; one that a power cut takes is computed again from the plan."""
    write_record(path, "spec", replace(_to_file(spec), spec_hash=spec_hash(spec)), is_durable=False)


def keep_spec(path: Path, spec: Spec) -> None:
    """Write the spec where it is missing or damaged: a power cut may have taken it."""
    try:
        if read_spec(path) == spec:
            return
    except RecordError:
        pass
    write_spec(path, spec)


def read_spec(path: Path) -> Spec:
    """Raises RecordError when the file is damaged."""
    fields = asdict(read_record(path, "spec", SpecFile))
    del fields["spec_hash"]
    return Spec(**fields | {name: tuple(fields[name].items()) for name in OBJECTS})


def _to_file(spec: Spec) -> SpecFile:
    fields = {field.name: getattr(spec, field.name) for field in dataclasses.fields(spec)}
    return SpecFile(**fields | {name: dict(fields[name]) for name in OBJECTS})
