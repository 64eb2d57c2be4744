"""The interface of executors: orders for runs, updates on them, and outcomes; and the registry of executors."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol, TypeVar

from deviate.model.plan import Settings, Spec
from deviate.model.records import Status
from deviate.records.layout import runs_folder
from deviate.records.runs import run_id
from deviate.registry import Registry

# ---------------------------------------------------------------- orders, updates and outcomes


@dataclass(frozen=True, slots=True)
class Order:
    """A run to be executed, in the folder of its experiment."""

    experiment: Path
    spec: Spec

    @property
    def run(self) -> Path:
        """The folder of the run, which identifies it."""
        return runs_folder(self.experiment) / run_id(self.spec)


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of a run. `is_reused`: it was on record already and was not executed."""

    spec: Spec
    status: Status
    wall_time_s: float
    folder: Path
    reason: str = ""
    is_reused: bool = False


@dataclass(frozen=True, slots=True)
class RunUpdate:
    """An update on one run.

    Attributes:
        step: the main-loop step it is in, None before the first; it counts on when the loop is entered again.
        folder: the attempt; the folder of the run where none was made.
        wall_time_s: for how long it has run.
        device: what it computes on, e.g. "GPU 0"; empty where it was given nothing.
        outcome: when it has finished.
        is_silent: whether it recorded no value in the first two minutes of the main loop.
    """

    kind: Literal["started", "progress", "finished"]
    order: Order
    folder: Path
    step: int | None = None
    wall_time_s: float = 0.0
    device: str = ""
    is_silent: bool = False
    outcome: Outcome | None = None

    @property
    def is_completed(self) -> bool:
        return self.outcome is not None and self.outcome.status == "completed"


# ---------------------------------------------------------------- executors


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
"""Makes an executor. Raises InputError if an option of the settings is wrong, or a library is not installed."""
SomeMaker = TypeVar("SomeMaker", bound=Maker)
EXECUTORS: Registry[Maker] = Registry(
    "deviate.replay.executors", "deviate.executors", order=("local", "slurm", "ray")
)  # fmt: skip


def executor(name: str) -> Callable[[SomeMaker], SomeMaker]:
    """Register the decorated class or function, which is called with the settings, as an executor."""

    def register(maker: SomeMaker) -> SomeMaker:
        EXECUTORS.add(name, maker, maker.__module__)
        return maker

    return register
