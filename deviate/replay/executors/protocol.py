"""The interface of executors, which accept orders for runs and report their progress; and the registry of executors."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol, TypeVar

from deviate.model import Settings
from deviate.registry import Registry
from deviate.replay.updates import Order, RunUpdate


class Executor(Protocol):
    """Executes runs somewhere. It is called from one thread."""

    @property
    def capacity(self) -> int | None:
        """Number of orders it accepts at a time, including those waiting for a slot; None for no limit."""

    def submit(self, orders: Sequence[Order]) -> None:
        """Accept orders for runs that are neither on record nor running.

        Raises:
            RunError: the executor cannot start runs at all.
        """

    def poll(self, timeout_s: float) -> Sequence[RunUpdate]:
        """Updates on the orders, after at most so many seconds. The last update of an order is `finished`.

        Raises:
            RunError: going on makes no sense: the command cannot be started, or its first run does not report.
            RecordError: the disk is full or read-only, or a record is damaged.
        """

    def cancel(self, order: Order, *, at_once: bool = False) -> None:
        """Ask a run to end, or kill it; its last update is `cancelled`. Unknown orders are ignored."""

    def withdraw(self) -> None:
        """Return orders that wait for a slot; each ends with the update `cancelled`."""

    def expect_reports(self, experiment: Path) -> None:
        """Earlier runs of this experiment have reported, so a run that does not is a failure and ends nothing else."""

    def close(self) -> None:
        """Release resources; running runs are killed."""


Maker = Callable[[Settings], Executor]
"""Makes an executor. Raises InputError where an option of the settings is wrong, or a library is not installed."""
SomeMaker = TypeVar("SomeMaker", bound=Maker)
EXECUTORS: Registry[Maker] = Registry(
    "deviate.replay.executors", "deviate.executors", order=("local", "slurm", "ray")
)  # fmt: skip


def executor(name: str) -> Callable[[SomeMaker], SomeMaker]:
    """Register the decorated class or function, which is called with the settings, as an executor."""

    def register(maker: SomeMaker) -> SomeMaker:
        EXECUTORS.add(name, maker)
        return maker

    return register
