"""Executors whose runs are executed elsewhere: jobs of a scheduler run `deviate worker`, which writes to the folder.

The scheduler is only trusted on whether a job has ended. The outcome of a run is read from its attempts, and a run is
given up only when its executor is known to be dead, so that a new attempt never competes with an old one.
"""

import contextlib
import dataclasses
import importlib
import sys
import time
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, Protocol

from deviate.errors import InputError, RecordError, RunError
from deviate.model.records import Status
from deviate.records.layout import attempts, snapshot_folder, spec_file
from deviate.records.runs import (
    HEARTBEAT_S,
    Result,
    damaged_files,
    keep_spec,
    read_claim,
    read_result,
    run_id,
    spec_hash,
    write_result,
)
from deviate.records.schema import Manifest
from deviate.records.snapshot import read_manifest
from deviate.replay.adopt import end_orphans, is_here, is_living, settled_attempt
from deviate.replay.outcomes import SETTLED, has_reported, last_lines, silence
from deviate.replay.processes import end_group, end_processes, is_alive, processes_of
from deviate.replay.progress import Progress
from deviate.replay.protocol import Order, Outcome, RunUpdate

# ---------------------------------------------------------------- schedulers


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
            f"run pip install '.[{extra}]' in a clone of deviate, in the environment that runs it",
        ) from error


# ---------------------------------------------------------------- executor

LATE_S = 30.0
"""Seconds that files written on another machine may take to appear here.

Source: nfs(5), acregmin and acdirmin: attributes of files and folders are remembered for 3 and 30 seconds.
"""
LOOK_S = 0.25
"""Seconds between two looks at the folders of all runs, at least."""
LOOKS_PER_S = 20
"""Maximum number of folders that are looked at per second, so that many runs are looked at less often."""
CANCEL_S = 1.0
"""Seconds between two queries for the jobs that were cancelled."""


@dataclasses.dataclass(slots=True)
class _Job:
    """An order and the job that executes it.

    Attributes:
        before: attempts that there were before.
        over: how the scheduler says that it ended, None while it has not.
        over_since: when that was heard, by the monotonic clock.
        is_given_up: its attempt was ended from here, so its worker writes nothing more.
    """

    order: Order
    name: str
    before: frozenset[Path]
    attempt: Path | None = None
    progress: Progress | None = None
    over: str | None = None
    over_since: float = 0.0
    cancelled: Literal["", "politely", "at once"] = ""
    is_given_up: bool = False


class WorkersExecutor:
    """Executes orders as jobs of a backend."""

    def __init__(self, backend: Backend, *, late_s: float = LATE_S) -> None:
        self._backend = backend
        self._late_s = late_s
        self._jobs: dict[Path, _Job] = {}
        self._manifests: dict[Path, Manifest] = {}
        self._polled_at = self._looked = 0.0
        self._news: list[RunUpdate] = []
        self._has_heard: set[Path] = set()

    @property
    def capacity(self) -> int | None:
        return self._backend.capacity

    def submit(self, orders: Sequence[Order]) -> None:
        """Start a job for each order. Raises RunError if the scheduler rejects them."""
        if not orders:
            return
        for order in orders:
            order.run.mkdir(parents=True, exist_ok=True)
            keep_spec(spec_file(order.run), order.spec)  # a worker gets only the name of its run
        before = [frozenset(attempts(order.run)) for order in orders]
        names = self._backend.start(orders)
        for order, name, job_id in zip(orders, names, before, strict=True):
            self._jobs[order.run] = _Job(order, name, job_id)

    def expect_reports(self, experiment: Path) -> None:
        """Earlier runs of this experiment have reported, so a run that does not is a failure and ends nothing else."""
        self._has_heard.add(experiment)

    def poll(self, timeout_s: float) -> Sequence[RunUpdate]:
        """Updates after at most so many seconds.

        Raises:
            RunError: workers end before they begin a run, or the guest does not report from the first one.
            RecordError: a record is damaged.
        """
        until = time.monotonic() + timeout_s
        while True:
            pause = self._pause_s() - (time.monotonic() - self._looked)
            remaining_s = until - time.monotonic()
            time.sleep(max(0.0, min(pause, remaining_s)))
            if pause <= remaining_s:
                self._look()
                self._looked = time.monotonic()
            if self._news or time.monotonic() >= until:
                news, self._news = self._news, []
                return news

    def cancel(self, order: Order, *, at_once: bool = False) -> None:
        """End a run gently, or at once by giving up its attempt, which its worker notices on any machine."""
        job = self._jobs.get(order.run)
        if job is None or job.cancelled == "at once" or (job.cancelled == "politely" and not at_once):
            return
        job.cancelled = "at once" if at_once else "politely"
        self._find_attempt(job)
        if at_once and job.attempt is not None and read_result(job.attempt) is None:
            with contextlib.suppress(RecordError):  # also ended by the scheduler
                write_result(job.attempt, _cancel_result(job))
                job.is_given_up = True
        self._backend.cancel(job.name, at_once=at_once)

    def withdraw(self) -> None:
        """Return orders that no worker has started."""
        for job in list(self._jobs.values()):
            self._find_attempt(job)
            if job.attempt is None:
                self.cancel(job.order)

    def close(self) -> None:
        """End all jobs, and wait as long as a working scheduler may need."""
        for job in list(self._jobs.values()):
            self.cancel(job.order, at_once=True)
        until = time.monotonic() + self._late_s
        while self._jobs and time.monotonic() < until:
            with contextlib.suppress(RunError, RecordError):
                self.poll(LOOK_S)
        self._backend.close()

    def _pause_s(self) -> float:
        """Seconds from one look to the next; the shortest while runs are cancelled, as somebody waits for them."""
        is_ending = any(job.cancelled for job in self._jobs.values())
        return LOOK_S if is_ending else max(LOOK_S, len(self._jobs) / LOOKS_PER_S)

    def _look(self) -> None:
        now = time.monotonic()
        interval_s = self._backend.interval_s
        if any(job.cancelled for job in self._jobs.values()):
            interval_s = min(CANCEL_S, interval_s)
        if now - self._polled_at >= interval_s:
            open_jobs = {job.name: job for job in self._jobs.values() if job.over is None}
            for name, how in (self._backend.over(open_jobs) if open_jobs else {}).items():
                job = open_jobs[name]
                job.over, job.over_since = how, time.monotonic()
            self._polled_at = time.monotonic()
        for job in list(self._jobs.values()):
            self._follow(job)

    def _follow(self, job: _Job) -> None:
        if self._find_attempt(job):
            self._news.append(self._update("started", job))
        result = read_result(job.attempt) if job.attempt else None
        if job.attempt and result and result.status in SETTLED and result.spec_hash == spec_hash(job.order.spec):
            if not damaged_files(job.attempt, result):
                self._finish(job, result.status, result)
                return
            job.over = job.over or "ended"  # its event files are not visible yet, or incomplete
            job.over_since = job.over_since or time.monotonic()
        if job.over is not None:
            self._end(job, result)
        elif job.progress and job.progress.look():
            self._has_heard.add(job.order.experiment)
            self._news.append(self._update("progress", job))

    def _end(self, job: _Job, result: Result | None) -> None:
        """Finish a job that ended without settling its run, unless an attempt may still be running."""
        is_late = time.monotonic() - job.over_since > self._late_s
        if result is not None and result.status in SETTLED:
            if is_late:
                self._finish(job, "lost", result, "what it recorded has not arrived whole")
        elif result is not None:
            if not (job.is_given_up and _may_live(job, is_late=is_late)):
                self._judge(job, result)
        elif is_late or (job.cancelled if job.attempt is None else is_here(read_claim(job.attempt))):
            try:
                end_orphans([job.order.run], why=_scheduler_text(job))
            except RunError:  # the scheduler has lost a job that continues, or another executor has the run
                return
            self._judge(job, read_result(job.attempt) if job.attempt else None)

    def _judge(self, job: _Job, result: Result | None) -> None:
        """Finish a job that has certainly ended.

        Raises:
            RunError: the guest did not report from the first run, or its worker never began.
        """
        experiment, spec = job.order.experiment, job.order.spec
        attempt = settled_attempt(job.order.run, spec)
        if attempt is not None:  # another executor was faster
            job.attempt = attempt[0]
            self._finish(job, attempt[1].status, attempt[1])
        elif result is not None and result.status == "silent":
            self._finish(job, "silent", result)
            if job.attempt and experiment not in self._has_heard:
                raise silence((*spec.wrap, *spec.command), job.attempt, result.reason)
        elif job.cancelled:
            self._finish(job, "cancelled", result, "stopped before it ended")
        elif result is not None and result.cause not in {"cancel", "node"}:
            self._finish(job, "lost", result)
        else:
            self._finish(job, "lost", result, _scheduler_text(job))
            if job.attempt is None and experiment not in self._has_heard:
                raise self._never_began(job)

    def _never_began(self, job: _Job) -> RunError:
        log = self._backend.log(job.name)
        return RunError(
            f"job {job.name} ended before it began its run ({job.over}){last_lines(log) if log else ''}",
            f"make {sys.executable} and {job.order.experiment} available on every machine"
            + (f" (log: {log})" if log else ""),
        )

    def _find_attempt(self, job: _Job) -> bool:
        """Look up the latest attempt of a job; returns whether there is a new one."""
        new = [attempt for attempt in attempts(job.order.run) if attempt not in job.before]
        if not new or new[-1] == job.attempt:
            return False
        experiment = job.order.experiment
        if experiment not in self._manifests:
            self._manifests[experiment] = read_manifest(snapshot_folder(experiment))
        job.attempt = new[-1]
        job.progress = Progress(new[-1], self._manifests[experiment])
        return True

    def _finish(self, job: _Job, status: Status, result: Result | None, reason: str | None = None) -> None:
        del self._jobs[job.order.run]
        if job.attempt is not None and has_reported(job.attempt):
            self._has_heard.add(job.order.experiment)
        if job.progress:
            job.progress.look()
        cause = result.reason if result and reason is None else reason or ""
        wall_time_s = result.wall_time_s if result else 0.0
        folder = job.attempt or job.order.run
        outcome = Outcome(job.order.spec, status, wall_time_s, folder, cause)
        self._news.append(dataclasses.replace(self._update("finished", job), outcome=outcome))

    def _update(self, kind: Literal["started", "progress", "finished"], job: _Job) -> RunUpdate:
        claim = read_claim(job.attempt) if job.attempt else None
        return RunUpdate(
            kind,
            job.order,
            job.attempt or job.order.run,
            job.progress.step if job.progress else None,
            max(0.0, time.time() - claim.started) if claim else 0.0,
            claim.device if claim else "",
            bool(job.progress and job.progress.is_silent),
        )


def _cancel_result(job: _Job) -> Result:
    return Result(
        spec_hash(job.order.spec), "cancelled", None, None, time.time(), 0.0, "stopped before it ended", cause="cancel"
    )


def _scheduler_text(job: _Job) -> str:
    return f"its job ended without a result: {job.over}"


def _may_live(job: _Job, *, is_late: bool) -> bool:
    """Whether a run with an abandoned attempt may still be running; processes left on this machine are ended."""
    claim = read_claim(job.attempt) if job.attempt else None
    if job.attempt is None or claim is None:
        return False
    if not is_here(claim):
        return not is_late and is_living(job.attempt, claim, stale_s=3 * HEARTBEAT_S) is not False
    if is_alive(claim.pid, claim.birth):
        return True
    if claim.process is not None and is_alive(claim.process, claim.process_birth):
        end_group(claim.process, grace_s=0.0)
    attempt = job.attempt
    end_processes(lambda: processes_of(attempt), grace_s=0.0)
    return claim.process is not None and is_alive(claim.process, claim.process_birth)
