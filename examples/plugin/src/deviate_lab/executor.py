"""Executor `launcher`: each run is started by a command such as `nice -n 19`, as a scheduler starts its jobs."""

import contextlib
import os
import shlex
import signal
import subprocess
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from deviate.errors import InputError, RunError
from deviate.model.plan import Settings
from deviate.replay.executors.workers import WorkersExecutor, log_folder, worker_command
from deviate.replay.protocol import Executor, Order, executor


@executor("launcher")
def make_executor(settings: Settings) -> Executor:
    """The executor for `--executor launcher --option command="nice -n 19"`."""
    options = dict(settings.options)
    command = options.pop("command", "")
    if options:
        raise InputError(f"--executor launcher has no option {', '.join(options)}", "use command=…")
    return WorkersExecutor(Processes(shlex.split(command), settings.jobs))


class Processes:
    """Jobs as processes of this machine; `deviate.replay.executors.workers.Backend` describes each method."""

    interval_s = 0.2

    def __init__(self, launcher: Sequence[str], capacity: int) -> None:
        self.capacity = capacity
        self._launcher = launcher
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        self._logs: dict[str, Path] = {}

    def start(self, orders: Sequence[Order]) -> Sequence[str]:
        return [self._start(order) for order in orders]

    def over(self, jobs: Collection[str]) -> Mapping[str, str]:
        codes = {job: self._processes[job].poll() for job in jobs}
        return {job: f"exit code {code}" for job, code in codes.items() if code is not None}

    def cancel(self, job: str, *, at_once: bool) -> None:
        if self._processes[job].poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._processes[job].pid, signal.SIGKILL if at_once else signal.SIGTERM)

    def log(self, job: str) -> Path | None:
        return self._logs.get(job)

    def close(self) -> None:
        self._processes.clear()

    def _start(self, order: Order) -> str:
        log = log_folder(order.experiment) / f"launcher-{order.run.name}.log"
        command = [*self._launcher, *worker_command(order)]
        try:
            with log.open("ab") as output:
                process = subprocess.Popen(
                    command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True
                )
        except OSError as error:
            raise RunError(f"starting {command[0]}: {error}", "correct --option command=…") from error
        job = str(process.pid)
        self._processes[job], self._logs[job] = process, log
        return job
