"""Digests of records, which detect accidents such as a flipped bit, a truncated file or an accidental edit.

They do not detect forgery, as anyone can rewrite a record with its digest.
"""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

FIELD = "digest"
"""The field in which a JSON file keeps the digest of the others."""
PIECE = 1 << 20


def document_digest(document: Mapping[str, Any]) -> str:
    """SHA-256 of the canonical JSON of all fields except the digest: sorted keys, no spaces, ASCII."""
    rest = {name: value for name, value in document.items() if name != FIELD}
    text = json.dumps(rest, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def with_digest(document: Mapping[str, Any]) -> dict[str, Any]:
    """The document with its digest appended as the last field."""
    rest = {name: value for name, value in document.items() if name != FIELD}
    return {**rest, FIELD: document_digest(rest)}


def file_digest(path: Path, size: int | None = None) -> str:
    """SHA-256 of a file, or of its first `size` bytes.

    Raises:
        OSError: it cannot be read.
        ValueError: it is shorter than that.
    """
    digest = hashlib.sha256()
    with path.open("rb", buffering=0) as file:
        if size is None:
            return hashlib.file_digest(file, "sha256").hexdigest()
        remaining = size
        while remaining:
            piece = file.read(min(PIECE, remaining))
            if not piece:
                raise ValueError(f"{path} is shorter than {size} bytes")
            digest.update(piece)
            remaining -= len(piece)
    return digest.hexdigest()
