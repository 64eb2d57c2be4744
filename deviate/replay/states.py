"""State of an experiment's runs, read from its folder only, also while another process executes them."""

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from deviate.errors import RecordError
from deviate.model.plan import Spec
from deviate.model.records import Status
from deviate.records.layout import attempt_number, runs_folder, snapshot_folder
from deviate.records.layout import attempts as attempt_folders
from deviate.records.plans import Plan, read_plan
from deviate.records.runs import Claim, Result, read_claim, read_result, spec_of
from deviate.records.schema import Manifest
from deviate.records.snapshot import read_manifest
from deviate.registry import wing
from deviate.replay.adopt import holder_text, is_here, may_live
from deviate.replay.outcomes import SETTLED
from deviate.replay.processes import is_alive
from deviate.replay.progress import Progress

State = Literal["waiting", "running", "completed", "failed", "lost", "cancelled"]
"""State of a run; the status of a run that failed says how."""

FEW = 5
"""Number of runs from which the number of steps of a run is estimated."""


@dataclass(frozen=True, slots=True)
class AttemptState:
    """One attempt of a run; `result` is None while it has not ended, `claim` if none can be read.

    Attributes:
        problem: why its result cannot be read.
    """

    folder: Path
    claim: Claim | None
    result: Result | None
    problem: str = ""

    @property
    def number(self) -> int:
        return attempt_number(self.folder) or 0

    @property
    def is_held(self) -> bool:
        """Whether a living executor is working on it."""
        return self.result is None and not self.problem and self.claim is not None and may_live(self.claim)

    @property
    def has_orphans(self) -> bool:
        """Whether the command is still running although its executor is dead; only visible on this machine."""
        claim = self.claim
        return (
            self.result is None and claim is not None and claim.process is not None
            and is_here(claim) and is_alive(claim.process, claim.process_birth)
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class RecordedRun:
    """A run that was started; `spec` is None where it is damaged. The latest attempt is the last one.

    Attributes:
        problem: why the spec cannot be read.
    """

    folder: Path
    spec: Spec | None
    attempts: tuple[AttemptState, ...]
    problem: str = ""


@dataclass(frozen=True, slots=True)
class RunState:
    """One run, planned or started.

    Attributes:
        run_id: empty where nothing of it is on record.
        status: how it ended, None as long as it has not.
        attempt: the number of the attempt that is told of, 0 where there is none; `folder` is its folder.
        wall_time_s: until it ended, or until now.
        step: the main-loop step it came to, from 0; None where it has not entered the loop.
    """

    variant: str
    replicate: int
    state: State
    run_id: str = ""
    status: Status | None = None
    attempt: int = 0
    folder: Path | None = None
    host: str = ""
    device: str = ""
    started: float = 0.0
    wall_time_s: float = 0.0
    step: int | None = None
    reason: str = ""
    cause: str = ""


@dataclass(frozen=True, slots=True)
class Expected:
    """Planned runs of one experiment, and their expected duration from earlier runs.

    Attributes:
        n_done: runs among them that are on record.
        n_steps: main-loop steps of a run, None where no run has ended.
        mean_s: mean time of the completed runs in seconds, None where there is none.
    """

    experiment: str
    n_runs: int
    n_done: int = 0
    n_steps: int | None = None
    mean_s: float | None = None


def expected_runs(experiment: Path, *, variants: Sequence[str] = (), runs: int | None = None) -> Expected:
    """Expected runs of an experiment.

    Args:
        variants: names of those to run; all when there are none.
        runs: how many of each; all that are planned when it is None.
    """
    plan = read_plan(experiment)
    states = [
        state
        for state in run_states(experiment, plan)
        if (not variants or state.variant in variants) and (runs is None or state.replicate < runs)
    ]
    completed = [state for state in states if state.state == "completed"]
    times = [state.wall_time_s for state in completed]
    return Expected(
        plan.name,
        len(states),
        sum(state.status in SETTLED for state in states),
        n_steps_of(completed[:FEW]),
        sum(times) / len(times) if times else None,
    )


def n_steps_of(states: Sequence[RunState]) -> int | None:
    """Number of main-loop steps per run, from completed runs; None if there are none."""
    return max(
        (1 + state.step for state in states if state.state == "completed" and state.step is not None), default=None
    )


def rung_of(plan: Plan) -> str:
    """The ladder rung of `deviate diverge` that an experiment belongs to; empty for other experiments."""
    level = dict(plan.capture).get("trace")
    if level is None:
        return ""
    return str(wing("diverge.findings").RUNGS[int(level) - 1])


def run_states(experiment: Path, plan: Plan, runs: Iterable[RecordedRun] | None = None) -> tuple[RunState, ...]:
    """Every planned run, by variant and replicate.

    Args:
        runs: those on record, where they have been read already.

    Raises:
        RecordError: the manifest of the snapshot is missing or damaged.
    """
    manifest = read_manifest(snapshot_folder(experiment))
    states: dict[tuple[str, int], RunState] = {}
    for run in recorded_runs(experiment) if runs is None else runs:
        if run.spec is None:
            continue
        states[run.spec.variant, run.spec.replicate] = _state(run, run.spec, manifest)
    return tuple(
        states.get((variant.name, replicate), RunState(variant.name, replicate, "waiting"))
        for variant in plan.variants
        for replicate in range(variant.n_runs)
    )


def recorded_runs(experiment: Path) -> Iterator[RecordedRun]:
    """The runs that were started, each read when it is asked for."""
    return map(read_run, sorted(runs_folder(experiment).glob("*/")))


def read_run(run: Path) -> RecordedRun:
    """The run in a folder."""
    try:
        return RecordedRun(run, spec_of(run), attempt_states(run))
    except RecordError as error:
        tried = attempt_states(run)
        return RecordedRun(run, None, tried, error.message if tried else "")  # none is begun, where there is no attempt


def attempt_states(run: Path) -> tuple[AttemptState, ...]:
    """The attempts of a run, latest last."""
    return tuple(_attempt_state(folder) for folder in attempt_folders(run))


def ended_runs(experiment: Path) -> list[RunState]:
    """The runs of an experiment that need not run again. Raises RecordError."""
    return [state for state in run_states(experiment, read_plan(experiment)) if state.status in SETTLED]


def in_use(runs: Iterable[RecordedRun]) -> str:
    """Who is running one of these runs now, in words; empty if nobody is."""
    for run in runs:
        for attempt in run.attempts:
            claim = attempt.claim
            if claim is not None and attempt.is_held:
                return holder_text(claim)
            if claim is not None and attempt.has_orphans:
                return f"process {claim.process}, left behind by a killed deviate"
    return ""


def _attempt_state(folder: Path) -> AttemptState:
    try:
        return AttemptState(folder, read_claim(folder), read_result(folder))
    except RecordError as error:
        return AttemptState(folder, read_claim(folder), None, error.message)


def _state(run: RecordedRun, spec: Spec, manifest: Manifest) -> RunState:
    tried = run.attempts
    if not tried:
        return RunState(spec.variant, spec.replicate, "waiting", run.folder.name)
    attempt = next((attempt_state for attempt_state in tried if attempt_state.is_held), tried[-1])
    claim, result = attempt.claim, attempt.result
    progress = Progress(attempt.folder, manifest)
    progress.look()
    status: Status | None = None
    if attempt.is_held and claim is not None:
        state: State = "running" if claim.process is not None else "waiting"
        wall_time_s = max(0.0, time.time() - claim.started) if state == "running" else 0.0
        reason = "" if state == "running" else "is being prepared"
    elif result is None:
        state, status, wall_time_s = "lost", "lost", 0.0
        reason = attempt.problem or "its executor died: deviate or the machine stopped"
    else:
        status, reason, wall_time_s = result.status, result.reason, result.wall_time_s
        state = status if status in {"completed", "lost", "cancelled"} else "failed"
    return RunState(
        spec.variant,
        spec.replicate,
        state,
        run.folder.name,
        status,
        attempt.number,
        attempt.folder,
        claim.host if claim else "",
        (result.device if result else "") or (claim.device if claim else ""),
        result.started if result else claim.started if claim else 0.0,
        wall_time_s,
        progress.step,
        reason,
        result.cause if result else "",
    )
