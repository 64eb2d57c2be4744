"""Reading and writing the JSON files of a record: whole or not at all."""

import contextlib
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from deviate.errors import RecordError
from deviate.records.schema import SCHEMA, FileFormat, check_schema


def write_json(path: Path, file_format: FileFormat, document: dict[str, Any], *, is_durable: bool = True) -> None:
    """Replace the file in one step, with its schema number in front.

    Args:
        is_durable: wait until the disk has it; not worth it for what can be written again from something else.

    Raises:
        RecordError: the disk does not take it.
    """
    text = json.dumps({"schema": SCHEMA[file_format], **document}, allow_nan=False, indent=1)
    partial = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with partial.open("w", encoding="utf-8") as file:
            file.write(text + "\n")
            file.flush()
            if is_durable:
                os.fsync(file.fileno())
        partial.replace(path)
        if is_durable:
            _sync_folder(path.parent)
    except OSError as error:
        with contextlib.suppress(OSError):
            partial.unlink()
        raise RecordError(f"writing {path}: {error.strerror or error}", "check free space and permissions") from error


def read_json(path: Path, file_format: FileFormat) -> dict[str, Any]:
    """Read a file back.

    Raises:
        RecordError: it is missing, damaged, or written by a newer deviate.
    """
    try:
        document = json.loads(path.read_bytes())
    except OSError as error:
        raise RecordError(f"reading {path}: {error.strerror or error}") from error
    except ValueError as error:
        raise RecordError(f"{path} is damaged: {error}", "restore it from a backup, or delete it") from error
    if not isinstance(document, dict):
        raise RecordError(f"{path} is damaged: it holds no object", "restore it from a backup, or delete it")
    check_schema(document, file_format, path)
    return document


@contextlib.contextmanager
def reading(path: Path) -> Iterator[None]:
    """Turn what a wrong shape raises while a document is taken apart into an error that names the file.

    Raises:
        RecordError: a field is missing or of the wrong kind.
    """
    try:
        yield
    except KeyError as error:
        raise RecordError(f"{path} is damaged: {error} is missing", "restore it from a backup, or delete it") from error
    except (TypeError, ValueError, AttributeError) as error:
        raise RecordError(f"{path} is damaged: {error}", "restore it from a backup, or delete it") from error


def _sync_folder(folder: Path) -> None:
    """Make the name durable too; not every file system can."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
