"""Executes the missing runs of a plan: keeps an executor busy, restarts lost runs, and can resume at any time."""

import collections
import dataclasses
import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType

from deviate.base.decisions import log_decision
from deviate.errors import DeviateError
from deviate.model.plan import Settings
from deviate.records.layout import runs_folder, spec_file
from deviate.records.runs import keep_spec
from deviate.replay.adopt import end_orphans, settled_attempt
from deviate.replay.attempt import outcome_of
from deviate.replay.executors.local import LocalExecutor
from deviate.replay.mistakes import mistake_of
from deviate.replay.protocol import Executor, Order, Outcome, RunUpdate
from deviate.replay.slots import slots

POLL_S = 0.25
INTERRUPTING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
FAILED = frozenset({"crashed", "timed_out", "silent", "lost"})


@dataclass(frozen=True, slots=True)
class Listeners:
    """Callbacks for events during execution.

    Attributes:
        on_update: news of a run.
        on_notice: a sentence for the user, as when no new runs are started.
        more: asked when nothing waits and nothing runs, with all outcomes so far: further orders, or none.
    """

    on_update: Callable[[RunUpdate], None] = lambda _: None
    on_notice: Callable[[str], None] = lambda _: None
    more: Callable[[Sequence[Outcome]], Sequence[Order]] = lambda _: ()


def execute_orders(
    orders: Sequence[Order],
    executor: Executor,
    settings: Settings,
    listeners: Listeners | None = None,
    *,
    budget_s: float | None = None,
    drains: bool = False,
) -> dict[Order, Outcome]:
    """Execute all orders that are not on record, in order; returns the outcomes of those that have ended.

    Training failures are outcomes and are not repeated; a lost run is restarted, at most `retries` times per call.

    Args:
        budget_s: seconds for all of it: no run is started that would not end within them, judged by those before,
            and at the end what still runs is cancelled. None for no limit.
        drains: a first interrupt lets the runs that are under way finish; the second one ends them.

    Raises:
        RunError: the command cannot be started, somebody else runs this experiment, or the guest did not report
            from the first run.
        RecordError: the disk is full or read-only, or a record is damaged.
        KeyboardInterrupt: after all runs have ended; what was cancelled will run again.
    """
    callbacks = listeners or Listeners()
    for experiment in dict.fromkeys(order.experiment for order in orders):
        runs = sorted(runs_folder(experiment).glob("*/"))
        end_orphans(runs, waits=True, on_notice=callbacks.on_notice)  # before anything starts
    schedule = _Schedule(executor, settings, callbacks, budget_s)
    schedule.admit(orders)
    return _run(schedule, drains=drains)


def work(order: Order, settings: Settings) -> Outcome:
    """Execute one run on this machine with the devices of this process, regardless of who executes other runs.

    Raises:
        InUseError: somebody else runs it now.
        RunError, RecordError, KeyboardInterrupt: as in `execute_orders`.
    """
    end_orphans([order.run], waits=True)
    alone = dataclasses.replace(settings, executor="local", jobs=1, gpus=None, retries=0, max_failures=None)
    schedule = _Schedule(LocalExecutor(alone), alone, Listeners(), None)
    schedule.admit([order])
    return _run(schedule, drains=False)[order]


def _run(schedule: "_Schedule", *, drains: bool) -> dict[Order, Outcome]:
    with _interrupts(schedule, drains=drains):
        try:
            schedule.run()
        except BaseException:
            schedule.stop()
            raise
        finally:
            schedule.executor.close()
    if schedule.is_draining or schedule.is_interrupted:
        raise KeyboardInterrupt
    return schedule.outcomes


@dataclass(slots=True)
class _Schedule:
    """Orders that are waiting, running or finished."""

    executor: Executor
    settings: Settings
    listeners: Listeners
    budget_s: float | None
    began: float = field(default_factory=time.monotonic)
    waiting: collections.deque[Order] = field(default_factory=collections.deque)
    running: dict[Path, Order] = field(default_factory=dict)
    outcomes: dict[Order, Outcome] = field(default_factory=dict)
    lost: collections.Counter[Order] = field(default_factory=collections.Counter)
    n_failed: int = 0
    mistaken: set[Path] = field(default_factory=set)
    is_draining: bool = False
    is_interrupted: bool = False
    is_closed: bool = False

    def admit(self, orders: Iterable[Order]) -> None:
        """Accept orders: those on record become outcomes, others wait."""
        for order in orders:
            settled = settled_attempt(order.run, order.spec)
            log_decision("replay", "%s is %s", _name(order), "to be run" if settled is None else "on record")
            if settled is None:
                self.waiting.append(order)
                continue
            attempt, result = settled
            keep_spec(spec_file(order.run), order.spec)
            self.outcomes[order] = outcome_of(order.spec, attempt, result, is_reused=True)
            self.executor.expect_reports(order.experiment)

    def run(self) -> None:
        while True:
            self._raise_interrupt()
            self._stop_starting_in_time()
            if self.is_draining and not self.is_closed:
                self._close("No new runs; running ones finish. Interrupt again to stop them; nothing is lost.")
            if not self.is_closed:
                if not self.waiting and not self.running:
                    self.waiting.extend(
                        order for order in self.listeners.more(tuple(self.outcomes.values()))
                        if order not in self.outcomes and order.experiment not in self.mistaken
                    )  # fmt: skip
                self._submit()
            if not self.running and (self.is_closed or not self.waiting):
                return
            for update in self.executor.poll(POLL_S):
                self._take(update)

    def _raise_interrupt(self) -> None:
        """Raise the requested interrupt at a point where nothing is half done."""
        if self.is_interrupted:
            self.is_interrupted = False
            raise KeyboardInterrupt

    def _close(self, notice: str) -> None:
        """Stop starting runs; orders that have no slot yet are returned."""
        log_decision("replay", "%s runs that wait are not started: %s", len(self.waiting), notice)
        self.is_closed = True
        self.waiting.clear()
        self.executor.withdraw()
        self.listeners.on_notice(notice)

    def stop(self) -> None:
        """Stop all runs, gently unless interrupted again; they will be repeated later."""
        at_once = False
        while self.running:
            try:
                self._raise_interrupt()
                for order in self.running.values():
                    self.executor.cancel(order, at_once=at_once)
                for update in self.executor.poll(POLL_S):
                    self._take(update)
            except KeyboardInterrupt:
                at_once = True
            except DeviateError:  # the disk is still full: the first error is the one to tell
                continue

    def _submit(self) -> None:
        room = len(self.waiting)
        if self.executor.capacity is not None:
            room = min(room, self.executor.capacity - len(self.running))
            if self.budget_s is not None and not self._times():  # the first run may show that the budget is too small
                room = min(room, len(slots(self.settings)) - len(self.running))
        batch = [self.waiting.popleft() for _ in range(room)]
        if batch:
            log_decision("replay", "submitted to %s: %s", self.settings.executor, ", ".join(map(_name, batch)))
            self.executor.submit(batch)  # raises where none was taken, and then there is none to wait for
            self.running.update((order.run, order) for order in batch)

    def _take(self, update: RunUpdate) -> None:
        order = self.running.pop(update.order.run, None) if update.outcome else None
        if order is not None and update.outcome is not None:
            self._end(order, update.outcome)
        self.listeners.on_update(update)

    def _end(self, order: Order, outcome: Outcome) -> None:
        self.outcomes[order] = outcome
        log_decision(
            "replay", "%s is %s after %.1f s%s in %s", _name(order), outcome.status, outcome.wall_time_s,
            f": {outcome.reason}" if outcome.reason else "", outcome.folder,
        )  # fmt: skip
        if outcome.status == "lost" and not self.is_closed and self.lost[order] < self.settings.retries:
            self.lost[order] += 1
            log_decision("replay", "%s is retried, %s of %s", _name(order), self.lost[order], self.settings.retries)
            self.outcomes.pop(order)
            self.waiting.append(order)
            return
        self.n_failed += outcome.status in FAILED
        most = self.settings.max_failures
        if most is not None and self.n_failed >= most and not self.is_closed:
            self._close(f"No new runs: {self.n_failed} have failed, and --max-failures is {most}.")
        self._end_mistaken(order, outcome)

    def _end_mistaken(self, order: Order, outcome: Outcome) -> None:
        """Start no more runs of an experiment in which each would fail as this one did."""
        if order.experiment in self.mistaken:
            return
        earlier = (it for other, it in self.outcomes.items() if other.experiment == order.experiment and it != outcome)
        if mistake := mistake_of(outcome, earlier):
            self.mistaken.add(order.experiment)
            left = [other for other in self.waiting if other.experiment != order.experiment]
            log_decision("replay", "%s runs that wait are not started: %s", len(self.waiting) - len(left), mistake)
            self.waiting = collections.deque(left)
            for other in self.running.values():
                if other.experiment == order.experiment:
                    self.executor.cancel(other)
            self.listeners.on_notice(f"No new runs of {order.experiment.name}, as each would fail: {mistake}.")

    def _stop_starting_in_time(self) -> None:
        """With a time budget, start no run that would exceed it; at its end, stop all runs."""
        if self.budget_s is None:
            return
        remaining_s = self.budget_s - (time.monotonic() - self.began)
        if not self.is_closed and self.waiting and remaining_s < max(self._times(), default=0.0):
            self._close(f"No new runs: {max(remaining_s, 0.0):.0f} s of the budget are left, too few for a run.")
        if remaining_s < 0:
            for order in self.running.values():
                self.executor.cancel(order)

    def _times(self) -> list[float]:
        """Seconds of each completed run."""
        return [outcome.wall_time_s for outcome in self.outcomes.values() if outcome.status == "completed"]


def _name(order: Order) -> str:
    return f"{order.experiment.name}:{order.spec.variant} replicate {order.spec.replicate}"


@contextmanager
def _interrupts(schedule: _Schedule, *, drains: bool) -> Iterator[None]:
    """Defer interrupt signals while runs are executed, until nothing is half done.

    An exception raised in a signal handler could separate the end of a run from its bookkeeping, and the run would be
    waited for forever. A repeated signal takes effect earlier.

    Args:
        drains: the first SIGINT starts no new runs, and only the next one interrupts.
    """

    def take(number: int, frame: FrameType | None) -> None:
        if drains and number == signal.SIGINT and schedule.running and not schedule.is_draining:
            schedule.is_draining = True
        elif schedule.is_interrupted:
            signal.default_int_handler(number, frame)
        else:
            schedule.is_interrupted = True

    ours = [number for number in INTERRUPTING if signal.getsignal(number) is signal.default_int_handler]
    if threading.current_thread() is not threading.main_thread():
        ours = []
    for number in ours:
        signal.signal(number, take)
    try:
        yield
    finally:
        for number in ours:
            signal.signal(number, signal.default_int_handler)
