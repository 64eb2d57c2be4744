"""What every executor does: it takes orders for runs, and tells how they go. And the executors there are, by name."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol, TypeVar

from deviate.model import Settings
from deviate.registry import Registry
from deviate.replay.updates import Order, RunUpdate


class Executor(Protocol):
    """Carries out runs somewhere. One thread calls it."""

    @property
    def capacity(self) -> int | None:
        """Orders that it takes at a time, those that wait for a slot included; None: as many as there are."""

    def submit(self, orders: Sequence[Order]) -> None:
        """Take orders for runs that are not on record and that nobody runs.

        Raises:
            RunError: the executor cannot start runs at all.
        """

    def poll(self, timeout_s: float) -> Sequence[RunUpdate]:
        """News of the orders, after so many seconds at the latest. Each order ends with one update `finished`.

        Raises:
            RunError: going on makes no sense: the command cannot be started, or its first run does not report.
            RecordError: the disk is full or read-only, or a record is damaged.
        """

    def cancel(self, order: Order, *, at_once: bool = False) -> None:
        """Ask a run to end, or kill it; its last update tells `cancelled`. An order unknown here is left alone."""

    def withdraw(self) -> None:
        """Give back the orders that wait for a slot; each ends with an update that tells `cancelled`."""

    def expect_reports(self, experiment: Path) -> None:
        """Runs of this experiment have reported before: one that does not is a failure, not the end of all."""

    def close(self) -> None:
        """Give back what the executor holds; runs that are still under way are killed."""


Maker = Callable[[Settings], Executor]
"""Makes an executor. Raises InputError where an option of the settings is wrong, or a library is not installed."""
SomeMaker = TypeVar("SomeMaker", bound=Maker)
EXECUTORS: Registry[Maker] = Registry(
    "deviate.replay.executors", "deviate.executors", order=("local", "slurm", "ray")
)  # fmt: skip


def executor(name: str) -> Callable[[SomeMaker], SomeMaker]:
    """Register the decorated class or function, which takes the settings alone, as the executor of that name."""

    def register(maker: SomeMaker) -> SomeMaker:
        EXECUTORS.add(name, maker)
        return maker

    return register
