"""The files to which the output of this command goes: they grow while it runs, and are no part of the project."""

import contextlib
import os
import stat
from collections.abc import Iterator
from pathlib import Path

Identity = tuple[int, int]
"""Device and inode of a file."""


def own_output() -> frozenset[Identity]:
    """What a shell has sent standard output and standard error to, through a program that writes it down as well.

    `deviate run train.py | tee log.txt` writes to a pipe, and `tee` to the file. Whoever reads such a pipe is found by
    its open files, where the system shows those (Linux's /proc, for processes of the same user). Of those, files that
    are open for writing alone are meant: what is read as well may be a data base that the script needs.
    """
    files: set[Identity] = set()
    pipes: set[Identity] = set()
    for number in (1, 2):
        with contextlib.suppress(OSError):  # closed
            facts = os.fstat(number)
            (pipes if stat.S_ISFIFO(facts.st_mode) else files).add((facts.st_dev, facts.st_ino))
    return frozenset(files.union(*(_written_by(process) for process in _readers(pipes))) if pipes else files)


def _readers(pipes: set[Identity]) -> Iterator[Path]:
    for process in Path("/proc").glob("[0-9]*"):
        if process.name != str(os.getpid()) and any(
            _identity(each) in pipes and _mode(each) == stat.S_IRUSR for each in _open_files(process)
        ):
            yield process


def _written_by(process: Path) -> set[Identity]:
    written = {_identity(each) for each in _open_files(process) if _mode(each) == stat.S_IWUSR and each.is_file()}
    return {known for known in written if known is not None}


def _open_files(process: Path) -> list[Path]:
    try:
        return list((process / "fd").iterdir())
    except OSError:  # gone, or somebody else's
        return []


def _identity(opened: Path) -> Identity | None:
    try:
        facts = opened.stat()
    except OSError:
        return None
    return facts.st_dev, facts.st_ino


def _mode(opened: Path) -> int:
    """How a file was opened: its descriptor stands there as a link that its owner may read, write or both (proc(5))."""
    try:
        return opened.lstat().st_mode & (stat.S_IRUSR | stat.S_IWUSR)
    except OSError:
        return 0
