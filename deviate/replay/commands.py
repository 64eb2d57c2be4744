"""Commands of a run on this machine: executed in order, each in a process group, and if wanted inside a container."""

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
from deviate.replay.processes import GRACE_S, end_group, end_processes, processes_of, signal_group

LEFT_BEHIND_S = 2.0
"""Seconds that processes left behind by a command have to end after it."""


@dataclass(frozen=True, slots=True)
class Launch:
    """Commands that are ready to start in order, each after the previous one succeeded; `attempt` gets their output."""

    attempt: Path
    commands: Sequence[Sequence[str]]
    cwd: Path
    environment: Mapping[str, str]
    ignored_codes: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class Ended:
    """The end of a run's commands, after the last one or a failure. `code` is negative for a signal.

    Attributes:
        command: which of them it was, from 0.
        problem: why a command that follows could not be started; empty when it could.
    """

    attempt: Path
    code: int
    wall_time_s: float
    command: int = 0
    problem: str = ""


class Commands:
    """Starts commands, reports their end, and stops them on request.

    One thread waits for each run: there are no polling and no pipes that could slow it down.
    """

    def __init__(self) -> None:
        self._ended: queue.SimpleQueue[Ended] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._groups: dict[Path, int] = {}
        self._kill_at: dict[Path, float] = {}

    def start(self, launch: Launch) -> int:
        """Start the first command in a new process group; returns the process number of its leader.

        Raises:
            RunError: there is no such command, or it cannot be executed.
        """
        try:
            process = _open(launch, 0, "wb")
        except OSError as error:
            raise RunError(
                f"starting {launch.commands[0][0]!r}: {os.strerror(error.errno or 0)}",
                "check the command, and that its program is on PATH",
            ) from error
        self._groups[launch.attempt] = process.pid
        threading.Thread(target=self._follow, args=(launch, process, time.monotonic()), daemon=True).start()
        return process.pid

    def leader(self, attempt: Path) -> int:
        """Leader of the current process group; 0 if there is none."""
        return self._groups.get(attempt, 0)

    def wait(self, timeout_s: float) -> Ended | None:
        """The next run whose commands have ended; None after a timeout."""
        try:
            ended = self._ended.get(timeout=timeout_s) if timeout_s > 0 else self._ended.get_nowait()
        except queue.Empty:
            self._kill_the_unwilling()
            return None
        self._groups.pop(ended.attempt, None)
        self._kill_at.pop(ended.attempt, None)
        return ended

    def stop(self, attempt: Path, *, at_once: bool = False) -> None:
        """Ask a command and its descendants to terminate; kill them after a timeout. No further command follows."""
        with self._lock:
            if attempt in self._groups:
                self._kill_at.setdefault(attempt, time.monotonic() + GRACE_S)
                signal_group(self._groups[attempt], signal.SIGKILL if at_once else signal.SIGTERM)

    def _kill_the_unwilling(self) -> None:
        now = time.monotonic()
        with self._lock:
            for attempt, moment in self._kill_at.items():
                if now > moment:
                    signal_group(self._groups[attempt], signal.SIGKILL)

    def _follow(self, launch: Launch, process: "subprocess.Popen[bytes]", began: float) -> None:
        code, problem, index = 0, "", 0
        while True:
            code = process.wait()
            wall_time_s = time.monotonic() - began
            end_group(process.pid, grace_s=LEFT_BEHIND_S)  # a command has ended when its leader has
            end_processes(lambda: processes_of(launch.attempt), grace_s=LEFT_BEHIND_S)  # those in their own session
            if (code and code not in launch.ignored_codes) or index + 1 == len(launch.commands):
                break
            with self._lock:
                if launch.attempt in self._kill_at:
                    break
                try:
                    process = _open(launch, index + 1, "ab")
                except OSError as error:
                    name = launch.commands[index + 1][0]
                    code, problem = 127, f"{name!r} cannot be started: {os.strerror(error.errno or 0)}"
                    break
                self._groups[launch.attempt] = process.pid
            index += 1
        self._ended.put(Ended(launch.attempt, code, wall_time_s, index, problem))


def _open(launch: Launch, index: int, mode: str) -> "subprocess.Popen[bytes]":
    with (launch.attempt / "stdout.log").open(mode) as stdout, (launch.attempt / "stderr.log").open(mode) as stderr:
        return subprocess.Popen(
            launch.commands[index], cwd=launch.cwd, env=launch.environment, start_new_session=True,
            stdin=subprocess.DEVNULL, stdout=stdout, stderr=stderr,
        )  # fmt: skip


# ---------------------------------------------------------------- containers
#
# Commands get the folders and variables that a run needs inside.
#
# Source: docker-run(1) and podman-run(1), options -v, -w, -e and -u; the user guides of Apptainer and Singularity,
# options --bind and --pwd, and variables APPTAINERENV_* and SINGULARITYENV_*, which reach a container in any mode.

SECRETS = "DEVIATE_SECRETS"
"""Names of variables that the user passes to the runs and that are not recorded, separated by commas."""
RUNNERS = ("docker", "podman", "nerdctl")
"""Programs that pass no folder and no variable into the container by themselves."""
SHELLS = {"apptainer": "APPTAINERENV_", "singularity": "SINGULARITYENV_"}
"""Programs that pass the environment in by default, and the prefix of variables that are always passed in."""


def wrap_command(
    wrap: Sequence[str],
    command: Sequence[str],
    environment: Mapping[str, str],
    *,
    folders: Sequence[Path],
    names: Sequence[str],
    cwd: Path,
) -> tuple[tuple[str, ...], dict[str, str]]:
    """The command inside its container, and the variables to start it with.

    Args:
        wrap: how the container is started, up to its image, such as `docker run --gpus all IMAGE`.
        folders: what the run reads and writes, under the same paths inside.
        names: variables that the run needs inside.
        cwd: the working folder of the command.
    """
    if not wrap:
        return tuple(command), dict(environment)
    words, variables = list(wrap), dict(environment)
    bare = [os.path.basename(word) for word in words]  # noqa: PTH119  (words of a command, such as `sudo docker`)
    program = next((word for word in bare if word in RUNNERS or word in SHELLS), "")
    set_names = [name for name in names if name in environment]
    if program in RUNNERS and "run" in words:
        options = [word for folder in folders for word in ("-v", f"{folder}:{folder}")]
        options += ["-w", str(cwd), *(word for name in set_names for word in ("-e", name))]
        if not any(word in {"-u", "--user"} or word.startswith("--user=") for word in words):
            options += ["-u", _owner(program)]
        at = words.index("run") + 1
        words[at:at] = options
    elif program in SHELLS:
        at = next((index + 1 for index, word in enumerate(words) if word in {"exec", "run"}), len(words))
        words[at:at] = ["--bind", ",".join(map(str, folders)), "--pwd", str(cwd)]
        variables |= {f"{SHELLS[program]}{name}": environment[name] for name in set_names}
    return (*words, *command), variables


def _owner(program: str) -> str:
    """User options of the container, so that files belong to the user: in rootless Podman, root maps to the user.

    Source: podman-run(1), Rootless containers.
    """
    return "0:0" if program == "podman" and os.getuid() else f"{os.getuid()}:{os.getgid()}"
