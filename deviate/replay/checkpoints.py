"""Runs that start from a checkpoint of an earlier training: the guest's report of it, and the error."""

import contextlib
import subprocess
from pathlib import Path

from deviate.base import SAFE
from deviate.errors import RunError
from deviate.eventlog import BY_NAME, decode
from deviate.records import event_files

MARK = b'["checkpoint",'
GIT_S = 10.0


class CheckpointWatch:
    """Follows the event files of one attempt, reading each byte once."""

    def __init__(self, attempt: Path) -> None:
        self._attempt = attempt
        self._read: dict[Path, int] = {}

    def look(self) -> tuple[str, str] | None:
        """The file from which the run started, relative to the project if inside, and the evidence.

        None while nothing was reported. A file tracked by git belongs to the project, regardless of its name.
        """
        for path in event_files(self._attempt):
            with contextlib.suppress(OSError):
                for name, reason in self._describe_file(path):
                    if reason != BY_NAME or not _is_tracked(self._attempt, name):
                        return name, reason
        return None

    def _describe_file(self, path: Path) -> list[tuple[str, str]]:
        begin = self._read.get(path, 0)
        if path.stat().st_size <= begin:
            return []
        with path.open("rb") as file:
            file.seek(begin)
            whole = file.read().rpartition(b"\n")[0]
        self._read[path] = begin + len(whole) + 1 if whole else begin
        if MARK not in whole:
            return []
        sentences = []
        for line in whole.split(b"\n"):
            if line.startswith(MARK):
                with contextlib.suppress(ValueError):
                    name, reason = decode(line)
                    sentences.append((str(name), str(reason)))
        return sentences


def checkpoint_error(name: str, reason: str) -> RunError:
    """The error for runs that start from a file of an earlier training, with remedies."""
    folder = name.rpartition("/")[0]
    fresh = f"{folder}/" if folder else name
    cure = f'let {fresh} start empty in each run, by [snapshot] fresh = ["{fresh}"] in deviate.toml, or delete it'
    if name.startswith("/"):
        cure = "let the script write below its working folder, or delete the file before each experiment"
    meant = "where all runs are meant to begin there: --env DEVIATE_CONTINUED=1"
    return RunError(f"a run {describe_stop(name, reason)}", f"{cure}; {meant}")


def describe_stop(name: str, reason: str) -> str:
    """The reason why a run was stopped."""
    return f"started from {name}, which an earlier training left there ({reason})"


def _is_tracked(attempt: Path, name: str) -> bool:
    """Whether git tracks a file of the work copy; False if unknown."""
    roots = [path for path in attempt.glob("work/*/*") if path.is_dir() and not path.is_symlink()]
    for root in roots:
        with contextlib.suppress(OSError, subprocess.TimeoutExpired):
            command = [*SAFE, "-C", str(root), "ls-files", "--error-unmatch", "--", name]
            if subprocess.run(command, capture_output=True, check=False, timeout=GIT_S).returncode == 0:
                return True
    return False
