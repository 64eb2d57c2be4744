"""Runs what a plan lacks: fills the slots, watches over the runs, and leaves everything resumable."""

import collections
import contextlib
import dataclasses
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from deviate.errors import RecordError
from deviate.model import Snapshot, Spec
from deviate.records import log_end
from deviate.records.attempts import HEARTBEAT_S, Claim, Result, write_claim, write_result
from deviate.records.layout import event_files, runs_folder, spec_file
from deviate.records.manifest import Manifest, read_manifest
from deviate.records.specs import run_id, spec_hash, write_spec
from deviate.replay.adopt import claim_attempt, settled_attempt
from deviate.replay.executors.local import Ended, Launch, LocalExecutor
from deviate.replay.outcomes import Ending, explain, has_reported, judge, silence
from deviate.replay.processes import birth, oldest_python_s
from deviate.replay.progress import Progress
from deviate.replay.updates import Outcome, RunUpdate
from deviate.replay.workcopy import child_environment, command_in_copy, make_work_copy, verify_links

TICK_S = 0.25
"""How often time-outs and progress are looked at."""
DEAF_S = 30.0
"""A Python process of this age that has not reported never will."""


@dataclass(slots=True)
class Attempt:
    """One attempt from its work copy to its result."""

    spec: Spec
    folder: Path
    claim: Claim
    launch: Launch
    progress: Progress
    warnings: tuple[str, ...]
    leader: int = 0
    began: float = 0.0
    stopped: Literal["timeout", "cancel"] | None = None


def execute(
    specs: Sequence[Spec],
    snapshot: Snapshot,
    experiment_folder: Path,
    *,
    jobs: int,
    timeout: float | None = None,
    retries: int = 1,
    on_update: Callable[[RunUpdate], None] = lambda _: None,
) -> tuple[Outcome, ...]:
    """Run every spec that is not on record, `jobs` at a time; gives all outcomes in the order of the specs.

    Training failures are outcomes and never run again; a lost run is started anew, at most `retries` times per call.

    Args:
        timeout: seconds after which a run is ended; None for no limit.

    Raises:
        RunError: the command cannot be started, somebody else runs this experiment, or the guest did not report
            from the first run.
        RecordError: the disk is full or read-only, or a record is damaged.
        KeyboardInterrupt: after all runs were ended; what ran is marked cancelled and will run again.
    """
    replay = _Replay(snapshot, experiment_folder, jobs=jobs, timeout_s=timeout, retries=retries, on_update=on_update)
    outcomes = replay.run(specs)
    return tuple(outcomes[spec] for spec in specs)


class _Replay:
    """The state of one call of `execute`."""

    def __init__(
        self,
        snapshot: Snapshot,
        experiment_folder: Path,
        *,
        jobs: int,
        timeout_s: float | None,
        retries: int,
        on_update: Callable[[RunUpdate], None],
    ) -> None:
        self.snapshot = snapshot
        self.runs = runs_folder(experiment_folder)
        self.manifest: Manifest = read_manifest(snapshot.folder)
        self.jobs = max(1, jobs)
        self.timeout_s = timeout_s
        self.retries = retries
        self.on_update = on_update
        self.executor = LocalExecutor()
        self.running: dict[Path, Attempt] = {}
        self.outcomes: dict[Spec, Outcome] = {}
        self.lost: collections.Counter[Spec] = collections.Counter()
        self.has_heard = False
        self.ticked = self.beaten = self.listened = 0.0

    def run(self, specs: Sequence[Spec]) -> dict[Spec, Outcome]:
        waiting = collections.deque(spec for spec in specs if not self._is_settled(spec))
        self.has_heard = bool(self.outcomes)
        ready: Attempt | None = None
        try:
            while waiting or ready or self.running:
                if ready and len(self.running) < self.jobs:
                    self._start(ready)
                    ready = None
                elif waiting and ready is None:  # made while the slots are busy, so that no slot waits for it
                    ready = self._prepare(waiting.popleft())
                else:
                    ended = self.executor.wait(TICK_S)
                    if ended is not None:
                        if ready and self.has_heard:  # the slot is filled before the books are done
                            self._start(ready)
                            ready = None
                        self._finish(ended, waiting)
                    self._tick()
        except BaseException:
            self._stop_all(ready)
            raise
        return self.outcomes

    def _is_settled(self, spec: Spec) -> bool:
        found = settled_attempt(self.runs / run_id(spec), spec)
        if found is not None:
            attempt, result = found
            self.outcomes[spec] = _outcome(spec, attempt, result, is_reused=True)
        return found is not None

    def _prepare(self, spec: Spec) -> Attempt:
        run = self.runs / run_id(spec)
        try:
            run.mkdir(parents=True, exist_ok=True)
            if not spec_file(run).exists():
                write_spec(spec_file(run), spec)
            folder, claim = claim_attempt(run)
            write_claim(folder, claim)
            copy = make_work_copy(self.snapshot, self.manifest, folder, spec.cwd)
        except OSError as error:
            raise RecordError(
                f"making the work copy of replicate {spec.replicate}: {error}",
                "check free space and permissions; then resume, nothing is lost",
            ) from error
        environment = child_environment(os.environ, spec, self.snapshot, self.manifest, folder, copy)
        command = command_in_copy(spec.command, self.manifest, copy.root)
        progress = Progress(folder, self.manifest)
        return Attempt(spec, folder, claim, Launch(folder, command, copy.cwd, environment), progress, copy.warnings)

    def _start(self, attempt: Attempt) -> None:
        self.running[attempt.folder] = attempt
        started = time.time()
        attempt.began = time.monotonic()
        attempt.leader = self.executor.submit(attempt.launch)
        attempt.claim = dataclasses.replace(
            attempt.claim, started=started, process=attempt.leader, process_birth=birth(attempt.leader)
        )
        write_claim(attempt.folder, attempt.claim)
        self._tell("started", attempt)

    def _finish(self, ended: Ended, waiting: "collections.deque[Spec]") -> None:
        attempt = self.running.pop(ended.attempt)
        reported = has_reported(attempt.folder)
        ending = judge(ended.code, stopped=attempt.stopped, has_reported=reported, timeout_s=self.timeout_s or 0.0)
        ending = explain(ending, log_end(attempt.folder / "stderr.log"), dict(attempt.spec.controls))
        self._record(attempt, ending, ended.wall_time_s)
        self.has_heard = self.has_heard or reported
        if ending.status == "silent" and not self.has_heard:
            raise silence(attempt.spec.command, attempt.folder, ending)
        if ending.status == "lost" and self.lost[attempt.spec] < self.retries:
            self.lost[attempt.spec] += 1
            waiting.append(attempt.spec)

    def _record(self, attempt: Attempt, ending: Ending, wall_time_s: float) -> None:
        for path in event_files(attempt.folder):  # what the result vouches for has to be on the disk before it
            with path.open("rb") as file:
                os.fsync(file.fileno())
        result = Result(
            spec_hash(attempt.spec),
            ending.status,
            ending.exit_code,
            ending.signal,
            attempt.claim.started,
            wall_time_s,
            ending.reason,
            (*attempt.warnings, *verify_links(self.snapshot, self.manifest)),
        )
        write_result(attempt.folder, result)
        self.outcomes[attempt.spec] = _outcome(attempt.spec, attempt.folder, result, is_reused=False)
        attempt.progress.look()
        self._tell("finished", attempt, result)

    def _tick(self) -> None:
        now = time.monotonic()
        if now - self.ticked < TICK_S:
            return
        self.ticked = now
        for attempt in self.running.values():
            if self.timeout_s is not None and now - attempt.began > self.timeout_s and attempt.stopped is None:
                attempt.stopped = "timeout"
                self.executor.stop(attempt.folder)
            if attempt.progress.look():
                self._tell("progress", attempt)
        if now - self.beaten > HEARTBEAT_S:
            self.beaten = now
            for attempt in self.running.values():
                attempt.claim = dataclasses.replace(attempt.claim, heartbeat=time.time())
                write_claim(attempt.folder, attempt.claim)
            self._listen(now)

    def _listen(self, now: float) -> None:
        """End the first run when Python runs in it without the guest: hours would be spent for nothing."""
        for attempt in self.running.values():
            if self.has_heard or now - attempt.began < DEAF_S:
                continue
            self.has_heard = has_reported(attempt.folder)
            if not self.has_heard and oldest_python_s(attempt.leader) > DEAF_S:
                raise silence(attempt.spec.command, attempt.folder, None)

    def _stop_all(self, ready: Attempt | None) -> None:
        """End what runs, politely unless interrupted again, and mark it so that it will be run again."""
        if ready is not None:
            self.running[ready.folder] = ready
        at_once = False
        cancelled = Ending("cancelled", None, None, "stopped before it ended")
        for attempt in [it for it in self.running.values() if not it.leader]:
            with contextlib.suppress(RecordError):
                self._record(self.running.pop(attempt.folder), cancelled, 0.0)
        while self.running:
            try:
                for attempt in self.running.values():
                    if attempt.stopped is None or at_once:
                        attempt.stopped = "cancel"
                        self.executor.stop(attempt.folder, at_once=at_once)
                ended = self.executor.wait(TICK_S)
                if ended is not None:
                    attempt = self.running.pop(ended.attempt)
                    ending = judge(ended.code, stopped="cancel", has_reported=True, timeout_s=0.0)
                    with contextlib.suppress(RecordError):  # a full disk: the attempt is lost, and will be run again
                        self._record(attempt, ending, ended.wall_time_s)
            except KeyboardInterrupt:
                at_once = True

    def _tell(
        self, kind: Literal["started", "progress", "finished"], attempt: Attempt, result: Result | None = None
    ) -> None:
        self.on_update(
            RunUpdate(
                kind,
                run_id(attempt.spec),
                attempt.spec.replicate,
                attempt.spec.variant,
                attempt.folder,
                attempt.progress.step,
                attempt.progress.value,
                result.status if result else None,
                result.reason if result else "",
                result.wall_time_s if result else time.monotonic() - attempt.began,
            )
        )


def _outcome(spec: Spec, attempt: Path, result: Result, *, is_reused: bool) -> Outcome:
    return Outcome(
        spec, run_id(spec), result.status, result.exit_code, result.wall_time_s, attempt, result.reason, is_reused
    )
