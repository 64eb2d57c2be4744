"""An attempt of a run on this machine, from its claim and work copy to its result; and commands that prepare data."""

import dataclasses
import hashlib
import os
import shlex
import shutil
import socket
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from deviate.base.decisions import log_decision
from deviate.base.redaction import redact_words
from deviate.errors import InUseError, RecordError, RunError
from deviate.eventlog import CUT
from deviate.model.plan import Settings, Snapshot, Spec
from deviate.records.events import first_values
from deviate.records.layout import (
    attempt_folder,
    attempt_number,
    attempts,
    event_files,
    log_files,
    result_file,
    snapshot_folder,
    spec_file,
)
from deviate.records.plans import read_plan, record_weights
from deviate.records.read import log_end
from deviate.records.runs import (
    Claim,
    Result,
    keep_spec,
    read_claim,
    read_intact_result,
    run_id,
    spec_hash,
    write_claim,
    write_result,
)
from deviate.records.schema import Manifest
from deviate.records.snapshot import damaged_sources, read_manifest
from deviate.replay.adopt import claim_attempt, end_orphans, temporary_prefix
from deviate.replay.commands import SECRETS, Commands, Ended, Launch, wrap_command
from deviate.replay.machine import is_disk_full
from deviate.replay.outcomes import (
    CANCELLED,
    Ending,
    Stop,
    explain,
    has_reported,
    is_whole,
    judge,
    last_lines,
    signals_to_itself,
)
from deviate.replay.processes import birth
from deviate.replay.progress import CheckpointWatch, Progress
from deviate.replay.protocol import Order, Outcome, RunUpdate
from deviate.replay.slots import Slot
from deviate.replay.trackers import tracker_variables
from deviate.replay.workcopy import (
    WorkCopy,
    child_environment,
    command_in_copy,
    make_work_copy,
    root_in_copy,
    verify_links,
)


@dataclass(frozen=True, slots=True)
class Frozen:
    """The snapshot of an experiment, read once for all of its runs."""

    snapshot: Snapshot
    manifest: Manifest


def read_frozen(experiment: Path) -> Frozen:
    """Raises RecordError when the manifest is missing or damaged, or the guest or code with taps is."""
    folder = snapshot_folder(experiment)
    manifest = read_manifest(folder)
    damaged = damaged_sources(folder, manifest, "guest", "tree")
    if damaged:
        raise RecordError(
            f"{folder / damaged[0]} is damaged: its content does not match its digest",
            "restore it from a backup, or run again under another --name",
        )
    return Frozen(Snapshot(folder, Path(manifest.root), manifest.sources_hash), manifest)


@dataclass(slots=True)
class Attempt:
    """An attempt in progress."""

    order: Order
    frozen: Frozen
    folder: Path
    claim: Claim
    launch: Launch
    progress: Progress
    checkpoints: CheckpointWatch
    warnings: tuple[str, ...]
    slot: Slot = field(default_factory=Slot)
    leader: int = 0
    began: float = 0.0
    n_sharing: int = 0
    n_killed_before: int = 0
    stopped: Stop | None = None
    is_taken: bool = False

    @property
    def spec(self) -> Spec:
        return self.order.spec

    def tell(self, kind: Literal["started", "progress", "finished"]) -> RunUpdate:
        """An update with the current state."""
        progress, passed_s = self.progress, time.monotonic() - self.began
        return RunUpdate(kind, self.order, self.folder, progress.step, passed_s, self.slot.device, progress.is_silent)


def prepare_attempt(order: Order, frozen: Frozen, settings: Settings, *, run: Path | None = None) -> Attempt:
    """Claim the next attempt of a run, and make its work copy.

    Args:
        run: where its attempts lie, if not where those of the order do.

    Raises:
        RunError: somebody else runs it.
        RecordError: the disk does not take it.
    """
    spec, run = order.spec, run or order.run
    if spec.replicate and spec.weights is None:  # planned before the first run had ended
        spec = dataclasses.replace(spec, weights=read_plan(order.experiment).weights or ())
        order = dataclasses.replace(order, spec=spec)
    try:
        run.mkdir(parents=True, exist_ok=True)
        end_orphans([run])  # of a worker that came and died since the beginning
        keep_spec(spec_file(run), spec)
        before = _left_behind(run) if settings.requeue == "continue" else None
        folder, claim = claim_attempt(run, continues=before)
        temporary = tempfile.mkdtemp(prefix=temporary_prefix(folder))  # short: names of sockets have 108 bytes at most
        claim = dataclasses.replace(claim, temporary=temporary)
        write_claim(folder, claim)
        if before is None:
            copy = make_work_copy(frozen.snapshot, frozen.manifest, folder, spec.cwd)
        else:
            (attempt_folder(run, before) / "work").rename(folder / "work")
            root = root_in_copy(frozen.snapshot, folder)
            copy = WorkCopy(root, root / spec.cwd)
    except OSError as error:
        raise RecordError(
            f"making the work copy of replicate {spec.replicate}: {error}",
            "check free space and permissions, then resume; nothing is lost",
        ) from error
    environment = child_environment(os.environ, spec, frozen.snapshot, frozen.manifest, folder, copy)
    environment |= tracker_variables(spec, order.experiment.name, os.environ)
    environment |= {"TMPDIR": temporary, "DEVIATE_RUN": run_id(spec), "DEVIATE_EXPERIMENT": order.experiment.name}
    if before is not None:
        environment["DEVIATE_CONTINUED"] = str(before)
    places = {"run": run_id(spec), "replicate": str(spec.replicate), "variant": spec.variant}
    commands = [
        command_in_copy(tuple(_fill_in(word, places) for word in command), frozen.manifest, copy.root)
        for command in (spec.command, *spec.then)
    ]
    launch = Launch(folder, commands, copy.cwd, environment, frozenset(settings.ignored_codes))
    progress = Progress(folder, frozen.manifest)
    return Attempt(order, frozen, folder, claim, launch, progress, CheckpointWatch(folder), copy.warnings)


def start_attempt(attempt: Attempt, slot: Slot, start: Callable[[Launch], int]) -> None:
    """Start the commands in a slot, and record their leader.

    Raises:
        InUseError: another executor has given this attempt up, and may be at the run.
        RunError: the command cannot be started.
    """
    if result_file(attempt.folder).exists():
        raise InUseError(f"{attempt.folder} was given up by another process", "resume when that process has ended")
    attempt.slot = slot
    ours = {**_ports(attempt.spec), **dict(slot.variables)}
    environment = {**attempt.launch.environment, **ours}
    if attempt.spec.wrap:
        names = {*ours, *dict(attempt.spec.environment), "PYTHONPATH", "TMPDIR", "PWD"}
        names |= set(filter(None, environment.get(SECRETS, "").split(",")))
        names |= {name for name in environment if name.startswith("DEVIATE_")}
        inside = [
            wrap_command(
                attempt.spec.wrap,
                command,
                environment,
                folders=(attempt.order.experiment, attempt.frozen.snapshot.root.parent, Path(attempt.claim.temporary)),
                names=sorted(names),
                cwd=attempt.launch.cwd,
            )
            for command in attempt.launch.commands
        ]
        attempt.launch = dataclasses.replace(attempt.launch, commands=[words for words, _ in inside])
        environment = inside[0][1]
    attempt.launch = dataclasses.replace(attempt.launch, environment=environment)
    began = time.time()
    attempt.began = attempt.progress.stirred = time.monotonic()
    attempt.leader = start(attempt.launch)
    words = " && ".join(shlex.join(redact_words(command)) for command in attempt.launch.commands)
    log_decision("replay", "process %s on %s runs %s", attempt.leader, slot.device or "no device", words)
    attempt.claim = dataclasses.replace(
        attempt.claim,
        started=began,
        process=attempt.leader,
        process_birth=birth(attempt.leader),
        device=slot.device,
    )
    write_claim(attempt.folder, attempt.claim)


def beat(attempt: Attempt, leader: int) -> bool:
    """Update the heartbeat; returns False if the attempt was given up by another executor, and must end silently."""
    if result_file(attempt.folder).exists():
        attempt.is_taken = True
        return False
    if leader and leader != attempt.leader:
        attempt.leader = leader
        attempt.claim = dataclasses.replace(attempt.claim, process=leader, process_birth=birth(leader))
    attempt.claim = dataclasses.replace(attempt.claim, heartbeat=time.time())
    write_claim(attempt.folder, attempt.claim)
    return True


def ending_of(attempt: Attempt, ended: Ended, settings: Settings, *, was_out_of_memory: bool) -> Ending:
    """The ending of an attempt's commands."""
    patience = settings.stall_timeout_s if attempt.stopped == "stall" else settings.timeout_s
    ending = judge(
        ended.code,
        stopped=attempt.stopped,
        has_reported=attempt.stopped == "cancel" or has_reported(attempt.folder),
        patience_s=patience or 0.0,
        was_out_of_memory=was_out_of_memory,
        ignored_codes=settings.ignored_codes,
        sent_itself=signals_to_itself(attempt.folder),
    )
    ending = explain(
        ending, log_end(attempt.folder / "stderr.log"), dict(attempt.spec.controls), attempt.n_sharing,
        is_disk_full=is_disk_full(attempt.folder), was_out_of_memory=was_out_of_memory,
    )  # fmt: skip
    if ending.status != "completed" and ended.command:
        command = shlex.join(redact_words(attempt.spec.then[ended.command - 1]))
        ending = CANCELLED if ended.problem else ending  # not a failure of the training
        return dataclasses.replace(ending, reason=f"--then {command}: {ended.problem or ending.reason}")
    cut = [path for path in event_files(attempt.folder) if path.name.endswith(CUT) or not is_whole(path)]
    attempt.progress.look()
    if ending.status in {"completed", "crashed", "silent"} and (cut or attempt.progress.has_shrunk):
        name = cut[0].name if cut else "an event file"
        return Ending("lost", ending.exit_code, ending.signal, f"{name} lacks what was recorded", "disk")
    return ending


def finish_attempt(attempt: Attempt, ending: Ending, wall_time_s: float) -> RunUpdate:
    """Write the result, the last file of an attempt, and remove files that are no longer needed.

    Raises:
        RecordError: the disk does not take it; the attempt has no result, and will be run again.
    """
    try:
        for path in event_files(attempt.folder):  # what the result vouches for has to be on the disk before it
            with path.open("rb") as file:
                os.fsync(file.fileno())
    except OSError as error:
        raise RecordError(
            f"writing the events of {attempt.folder}: {error}", "check free space; then resume"
        ) from error
    if result_file(attempt.folder).exists():
        attempt.is_taken = True
        ending = dataclasses.replace(ending, status="lost", reason="another process gave it up", cause="node")
    frozen = attempt.frozen
    result = Result(
        spec_hash(attempt.spec),
        ending.status,
        ending.exit_code,
        ending.signal,
        attempt.claim.started,
        wall_time_s,
        ending.reason,
        (*attempt.warnings, *verify_links(frozen.snapshot, frozen.manifest)),
        ending.cause,
        attempt.slot.device,
        attempt.n_sharing,
    )
    if attempt.spec.weights is None and "init" in attempt.spec.varied and ending.status not in {"lost", "cancelled"}:
        record_weights(attempt.order.experiment, first_values(attempt.folder))
    shutil.rmtree(attempt.claim.temporary, ignore_errors=True)  # first, as nobody examines an attempt with a result
    if not attempt.is_taken:
        write_result(attempt.folder, result)
    attempt.progress.look()
    outcome = outcome_of(attempt.spec, attempt.folder, result, is_reused=False)
    return dataclasses.replace(attempt.tell("finished"), outcome=outcome)


def outcome_of(spec: Spec, attempt: Path, result: Result, *, is_reused: bool) -> Outcome:
    return Outcome(spec, result.status, result.wall_time_s, attempt, result.reason, is_reused)


def _left_behind(run: Path) -> int | None:
    """The latest lost attempt whose work copy still exists and was complete, as otherwise nothing ran in it."""
    for attempt in reversed(attempts(run)):
        result, claim = read_intact_result(attempt), read_claim(attempt)
        if result is not None and result.status in {"lost", "cancelled"} and (attempt / "work").is_dir():
            has_begun = log_files(attempt)[0].exists() or (claim is not None and claim.continues is not None)
            return attempt_number(attempt) if has_begun else None
    return None


def _fill_in(word: str, places: dict[str, str]) -> str:
    """Replace {run}, {replicate} and {variant} in a word of the command; other braces are unchanged."""
    for name, value in places.items():
        word = word.replace(f"{{{name}}}", value)
    return word


def _ports(spec: Spec) -> dict[str, str]:
    """A free port for the processes of a run, since concurrent runs would use the same default.

    Source: torch.distributed, Environment variable initialization; torch/distributed/argparse_util.py, PET_*.
    """
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = str(probe.getsockname()[1])
    return {name: port for name in ("MASTER_PORT", "PET_MASTER_PORT") if name not in dict(spec.environment)}


# ---------------------------------------------------------------- commands that prepare the data
#
# They run once, and every run starts from their result.

POLL_S = 0.25
FOLDER = "prepare"
"""Folder beside `runs/` with the attempt in which the commands ran, and their output."""


def prepare_tree(
    snapshot: Snapshot,
    experiment: Path,
    commands: Sequence[Sequence[str]],
    *,
    cwd: str,
    environment: Sequence[tuple[str, str]] = (),
    wrap: Sequence[str] = (),
) -> Snapshot:
    """Run commands in a work copy of the snapshot, which then takes the place of the snapshot's tree.

    They run as they are, without seeds of ours, and the guest sees to it that no file of the user's is changed.

    Returns: the snapshot, whose hash tells of the commands too.

    Raises:
        RunError: one of them cannot be started, or fails.
    """
    first, *more_commands = (tuple(words) for words in commands)
    spec = Spec(
        snapshot.sources_hash, first, cwd, FOLDER, 0,
        environment=tuple(environment), then=tuple(more_commands), wrap=tuple(wrap),
    )  # fmt: skip
    order = Order(experiment, spec)
    attempt = prepare_attempt(order, read_frozen(experiment), Settings(), run=experiment / FOLDER)
    running = Commands()
    ended: Ended | None = None
    try:
        start_attempt(attempt, Slot(), running.start)
        while ended is None:
            ended = running.wait(POLL_S)
    except BaseException:
        running.stop(attempt.folder, at_once=True)
        raise
    finish_attempt(attempt, judge(ended.code, stopped=None, has_reported=True), ended.wall_time_s)
    if ended.code:
        ending = f": {ended.problem}" if ended.problem else f" ended with code {ended.code}"
        ending += last_lines(log_files(attempt.folder)[1])
        raise RunError(
            f"--prepare {shlex.join(redact_words(commands[ended.command]))}{ending}",
            f"fix the command and run again; its output is in {attempt.folder}",
        )
    tree, before = snapshot.folder / "tree", snapshot.folder / "tree-before"
    tree.rename(before)
    root_in_copy(snapshot, attempt.folder).rename(tree)
    shutil.rmtree(before)
    shutil.rmtree(attempt.folder / "work")
    text = "\0".join([snapshot.sources_hash, *(shlex.join(words) for words in commands)])
    return dataclasses.replace(snapshot, sources_hash=hashlib.sha256(text.encode()).hexdigest())
