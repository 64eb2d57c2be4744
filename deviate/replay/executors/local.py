"""The local executor: runs occupy the slots of this machine, and are monitored until they end."""

import collections
import shutil
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from deviate.errors import RecordError, RunError
from deviate.model.plan import Settings
from deviate.model.records import Status
from deviate.records.runs import HEARTBEAT_S
from deviate.replay.adopt import give_back, settled_attempt
from deviate.replay.attempt import (
    Attempt,
    Frozen,
    beat,
    ending_of,
    finish_attempt,
    outcome_of,
    prepare_attempt,
    read_frozen,
    start_attempt,
)  # fmt: skip
from deviate.replay.commands import Commands, Ended
from deviate.replay.environment import Environments
from deviate.replay.machine import n_killed_for_memory, refuse_full_disk
from deviate.replay.outcomes import CANCELLED, Ending, has_reported, silence
from deviate.replay.processes import oldest_python_s
from deviate.replay.progress import checkpoint_error, describe_stop
from deviate.replay.protocol import Order, Outcome, RunUpdate, executor
from deviate.replay.slots import slots
from deviate.replay.workcopy import remove_work_copy

TICK_S = 0.25
"""Seconds between two checks of time-outs and progress."""
DEAF_S = 30.0
"""Age from which a Python process that has not reported counts as silent."""


@executor("local")
class LocalExecutor:
    """Executes runs on this machine, one per slot; one more is prepared while the slots are busy."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._free = list(slots(settings))
        self._capacity = len(self._free) + 1
        self._commands = Commands()
        self._environments = Environments()
        self._frozen: dict[Path, Frozen] = {}
        self._waiting: collections.deque[Order] = collections.deque()
        self._ready: Attempt | None = None
        self._running: dict[Path, Attempt] = {}
        self._news: list[RunUpdate] = []
        self._has_heard: set[Path] = set()
        self._ticked = self._beaten = 0.0

    @property
    def capacity(self) -> int | None:
        return self._capacity

    def submit(self, orders: Sequence[Order]) -> None:
        self._waiting.extend(orders)

    def expect_reports(self, experiment: Path) -> None:
        self._has_heard.add(experiment)

    def poll(self, timeout_s: float) -> Sequence[RunUpdate]:
        until = time.monotonic() + timeout_s
        while True:
            if self._ready and self._free:
                self._start()
            elif self._waiting and self._ready is None:  # created while the slots are busy, so that none has to wait
                self._ready = self._take_up(self._waiting.popleft())
            else:
                ended = self._commands.wait(min(TICK_S, max(0.0, until - time.monotonic())))
                if ended is not None:
                    self._finish(ended)
                self._tick()
                if self._news or time.monotonic() >= until:
                    news, self._news = self._news, []
                    return news

    def cancel(self, order: Order, *, at_once: bool = False) -> None:
        if order in self._waiting:
            self._waiting.remove(order)
            self._news.append(_end_without_result(order, "cancelled", "never started"))
        elif self._ready is not None and self._ready.order == order:
            attempt, self._ready = self._ready, None
            self._give_up(attempt)
        for attempt in self._running.values():
            if attempt.order == order and (attempt.stopped is None or at_once):
                attempt.stopped = attempt.stopped or "cancel"
                self._commands.stop(attempt.folder, at_once=at_once)

    def withdraw(self) -> None:
        for order in [*self._waiting, *([self._ready.order] if self._ready else [])]:
            self.cancel(order)

    def close(self) -> None:
        for order in [attempt.order for attempt in (*self._running.values(), *filter(None, [self._ready]))]:
            self.cancel(order, at_once=True)
        while self._running:
            self.poll(TICK_S)

    def _take_up(self, order: Order) -> Attempt | None:
        """Prepare a run; returns None if another executor has finished it since the start."""
        try:
            attempt = self._prepare(order)
            settled = settled_attempt(order.run, order.spec)  # checked when no other executor can start it any more
        except BaseException:
            self._news.append(_end_without_result(order, "cancelled", "never started"))
            raise
        if settled is None:
            return attempt
        shutil.rmtree(attempt.claim.temporary, ignore_errors=True)
        give_back(attempt.folder)
        self.expect_reports(order.experiment)
        outcome = outcome_of(order.spec, *settled, is_reused=True)
        self._news.append(RunUpdate("finished", order, outcome.folder, outcome=outcome))
        return None

    def _prepare(self, order: Order) -> Attempt:
        refuse_full_disk(order.experiment)
        if order.experiment not in self._frozen:
            self._frozen[order.experiment] = read_frozen(order.experiment)
        return prepare_attempt(order, self._frozen[order.experiment], self._settings)

    def _start(self) -> None:
        attempt, self._ready = self._ready, None
        if attempt is None:
            return
        slot = self._free.pop(0)
        self._running[attempt.folder] = attempt
        attempt.n_killed_before = n_killed_for_memory()
        try:
            start_attempt(attempt, slot, self._commands.start)
        except BaseException:
            if self._commands.leader(attempt.folder):  # it runs but could not be reported: it ends like any other
                attempt.stopped = "cancel"
                self._commands.stop(attempt.folder, at_once=True)
                raise
            self._running.pop(attempt.folder)
            self._free.append(slot)
            self._give_up(attempt)
            raise
        self._environments.begin(attempt.spec, attempt.launch.cwd, attempt.launch.environment)
        sharing = [other for other in self._running.values() if other.slot.device == slot.device]
        for other in sharing:
            other.n_sharing = max(other.n_sharing, len(sharing) - 1)
        self._news.append(attempt.tell("started"))

    def _give_up(self, attempt: Attempt) -> None:
        """End an attempt that was not started."""
        try:
            self._news.append(finish_attempt(attempt, CANCELLED, 0.0))
        except RecordError:
            self._news.append(_end_without_result(attempt.order, "cancelled", "never started"))

    def _finish(self, ended: Ended) -> None:
        attempt = self._running.pop(ended.attempt)
        experiment = attempt.order.experiment
        self._free.append(attempt.slot)
        try:
            if self._ready and experiment in self._has_heard:  # fill the slot before recording the end
                self._start()
        finally:
            self._record_end(attempt, ended)

    def _record_end(self, attempt: Attempt, ended: Ended) -> None:
        """Record the end of a run. It is reported in any case, since the caller waits for it."""
        experiment = attempt.order.experiment
        try:
            ending, earlier = self._judge(attempt, ended)
            self._environments.write(
                attempt.folder, attempt.spec, attempt.frozen.manifest, attempt.launch.cwd, attempt.launch.environment,
            )  # fmt: skip
            update = finish_attempt(attempt, ending, ended.wall_time_s)
        except BaseException as error:  # a full disk: the attempt has no result, and will be repeated
            self._news.append(_end_without_result(attempt.order, "lost", "its result could not be written"))
            if isinstance(error, RecordError) and attempt.stopped == "cancel":
                return
            raise
        self._news.append(update)
        if earlier is not None:
            raise checkpoint_error(*earlier)
        if ended.problem:
            raise RunError(ending.reason, "fix the command or its environment, then run again")
        if has_reported(attempt.folder):
            self._has_heard.add(experiment)
        if ending.status == "silent" and experiment not in self._has_heard:
            raise silence((*attempt.spec.wrap, *attempt.spec.command), attempt.folder, ending.reason)
        if self._settings.keep == "none" and ending.status == "completed":
            remove_work_copy(attempt.folder)

    def _judge(self, attempt: Attempt, ended: Ended) -> tuple[Ending, tuple[str, str] | None]:
        """The ending of a run, and the file of an earlier training that it started from."""
        was_out_of_memory = n_killed_for_memory() > attempt.n_killed_before
        ending = ending_of(attempt, ended, self._settings, was_out_of_memory=was_out_of_memory)
        earlier = attempt.checkpoints.look()
        if earlier is not None:
            ending = replace(ending, status="cancelled", reason=describe_stop(*earlier), cause="checkpoint")
        return ending, earlier

    def _tick(self) -> None:
        now = time.monotonic()
        if now - self._ticked < TICK_S:
            return
        self._ticked = now
        for attempt in self._running.values():
            if attempt.progress.look():
                self._news.append(attempt.tell("progress"))
            if attempt.stopped is None and self._is_overdue(attempt, now):
                self._commands.stop(attempt.folder)
            earlier = attempt.checkpoints.look() if attempt.stopped is None else None
            if earlier is not None:
                raise checkpoint_error(*earlier)
        if now - self._beaten > HEARTBEAT_S:
            self._beaten = now
            self._beat(now)

    def _is_overdue(self, attempt: Attempt, now: float) -> bool:
        settings = self._settings
        if settings.timeout_s is not None and now - attempt.began > settings.timeout_s:
            attempt.stopped = "timeout"
        elif settings.stall_timeout_s is not None and now - attempt.progress.stirred > settings.stall_timeout_s:
            attempt.stopped = "stall"
        return attempt.stopped is not None

    def _beat(self, now: float) -> None:
        attempts = [*self._running.values(), *([self._ready] if self._ready else [])]
        for attempt in attempts:
            if not beat(attempt, self._commands.leader(attempt.folder)) and attempt.stopped is None:
                attempt.stopped = "cancel"
                self._commands.stop(attempt.folder, at_once=True)
        for attempt in self._running.values():
            self._listen(attempt, now)
        if attempts:
            refuse_full_disk(attempts[0].order.experiment)

    def _listen(self, attempt: Attempt, now: float) -> None:
        """End the first run if Python runs in it without the guest, as hours would be wasted."""
        experiment = attempt.order.experiment
        if experiment in self._has_heard or now - attempt.began < DEAF_S:
            return
        if has_reported(attempt.folder):
            self._has_heard.add(experiment)
        elif oldest_python_s(attempt.leader) > DEAF_S:
            raise silence((*attempt.spec.wrap, *attempt.spec.command), attempt.folder)


def _end_without_result(order: Order, status: Status, reason: str) -> RunUpdate:
    """The end of a run without a recorded result."""
    outcome = Outcome(order.spec, status, 0.0, order.run, reason)
    return RunUpdate("finished", order, order.run, outcome=outcome)
