"""Workers that are started as processes of this machine: what any scheduler does with `deviate worker`."""

import os
import signal
import subprocess
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from deviate.replay.executors.workers import log_folder, worker_command
from deviate.replay.protocol import Order


class WorkersHere:
    """A backend that starts every job at once."""

    capacity = 2
    interval_s = 0.25

    def __init__(self) -> None:
        self.processes: dict[str, subprocess.Popen[bytes]] = {}
        self.logs: dict[str, Path] = {}

    def start(self, orders: Sequence[Order]) -> Sequence[str]:
        names = []
        for order in orders:
            log = log_folder(order.experiment) / f"worker-{order.run.name}.log"
            with log.open("ab") as output:
                process = subprocess.Popen(
                    worker_command(order), stdout=output, stderr=output, start_new_session=True
                )  # fmt: skip
            names.append(str(process.pid))
            self.processes[names[-1]] = process
            self.logs[names[-1]] = log
        return names

    def over(self, jobs: Collection[str]) -> Mapping[str, str]:
        codes = {job: self.processes[job].poll() for job in jobs}
        return {job: f"exit code {code}" for job, code in codes.items() if code is not None}

    def cancel(self, job: str, *, at_once: bool) -> None:
        if self.processes[job].poll() is None:
            os.kill(int(job), signal.SIGKILL if at_once else signal.SIGTERM)

    def log(self, job: str) -> Path | None:
        return self.logs[job]

    def close(self) -> None:
        for process in self.processes.values():
            process.wait()
