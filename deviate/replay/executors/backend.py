"""The interface of schedulers for cluster executors, and their shared functions: command, logs, libraries."""

import importlib
import sys
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from deviate.errors import InputError
from deviate.records import run_id
from deviate.replay.updates import Order


class Backend(Protocol):
    """A scheduler. A job is identified by the string that `start` returned for it."""

    @property
    def capacity(self) -> int | None:
        """Number of jobs that it accepts at a time; None for no limit, as it queues them itself."""

    @property
    def interval_s(self) -> float:
        """Minimum seconds between status queries."""

    def start(self, orders: Sequence[Order]) -> Sequence[str]:
        """Start a job for each order, which runs `worker_command` in the current folder.

        Raises:
            RunError: the scheduler refuses them.
        """

    def over(self, jobs: Collection[str]) -> Mapping[str, str]:
        """Descriptions of ended jobs, by job; jobs that will be restarted are not included."""

    def cancel(self, job: str, *, at_once: bool) -> None:
        """End a job with SIGTERM, or all its processes with SIGKILL; a queued job never starts."""

    def log(self, job: str) -> Path | None:
        """The log file of the worker itself; None if there is none."""

    def close(self) -> None:
        """Release resources."""


def worker_command(order: Order) -> tuple[str, ...]:
    """The command that executes an order, on any machine with access to the folder and this interpreter."""
    return (
        sys.executable, "-m", "deviate", "worker", str(order.experiment.absolute()), "--run", run_id(order.spec),
    )  # fmt: skip


def log_folder(experiment: Path) -> Path:
    """The folder for files of the scheduler's jobs, created if necessary."""
    folder = experiment.absolute() / "jobs"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def load(module: str, extra: str) -> Any:
    """Import a library that only one executor needs.

    Raises:
        InputError: it is not installed.
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise InputError(
            f"--executor {extra} needs the package {module}, which cannot be imported: {error}",
            f"pip install '.[{extra}]' in a clone of deviate, into the environment that runs it",
        ) from error
