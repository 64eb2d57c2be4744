"""The local executor: each run is a process group of this machine."""

import os
import queue
import signal
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from deviate.errors import RunError
from deviate.replay.processes import GRACE_S, end_group, signal_group

LEFT_BEHIND_S = 2.0
"""How long processes that a command left behind may take to end after it."""


@dataclass(frozen=True, slots=True)
class Launch:
    """A command ready to start: `attempt` takes its output and names it."""

    attempt: Path
    command: Sequence[str]
    cwd: Path
    environment: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Ended:
    """A command has ended. `code` is negative for the signal that killed it."""

    attempt: Path
    code: int
    wall_time_s: float


class LocalExecutor:
    """Starts commands, tells when they have ended, and ends them when asked.

    One thread waits for each process: no polling, no pipes, nothing that could slow a run down.
    """

    def __init__(self, *, grace_s: float = GRACE_S) -> None:
        self._grace_s = grace_s
        self._ended: queue.SimpleQueue[Ended] = queue.SimpleQueue()
        self._groups: dict[Path, int] = {}
        self._kill_at: dict[Path, float] = {}

    def submit(self, launch: Launch) -> int:
        """Start a command in a process group of its own; gives the leader's process number.

        Raises:
            RunError: there is no such command, or it cannot be executed.
        """
        with (launch.attempt / "stdout.log").open("wb") as stdout, (launch.attempt / "stderr.log").open("wb") as stderr:
            try:
                process = subprocess.Popen(
                    launch.command, cwd=launch.cwd, env=launch.environment, start_new_session=True,
                    stdin=subprocess.DEVNULL, stdout=stdout, stderr=stderr,
                )  # fmt: skip
            except OSError as error:
                raise RunError(
                    f"starting {launch.command[0]!r}: {os.strerror(error.errno or 0)}",
                    "check the command after --, and that its program is on PATH",
                ) from error
        self._groups[launch.attempt] = process.pid
        waiter = threading.Thread(target=self._wait, args=(launch.attempt, process, time.monotonic()), daemon=True)
        waiter.start()
        return process.pid

    def wait(self, timeout_s: float) -> Ended | None:
        """The next command that has ended; None when none did within the time."""
        try:
            ended = self._ended.get(timeout=timeout_s)
        except queue.Empty:
            self._kill_the_unwilling()
            return None
        self._groups.pop(ended.attempt)
        self._kill_at.pop(ended.attempt, None)
        return ended

    def stop(self, attempt: Path, *, at_once: bool = False) -> None:
        """Ask a command and all it started to end; kill what does not in time."""
        if attempt in self._groups:
            signal_group(self._groups[attempt], signal.SIGKILL if at_once else signal.SIGTERM)
            self._kill_at.setdefault(attempt, time.monotonic() + self._grace_s)

    def _kill_the_unwilling(self) -> None:
        now = time.monotonic()
        for attempt, moment in self._kill_at.items():
            if now > moment:
                signal_group(self._groups[attempt], signal.SIGKILL)

    def _wait(self, attempt: Path, process: "subprocess.Popen[bytes]", began: float) -> None:
        code = process.wait()
        wall_time_s = time.monotonic() - began
        end_group(process.pid, grace_s=LEFT_BEHIND_S)  # a run is over when its command is
        self._ended.put(Ended(attempt, code, wall_time_s))
