"""Reads and writes the files of a record: JSON atomically, and lines of JSON that others write piece by piece."""

import contextlib
import json
import os
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any, Literal, TypeVar

import msgspec

from deviate.base.digests import FIELD, document_digest, with_digest
from deviate.errors import InUseError, RecordError, writing
from deviate.records.machine import writer_name
from deviate.records.schema import SCHEMA

try:
    import fcntl
except ImportError:  # not available outside POSIX: then folders are not locked
    fcntl = None  # type: ignore[assignment]

T = TypeVar("T")
LOCK = ".lock"
DAMAGED = "restore it from a backup, or delete it"
NAMELESS_S = 2  # how long a lock without an owner note may be held


def write_record(path: Path, record: object, *, is_durable: bool = True, is_compact: bool = False) -> None:
    """Replace the file atomically, with its schema number as the first field and its digest as the last.

    Args:
        record: a value of the type that is declared for the file.
        is_durable: wait until the disk has it; not worth it for what can be written again from something else.
        is_compact: write one line; a manifest may list a million files.

    Raises:
        RecordError: the disk does not take it.
    """
    document = {"schema": SCHEMA, **to_builtins(record)}
    text = json.dumps(
        with_digest(document), allow_nan=False, indent=None if is_compact else 1
    )  # floats as Python spells them
    partial = path.with_name(f".{path.name}.{writer_name()}")  # machines share numbers and folders
    with writing(f"writing {path}"):
        try:
            with partial.open("w", encoding="utf-8") as file:
                file.write(text + "\n")
                file.flush()
                if is_durable:
                    os.fsync(file.fileno())
            partial.replace(path)
        finally:
            partial.unlink(missing_ok=True)
        if is_durable:
            _sync_folder(path.parent)


def read_json(path: Path, *, has_digest: bool = True) -> dict[str, Any]:
    """Read a file back, without its digest.

    Args:
        has_digest: False for what the guest writes, of which the result has the digest.

    Raises:
        RecordError: it is missing, damaged, or of another format.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise RecordError(f"reading {path}: {error.strerror or error}", "restore it from a backup") from error
    with reading(path):
        document = json.loads(data)
        if not isinstance(document, dict):
            raise TypeError("it is not a JSON object")
        if document.get("schema") != SCHEMA:
            raise RecordError(
                f"{path} has schema {document.get('schema')}; this deviate reads {SCHEMA}",
                "read it with the version of deviate that wrote it",
            )
        digest = document.pop(FIELD, None)
        if has_digest and digest is None:
            raise ValueError("its digest is missing")
        if has_digest and digest != document_digest(document):
            raise ValueError("its content does not match its digest")
    return document


PLAIN: Mapping[type, Callable[[Any], object]] = {Path: str, str: str, int: int, float: float, Mapping: dict}
"""What becomes of values that msgspec does not take."""


def to_builtins(record: object, *, order: Literal["deterministic"] | None = None) -> Any:
    """Convert a declared record to values that `json` can write; mappings are sorted if the order is deterministic."""
    return msgspec.to_builtins(record, enc_hook=_plain, order=order)


def _plain(value: object) -> object:
    """Convert paths, and subclasses that msgspec rejects: NumPy numbers, strings that remember their position.

    Raises:
        TypeError: nothing that JSON has.
    """
    for kind, plain in PLAIN.items():
        if isinstance(value, kind):
            return plain(value)
    raise TypeError(f"{type(value).__name__} cannot be written as JSON")


def read_record(path: Path, kind: type[T]) -> T:
    """Read a file as the type that is declared for it; undeclared fields are ignored.

    Raises:
        RecordError: it is missing, damaged, or of another format.
    """
    document = read_json(path)
    with reading(path):
        return convert(document, kind)


def find_record(path: Path, kind: type[T]) -> T | None:
    """Read a file as `read_record` does, or return None when it is missing, damaged, or of another format."""
    try:
        return read_record(path, kind)
    except RecordError:
        return None


def convert(document: object, kind: type[T]) -> T:
    """What JSON holds as a declared type. Raises ValueError where a field is missing or of the wrong kind."""
    return msgspec.convert(document, kind, dec_hook=lambda kind, value: kind(value))  # of a path


@contextlib.contextmanager
def lock_folder(folder: Path, *, waits: bool) -> Iterator[None]:
    """Lock a folder for changes; it is created if it does not exist.

    The operating system releases the lock when its holder dies. On file systems without locks, nothing is locked.

    Args:
        waits: until the other one has done; for changes that take no time.

    Raises:
        InUseError: another process has the lock, and is not waited for.
        RecordError: the folder cannot be written to.
    """
    with writing(f"writing to {folder}"):
        folder.mkdir(parents=True, exist_ok=True)
        file = (folder / LOCK).open("ab+", buffering=0)
    with file:
        if not _lock(file, waits=waits):
            file.seek(0)
            raise InUseError(
                f"{folder} is being written by process {file.read().decode() or 'unknown'}",
                "wait until that has ended, then try again",
            )
        if not waits:
            _note(file, str(os.getpid()))
        try:
            yield
        finally:
            if not waits:
                _note(file, "")


def _lock(file: IO[bytes], *, waits: bool) -> bool:
    """Acquire the lock, or continue without one where the file system does not support it.

    A holder without a note has only just acquired the lock or is about to release it, so this waits for it.

    Returns: False where another process has it.
    """
    patience = time.monotonic() + NAMELESS_S
    while fcntl is not None:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | (0 if waits else fcntl.LOCK_NB))
        except BlockingIOError:
            file.seek(0)
            if file.read() or time.monotonic() > patience:
                return False
            time.sleep(0.02)
        except OSError:
            break
        else:
            break
    return True


def _note(file: IO[bytes], text: str) -> None:
    """Write the owner of a lock into it. This is used only in a message, so write errors are ignored."""
    with contextlib.suppress(OSError):
        file.truncate(0)
        file.write(text.encode())


@contextlib.contextmanager
def reading(path: Path) -> Iterator[None]:
    """Convert errors that are raised while a document is parsed to a RecordError that names the file.

    Raises:
        RecordError: a field is missing or of the wrong kind.
    """
    try:
        yield
    except (TypeError, ValueError, KeyError, AttributeError, RecursionError) as error:
        raise RecordError(f"{path} is damaged: {in_words(error)}", DAMAGED) from error


def in_words(error: Exception) -> str:
    """What is missing, or what stands there in place of what."""
    return f"{error} is missing" if isinstance(error, KeyError) else str(error) or repr(error)


def _sync_folder(folder: Path) -> None:
    """Flush a folder to disk, so that file names are durable; some file systems do not support it."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def read_end(path: Path, n_bytes: int) -> bytes:
    """The last bytes of a file; none when it cannot be read."""
    with contextlib.suppress(OSError), path.open("rb") as file:
        file.seek(max(0, os.fstat(file.fileno()).st_size - n_bytes))
        return file.read()
    return b""


BAD = (ValueError, TypeError, LookupError, AttributeError, OverflowError, RecursionError)
"""Errors that are raised when a line does not have the form of its file."""


PIECE_CHARACTERS = 1 << 14
"""Characters of a file that are read at a time; few enough events that the garbage collector does not scan them, which
would take longer than all the rest."""


def json_lines(path: Path, on_damage: Callable[[Literal["bad", "torn"]], object] = lambda _: None) -> Iterator[Any]:
    """What the lines of a file hold, in order.

    A piece of many lines is taken apart at once, which takes a third of the time that its lines would take one by one.

    Args:
        on_damage: told of each line that is no JSON, and of a last line that was cut off.

    Raises:
        OSError: the file cannot be read.
    """
    with path.open(encoding="utf-8", errors="surrogateescape", newline="\n") as file:
        while lines := file.readlines(PIECE_CHARACTERS):
            if not lines[-1].endswith("\n"):
                on_damage("torn")
                lines.pop()
            try:
                items = json.loads(f"[{','.join(lines)}]")
            except (ValueError, RecursionError):
                items = None
            if items is not None and len(items) == len(lines):
                yield from items
                continue
            for line in lines:
                try:
                    item = json.loads(line)
                except BAD:
                    on_damage("bad")
                else:
                    yield item
