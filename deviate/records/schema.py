"""Numbers of the file formats under `.deviate/`: one dated line per change, and every past number stays readable."""

from pathlib import Path
from typing import Any, Literal

from deviate.errors import RecordError

FileFormat = Literal["experiment", "spec", "claim", "result", "manifest", "environment", "platform", "profile"]

SCHEMA: dict[FileFormat, int] = {
    # 2026-11-21  1  first format
    # 2026-11-21  2  each variant with its whole definition: description, varied, held, controls, perturbations
    # 2026-11-22  3  environment, then, prepare, wrap, n_threads, settings, looks, precision, reported
    # 2026-11-22  4  imported, tasks; of metrics target and n_examples
    # 2026-11-22  5  capture, sweep
    # 2026-11-23  6  streams, scores; left out at 1, and where deviate did not run the experiment; digest
    "experiment": 6,
    # 2026-11-21  1  first format
    # 2026-11-21  2  controls; left out when empty, as in the hash, so that specs without them keep their hashes
    # 2026-11-22  3  then, wrap; left out when empty, as controls are
    # 2026-11-22  4  capture; left out when empty, as controls are
    # 2026-11-23  5  streams, scores; left out at 1; varied; left out when empty, and no part of the hash; digest
    "spec": 5,
    # 2026-11-21  1  first format
    # 2026-11-22  2  device, temporary, continues
    # 2026-11-23  3  boot, namespace, digest
    "claim": 3,
    # 2026-11-21  1  first format
    # 2026-11-22  2  cause, device, n_sharing, events
    # 2026-11-23  3  files with size and digest in place of events; digest
    "result": 3,
    # 2026-11-21  1  first format; written by instrument
    # 2026-11-23  2  digests, digest
    "manifest": 2,
    # 2026-11-22  1  first format
    # 2026-11-23  2  digest
    "environment": 2,
    # 2026-11-22  1  first format; what many environments share
    # 2026-11-23  2  digest
    "platform": 2,
    "profile": 1,  # 2026-11-22  1  first format; written by the guest
}

HAS_DIGEST: dict[FileFormat, int] = {
    "experiment": 6, "spec": 5, "claim": 3, "result": 3, "manifest": 2, "environment": 2, "platform": 2,
}  # fmt: skip
"""From which number on a file has a digest of its fields: one that lacks it is damaged, an older one never had one."""


def check_schema(document: dict[str, Any], file_format: FileFormat, path: Path) -> None:
    """Refuse what a newer deviate wrote, rather than read it wrongly.

    Raises:
        RecordError: the number is missing or above the one known here.
    """
    number = document.get("schema")
    if not isinstance(number, int) or isinstance(number, bool) or number < 1:
        raise RecordError(f"{path} is damaged: it has no schema number", "restore it from a backup, or delete it")
    if number > SCHEMA[file_format]:
        raise RecordError(
            f"{path} has schema {number}; this deviate reads up to {SCHEMA[file_format]}",
            "update deviate: a newer version wrote this record",
        )
