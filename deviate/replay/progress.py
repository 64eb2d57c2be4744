"""What event files of a run tell while they are being written: its progress, and whether an old checkpoint began it."""

import contextlib
import subprocess
import time
from pathlib import Path

from deviate.base.git import SAFE
from deviate.errors import RunError
from deviate.eventlog import BY_NAME, StepEntry, decode, line_starts
from deviate.records.events import UNKNOWN_MAIN, has_values
from deviate.records.layout import event_files, log_files
from deviate.records.schema import Manifest

PATIENCE_S = 120.0
"""Seconds of the main loop after which it is said that no value came; many scripts report every 500 steps."""
TAIL_BYTES = 16_384
"""Bytes that are read per file and time; the display does not need the events in between."""


VALUES, STEP = line_starts("value") + line_starts("named"), line_starts("step")


class Progress:
    """Follows one attempt.

    Attributes:
        step: the main-loop step it is in, None before the first.
        is_silent: whether no value was recorded in the first two minutes of the main loop.
        has_shrunk: whether an event file became shorter than it had been: somebody else has written to it.
        stirred: when it last wrote events or output, by the monotonic clock; at first when it began to be followed.
    """

    def __init__(self, attempt: Path, manifest: Manifest) -> None:
        self.step: int | None = None
        self.is_silent = False
        self.stirred = time.monotonic()
        self.has_shrunk = False
        self._written = 0
        self._attempt = attempt
        self._main_loops = (manifest.main_loop, UNKNOWN_MAIN)
        self._sizes: dict[Path, int] = {}
        self._stepped: float | None = None
        self._has_value = self._is_judged = False

    def look(self) -> bool:
        """Read what was written since the last call; returns whether step or silence have changed."""
        before = self.step, self.is_silent
        written = sum(path.stat().st_size for path in log_files(self._attempt) if path.exists())
        for path in event_files(self._attempt):
            with contextlib.suppress(OSError):
                size = path.stat().st_size
                written += size
                if size < self._sizes.get(path, 0):
                    self.has_shrunk = True
                    self._sizes[path] = size
                if size != self._sizes.get(path, 0):
                    self._read(path, max(self._sizes.get(path, 0), size - TAIL_BYTES), size)
        if written != self._written:
            self._written, self.stirred = written, time.monotonic()
        self._judge_silence(time.monotonic())
        return before != (self.step, self.is_silent)

    def _judge_silence(self, now: float) -> None:
        if self._is_judged or self.step is None:
            return
        self._stepped = now if self._stepped is None else self._stepped
        if self._has_value or now - self._stepped > PATIENCE_S:
            self._is_judged = True
            self.is_silent = not self._has_value and not has_values(self._attempt)

    def _read(self, path: Path, begin: int, end: int) -> None:
        whole, self._sizes[path] = _read_lines(path, begin, end)
        self._has_value = self._has_value or any(line.startswith(VALUES) for line in whole.split(b"\n"))
        for line in reversed(whole.split(b"\n")):
            if line.startswith(STEP):
                with contextlib.suppress(ValueError, IndexError, TypeError):
                    event = decode(line)
                    if isinstance(event, StepEntry) and event.loop in self._main_loops:
                        self.step = int(event.step)
                        return


def _read_lines(path: Path, begin: int, end: int) -> tuple[bytes, int]:
    """The complete lines between two offsets of a file, and the offset behind them."""
    with path.open("rb") as file:
        file.seek(begin)
        whole = file.read(end - begin).rpartition(b"\n")[0]
    return whole, begin + len(whole) + 1 if whole else begin


# ---------------------------------------------------------------- checkpoints of an earlier training
#
# Runs must not start from one: the guest's report of it, and the error.

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
        size = path.stat().st_size
        if size <= begin:
            return []
        whole, self._read[path] = _read_lines(path, begin, size)
        sentences = []
        for line in whole.split(b"\n") if MARK in whole else ():
            if line.startswith(MARK):
                with contextlib.suppress(ValueError):
                    name, reason = decode(line)
                    sentences.append((str(name), str(reason)))
        return sentences


def checkpoint_error(name: str, reason: str) -> RunError:
    """The error for runs that start from a file of an earlier training, with remedies."""
    folder = name.rpartition("/")[0]
    fresh = f"{folder}/" if folder else name
    cure = f'let {fresh} start empty in each run: [snapshot] fresh = ["{fresh}"] in deviate.toml; or delete it'
    if name.startswith("/"):
        cure = "let the script write below its working folder, or delete the file before each experiment"
    meant = "if all runs are meant to start there: --env DEVIATE_CONTINUED=1"
    return RunError(f"a run {describe_stop(name, reason)}", f"{cure}; {meant}")


def describe_stop(name: str, reason: str) -> str:
    """The reason why a run was stopped."""
    return f"started from {name}, which an earlier training wrote ({reason})"


def _is_tracked(attempt: Path, name: str) -> bool:
    """Whether git tracks a file of the work copy; False if unknown."""
    roots = [path for path in attempt.glob("work/*/*") if path.is_dir() and not path.is_symlink()]
    for root in roots:
        with contextlib.suppress(OSError, subprocess.TimeoutExpired):
            command = [*SAFE, "-C", str(root), "ls-files", "--error-unmatch", "--", name]
            if subprocess.run(command, capture_output=True, check=False, timeout=GIT_S).returncode == 0:
                return True
    return False
