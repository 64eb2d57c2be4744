"""Files that receive the output of this command: they grow while it runs, and do not belong to the project."""

import contextlib
import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

Identity = tuple[int, int]
"""Device and inode of a file."""
PROCESSES = Path("/proc")


def own_output() -> frozenset[Identity]:
    """Files that receive standard output and standard error, directly or through a program in a pipe.

    With `deviate run train.py | tee log.txt`, output goes to a pipe, and `tee` writes the file. The reader of the pipe
    is found by its open files, where the system shows them (Linux's /proc, for processes of the same user). Only files
    opened for writing alone are included, since a file that is also read may be a database that the script needs. A
    program that started this one and reads its output, such as a notebook, writes other files and is ignored, as are
    programs further down a pipeline.
    """
    files: set[Identity] = set()
    pipes: set[Identity] = set()
    for number in (1, 2):
        with contextlib.suppress(OSError):  # closed
            facts = os.fstat(number)
            (pipes if stat.S_ISFIFO(facts.st_mode) else files).add((facts.st_dev, facts.st_ino))
    return frozenset(files.union(*(_written_by(process) for process in _readers(pipes))) if pipes else files)


def _readers(pipes: set[Identity]) -> Iterator[Path]:
    ancestors = set(_ancestry())
    for process in PROCESSES.glob("[0-9]*"):
        if process.name not in ancestors and any(
            _identity(file, stat.S_ISFIFO) in pipes for file in _open_files(process, stat.S_IRUSR) if _is_pipe(file)
        ):
            yield process


def _ancestry() -> Iterator[str]:
    """Ids of this process and its ancestors."""
    number = str(os.getpid())
    while number not in ("", "0"):
        yield number
        try:
            stat_line = (PROCESSES / number / "stat").read_text(encoding="utf-8", errors="replace")
            number = stat_line.rpartition(")")[2].split()[1]  # behind the name, which may hold anything: state, parent
        except (OSError, IndexError):
            return


def _written_by(process: Path) -> set[Identity]:
    written = {_identity(file, stat.S_ISREG) for file in _open_files(process, stat.S_IWUSR)}
    return {identity for identity in written if identity is not None}


def _open_files(process: Path, mode: int) -> list[Path]:
    """Files that a process has opened for reading only or for writing only.

    A descriptor stands there as a link that its owner may read, write or both; see proc(5).
    """
    both = stat.S_IRUSR | stat.S_IWUSR
    try:
        return [file for file in (process / "fd").iterdir() if file.lstat().st_mode & both == mode]
    except OSError:  # it has ended, or belongs to another user
        return []


def _is_pipe(descriptor: Path) -> bool:
    """Whether a path is a pipe, by name only: accessing a file on an unavailable disk could block forever."""
    try:
        return str(descriptor.readlink()).startswith("pipe:")
    except OSError:
        return False


def _identity(descriptor: Path, is_kind: Callable[[int], bool]) -> Identity | None:
    try:
        facts = descriptor.stat()
    except OSError:
        return None
    return (facts.st_dev, facts.st_ino) if is_kind(facts.st_mode) else None
