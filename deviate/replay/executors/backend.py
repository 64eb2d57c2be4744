"""What executors of clusters need of a scheduler, and what they have in common: command, logs, libraries."""

import importlib
import sys
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from deviate.errors import InputError
from deviate.records import run_id
from deviate.replay.updates import Order


class Backend(Protocol):
    """A scheduler as it is needed here. A job is named by the text that `start` gave it."""

    @property
    def capacity(self) -> int | None:
        """Jobs that it takes at a time; None: as many as there are, for it queues them itself."""

    @property
    def interval_s(self) -> float:
        """How often it may be asked for its jobs."""

    def start(self, orders: Sequence[Order]) -> Sequence[str]:
        """Start a job for each order, which runs `worker_command` in the folder where deviate was started.

        Raises:
            RunError: the scheduler refuses them.
        """

    def over(self, jobs: Collection[str]) -> Mapping[str, str]:
        """How jobs ended, a phrase for each of those that are over and will not begin anew."""

    def cancel(self, job: str, *, at_once: bool) -> None:
        """End a job with SIGTERM, or with SIGKILL for all its processes; a queued one never begins."""

    def log(self, job: str) -> Path | None:
        """Where the output of the worker itself goes, None where that is not kept."""

    def close(self) -> None:
        """Give back what is held."""


def worker_command(order: Order) -> tuple[str, ...]:
    """What carries out an order, on any machine that sees the folder and has this interpreter."""
    return (
        sys.executable, "-m", "deviate", "worker", str(order.experiment.absolute()), "--run", run_id(order.spec),
    )  # fmt: skip


def log_folder(experiment: Path) -> Path:
    """Where schedulers put what belongs to their jobs; made when it is not there."""
    folder = experiment.absolute() / "jobs"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def load(module: str, extra: str) -> Any:
    """A library that only one executor needs.

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
