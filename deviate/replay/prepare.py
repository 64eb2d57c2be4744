"""Commands that prepare the data of an experiment: they run once, and every run starts from their result."""

import dataclasses
import hashlib
import shlex
import shutil
from collections.abc import Sequence
from pathlib import Path

from deviate.base import redact_words
from deviate.errors import RunError
from deviate.model import Settings, Snapshot, Spec
from deviate.records import stderr_tail
from deviate.replay.attempt import finish_attempt, prepare_attempt, read_frozen, start_attempt
from deviate.replay.commands import Commands, Ended
from deviate.replay.outcomes import judge
from deviate.replay.slots import Slot
from deviate.replay.updates import Order

POLL_S = 0.25
FOLDER = "prepare"
"""Beside `runs/`: the attempt in which the commands ran, with their output."""


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
        tail = stderr_tail(attempt.folder / "stderr.log")[-5:]
        tail_text = "\n".join(["; its last lines:", *(f"  {line}" for line in tail)]) if tail else ""
        ending = f": {ended.problem}" if ended.problem else f" ended with code {ended.code}"
        raise RunError(
            f"--prepare {shlex.join(redact_words(commands[ended.command]))}{ending}{tail_text}",
            f"repair it and run again; its output is in {attempt.folder}",
        )
    tree, before = snapshot.folder / "tree", snapshot.folder / "tree-before"
    tree.rename(before)
    (attempt.folder / "work" / (snapshot.root.parent.name or "root") / snapshot.root.name).rename(tree)
    shutil.rmtree(before)
    shutil.rmtree(attempt.folder / "work")
    text = "\0".join([snapshot.sources_hash, *(shlex.join(words) for words in commands)])
    return dataclasses.replace(snapshot, sources_hash=hashlib.sha256(text.encode()).hexdigest())
