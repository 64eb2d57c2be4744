"""The files to which the output of this command goes: they grow while it runs, and are no part of the project."""

import contextlib
import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

Identity = tuple[int, int]
"""Device and inode of a file."""
PROCESSES = Path("/proc")


def own_output() -> frozenset[Identity]:
    """What a shell has sent standard output and standard error to, through a program that writes it down as well.

    `deviate run train.py | tee log.txt` writes to a pipe, and `tee` to the file. Whoever reads such a pipe is found by
    its open files, where the system shows those (Linux's /proc, for processes of the same user). Of those, files that
    are open for writing alone are meant: what is read as well may be a data base that the script needs. A program that
    has started this one and reads what it prints, such as a notebook, writes files of other kinds, and is left alone;
    so are programs further down a pipeline than the first.
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
    """The numbers of this process and of those that it descends from."""
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
    """The files that a process has opened to read alone or to write alone.

    A descriptor stands there as a link that its owner may read, write or both; see proc(5).
    """
    both = stat.S_IRUSR | stat.S_IWUSR
    try:
        return [file for file in (process / "fd").iterdir() if file.lstat().st_mode & both == mode]
    except OSError:  # gone, or somebody else's
        return []


def _is_pipe(descriptor: Path) -> bool:
    """By its name alone: to ask for more of a file on a disk that is away may take for ever."""
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
